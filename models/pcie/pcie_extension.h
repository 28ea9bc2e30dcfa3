// What a PCI Express transaction carries beside the generic payload.
#pragma once

#include <cstdint>
#include <tlm>

#include "models/pcie/traffic.h"

namespace hca::pcie {

enum class TlpKind : std::uint8_t { kMemory, kConfiguration };

/// Mandatory on every transaction of a link's sockets. Read or write is the generic payload's command.
struct PcieExtension : tlm::tlm_extension<PcieExtension> {
  /// `bar` of an access by bus address: the endpoint compares it with its base address registers.
  static constexpr std::uint8_t kByAddress = 0xFF;

  TlpKind kind = TlpKind::kMemory;
  Traffic traffic = Traffic::kPayload;
  bool relaxedOrdering = false;
  /// The data pointer is null: neither end touches memory, only the time counts.
  bool timingOnly = false;
  /// Of a write: the completer says BEGIN_RESP when it took effect.
  bool notify = false;
  /// The link's own: the receiver has not given the credits back yet.
  bool creditsHeld = false;
  /// Of a memory access to the endpoint: the register that the address is an offset into.
  std::uint8_t bar = kByAddress;
  /// Of the first TLP of a burst of reads. The others follow in the order of allocation.
  std::uint16_t tag = 0;
  /// Bus, device, function of the sender.
  std::uint16_t requester = 0;
  /// Most bytes of one TLP of the burst (maximum payload or read request size of the sender).
  std::uint32_t pieceSize = 0;
  /// The sender's own: which of its requests this is. Nobody else looks at them.
  void* sender = nullptr;
  std::uint64_t cookie = 0;
  /// Points to the number of resets of the sender's function; nullptr for a sender without resets.
  const std::uint32_t* resets = nullptr;
  std::uint32_t resetsAtIssue = 0;

  /// The sender's function was reset since: the completer leaves memory alone (and still responds to a read).
  [[nodiscard]] bool isDropped() const { return resets != nullptr && *resets != resetsAtIssue; }

  [[nodiscard]] tlm::tlm_extension_base* clone() const override { return new PcieExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const PcieExtension&>(other); }
};

}  // namespace hca::pcie
