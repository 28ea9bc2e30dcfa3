#include "sim/report/completion_csv.h"

namespace hca::report {

namespace {

std::string nanosecondsText(Time time) {
  constexpr std::int64_t kPicoseconds = 1000;
  const std::string decimals = std::to_string(kPicoseconds + time.count() % kPicoseconds).substr(1);
  return std::to_string(time.count() / kPicoseconds) + '.' + decimals;
}

}  // namespace

CompletionCsv::CompletionCsv(std::ostream& stream, bool namesAdapters)
    : stream_(stream), namesAdapters_(namesAdapters) {
  stream_ << "time_ns,flow,host," << (namesAdapters_ ? "adapter," : "")
          << "cqn,qpn,wr_id,opcode,status,bytes,posted_ns,latency_ns\n";
}

void CompletionCsv::add(const CompletionRow& row) {
  stream_ << nanosecondsText(row.time) << ',' << row.flow << ',' << row.host.value() << ',';
  if (namesAdapters_) stream_ << row.adapter.value() << ',';
  stream_ << row.cq.value() << ',' << row.qp.value() << ',' << row.workRequestId << ',' << row.opcode << ','
          << row.status << ',' << row.bytes;
  if (row.posted < Time()) {
    stream_ << ",,\n";
  } else {
    stream_ << ',' << nanosecondsText(row.posted) << ',' << nanosecondsText(row.time - row.posted) << '\n';
  }
}

}  // namespace hca::report
