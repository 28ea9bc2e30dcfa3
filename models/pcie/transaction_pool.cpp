#include "models/pcie/transaction_pool.h"

#include <cstring>

namespace hca::pcie {

// Is a payload and its extension, so that one leads to the other; the payload must not free it.
struct TransactionPool::Pooled final : tlm::tlm_generic_payload, PcieExtension {
  explicit Pooled(tlm::tlm_mm_interface* pool) : tlm_generic_payload(pool) { set_extension<PcieExtension>(this); }
  Pooled(const Pooled&) = delete;
  Pooled& operator=(const Pooled&) = delete;
  ~Pooled() override { clear_extension<PcieExtension>(); }

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
  pooled.acquire();
  pooled.set_command(command);
  pooled.set_address(address);
  pooled.set_data_length(length);
  pooled.set_streaming_width(length);
  pooled.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return pooled;
}

TransactionPool::Transaction TransactionPool::acquireWrite(std::uint64_t address, ByteView data, std::uint32_t length) {
  Pooled& pooled = take(address, length, tlm::TLM_WRITE_COMMAND);
  if (pooled.room.size() < data.size()) pooled.room.resize(data.size());
  if (!data.empty()) std::memcpy(pooled.room.data(), data.data(), data.size());
  pooled.timingOnly = data.empty() && length > 0;
  pooled.set_data_ptr(data.empty() ? nullptr : pooled.room.data());
  return {&pooled, &pooled};
}

TransactionPool::Transaction TransactionPool::acquireRead(std::uint64_t address, std::uint8_t* buffer,
                                                          std::uint32_t length) {
  Pooled& pooled = take(address, length, tlm::TLM_READ_COMMAND);
  pooled.timingOnly = buffer == nullptr;
  pooled.set_data_ptr(buffer);
  return {&pooled, &pooled};
}

TransactionPool::Transaction TransactionPool::acquireRead(std::uint64_t address, std::uint32_t length) {
  Pooled& pooled = take(address, length, tlm::TLM_READ_COMMAND);
  if (pooled.room.size() < length) pooled.room.resize(length);
  pooled.timingOnly = false;
  pooled.set_data_ptr(pooled.room.data());
  return {&pooled, &pooled};
}

void TransactionPool::free(tlm::tlm_generic_payload* payload) {
  auto* pooled = static_cast<Pooled*>(payload);
  static_cast<PcieExtension&>(*pooled) = PcieExtension();
  free_.push_back(pooled);
}

}  // namespace hca::pcie
