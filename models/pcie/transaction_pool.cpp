#include "models/pcie/transaction_pool.h"

#include <cstring>

namespace hca::pcie {

// Is its payload's extension, so that one leads to the other; the payload must not free it.
struct TransactionPool::Pooled final : PcieExtension {
  explicit Pooled(tlm::tlm_mm_interface* pool) : payload(pool) { payload.set_extension<PcieExtension>(this); }
  Pooled(const Pooled&) = delete;
  Pooled& operator=(const Pooled&) = delete;
  ~Pooled() override { payload.clear_extension<PcieExtension>(); }

  tlm::tlm_generic_payload payload;
  std::vector<std::uint8_t> room;
};

TransactionPool::TransactionPool() = default;
TransactionPool::~TransactionPool() = default;

TransactionPool::Pooled& TransactionPool::take(std::uint64_t address, std::uint32_t length, tlm::tlm_command command) {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Pooled>(static_cast<tlm::tlm_mm_interface*>(this)));
    free_.push_back(all_.back().get());
  }
  Pooled& pooled = *free_.back();
  free_.pop_back();
  pooled.payload.acquire();
  pooled.payload.set_command(command);
  pooled.payload.set_address(address);
  pooled.payload.set_data_length(length);
  pooled.payload.set_streaming_width(length);
  pooled.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return pooled;
}

TransactionPool::Transaction TransactionPool::acquireWrite(std::uint64_t address, ByteView data, std::uint32_t length) {
  Pooled& pooled = take(address, length, tlm::TLM_WRITE_COMMAND);
  if (pooled.room.size() < data.size()) pooled.room.resize(data.size());
  if (!data.empty()) std::memcpy(pooled.room.data(), data.data(), data.size());
  pooled.timingOnly = data.empty() && length > 0;
  pooled.payload.set_data_ptr(data.empty() ? nullptr : pooled.room.data());
  return {&pooled.payload, &pooled};
}

TransactionPool::Transaction TransactionPool::acquireRead(std::uint64_t address, std::uint8_t* buffer,
                                                          std::uint32_t length) {
  Pooled& pooled = take(address, length, tlm::TLM_READ_COMMAND);
  pooled.timingOnly = buffer == nullptr;
  pooled.payload.set_data_ptr(buffer);
  return {&pooled.payload, &pooled};
}

TransactionPool::Transaction TransactionPool::acquireRead(std::uint64_t address, std::uint32_t length) {
  Pooled& pooled = take(address, length, tlm::TLM_READ_COMMAND);
  if (pooled.room.size() < length) pooled.room.resize(length);
  pooled.timingOnly = false;
  pooled.payload.set_data_ptr(pooled.room.data());
  return {&pooled.payload, &pooled};
}

void TransactionPool::free(tlm::tlm_generic_payload* payload) {
  auto* pooled = static_cast<Pooled*>(payload->get_extension<PcieExtension>());
  static_cast<PcieExtension&>(*pooled) = PcieExtension();
  free_.push_back(pooled);
}

}  // namespace hca::pcie
