// What must become of the requests of one work queue: the contract as a plain list.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/driver/verbs_types.h"

namespace hca::test {

/// What is wrong with a request, on purpose.
enum class Flaw : std::uint8_t { kNone, kLocalKey, kRemoteKey, kTooLong, kMisaligned };

constexpr std::uint64_t kNoMessage = UINT64_MAX;

/// A posted request, as far as its completion and its bytes can be told from it.
struct WorkRecord {
  std::uint64_t id = 0;
  driver::SendOpcode opcode = driver::SendOpcode::kSend;
  Flaw flaw = Flaw::kNone;
  bool signaled = true;
  bool solicited = false;
  std::uint32_t length = 0;     ///< of a receive: its capacity
  std::uint32_t immediate = 0;  ///< or invalidated key
  std::uint64_t local = 0;      ///< address of its bytes
  std::uint64_t remote = 0;
  std::uint64_t before = 0;            ///< of an atomic: the value it finds
  std::uint64_t message = kNoMessage;  ///< number among those that take a receive request
  bool viaWindow = false;              ///< of a write or read: with the key of the peer's window
  std::size_t shared = 0;              ///< of XRC: the shared queue that the message is for
};

/// What may happen to a queue, by what was done to it and to its peer.
struct Circumstances {
  bool mayFail = false;  ///< something was done that takes the queue pair to error
  bool lossy = false;    ///< its completion queue may lose entries
  bool reliable = true;
};

/// One work queue. Every request completes once, in order, with the right status; unsignaled ones that succeed are
/// retired by the next completion; after an error, everything is flushed.
class WorkQueueReference {
 public:
  /// `isSend`: else a receive queue. `unsignaledComplete`: see RandomWorld.
  explicit WorkQueueReference(bool isSend, bool unsignaledComplete = false)
      : isSend_(isSend), unsignaledComplete_(unsignaledComplete) {}

  void post(const WorkRecord& record) { records_.push_back(record); }
  /// Empty, or what is wrong. Moves to `done` what the completion retires; the last is the request it names.
  std::string complete(const driver::WorkCompletion& completion, const Circumstances& circumstances,
                       std::vector<WorkRecord>& done);
  /// Whether everything may rest as it is: nothing is left, or only unsignaled requests, or what waits from message
  /// `blockedFrom` on. Empty, or what is wrong.
  [[nodiscard]] std::string atRest(bool inError, bool lossy, std::uint64_t blockedFrom) const;

  [[nodiscard]] const std::deque<WorkRecord>& records() const { return records_; }
  [[nodiscard]] bool failed() const { return failed_; }
  /// Requests at the end of the queue that no later completion will retire.
  [[nodiscard]] std::size_t trailingUnsignaled() const;

 private:
  [[nodiscard]] std::string checkStatus(const WorkRecord& record, driver::WcStatus status,
                                        const Circumstances& circumstances) const;
  [[nodiscard]] bool isPossible(const WorkRecord& record, driver::WcStatus status, bool reliable) const;

  bool isSend_;
  bool unsignaledComplete_;
  bool failed_ = false;
  std::deque<WorkRecord> records_;
};

}  // namespace hca::test
