#include "tests/sim/driver/random/work_queue_reference.h"

namespace hca::test {

using driver::WcStatus;

std::string WorkQueueReference::complete(const driver::WorkCompletion& completion, const Circumstances& circumstances,
                                         std::vector<WorkRecord>& done) {
  const std::string request = "request " + std::to_string(completion.workRequestId);
  while (!records_.empty() && records_.front().id != completion.workRequestId) {
    const WorkRecord& passed = records_.front();
    if (!circumstances.lossy) {
      const std::string before = request + " completes, request " + std::to_string(passed.id) + " before it did not";
      if (passed.signaled || unsignaledComplete_) return before;
      if (failed_) return before + " although it had to be flushed";
    }
    done.push_back(passed);
    records_.pop_front();
  }
  if (records_.empty()) return request + " completes and is not outstanding";
  std::string problem = checkStatus(records_.front(), completion.status, circumstances);
  failed_ = failed_ || completion.status != WcStatus::kSuccess;
  done.push_back(records_.front());
  records_.pop_front();
  return problem.empty() ? problem : request + ": " + problem;
}

std::string WorkQueueReference::checkStatus(const WorkRecord& record, WcStatus status,
                                            const Circumstances& circumstances) const {
  const std::string name = driver::name(status);
  if (status == WcStatus::kSuccess) {
    if (failed_) return "success behind an error";
    if (!record.signaled) return "success of an unsignaled request is reported";
    const bool mustFail = isSend_ && record.flaw != Flaw::kNone &&
                          (circumstances.reliable || record.flaw == Flaw::kLocalKey || record.flaw == Flaw::kTooLong);
    return mustFail && !circumstances.lossy ? "success in spite of its flaw" : "";
  }
  if (!circumstances.mayFail) return name + " without a cause";
  if (failed_ && !circumstances.lossy && status != WcStatus::kFlushed) return name + " behind an error";
  if (!failed_ && !isPossible(record, status, circumstances.reliable)) return name + " is not what it may end with";
  return "";
}

bool WorkQueueReference::isPossible(const WorkRecord& record, WcStatus status, bool reliable) const {
  if (status == WcStatus::kFlushed) return true;  // of what the other queue, or the program, did
  if (!isSend_) return status == WcStatus::kLocalLength || status == WcStatus::kLocalProtection;
  const bool isLocal =
      record.opcode == driver::SendOpcode::kBindWindow || record.opcode == driver::SendOpcode::kLocalInvalidate;
  if (isLocal) return false;
  switch (record.flaw) {
    case Flaw::kLocalKey:
      if (status == WcStatus::kLocalProtection) return true;
      break;
    case Flaw::kRemoteKey:
      if (status == WcStatus::kRemoteAccess) return true;
      break;
    case Flaw::kTooLong:
      if (status == WcStatus::kLocalLength) return true;
      break;
    case Flaw::kMisaligned:
      if (status == WcStatus::kRemoteInvalidRequest) return true;
      break;
    case Flaw::kNone:
      break;
  }
  if (!reliable) return false;
  if (status == WcStatus::kRetryExceeded) return true;
  const bool takesReceive = record.message != kNoMessage;
  return takesReceive && (status == WcStatus::kRnrRetryExceeded || status == WcStatus::kRemoteInvalidRequest ||
                          status == WcStatus::kRemoteOperation);
}

std::string WorkQueueReference::atRest(bool inError, bool lossy, std::uint64_t blockedFrom) const {
  if (lossy) return "";
  for (const WorkRecord& record : records_) {
    const std::string request = (isSend_ ? "request " : "receive request ") + std::to_string(record.id);
    if (inError) {
      if (!isSend_ || failed_ || record.signaled) return request + " was not flushed";
    } else {
      if (!isSend_) return "";
      if (record.message != kNoMessage && record.message >= blockedFrom) return "";
      if (record.signaled) return request + " never completed";
    }
  }
  return "";
}

std::size_t WorkQueueReference::trailingUnsignaled() const {
  std::size_t count = 0;
  for (auto record = records_.rbegin(); record != records_.rend() && !record->signaled; ++record) ++count;
  return count;
}

}  // namespace hca::test
