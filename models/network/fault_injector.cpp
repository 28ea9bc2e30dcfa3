#include "models/network/fault_injector.h"

#include <stdexcept>
#include <string>

#include "models/base/mixed_bits.h"

namespace hca::network {

namespace {

PacketNumbers numbersOf(const std::string& text) {
  const auto numbers = PacketNumbers::parse(text);
  if (!numbers) throw std::invalid_argument("no list of packet numbers: " + text);
  return *numbers;
}

}  // namespace

FaultInjector::FaultInjector(const FaultConfig& config, std::uint64_t seed, std::uint64_t stream)
    : config_(config),
      lose_(numbersOf(config.lose)),
      corrupt_(numbersOf(config.corrupt)),
      duplicate_(numbersOf(config.duplicate)),
      hold_(numbersOf(config.hold)),
      distort_(numbersOf(config.distort)),
      key_(mixedBits(mixedBits(seed) ^ stream)),
      active_(config.loss > 0 || config.corruption > 0 || config.duplication > 0 || config.delay > 0 ||
              !lose_.empty() || !corrupt_.empty() || !duplicate_.empty() || !hold_.empty() || !distort_.empty()) {}

bool FaultInjector::draw(Kind kind, double probability) const {
  if (probability <= 0) return false;
  const std::uint64_t random = mixedBits(mixedBits(key_ ^ static_cast<std::uint64_t>(kind)) ^ number_);
  constexpr double kUnit = 1.0 / (std::uint64_t{1} << 53);  // the upper 53 bits as a fraction, 0 <= x < 1
  return static_cast<double>(random >> 11) * kUnit < probability;
}

Fault FaultInjector::next() {
  ++number_;
  if (burstLeft_ == 0 && draw(Kind::kLoss, config_.loss)) burstLeft_ = config_.lossBurst;
  Fault fault;
  fault.lose = burstLeft_ > 0 || lose_.contains(number_);
  if (burstLeft_ > 0) --burstLeft_;
  fault.corrupt = draw(Kind::kCorruption, config_.corruption) || corrupt_.contains(number_);
  fault.duplicate = draw(Kind::kDuplication, config_.duplication) || duplicate_.contains(number_);
  fault.hold = draw(Kind::kDelay, config_.delay) || hold_.contains(number_);
  fault.distort = distort_.contains(number_);
  return fault;
}

}  // namespace hca::network
