#include "models/host/bus_address_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "models/host/sparse_memory.h"

namespace hca::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kPage = BusAddressSpace::kPageSize;
using Bytes = std::vector<std::uint8_t>;

// Memory of somebody else's process: no direct pointers; counts calls and can refuse.
class RemoteMemory final : public MemoryBackend {
 public:
  bool read(std::uint64_t address, MutableByteView into) override {
    ++calls;
    return !refuses && memory.read(address, into);
  }
  bool write(std::uint64_t address, ByteView bytes) override {
    ++calls;
    return !refuses && memory.write(address, bytes);
  }
  SparseMemory memory;
  int calls = 0;
  bool refuses = false;
};

class RecordingWatcher final : public MemoryWatcher {
 public:
  void onMemoryWritten(BusAddress address, std::uint64_t length) override {
    writes.emplace_back(address.value(), length);
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> writes;
};

Bytes read(const BusAddressSpace& space, BusAddress address, std::size_t length) {
  Bytes bytes(length);
  EXPECT_EQ(space.read(address, bytes), DmaStatus::kOk);
  return bytes;
}

TEST(BusAddressSpace, ReachesTheOwnersMemory) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("process", memory);
  const std::uint64_t address = memory.allocate(3 * kPage, kPage);
  const BusAddress bus = space.map(owner, address, 3 * kPage);

  EXPECT_EQ(space.write(advance(bus, kPage - 2), Bytes{1, 2, 3, 4}), DmaStatus::kOk);
  Bytes seen(4);
  ASSERT_TRUE(memory.read(address + kPage - 2, seen));
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read(space, advance(bus, kPage - 1), 2), ElementsAre(2, 3));
}

TEST(BusAddressSpace, EqualVirtualAddressesOfTwoOwnersDontCollide) {
  SparseMemory first, second;
  BusAddressSpace space;
  const OwnerId a = space.addOwner("a", first);
  const OwnerId b = space.addOwner("b", second);
  const std::uint64_t address = first.allocate(64, 64);
  ASSERT_EQ(second.allocate(64, 64), address);

  const BusAddress busA = space.map(a, address, 64);
  const BusAddress busB = space.map(b, address, 64);
  EXPECT_NE(busA, busB);
  ASSERT_EQ(space.write(busA, Bytes{0xAA}), DmaStatus::kOk);
  ASSERT_EQ(space.write(busB, Bytes{0xBB}), DmaStatus::kOk);
  EXPECT_EQ(*first.direct(address, 1), 0xAA);
  EXPECT_EQ(*second.direct(address, 1), 0xBB);
}

TEST(BusAddressSpace, KeepsTheOffsetWithinThePage) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("process", memory);
  memory.allocate(24, 8);
  const std::uint64_t address = memory.allocate(8, 8);
  EXPECT_EQ(space.map(owner, address, 8).value() % kPage, address % kPage);
}

TEST(BusAddressSpace, OnlyTheMappedBytesOfAPageAreAccessible) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("process", memory);
  const std::uint64_t address = memory.allocate(kPage, kPage) + 0x100;
  const BusAddress bus = space.map(owner, address, 0x20);

  EXPECT_TRUE(space.contains(bus, 0x20));
  EXPECT_FALSE(space.contains(bus, 0x21));
  EXPECT_FALSE(space.contains(BusAddress(bus.value() - 1), 1));
  Bytes one(1);
  EXPECT_EQ(space.read(advance(bus, 0x1F), one), DmaStatus::kOk);
  EXPECT_EQ(space.read(advance(bus, 0x20), one), DmaStatus::kUnmapped);
  EXPECT_EQ(space.write(BusAddress(bus.value() - 1), Bytes{1, 2}), DmaStatus::kUnmapped);
  EXPECT_EQ(*memory.direct(address, 1), 0) << "nothing is written before the whole range was checked";
}

TEST(BusAddressSpace, AnAccessThatLeavesTheMappingWritesNothing) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("process", memory);
  const std::uint64_t address = memory.allocate(kPage, kPage);
  const BusAddress bus = space.map(owner, address, kPage);
  EXPECT_EQ(space.write(advance(bus, kPage - 1), Bytes{7, 7}), DmaStatus::kUnmapped);
  EXPECT_EQ(*memory.direct(address + kPage - 1, 1), 0);
}

TEST(BusAddressSpace, UnmappedMemoryIsOutOfReach) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("process", memory);
  const std::uint64_t address = memory.allocate(2 * kPage, kPage);
  const BusAddress bus = space.map(owner, address, 2 * kPage);
  space.unmap(advance(bus, kPage), 1);
  EXPECT_TRUE(space.contains(bus, kPage));
  EXPECT_EQ(space.write(advance(bus, kPage), Bytes{1}), DmaStatus::kUnmapped);
  space.unmap(bus, kPage);
  EXPECT_EQ(space.write(bus, Bytes{1}), DmaStatus::kUnmapped);
}

TEST(BusAddressSpace, AMappingLivesUntilItWasUnmappedAsOftenAsMapped) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("process", memory);
  const std::uint64_t address = memory.allocate(4 * kPage, kPage);
  const BusAddress bus = space.map(owner, address, 4 * kPage);
  EXPECT_EQ(space.map(owner, address + kPage, kPage), advance(bus, kPage));
  space.unmap(bus, 4 * kPage);
  EXPECT_FALSE(space.contains(bus, 1));
  EXPECT_TRUE(space.contains(advance(bus, kPage), kPage)) << "mapped twice, unmapped once";
  EXPECT_FALSE(space.contains(advance(bus, 2 * kPage), 1));
  space.unmap(advance(bus, kPage), kPage);
  EXPECT_FALSE(space.contains(advance(bus, kPage), 1));
}

TEST(BusAddressSpace, ARangeThatNoSingleCallMappedGetsAFurtherAddress) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("process", memory);
  const std::uint64_t address = memory.allocate(4 * kPage, kPage);
  const BusAddress first = space.map(owner, address, 2 * kPage);
  const BusAddress second = space.map(owner, address + kPage, 2 * kPage);
  EXPECT_NE(second, advance(first, kPage));
  ASSERT_EQ(space.write(second, Bytes{9}), DmaStatus::kOk);
  EXPECT_THAT(read(space, advance(first, kPage), 1), ElementsAre(9)) << "both lead to the same memory";
  // A hole in the first mapping: it doesn't serve the range any more.
  space.unmap(first, kPage);
  EXPECT_NE(space.map(owner, address, kPage), first);
}

TEST(BusAddressSpace, AFreedBusAddressIsNotGivenOutAgain) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("process", memory);
  const std::uint64_t address = memory.allocate(kPage, kPage);
  const BusAddress first = space.map(owner, address, kPage);
  space.unmap(first, kPage);
  EXPECT_NE(space.map(owner, address, kPage), first);
}

TEST(BusAddressSpace, RemovingAnOwnerRemovesEveryMapping) {
  SparseMemory first, second;
  BusAddressSpace space;
  const OwnerId a = space.addOwner("a", first);
  const OwnerId b = space.addOwner("b", second);
  const std::uint64_t address = first.allocate(kPage, kPage);
  second.allocate(kPage, kPage);
  const BusAddress twice = space.map(a, address, kPage);
  ASSERT_EQ(space.map(a, address, kPage), twice);
  ASSERT_TRUE(space.mapAt(BusAddress(0x1000), a, address, kPage));
  const BusAddress other = space.map(b, address, kPage);

  space.removeOwner(a);
  EXPECT_FALSE(space.contains(twice, 1));
  EXPECT_FALSE(space.contains(BusAddress(0x1000), 1));
  EXPECT_TRUE(space.contains(other, kPage));
  EXPECT_THROW(space.map(a, address, kPage), std::invalid_argument);
  space.removeOwner(a);
  EXPECT_TRUE(space.mapAt(BusAddress(0x1000), b, address, kPage));
}

TEST(BusAddressSpace, RefusesRangesThatMakeNoSense) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("process", memory);
  const std::uint64_t address = memory.allocate(kPage, kPage);
  EXPECT_THROW(space.map(owner, address, 0), std::invalid_argument);
  EXPECT_THROW(space.map(owner, ~std::uint64_t{0}, 2), std::invalid_argument);
  EXPECT_THROW(space.map(owner, address, BusAddressSpace::kLongestMapping + 1), std::invalid_argument);
  EXPECT_THROW(space.map(OwnerId(0), address, kPage), std::invalid_argument);
  EXPECT_THROW(space.map(OwnerId(77), address, kPage), std::invalid_argument);
  space.unmap(BusAddress(0), ~std::uint64_t{0});
  space.unmap(BusAddress(~std::uint64_t{0}), 5);
  EXPECT_FALSE(space.contains(BusAddress(~std::uint64_t{0}), 2));
  EXPECT_FALSE(space.contains(BusAddress(0x1000), ~std::uint64_t{0}));
  Bytes one(1);
  EXPECT_EQ(space.read(BusAddress(~std::uint64_t{0}), one), DmaStatus::kUnmapped);
  EXPECT_EQ(space.read(BusAddress(0), MutableByteView()), DmaStatus::kOk);
}

TEST(BusAddressSpace, AnOwnerMayChooseTheBusAddress) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("guest", memory);
  const std::uint64_t address = memory.allocate(4 * kPage, kPage);
  const BusAddress chosen(0x7000);
  EXPECT_TRUE(space.mapAt(chosen, owner, address, 2 * kPage));
  ASSERT_EQ(space.write(advance(chosen, kPage), Bytes{5}), DmaStatus::kOk);
  EXPECT_EQ(*memory.direct(address + kPage, 1), 5);
  EXPECT_FALSE(space.mapAt(BusAddress(0x8000), owner, address, kPage)) << "taken";
  EXPECT_FALSE(space.mapAt(BusAddress(0x6000), owner, address, 2 * kPage)) << "second page taken";
  EXPECT_TRUE(space.mapAt(BusAddress(0x6000), owner, address, kPage));
  EXPECT_FALSE(space.mapAt(BusAddress(0x10001), owner, address, kPage)) << "offset within the page differs";
  EXPECT_FALSE(space.mapAt(BusAddress(0x10000), owner, address, 0));
  EXPECT_FALSE(space.mapAt(BusAddress((std::uint64_t{1} << 48) - kPage), owner, address, 2 * kPage));
  EXPECT_TRUE(space.mapAt(BusAddress((std::uint64_t{1} << 48) - kPage), owner, address, kPage));
}

TEST(BusAddressSpace, TheRangeOfInterruptMessagesIsNeverMapped) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("guest", memory);
  const std::uint64_t address = memory.allocate(2 * kPage, kPage);
  EXPECT_FALSE(space.mapAt(BusAddress(0xFEE0'0000), owner, address, kPage));
  EXPECT_FALSE(space.mapAt(BusAddress(0xFEEF'F000), owner, address, kPage));
  EXPECT_FALSE(space.mapAt(BusAddress(0xFEDF'F000), owner, address, 2 * kPage));
  EXPECT_TRUE(space.mapAt(BusAddress(0xFEDF'F000), owner, address, kPage));
  EXPECT_TRUE(space.mapAt(BusAddress(0xFEF0'0000), owner, address, kPage));
  Bytes one(1);
  EXPECT_EQ(space.read(BusAddress(0xFEE0'0000), one), DmaStatus::kUnmapped);
}

TEST(BusAddressSpace, WalksAroundAddressesThatOwnersChose) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("guest", memory);
  const std::uint64_t address = memory.allocate(8 * kPage, kPage);
  const BusAddress probe = space.map(owner, address, kPage);
  ASSERT_TRUE(space.mapAt(advance(probe, 2 * kPage), owner, address, kPage));
  const BusAddress next = space.map(owner, address + kPage, 4 * kPage);
  EXPECT_GT(next.value(), probe.value() + 2 * kPage);
}

TEST(BusAddressSpace, MemoryOfAnotherProcessGoesThroughItsBackend) {
  RemoteMemory remote;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("other process", remote);
  const std::uint64_t address = remote.memory.allocate(4 * kPage, kPage);
  const BusAddress bus = space.map(owner, address, 4 * kPage);
  Bytes data(3 * kPage);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 7 + i / kPage);
  ASSERT_EQ(space.write(advance(bus, 100), data), DmaStatus::kOk);
  EXPECT_EQ(remote.calls, 1) << "one call for a contiguous range";
  EXPECT_EQ(read(space, advance(bus, 100), data.size()), data);
  EXPECT_EQ(read(space, advance(bus, 200), 50), Bytes(data.begin() + 100, data.begin() + 150));

  remote.refuses = true;
  Bytes one(1);
  EXPECT_EQ(space.read(bus, one), DmaStatus::kAccessFailed);
  EXPECT_EQ(space.write(bus, one), DmaStatus::kAccessFailed);
}

TEST(BusAddressSpace, MemoryThatIsNotThereFailsWithoutACrash) {
  SparseMemory memory;
  BusAddressSpace space;
  const OwnerId owner = space.addOwner("process", memory);
  const std::uint64_t address = memory.allocate(kPage, kPage);
  // The second page belongs to no allocation.
  const BusAddress bus = space.map(owner, address, 2 * kPage);
  EXPECT_EQ(space.write(bus, Bytes{1}), DmaStatus::kOk);
  EXPECT_EQ(space.write(advance(bus, kPage), Bytes{1}), DmaStatus::kAccessFailed);
  Bytes both(2 * kPage);
  EXPECT_EQ(space.read(bus, both), DmaStatus::kAccessFailed);
}

class Watching : public testing::Test {
 protected:
  SparseMemory memory;
  BusAddressSpace space;
  OwnerId owner = space.addOwner("process", memory);
  BusAddress bus = space.map(owner, memory.allocate(4 * kPage, kPage), 4 * kPage);
  RecordingWatcher watcher;
};

TEST_F(Watching, TellsOfWritesThatTouchTheRangeOnly) {
  space.watch(advance(bus, 0x100), 0x40, watcher);
  space.write(advance(bus, 0xC0), Bytes(0x40));
  space.write(advance(bus, 0x140), Bytes(0x40));
  EXPECT_THAT(watcher.writes, IsEmpty());
  space.write(advance(bus, 0x13F), Bytes(1));
  space.write(advance(bus, 0xC1), Bytes(0x40));
  EXPECT_THAT(watcher.writes,
              ElementsAre(std::pair(bus.value() + 0x13F, std::uint64_t{1}), std::pair(bus.value() + 0xC1, 0x40u)));
  space.unwatch(advance(bus, 0x100), 0x40, watcher);
  space.write(advance(bus, 0x100), Bytes(1));
  EXPECT_EQ(watcher.writes.size(), 2u);
}

TEST_F(Watching, ToldOnceOfAWriteAcrossPages) {
  space.watch(advance(bus, 0x800), 3 * kPage, watcher);
  space.write(bus, Bytes(4 * kPage));
  EXPECT_THAT(watcher.writes, ElementsAre(std::pair(bus.value(), 4 * kPage)));
  space.write(advance(bus, kPage - 1), Bytes(2));
  EXPECT_EQ(watcher.writes.size(), 2u);
}

TEST_F(Watching, OneCallForEachRangeOfTheSameWatcher) {
  space.watch(bus, 64, watcher);
  space.watch(advance(bus, 64), 64, watcher);
  space.write(bus, Bytes(128));
  EXPECT_EQ(watcher.writes.size(), 2u);
  space.unwatch(bus, 64, watcher);
  space.write(bus, Bytes(128));
  EXPECT_EQ(watcher.writes.size(), 3u);
}

TEST_F(Watching, AFailedWriteIsNotTold) {
  space.watch(bus, 5 * kPage, watcher);
  EXPECT_EQ(space.write(advance(bus, 4 * kPage - 1), Bytes(2)), DmaStatus::kUnmapped);
  EXPECT_THAT(watcher.writes, IsEmpty());
}

TEST_F(Watching, OutlivesTheMapping) {
  const BusAddress chosen(0x5000);
  space.watch(chosen, kPage, watcher);
  const std::uint64_t address = memory.allocate(kPage, kPage);
  for (int round = 1; round <= 2; ++round) {
    ASSERT_TRUE(space.mapAt(chosen, owner, address, kPage));
    space.write(chosen, Bytes(1));
    EXPECT_EQ(watcher.writes.size(), static_cast<std::size_t>(round));
    space.unmap(chosen, kPage);
  }
  space.unwatch(chosen, kPage, watcher);
}

// Ends its own watch and another's while it is told, and starts a new one.
class Meddler final : public MemoryWatcher {
 public:
  Meddler(BusAddressSpace& s, BusAddress b, RecordingWatcher& v) : space(s), bus(b), victim(v) {}
  void onMemoryWritten(BusAddress, std::uint64_t) override {
    ++told;
    space.unwatch(bus, 64, *this);
    space.unwatch(bus, 64, victim);
    space.watch(bus, 64, newcomer);
  }
  BusAddressSpace& space;
  BusAddress bus;
  RecordingWatcher& victim;
  RecordingWatcher newcomer;
  int told = 0;
};

TEST_F(Watching, WatchersMayChangeTheWatchesWhileTheyAreTold) {
  Meddler meddler(space, bus, watcher);
  space.watch(bus, 64, meddler);
  space.watch(bus, 64, watcher);
  space.write(bus, Bytes(1));
  EXPECT_EQ(meddler.told, 1);
  EXPECT_THAT(watcher.writes, IsEmpty()) << "unwatched before its turn";
  EXPECT_THAT(meddler.newcomer.writes, IsEmpty()) << "this write was before the watch";
  space.write(bus, Bytes(1));
  EXPECT_EQ(meddler.told, 1);
  EXPECT_EQ(meddler.newcomer.writes.size(), 1u);
}

TEST_F(Watching, RefusesRangesThatMakeNoSense) {
  EXPECT_THROW(space.watch(bus, 0, watcher), std::invalid_argument);
  EXPECT_THROW(space.watch(BusAddress(~std::uint64_t{0}), 2, watcher), std::invalid_argument);
  EXPECT_THROW(space.watch(BusAddress((std::uint64_t{1} << 48) - 1), 2, watcher), std::invalid_argument);
  space.unwatch(bus, 0, watcher);
  space.unwatch(BusAddress(~std::uint64_t{0}), 1, watcher);
}

}  // namespace
}  // namespace hca::host
