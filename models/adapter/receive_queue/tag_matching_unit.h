// Matches messages with tags.
#pragma once

#include <cstdint>
#include <optional>

#include "models/adapter/adapter_context.h"
#include "models/adapter/completion/completion_port.h"
#include "models/adapter/receive_queue/srq_engine.h"
#include "models/adapter/receive_queue/tag_list.h"
#include "models/adapter/receive_queue/tag_list_port.h"
#include "models/adapter/requester/transfer_listener.h"
#include "models/wire/tag_matching.h"

namespace hca::adapter {

class Requester;

/// The tag-matching receive queues (XRQ): executes the list operations of their command queue pairs, finds the buffer
/// of a message, and fetches the data of a rendezvous, which the queue pair's own requester reads; a finish message
/// then tells the sender. rdma-core Documentation/tag_matching.md.
///
/// All completions go to the queue's completion queue with its user index.
class TagMatchingUnit final : public TagListPort, private TransferListener {
 public:
  TagMatchingUnit(const AdapterContext& context, SrqEngine& sharedQueues, CompletionPort& completions,
                  Requester& requester);

  MemoryOperationResult execute(const QueuePair& qp, std::uint64_t request, ByteView segments) override;

  /// Whether `qp` receives from a tag-matching queue.
  [[nodiscard]] bool serves(const QueuePair& qp) const { return listOf(qp) != nullptr; }
  /// The queue pair's queue, and what a message with `tag` matches there. Precondition of all below: serves.
  [[nodiscard]] std::optional<TagList::Match> take(const QueuePair& qp, std::uint64_t tag) {
    return listOf(qp)->take(tag);
  }
  void countUnexpected(const QueuePair& qp) { listOf(qp)->countUnexpected(); }
  /// Whether the adapter fetches the data of rendezvous requests to `qp`.
  [[nodiscard]] bool transfers(const QueuePair& qp) const;
  /// Fetches the data of the rendezvous request that begins with `headers`; the match has room for them.
  void startTransfer(QueuePair& qp, const TagList::Match& match, ByteView headers);

  /// A completion of `qp`'s queue: the message that took the tag at `place`, or a list operation.
  [[nodiscard]] CompletionRecord recordOf(const QueuePair& qp, wire::TagCompletion operation,
                                          std::uint16_t place) const;
  /// Tells that the message which took the tag at `place` matched: `header` is its first bytes.
  void reportConsumed(const QueuePair& qp, std::uint16_t place, ByteView header);
  /// Tells that the data of the message which took that tag won't come.
  void reportCanceled(const QueuePair& qp, std::uint16_t place);

 private:
  void onTransferEnded(QueuePair& qp, const SendRequest& request, bool ok) override;
  [[nodiscard]] TagList* listOf(const QueuePair& qp) const;
  void finish(QueuePair& qp, const RendezvousTransfer& transfer);
  [[nodiscard]] CompletionRecord listRecord(const QueuePair& qp, wire::TagListOperation operation, std::uint16_t place,
                                            bool succeeded) const;

  AdapterContext context_;
  SrqEngine& sharedQueues_;
  CompletionPort& completions_;
  Requester& requester_;
};

}  // namespace hca::adapter
