// CqEngine and compressed sessions: what is gathered, and when it is written.
#include <algorithm>
#include <utility>

#include "models/adapter/completion/cq_dma_token.h"
#include "models/adapter/completion/cq_engine.h"

namespace hca::adapter {
namespace {

bool isEnhanced(const CompletionQueue& queue) {
  return queue.attributes.compressionLayout == static_cast<std::uint8_t>(CompressionLayout::kEnhanced);
}

MiniFormat miniFormatOf(const CompletionQueue& queue) { return static_cast<MiniFormat>(queue.attributes.miniFormat); }

// The slots of the arrays of a basic block, counted from its title: 1, 8, 16, ...
std::uint64_t arraySlot(std::size_t array) { return array == 0 ? 1 : array * wire::kMiniCqesPerArray; }

}  // namespace

// False if the completion is to be written as an entry of its own, at once.
bool CqEngine::gather(CompletionQueue& queue, const CompletionRecord& record) {
  CompressedSession& session = queue.session;
  const SessionPolicy& policy = restorableEntries(miniFormatOf(queue));
  std::optional<SessionEnd> end = policy.excludes(record);
  const bool excluded = end.has_value();
  if (!end && session.open) end = policy.parts(session.title, session.advance, record);
  if (end) closeSession(queue, *end);
  if (excluded || !queue.good()) return false;
  const bool opens = !session.open;
  if (opens) openSession(queue, record);
  if (opens && isEnhanced(queue)) {
    writePlain(queue, record);
    watchSession(queue);
  } else {
    hold(queue, record);
  }
  return true;
}

void CqEngine::openSession(CompletionQueue& queue, const CompletionRecord& record) {
  CompressedSession& session = queue.session;
  session.open = true;
  session.title = record;
  session.timestamp = timestampOf(queue);
  session.size = 1;
  session.advance = advanceOf(record);
  session.opened = context_.now();
  session.held.clear();
  if (!isEnhanced(queue)) session.size = session.advance = 0;  // counted when it is held
}

void CqEngine::hold(CompletionQueue& queue, const CompletionRecord& record) {
  CompressedSession& session = queue.session;
  if (session.held.empty()) session.firstHeld = queue.occupancy.produced();
  session.held.push_back({miniCqeOf(record, miniFormatOf(queue)), record.request});
  ++session.size;
  session.advance += advanceOf(record);
  queue.occupancy.produce();
  queue.moderation.addEntry(context_.now(), false);
  explainOverwrites(queue);
  const auto most = std::min<std::uint64_t>(static_cast<std::uint64_t>(config_.compressionMax), queue.occupancy.size());
  if (session.size >= most) return closeSession(queue, SessionEnd::kCount);
  if (isEnhanced(queue) && session.held.size() == wire::kMiniCqesPerEnhancedBlock) writeHeld(queue);
  watchSession(queue);
}

// Ends the session when it is due, or sees to it that it will be. Software that was promised an event waits for it.
void CqEngine::watchSession(CompletionQueue& queue) {
  CompressedSession& session = queue.session;
  if (!session.open) return;
  Time deadline = session.opened + config_.compressionTimeout;
  SessionEnd end = SessionEnd::kTimeout;
  if (!session.held.empty() && queue.notification.awaitsAny()) {
    const Time event = queue.moderation.releaseTime();
    if (event < deadline) {
      deadline = event;
      end = queue.moderation.enabled() ? SessionEnd::kModeration : SessionEnd::kArm;
    }
  }
  if (deadline <= context_.now()) return closeSession(queue, end);
  sessionTimers_.set(queue.number.value(), deadline);
}

void CqEngine::onSessionTimer(std::uint32_t number) {
  CompletionQueue* const queue = lookup(CqNumber(number));
  if (queue != nullptr) watchSession(*queue);
}

void CqEngine::closeSession(CompletionQueue& queue, SessionEnd end) {
  CompressedSession& session = queue.session;
  if (!session.open) return;
  session.open = false;
  sessionTimers_.cancel(queue.number.value());
  ++queue.counters.sessionEnds[static_cast<std::size_t>(end)];
  if (session.size > 1) ++queue.counters.compressedSessions;
  if (!session.held.empty()) writeHeld(queue);
}

void CqEngine::closeSessionsOf(QpNumber qp) {
  for (const auto& queue : queues_) {
    if (queue != nullptr && queue->session.open && queue->session.title.qp == qp) {
      closeSession(*queue, SessionEnd::kQueuePairReset);
    }
  }
}

// The queue can't be written any more: what was held is lost, and the queue pair learns of it.
void CqEngine::dropSession(CompletionQueue& queue) {
  CompressedSession& session = queue.session;
  if (!std::exchange(session.open, false)) return;
  sessionTimers_.cancel(queue.number.value());
  const std::size_t lost = session.held.size();
  session.held.clear();
  for (std::size_t i = 0; i < lost; ++i) refuse(&queue, session.title);
}

// From now on the held entries count: for arms, and for whoever counts entries.
void CqEngine::writeHeld(CompletionQueue& queue) {
  CompressedSession& session = queue.session;
  const std::size_t count = session.held.size();
  Watched watched{queue.number, session.firstHeld, false, false, session.held.front().request, {}};
  if (context_.probes.stage.hasListeners() || context_.probes.cq.hasListeners()) {
    for (std::size_t i = 1; i < count; ++i) watched.more.push_back(session.held[i].request);
  }
  if (isEnhanced(queue)) {
    const std::uint64_t pass = session.firstHeld >> queue.attributes.logSize;
    writeSlot(queue, session.firstHeld, bytesOf(miniCqeBlock(session.held, pass)), &watched);
  } else {
    writeBasicBlock(queue, watched);
  }
  session.held.clear();
  for (std::size_t i = 0; i < count; ++i) {
    ++queue.counters.cqes;
    queue.notification.addEntry(false);
  }
  raiseIfDue(queue);
}

// The title makes the block valid, so it comes last.
void CqEngine::writeBasicBlock(CompletionQueue& queue, const Watched& watched) {
  const CompressedSession& session = queue.session;
  const std::size_t count = session.held.size();
  if (count > 1) {
    for (std::size_t array = 0; array * wire::kMiniCqesPerArray < count; ++array) {
      const MiniCqeSlot slot = miniCqeArray(session.held, array * wire::kMiniCqesPerArray);
      writeSlot(queue, session.firstHeld + arraySlot(array), bytesOf(slot), nullptr);
    }
  }
  queue.builder.build(session.title, session.firstHeld, session.timestamp, image_);
  if (count > 1) CqeBuilder::makeTitle(static_cast<std::uint32_t>(count), image_);
  writeSlot(queue, session.firstHeld, image_.view(), &watched);
}

void CqEngine::writeSlot(const CompletionQueue& queue, std::uint64_t index, ByteView bytes, const Watched* watched) {
  const std::uint64_t entry = queue.attributes.collapsed ? 0 : index & (queue.occupancy.size() - 1);
  pcie::DmaWrite write;
  // An entry is written from its end backwards: what a wide one has in front may be left out.
  const std::uint64_t stride = strideBytes(queue.attributes.stride);
  write.address = queue.attributes.ring.address(entry * stride + stride - bytes.size());
  write.data = bytes;
  write.length = static_cast<std::uint32_t>(bytes.size());
  write.traffic = pcie::Traffic::kCqe;
  write.client = this;
  write.token = CqDmaToken::of(queue);
  if (watched != nullptr && (context_.probes.cq.hasListeners() || context_.probes.stage.hasListeners())) {
    write.notify = true;
    write.token = CqDmaToken::of(queue, watch(*watched) + 1);
  }
  context_.probes.entry.fire([&] {
    return observe::EntryEvent{observe::EntryEvent::Queue::kCompletion,
                               context_.now(),
                               context_.host,
                               context_.adapter,
                               queue.number.value(),
                               index,
                               bytes};
  });
  context_.dma.write(write);
}

}  // namespace hca::adapter
