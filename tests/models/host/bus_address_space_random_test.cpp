// Random mapping and DMA against a map from bus byte to (owner, virtual address).
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "models/host/bus_address_space.h"
#include "models/host/sparse_memory.h"

namespace hca::host {
namespace {

constexpr std::uint64_t kPageBytes = BusAddressSpace::kPageSize;

// What the class promises, said in the slowest way: every accessible byte by itself.
struct ReferencePage {
  std::size_t owner = 0;
  std::uint64_t address = 0;  // the owner's, of byte 0 of the page
  std::uint64_t begin = 0, end = 0;
  int references = 0;
};

struct Party {
  SparseMemory memory;
  OwnerId id;
  std::uint64_t block = 0;
};

struct Handed {
  std::size_t owner;
  std::uint64_t bus, address, length;
};

class RandomMappings : public testing::Test {
 protected:
  static constexpr std::uint64_t kBlock = 16 * kPageBytes;

  RandomMappings() : parties(3) {
    for (Party& party : parties) {
      party.id = space.addOwner("party", party.memory);
      party.block = party.memory.allocate(kBlock, kPageBytes);
    }
  }

  std::uint64_t below(std::uint64_t limit) { return random() % limit; }

  void mapOne() {
    const std::size_t owner = below(parties.size());
    const std::uint64_t offset = below(kBlock - 1);
    const std::uint64_t length = 1 + below(std::min<std::uint64_t>(kBlock - offset, 1 + below(5 * kPageBytes)));
    const std::uint64_t address = parties[owner].block + offset;
    const std::uint64_t bus = space.map(parties[owner].id, address, length).value();
    ASSERT_EQ(bus % kPageBytes, address % kPageBytes);
    for (std::uint64_t page = bus / kPageBytes; page <= (bus + length - 1) / kPageBytes; ++page) {
      const std::uint64_t first = std::max(bus, page * kPageBytes);
      const std::uint64_t last = std::min(bus + length, (page + 1) * kPageBytes);
      const std::uint64_t ownerPage = address - bus + page * kPageBytes;
      const auto found = reference.find(page);
      if (found == reference.end()) {
        reference[page] = {owner, ownerPage, first - page * kPageBytes, last - page * kPageBytes, 1};
        continue;
      }
      // A bus page that is mapped already is only ever handed to the same owner for the same memory.
      ReferencePage& known = found->second;
      ASSERT_EQ(known.owner, owner);
      ASSERT_EQ(known.address, ownerPage);
      ASSERT_LE(known.begin, first - page * kPageBytes);
      ASSERT_GE(known.end, last - page * kPageBytes);
      ++known.references;
    }
    handed.push_back({owner, bus, address, length});
  }

  void unmapOne() {
    if (handed.empty()) return;
    const std::size_t index = below(handed.size());
    const Handed range = handed[index];
    handed.erase(handed.begin() + static_cast<std::ptrdiff_t>(index));
    space.unmap(BusAddress(range.bus), range.length);
    for (std::uint64_t page = range.bus / kPageBytes; page <= (range.bus + range.length - 1) / kPageBytes; ++page) {
      if (--reference.at(page).references == 0) reference.erase(page);
    }
  }

  [[nodiscard]] const ReferencePage* accessible(std::uint64_t bus) const {
    const auto found = reference.find(bus / kPageBytes);
    if (found == reference.end()) return nullptr;
    const bool within = bus % kPageBytes >= found->second.begin && bus % kPageBytes < found->second.end;
    return within ? &found->second : nullptr;
  }

  void accessOne() {
    // Around a page that is or was mapped, so that edges are hit.
    const std::uint64_t bus = handed.empty() ? lastBus : handed[below(handed.size())].bus + below(3 * kPageBytes) - 64;
    lastBus = bus;
    const std::uint64_t length = 1 + (below(2) == 0 ? below(128) : below(3 * kPageBytes));
    bool expected = true;
    for (std::uint64_t at = bus; at < bus + length && expected; ++at) expected = accessible(at) != nullptr;
    ASSERT_EQ(space.contains(BusAddress(bus), length), expected);

    std::vector<std::uint8_t> data(length);
    for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
    const DmaStatus wanted = expected ? DmaStatus::kOk : DmaStatus::kUnmapped;
    ASSERT_EQ(space.write(BusAddress(bus), data), wanted);
    if (!expected) return;
    std::vector<std::uint8_t> back(length);
    ASSERT_EQ(space.read(BusAddress(bus), back), DmaStatus::kOk);
    ASSERT_EQ(back, data);
    for (std::uint64_t i = 0; i < length; ++i) {
      const ReferencePage* page = accessible(bus + i);
      ASSERT_EQ(*parties[page->owner].memory.direct(page->address + (bus + i) % kPageBytes, 1), data[i]);
    }
  }

  std::mt19937_64 random{2024};
  BusAddressSpace space;
  std::vector<Party> parties;
  std::map<std::uint64_t, ReferencePage> reference;  // by bus page
  std::vector<Handed> handed;
  std::uint64_t lastBus = 0x1000;
};

TEST_F(RandomMappings, AgreeWithTheReference) {
  std::size_t successes = 0;
  for (int step = 0; step < 8'000 && !HasFatalFailure(); ++step) {
    const std::uint64_t what = below(10);
    // Grow and shrink in turns.
    const bool growing = step / 500 % 2 == 0;
    if (what < 4) {
      growing ? mapOne() : unmapOne();
    } else if (what < 5) {
      growing ? unmapOne() : mapOne();
    } else {
      accessOne();
      successes += accessible(lastBus) != nullptr ? 1 : 0;
    }
  }
  EXPECT_GT(successes, 1000u) << "the test must reach mapped memory";
}

}  // namespace
}  // namespace hca::host
