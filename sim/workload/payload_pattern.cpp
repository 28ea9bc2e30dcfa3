#include "sim/workload/payload_pattern.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hca::sim {
namespace {

// One long row of noise; a message is a stretch of it that starts where its seed says and repeats.
constexpr std::size_t kPeriod = 4096;
constexpr std::size_t kStarts = 4093;  // prime: seeds that differ by a power of two start elsewhere

const std::array<std::uint8_t, kPeriod + kStarts>& noise() {
  static const auto kNoise = [] {
    std::array<std::uint8_t, kPeriod + kStarts> bytes{};
    std::uint64_t state = 0x9E37'79B9'7F4A'7C15;
    for (std::uint8_t& byte : bytes) {
      state = state * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
      byte = static_cast<std::uint8_t>(state >> 56);
    }
    return bytes;
  }();
  return kNoise;
}

template <class Piece>
bool forEachPiece(std::size_t length, std::uint64_t seed, Piece&& piece) {
  const std::uint8_t* source = noise().data() + seed % kStarts;
  for (std::size_t at = 0; at < length; at += kPeriod) {
    if (!piece(at, source, std::min(kPeriod, length - at))) return false;
  }
  return true;
}

}  // namespace

void fillPattern(std::uint8_t* to, std::size_t length, std::uint64_t seed) {
  forEachPiece(length, seed, [to](std::size_t at, const std::uint8_t* source, std::size_t count) {
    std::memcpy(to + at, source, count);
    return true;
  });
}

bool matchesPattern(const std::uint8_t* bytes, std::size_t length, std::uint64_t seed, std::size_t skipped) {
  return forEachPiece(length, seed, [=](std::size_t at, const std::uint8_t* source, std::size_t count) {
    const std::size_t from = at == 0 ? std::min(skipped, count) : 0;
    return std::memcmp(bytes + at + from, source + from, count - from) == 0;
  });
}

}  // namespace hca::sim
