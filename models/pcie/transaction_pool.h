// Reused TLM transactions.
#pragma once

#include <cstdint>
#include <memory>
#include <tlm>
#include <vector>

#include "models/base/byte_view.h"
#include "models/pcie/pcie_extension.h"

namespace hca::pcie {

/// Lends generic payloads that have a PcieExtension and room for data; the memory manager behind them. Must outlive all
/// that it lent. Each grows once to the largest data it carried: a steady state allocates nothing.
class TransactionPool final : private tlm::tlm_mm_interface {
 public:
  TransactionPool();
  TransactionPool(const TransactionPool&) = delete;
  TransactionPool& operator=(const TransactionPool&) = delete;
  ~TransactionPool() override;

  struct Transaction {
    tlm::tlm_generic_payload* payload;
    PcieExtension* extension;
  };

  /// A write of a copy of `data`. `data` empty and `length` not: timing only.
  Transaction acquireWrite(std::uint64_t address, ByteView data, std::uint32_t length);
  /// A read into `buffer`, which the caller keeps until the response; nullptr: timing only.
  Transaction acquireRead(std::uint64_t address, std::uint8_t* buffer, std::uint32_t length);
  /// A read into the transaction's own room.
  Transaction acquireRead(std::uint64_t address, std::uint32_t length);

  [[nodiscard]] std::size_t lent() const { return all_.size() - free_.size(); }

 private:
  struct Pooled;
  Pooled& take(std::uint64_t address, std::uint32_t length, tlm::tlm_command command);
  void free(tlm::tlm_generic_payload* payload) override;

  std::vector<std::unique_ptr<Pooled>> all_;
  std::vector<Pooled*> free_;
};

}  // namespace hca::pcie
