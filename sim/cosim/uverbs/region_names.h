// Names for pieces of a program's memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace hca::cosim {

/// The memory that a program registered or handed over, by numbers that count up: r1, r2, ... A log names addresses by
/// them, because the addresses themselves differ from run to run.
class RegionNames {
 public:
  /// Its number.
  std::uint32_t add(std::uint64_t start, std::uint64_t length) {
    regions_[++last_] = {start, length};
    return last_;
  }
  void remove(std::uint32_t number) { regions_.erase(number); }

  /// "r3+0x40"; of several the youngest. Empty if the address is in none.
  [[nodiscard]] std::string name(std::uint64_t address) const {
    for (auto at = regions_.rbegin(); at != regions_.rend(); ++at) {
      const std::uint64_t offset = address - at->second.start;
      if (offset < at->second.length) return "r" + std::to_string(at->first) + "+" + hexadecimal(offset);
    }
    return {};
  }

 private:
  struct Region {
    std::uint64_t start;
    std::uint64_t length;
  };
  static std::string hexadecimal(std::uint64_t value) {
    std::string text;
    do {
      text.insert(text.begin(), "0123456789abcdef"[value & 0xF]);
      value >>= 4;
    } while (value != 0);
    return "0x" + text;
  }
  std::map<std::uint32_t, Region> regions_;
  std::uint32_t last_ = 0;
};

}  // namespace hca::cosim
