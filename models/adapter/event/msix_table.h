// MSI-X: the table of messages in BAR memory, masks and pending bits.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/occasions.h"

namespace hca::adapter {

/// The MSI-X structures of a PCI function (PCI Local Bus 3.0, section 6.8.2). An entry is 16 bytes, little-endian:
/// address low and high, data, vector control with the mask in bit 0. The pending bit array has one bit a vector in
/// 64-bit words.
///
/// A vector that fires while masked, by its own mask or the function's, sets its pending bit; the message goes when the
/// mask does. The bit is the only memory: any number of firings while masked is one message.
class MsixTable {
 public:
  static constexpr std::uint32_t kEntryBytes = 16;

  MsixTable(const AdapterContext& context, std::uint32_t vectors);

  [[nodiscard]] std::uint32_t vectors() const { return static_cast<std::uint32_t>(entries_.size()); }
  [[nodiscard]] std::uint32_t tableBytes() const { return vectors() * kEntryBytes; }
  [[nodiscard]] std::uint32_t pendingBytes() const { return static_cast<std::uint32_t>(pending_.size() * 8); }

  /// Message Control of the capability: MSI-X Enable (bit 15) and Function Mask (bit 14).
  void setControl(bool enabled, bool functionMasked);

  /// Sends the message of `vector` behind all DMA writes issued before, or remembers it. While MSI-X is disabled the
  /// firing is dropped and counted. Precondition: vector < vectors().
  void fire(InterruptVector vector);

  /// Messages that get lost on their way because somebody wants it: the adapter believes them sent.
  struct Loss {
    InterruptVector vector;
    Occasions occasions;
    std::function<void()> happened;  ///< told of each
  };
  void lose(Loss loss) { losses_.push_back(std::move(loss)); }

  /// BAR accesses of the table, `offset` from its start; bytes outside are ignored or read as zero. A mask that a write
  /// clears lets a pending message go.
  void writeTable(std::uint32_t offset, ByteView bytes);
  void readTable(std::uint32_t offset, MutableByteView into) const;
  /// BAR reads of the pending bit array. Writes to it have no effect (there is no function for them).
  void readPending(std::uint32_t offset, MutableByteView into) const;

  /// Function-level reset: all vectors masked, nothing pending, disabled.
  void reset();

  [[nodiscard]] std::uint64_t messages(InterruptVector vector) const { return messages_[vector.value()]; }
  [[nodiscard]] std::uint64_t firedWhileDisabled() const { return firedWhileDisabled_; }

 private:
  using Entry = std::array<std::uint8_t, kEntryBytes>;

  [[nodiscard]] bool masked(std::uint32_t vector) const;
  [[nodiscard]] bool pending(std::uint32_t vector) const;
  void setPending(std::uint32_t vector, bool value);
  void releaseIfPending(std::uint32_t vector);
  void send(std::uint32_t vector);
  [[nodiscard]] bool isLost(std::uint32_t vector);
  void tell(observe::InterruptEvent::Action action, std::uint32_t vector);

  AdapterContext context_;
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> pending_;
  std::vector<std::uint64_t> messages_;
  std::vector<Loss> losses_;
  std::uint64_t firedWhileDisabled_ = 0;
  bool enabled_ = false;
  bool functionMasked_ = false;
};

}  // namespace hca::adapter
