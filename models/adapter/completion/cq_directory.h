// Completion queues, as the command interface and the queue pairs see them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "models/adapter/command/command_result.h"
#include "models/adapter/completion/cq_attributes.h"

namespace hca::adapter {

/// What MODIFY_CQ changes; empty fields stay as they are. The three are the field select bits of the modify command
/// (Linux include/linux/mlx5/cq.h: MLX5_CQ_MODIFY_PERIOD, _COUNT, _OVERRUN).
struct CqModeration {
  std::optional<std::uint16_t> period;  ///< microseconds, 0..4095; 0 with count 0: no moderation
  std::optional<std::uint16_t> count;   ///< entries
  std::optional<bool> ignoreOverrun;
};

/// The ring that replaces another one.
struct CqRing {
  CqeStride stride = CqeStride::k64;  ///< must be the queue's: entries don't change their size
  std::uint8_t logSize = 0;
  PageList pages;
};

/// Statuses: an unknown number is kBadResource, a queue in use kResourceBusy, a full table kNoResources, a value above
/// a reported capability kExceedLimit, any other bad field kBadParameter; each with the syndrome of its check.
class CqDirectory {
 public:
  /// Checks size, entry format, pages (aligned, enough for the ring at its offset), doorbell record alignment and that
  /// the event queue exists, which it then holds. `number` is set on success alone; a refused create changes nothing.
  /// The caller has checked the UAR page. The status, notification state and counters in `attributes` are ignored: a
  /// new queue starts idle at index 0.
  virtual CommandResult create(const CqAttributes& attributes, CqNumber& number) = 0;
  /// Refused as kCqInUse while a queue pair is attached. Later completions for the number are dropped and counted.
  virtual CommandResult destroy(CqNumber number) = 0;
  /// Gives the context with its present status, notification state and counters.
  virtual CommandResult query(CqNumber number, CqAttributes& attributes) const = 0;
  virtual CommandResult modifyModeration(CqNumber number, const CqModeration& change) = 0;

  /// Reads the consumer index from the doorbell record and serves the completions that had to wait for it; then calls
  /// `done`, at once if there is no such queue. One at a time. Dropped if the directory is reset meanwhile.
  virtual void refreshConsumerIndex(CqNumber number, std::function<void()> done) = 0;
  /// Writes a resize entry at the producer index of the old ring; the next entry goes to the next index of the new one.
  /// Precondition: the consumer index was just refreshed. Refused, besides the checks of `create`: kBadSize
  /// (kCqTooSmallForEntries) if the new ring can't hold the entries not consumed, kBadResourceState if the old one has
  /// no slot for the resize entry or the queue is in error. A refused resize changes nothing.
  virtual CommandResult resize(CqNumber number, const CqRing& ring) = 0;

  /// Each work queue (send or receive) of a queue pair that completes here attaches once; destroy waits for as many
  /// detaches. A queue in error can be attached to: the queue pair fails when it next uses it.
  virtual CommandResult attach(CqNumber number) = 0;
  /// Precondition: attached.
  virtual void detach(CqNumber number) = 0;

  /// Drops the completions of `qp` that are not handed to PCIe yet: after this no CQE of it is written. Those handed
  /// over are in order before any later write of the adapter, the answer to the command that resets `qp` included, so
  /// that software finds them in the queue when the command is done. A directory that writes at once has none to drop.
  virtual void discard(QpNumber qp) { (void)qp; }

  /// Calls `done` when every completion of `qp` that was reported so far is handed to PCIe: what the adapter writes
  /// then is behind them. A directory that writes at once calls it at once.
  virtual void whenWritten(QpNumber qp,
                           std::function<void()> done) {  // NOLINT(performance-unnecessary-value-param): others keep it
    (void)qp;
    done();
  }

 protected:
  ~CqDirectory() = default;
};

}  // namespace hca::adapter
