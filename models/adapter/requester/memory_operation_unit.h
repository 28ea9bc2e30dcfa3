// Executes the requests that change memory keys or lists of tags.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/memory/memory_key_port.h"
#include "models/adapter/memory/translator.h"
#include "models/adapter/receive_queue/tag_list_port.h"
#include "models/adapter/requester/memory_operation_result.h"
#include "models/adapter/send_queue/send_request.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/adapter/transport/qp_lookup.h"
#include "models/kernel/inbox.h"

namespace hca::adapter {

/// Told the outcome of memory operations.
class MemoryOperationListener {
 public:
  virtual void onMemoryOperationDone(QueuePair& qp, const MemoryOperationResult& result) = 0;

 protected:
  ~MemoryOperationListener() = default;
};

/// UMR and local invalidate: reads the translations from host memory if the WQE only points to them, then changes the
/// key. Tag matching: hands the operation to the list. One operation of a queue pair at a time; operations of several
/// queue pairs overlap. What is under way when the queue pair leaves the ready state has no effect.
class MemoryOperationUnit final : private pcie::DmaClient {
 public:
  MemoryOperationUnit(const AdapterContext& context, const DatapathConfig& config, Translator& translator,
                      MemoryKeyPort& keys, QpLookup& queuePairs);
  void connect(MemoryOperationListener& listener) { listener_ = &listener; }
  void connect(TagListPort& tags) { tags_ = &tags; }

  /// Starts `request`, a memory operation of `qp`. The listener is called later, never at once.
  void execute(const QueuePair& qp, const SendRequest& request);

 private:
  struct Slot {
    QpNumber qp;
    std::uint32_t epoch = 0;
    SendOpcode opcode = SendOpcode::kUmr;
    std::uint64_t request = 0;  // its index
    MemoryKey key;
    kernel::Payload segments;            // behind the control segment
    kernel::Payload list;                // translations read from host memory
    std::vector<std::uint32_t> offsets;  // of each read within the list
    std::uint32_t readsPending = 0;
    MemoryOperationResult result;
  };

  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t, host::DmaStatus) override {}
  std::uint32_t allocate();
  /// Whether the WQE has all that it announces.
  [[nodiscard]] static bool isComplete(const Slot& slot);
  bool locateList(const QueuePair& qp, const Slot& slot);
  void readList(std::uint32_t index);
  void finish(std::uint32_t& index);
  [[nodiscard]] MemoryOperationResult apply(const Slot& slot, const QueuePair& qp);
  [[nodiscard]] KeyFault changeKey(const Slot& slot, const QueuePair& qp);

  AdapterContext context_;
  const DatapathConfig& config_;
  Translator& translator_;
  MemoryKeyPort& keys_;
  QpLookup& queuePairs_;
  MemoryOperationListener* listener_ = nullptr;
  TagListPort* tags_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> freeSlots_;
  std::vector<Segment> pieces_;  // of the list that is being located
  kernel::Inbox<MemoryOperationUnit, std::uint32_t> due_;
};

}  // namespace hca::adapter
