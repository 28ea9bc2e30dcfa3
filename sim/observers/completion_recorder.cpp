#include "sim/observers/completion_recorder.h"

#include <iterator>

#include "sim/driver/verbs_types.h"

namespace hca::observers {

CompletionRecorder::CompletionRecorder(observe::Probes& probes, std::ostream& stream, bool namesAdapters)
    : csv_(stream, namesAdapters) {
  probes.stage.attach([this](const observe::StageEvent& event) { onPosted(event); });
  probes.completion.attach([this](const observe::CompletionEvent& event) { onCompletion(event); });
}

void CompletionRecorder::onPosted(const observe::StageEvent& event) {
  if (event.stage != observe::Stage::kPosted || event.request.queue != observe::WorkQueue::kSend) return;
  posted_[{event.request.host, event.request.adapter, event.request.qp}][event.request.index] = event.time;
}

void CompletionRecorder::onCompletion(const observe::CompletionEvent& event) {
  constexpr Time kUnknown = picoseconds(-1);
  const QueuePair qp{event.request.host, event.request.adapter, event.qp};
  report::CompletionRow row;
  row.time = event.time;
  row.flow = flows_[qp];
  row.host = event.request.host;
  row.adapter = event.request.adapter;
  row.cq = event.cq;
  row.qp = event.qp;
  row.workRequestId = event.workRequestId;
  row.opcode = driver::name(static_cast<driver::WcOpcode>(event.opcode));
  row.status = driver::name(static_cast<driver::WcStatus>(event.status));
  row.bytes = event.bytes;
  row.posted = kUnknown;
  auto& posted = posted_[qp];
  const auto found = posted.find(event.request.index);
  if (event.request.queue == observe::WorkQueue::kSend && found != posted.end()) {
    row.posted = found->second;
    posted.erase(posted.begin(), std::next(found));  // it retires the unsignaled ones before it
  }
  csv_.add(row);
}

}  // namespace hca::observers
