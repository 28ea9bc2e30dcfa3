#include "models/pcie/link_timing.h"

#include <algorithm>
#include <stdexcept>

namespace hca::pcie {

namespace {

constexpr std::int64_t kMega = 1'000'000;
constexpr std::int64_t kFlitBytes = 256;
constexpr std::int64_t kFlitTlpBytes = 236;
constexpr std::int64_t kDllpBytes = 8;
constexpr std::int64_t kSkipBytes = 4;
constexpr std::int64_t kSkipInterval = 1538;
constexpr std::int64_t kFlitGeneration = 6;

std::int64_t lanes(const PcieConfig& config) { return static_cast<std::int64_t>(config.width); }

BitsPerSecond codedRate(const PcieConfig& config) {
  constexpr std::int64_t kMegatransfers[] = {2500, 5000, 8000, 16000, 32000, 64000};
  const std::int64_t line = kMegatransfers[config.generation - 1] * kMega * lanes(config);
  if (config.generation <= 2) return BitsPerSecond(line * 8 / 10);
  if (config.generation < kFlitGeneration) return BitsPerSecond(line / 130 * 128 + line % 130 * 128 / 130);
  return BitsPerSecond(line);
}

// AckFactor times ten.
std::int64_t ackFactorTenths(std::int64_t width, std::int64_t maxPayload) {
  const bool small = maxPayload <= 256;
  if (width < 8) return small ? 14 : 10;
  if (width == 8) return small ? 25 : 10;
  return small ? 30 : 20;
}

// Latency limit of an ACK in symbol times: PCI Express Base Specification, 3.6.3.1 (AckNak latency limits). The byte
// model takes the number as bytes.
Bytes specifiedAckInterval(const PcieConfig& config) {
  constexpr std::int64_t kTlpOverhead = 28;
  const std::int64_t internalDelay = config.generation == 1 ? 19 : config.generation == 2 ? 70 : 115;
  const std::int64_t maxPayload = config.maxPayload.count();
  const std::int64_t factor = ackFactorTenths(lanes(config), maxPayload);
  return Bytes((maxPayload + kTlpOverhead) * factor / (10 * lanes(config)) + internalDelay);
}

BitsPerSecond withoutDllps(BitsPerSecond raw, Bytes ack, Bytes flowControl) {
  const std::int64_t whole = ack.count() * flowControl.count() * kSkipInterval;
  const std::int64_t lost =
      kDllpBytes * kSkipInterval * (ack.count() + flowControl.count()) + kSkipBytes * ack.count() * flowControl.count();
  if (lost >= whole) throw std::invalid_argument("pcie: ack_interval and flow_control_interval leave nothing for TLPs");
  const auto scaled = static_cast<WideInteger>(raw.count()) * (whole - lost) / whole;
  return BitsPerSecond(static_cast<std::int64_t>(scaled));
}

void check(const PcieConfig& config) {
  if (config.generation < 1 || config.generation > kFlitGeneration) {
    throw std::invalid_argument("pcie: generation must be 1 to 6");
  }
  if (!isTlpSize(config.maxPayload)) throw std::invalid_argument("pcie: mps must be a power of two, 128B to 4096B");
  if (!isTlpSize(config.maxReadRequest)) {
    throw std::invalid_argument("pcie: mrrs must be a power of two, 128B to 4096B");
  }
  if (!isCompletionBoundary(config.readCompletionBoundary)) {
    throw std::invalid_argument("pcie: rcb must be 64B or 128B");
  }
}

std::uint32_t toPageEnd(std::uint64_t address) {
  return LinkTiming::kPage - static_cast<std::uint32_t>(address % LinkTiming::kPage);
}

}  // namespace

LinkTiming::LinkTiming(const PcieConfig& config) {
  check(config);
  raw_ = codedRate(config);
  if (config.generation < kFlitGeneration) {
    ackInterval_ = config.ackInterval.count() > 0 ? config.ackInterval : specifiedAckInterval(config);
    flowControlInterval_ = config.flowControlInterval.count() > 0 ? config.flowControlInterval : ackInterval_;
    usable_ = withoutDllps(raw_, ackInterval_, flowControlInterval_);
  } else {
    usable_ = BitsPerSecond(raw_.count() / kFlitBytes * kFlitTlpBytes);
  }
  const std::uint32_t ecrc = config.ecrc ? kEcrc : 0;
  requestOverhead_ = kRequestOverhead + ecrc;
  completionOverhead_ = kCompletionOverhead + ecrc;
  completionUnit_ =
      static_cast<std::uint32_t>(std::min(config.maxPayload.count(), config.readCompletionBoundary.count()));
  const std::uint32_t largest = kPage + kRequestOverhead + kEcrc;
  for (std::uint32_t bytes = 0; bytes <= largest; ++bytes) tlpTimes_.push_back(transferTime(Bytes(bytes), usable_));
  for (std::uint32_t length = 1; length <= kPage; length *= 2) wholeCompletions_.push_back(cutCompletions(0, length));
}

Burst LinkTiming::tlps(std::uint32_t count, std::uint32_t payload, std::uint32_t overhead) const {
  if (count == 0) return {};
  const Bytes each(payload + overhead);
  return {count, count * ((payload + kCreditUnit - 1) / kCreditUnit), each * count, tlpTime(each) * count};
}

Burst LinkTiming::writes(std::uint64_t address, std::uint32_t length, std::uint32_t maxPayload) const {
  if (isOnePiece(address, length, maxPayload)) return tlps(1, length, requestOverhead_);
  Burst burst;
  while (length > 0) {
    const std::uint32_t part = std::min(length, toPageEnd(address));
    burst = burst + tlps(part / maxPayload, maxPayload, requestOverhead_);
    if (part % maxPayload != 0) burst = burst + tlps(1, part % maxPayload, requestOverhead_);
    address += part;
    length -= part;
  }
  return burst;
}

std::uint32_t LinkTiming::countPieces(std::uint64_t address, std::uint32_t length, std::uint32_t most) {
  std::uint32_t count = 0;
  while (length > 0) {
    const std::uint32_t part = std::min(length, toPageEnd(address));
    count += (part + most - 1) / most;
    address += part;
    length -= part;
  }
  return count;
}

std::uint32_t LinkTiming::firstPiece(std::uint64_t address, std::uint32_t length, std::uint32_t most) {
  return std::min({length, most, toPageEnd(address)});
}

Burst LinkTiming::readRequests(std::uint64_t address, std::uint32_t length, std::uint32_t maxRead) const {
  return tlps(pieces(address, length, maxRead), 0, requestOverhead_);
}

Burst LinkTiming::cutCompletions(std::uint64_t address, std::uint32_t length) const {
  const auto toBoundary = completionUnit_ - (static_cast<std::uint32_t>(address) & (completionUnit_ - 1));
  if (length <= toBoundary) return tlps(1, length, completionOverhead_);
  Burst burst;
  if (toBoundary < completionUnit_) {
    burst = tlps(1, toBoundary, completionOverhead_);
    length -= toBoundary;
  }
  burst = burst + tlps(length / completionUnit_, completionUnit_, completionOverhead_);
  if (length % completionUnit_ != 0) burst = burst + tlps(1, length % completionUnit_, completionOverhead_);
  return burst;
}

Burst LinkTiming::completionsWithoutData(std::uint32_t requests) const {
  return tlps(requests, 0, completionOverhead_);
}

Burst LinkTiming::completions(std::uint64_t address, std::uint32_t length, std::uint32_t maxRead) const {
  std::uint32_t piece = firstPiece(address, length, maxRead);
  Burst burst = completions(address, piece);
  while (length > piece) {
    address += piece;
    length -= piece;
    piece = firstPiece(address, length, maxRead);
    burst = burst + completions(address, piece);
  }
  return burst;
}

}  // namespace hca::pcie
