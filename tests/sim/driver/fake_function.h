// A PCI function without an adapter: it answers what the test says, and remembers what was written to it.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "models/pcie/pci_function.h"
#include "models/wire/endian.h"

namespace hca::test {

class FakeFunction : public pcie::PciFunction {
 public:
  struct Write {
    std::uint64_t offset;
    std::vector<std::uint8_t> bytes;
  };

  /// A ConnectX-5 with a 64-bit BAR 0 of 32 MiB and an MSI-X table of `vectors` entries at 0x10000.
  explicit FakeFunction(std::uint32_t vectors = 8) : config_(256) {
    set(0x00, 2, 0x15B3);
    set(0x02, 2, 0x1017);
    set(0x06, 2, 0x0010);  // has capabilities
    set(0x10, 4, 0x0000000C);
    set(0x34, 1, 0x40);
    set(0x40, 2, 0x6010);  // PCI Express first, then MSI-X at 0x60
    set(0x60, 2, 0x0011);
    set(0x62, 2, vectors - 1);
    set(0x64, 4, 0x10000);
  }

  std::uint32_t configRead(std::uint32_t offset, std::uint32_t width) override {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < width; ++i) value |= std::uint32_t{config_[offset + i]} << (8 * i);
    return value;
  }
  void configWrite(std::uint32_t offset, std::uint32_t width, std::uint32_t value) override {
    if (offset == 0x10) value = (value & ~std::uint32_t{0x1FFFFFF}) | 0xC;  // 32 MiB, 64-bit, prefetchable
    if (offset < 4) return;
    set(offset, width, value);
  }
  [[nodiscard]] std::uint64_t barSize(unsigned bar) const override { return bar == 0 ? 32U << 20 : 0; }
  void barWrite(unsigned, std::uint64_t offset, ByteView bytes) override {
    writes.push_back({offset, {bytes.begin(), bytes.end()}});
  }
  void barRead(unsigned, std::uint64_t offset, std::uint32_t width, ReadDone done) override {
    std::vector<std::uint8_t> bytes(width);
    wire::storeBigEndian(bytes.data(), registers[offset]);
    done(bytes);
  }
  void reset() override {}
  void setInterruptSink(pcie::InterruptSink*) override {}

  void set(std::uint32_t offset, std::uint32_t width, std::uint32_t value) {
    for (std::uint32_t i = 0; i < width; ++i) config_[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }

  std::vector<Write> writes;
  std::map<std::uint64_t, std::uint32_t> registers;

 private:
  std::vector<std::uint8_t> config_;
};

}  // namespace hca::test
