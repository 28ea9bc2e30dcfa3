// What TLPs cost on a PCI Express link.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/units.h"
#include "models/pcie/pcie_config.h"

namespace hca::pcie {

/// Consecutive TLPs that one requester or completer sends back to back.
struct Burst {
  std::uint32_t tlps = 0;
  std::uint32_t dataCredits = 0;  ///< units of 16 bytes, rounded up for each TLP
  Bytes bytes{};                  ///< on the link, with headers and framing
  Time duration{};                ///< sum over its TLPs, each rounded up to a picosecond

  friend Burst operator+(Burst a, const Burst& b) {
    a.tlps += b.tlps;
    a.dataCredits += b.dataCredits;
    a.bytes += b.bytes;
    a.duration += b.duration;
    return a;
  }
};

/// The byte model of pcie-bench (Neugebauer et al., SIGCOMM 2018; pcie-bench/pcie-model): a memory write or a read
/// request takes 24 bytes beside its payload, a completion 20, with framing and link layer; an end-to-end CRC adds 4.
/// DLLPs and skip sets take their part of the rate. SystemC-free.
///
/// Generations 1 and 2 code 8 bits in 10, 3 to 5 code 128 in 130. Generation 6 sends flits of 256 bytes, of which 236
/// carry TLPs; acknowledgements and credits have their own bytes in the flit.
class LinkTiming {
 public:
  static constexpr std::uint32_t kRequestOverhead = 24;
  static constexpr std::uint32_t kCompletionOverhead = 20;
  static constexpr std::uint32_t kEcrc = 4;
  static constexpr std::uint32_t kPage = 4096;  ///< no TLP crosses a multiple of it
  static constexpr std::uint32_t kCreditUnit = 16;

  /// Throws std::invalid_argument for sizes that PCI Express has no code for.
  explicit LinkTiming(const PcieConfig& config);

  /// After line coding.
  [[nodiscard]] BitsPerSecond rawRate() const { return raw_; }
  /// What is left for TLPs.
  [[nodiscard]] BitsPerSecond usableRate() const { return usable_; }
  /// Bytes of TLPs for each ACK and each flow-control DLLP (0 with flits).
  [[nodiscard]] Bytes ackInterval() const { return ackInterval_; }
  [[nodiscard]] Bytes flowControlInterval() const { return flowControlInterval_; }

  /// Time on the link of one TLP of `bytes`, overhead included.
  [[nodiscard]] Time tlpTime(Bytes bytes) const {
    const auto index = static_cast<std::size_t>(bytes.count());
    return index < tlpTimes_.size() ? tlpTimes_[index] : transferTime(bytes, usable_);
  }

  // The split of [address, address + length), cut at multiples of 4 KiB and counted from its start or from the last
  // cut. Nothing to transfer is one TLP without payload.

  /// Time on the link of a write of one TLP.
  [[nodiscard]] Time writeTime(std::uint32_t length) const { return tlpTime(Bytes(length + requestOverhead_)); }
  /// Writes of at most `maxPayload` bytes each.
  [[nodiscard]] Burst writes(std::uint64_t address, std::uint32_t length, std::uint32_t maxPayload) const;
  /// Requests for at most `maxRead` bytes each.
  [[nodiscard]] Burst readRequests(std::uint64_t address, std::uint32_t length, std::uint32_t maxRead) const;
  /// Completions of one such request, which doesn't cross 4 KiB: cut at multiples of the read completion boundary (or
  /// of the maximum payload, where that is smaller).
  [[nodiscard]] Burst completions(std::uint64_t address, std::uint32_t length) const {
    const bool isWhole = (address & (completionUnit_ - 1)) == 0 && (length & (length - 1)) == 0 && length <= kPage;
    return isWhole && length != 0 ? wholeCompletions_[__builtin_ctz(length)] : cutCompletions(address, length);
  }
  /// Completions of all requests into which [address, address + length) is split.
  [[nodiscard]] Burst completions(std::uint64_t address, std::uint32_t length, std::uint32_t maxRead) const;
  /// Answers to `requests` requests that failed.
  [[nodiscard]] Burst completionsWithoutData(std::uint32_t requests) const;
  /// How many requests or writes of at most `most` bytes the range takes.
  [[nodiscard]] static std::uint32_t pieces(std::uint64_t address, std::uint32_t length, std::uint32_t most) {
    return isOnePiece(address, length, most) ? 1 : countPieces(address, length, most);
  }
  /// Bytes of the first of them.
  [[nodiscard]] static std::uint32_t firstPiece(std::uint64_t address, std::uint32_t length, std::uint32_t most);

 private:
  [[nodiscard]] static bool isOnePiece(std::uint64_t address, std::uint32_t length, std::uint32_t most) {
    return length <= most && length <= kPage - address % kPage;
  }
  [[nodiscard]] static std::uint32_t countPieces(std::uint64_t address, std::uint32_t length, std::uint32_t most);
  [[nodiscard]] Burst cutCompletions(std::uint64_t address, std::uint32_t length) const;
  [[nodiscard]] Burst tlps(std::uint32_t count, std::uint32_t payload, std::uint32_t overhead) const;

  BitsPerSecond raw_;
  BitsPerSecond usable_;
  Bytes ackInterval_{};
  Bytes flowControlInterval_{};
  std::uint32_t requestOverhead_;
  std::uint32_t completionOverhead_;
  std::uint32_t completionUnit_;         // a power of two
  std::vector<Time> tlpTimes_;           // by bytes: saves a division for each TLP
  std::vector<Burst> wholeCompletions_;  // of aligned requests, by the logarithm of their length
};

}  // namespace hca::pcie
