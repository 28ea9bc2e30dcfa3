// A PCI function with real configuration space, and registers that say what happened to them.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "models/pcie/configuration_space.h"
#include "models/pcie/pci_function.h"

namespace hca::vfio {

/// What reaches its registers is kept; reads are answered when the test says so.
class Hardware final : public pcie::PciFunction {
 public:
  static constexpr std::uint64_t kBarSize = 1U << 20;
  static constexpr std::uint64_t kTable = 0x10000;
  static constexpr std::uint32_t kVectors = 4;

  struct Write {
    std::uint64_t offset;
    std::vector<std::uint8_t> bytes;
  };
  struct Read {
    std::uint64_t offset;
    std::uint32_t width;
    ReadDone done;
  };

  std::uint32_t configRead(std::uint32_t offset, std::uint32_t width) override { return space.read(offset, width); }
  void configWrite(std::uint32_t offset, std::uint32_t width, std::uint32_t value) override {
    if (space.write(offset, width, value) != pcie::ConfigurationSpace::Effect::kReset) return;
    space.reset();
    ++resets;
  }
  [[nodiscard]] std::uint64_t barSize(unsigned bar) const override { return bar == 0 ? kBarSize : 0; }
  void barWrite(unsigned, std::uint64_t offset, ByteView bytes) override {
    writes.push_back({offset, {bytes.begin(), bytes.end()}});
  }
  void barRead(unsigned, std::uint64_t offset, std::uint32_t width, ReadDone done) override {
    reads.push_back({offset, width, std::move(done)});
  }
  void reset() override {
    space.reset();
    ++resets;
  }
  void setInterruptSink(pcie::InterruptSink* to) override { sink = to; }

  /// Answers the oldest read.
  void answer(std::uint64_t value) {
    const Read read = std::move(reads.front());
    reads.pop_front();
    std::uint8_t bytes[8];
    std::memcpy(bytes, &value, sizeof bytes);
    read.done({bytes, read.width});
  }
  /// Whether entry `vector` of the MSI-X table was written masked last; with the message that belongs there.
  [[nodiscard]] std::string entry(std::uint32_t vector) const {
    std::uint8_t entry[16] = {};
    bool isThere = false;
    for (const Write& write : writes) {
      if (write.offset / 16 != kTable / 16 + vector) continue;
      isThere = true;
      std::memcpy(entry + write.offset % 16, write.bytes.data(), write.bytes.size());
    }
    if (!isThere) return "untouched";
    const bool isRight = entry[3] == 0xFE && entry[2] == 0xE0 && entry[8] == vector;
    return !isRight ? "wrong" : (entry[12] & 1) != 0 ? "masked" : "open";
  }
  [[nodiscard]] bool msixEnabled() const { return space.msixEnabled(); }

  static pcie::FunctionDescription description() {
    pcie::FunctionDescription function;
    function.deviceId = 0x1017;
    function.barSize = kBarSize;
    function.msixVectors = kVectors;
    function.msixTableOffset = kTable;
    function.msixPendingOffset = 0x18000;
    return function;
  }

  pcie::ConfigurationSpace space{description(), {}};
  std::vector<Write> writes;
  std::deque<Read> reads;
  pcie::InterruptSink* sink = nullptr;
  int resets = 0;
};

}  // namespace hca::vfio
