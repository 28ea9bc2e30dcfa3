#include "sim/vfio/dma_domain.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace hca::vfio {
namespace {

constexpr std::uint64_t kPage = 4096;

// Every byte holds what its address says; writes are counted.
class Memory final : public host::MemoryBackend {
 public:
  bool read(std::uint64_t address, MutableByteView into) override {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<std::uint8_t>((address + i) >> 12);
    return true;
  }
  bool write(std::uint64_t, ByteView) override {
    ++writes;
    return true;
  }
  int writes = 0;
};

class DmaDomainTest : public testing::Test {
 public:
  host::DmaStatus read(std::uint64_t bus) { return domain.space().read(BusAddress(bus), {&byte, 1}); }
  host::DmaStatus write(std::uint64_t bus) { return domain.space().write(BusAddress(bus), {&byte, 1}); }

  Memory memory;
  DmaDomain domain{memory};
  std::uint8_t byte = 0;
};

TEST_F(DmaDomainTest, TranslatesWhatIsMapped) {
  EXPECT_EQ(domain.map(0x100000, 7 * kPage, 2 * kPage, {}), 0);
  EXPECT_EQ(read(0x100000), host::DmaStatus::kOk);
  EXPECT_EQ(byte, 7);
  EXPECT_EQ(read(0x100000 + kPage), host::DmaStatus::kOk);
  EXPECT_EQ(byte, 8);
  EXPECT_EQ(read(0x100000 + 2 * kPage), host::DmaStatus::kUnmapped);
  EXPECT_EQ(write(0x100000), host::DmaStatus::kOk);
  EXPECT_EQ(memory.writes, 1);
}

TEST_F(DmaDomainTest, KeepsToTheAccessThatWasAllowed) {
  EXPECT_EQ(domain.map(0x100000, kPage, kPage, {true, false}), 0);
  EXPECT_EQ(domain.map(0x200000, kPage, kPage, {false, true}), 0);
  EXPECT_EQ(domain.map(0x300000, kPage, kPage, {false, false}), EINVAL);
  EXPECT_EQ(read(0x100000), host::DmaStatus::kOk);
  EXPECT_EQ(write(0x100000), host::DmaStatus::kAccessFailed);
  EXPECT_EQ(read(0x200000), host::DmaStatus::kAccessFailed);
  EXPECT_EQ(write(0x200000), host::DmaStatus::kOk);
}

TEST_F(DmaDomainTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(domain.map(0x100001, kPage, kPage, {}), EINVAL);
  EXPECT_EQ(domain.map(0x100000, kPage + 1, kPage, {}), EINVAL);
  EXPECT_EQ(domain.map(0x100000, kPage, 1, {}), EINVAL);
  EXPECT_EQ(domain.map(0x100000, kPage, 0, {}), EINVAL);
  EXPECT_EQ(domain.map(0xFEDFF000, kPage, kPage, {}), 0) << "the last page before interrupt messages";
  EXPECT_EQ(domain.map(0xFEDFE000, kPage, 3 * kPage, {}), EINVAL);
  EXPECT_EQ(domain.map(0xFEEFF000, kPage, kPage, {}), EINVAL);
  EXPECT_EQ(domain.map(0xFEF00000, kPage, kPage, {}), 0);
  const std::uint64_t end = std::uint64_t{1} << 48;
  EXPECT_EQ(domain.map(end - kPage, kPage, kPage, {}), 0);
  EXPECT_EQ(domain.map(end - 2 * kPage, kPage, 3 * kPage, {}), EINVAL);
  EXPECT_EQ(domain.map(end, kPage, kPage, {}), EINVAL);
}

TEST_F(DmaDomainTest, MappingsDontOverlap) {
  EXPECT_EQ(domain.map(0x102000, kPage, 2 * kPage, {}), 0);
  EXPECT_EQ(domain.map(0x101000, kPage, 2 * kPage, {}), EEXIST);
  EXPECT_EQ(domain.map(0x103000, kPage, kPage, {}), EEXIST);
  EXPECT_EQ(domain.map(0x100000, kPage, 8 * kPage, {}), EEXIST);
  EXPECT_EQ(domain.map(0x101000, kPage, kPage, {}), 0);
  EXPECT_EQ(domain.map(0x104000, kPage, kPage, {}), 0);
}

TEST_F(DmaDomainTest, UnmapsWholeMappingsAlone) {
  EXPECT_EQ(domain.map(0x100000, kPage, 2 * kPage, {}), 0);
  EXPECT_EQ(domain.map(0x102000, kPage, 2 * kPage, {}), 0);
  std::uint64_t unmapped = 1;
  EXPECT_EQ(domain.unmap(0x100000, kPage, unmapped), EINVAL);
  EXPECT_EQ(domain.unmap(0x101000, 3 * kPage, unmapped), EINVAL);
  EXPECT_EQ(domain.unmap(0x100000, 3 * kPage, unmapped), EINVAL);
  EXPECT_EQ(unmapped, 0U);
  EXPECT_EQ(read(0x100000), host::DmaStatus::kOk);
  EXPECT_EQ(domain.unmap(0xF0000, 64 * kPage, unmapped), 0);
  EXPECT_EQ(unmapped, 4 * kPage);
  EXPECT_EQ(read(0x100000), host::DmaStatus::kUnmapped);
  EXPECT_EQ(domain.unmap(0x100000, kPage, unmapped), 0);
  EXPECT_EQ(unmapped, 0U);
  EXPECT_EQ(domain.unmap(~std::uint64_t{0} - kPage + 1, 2 * kPage, unmapped), EINVAL);
  EXPECT_EQ(domain.map(0x100000, kPage, kPage, {}), 0);
  EXPECT_EQ(domain.unmapAll(), kPage);
  EXPECT_EQ(domain.mappings(), 0U);
}

}  // namespace
}  // namespace hca::vfio
