// A table of memory keys with one protection domain.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "models/adapter/memory/mkey_table.h"

namespace hca::adapter::test {

class MkeyTableTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();

  MkeyTableTest() { EXPECT_TRUE(pds_.allocate(pd_).ok()); }

  MkeyAttributes region(std::uint64_t start, std::uint64_t length, std::vector<BusAddress> pages) const {
    MkeyAttributes attributes;
    attributes.rights = {true, true, true, true, true};
    attributes.variant = 0x42;
    attributes.pd = pd_;
    attributes.start = start;
    attributes.length = length;
    attributes.pages = std::move(pages);
    return attributes;
  }
  MemoryKey create(const MkeyAttributes& attributes) {
    MkeyIndex index;
    const CommandResult result = table_.create(attributes, index);
    EXPECT_TRUE(result.ok()) << std::hex << static_cast<std::uint32_t>(result.syndrome);
    return makeKey(index, attributes.variant);
  }
  CommandResult refusal(const MkeyAttributes& attributes) {
    MkeyIndex index(0xABCDEF);
    const CommandResult result = table_.create(attributes, index);
    EXPECT_EQ(index, MkeyIndex(0xABCDEF)) << "a refused create gave a number";
    return result;
  }
  AccessRequest request(MemoryKey key, std::uint64_t address, std::uint64_t length) const {
    AccessRequest access;
    access.key = key;
    access.pd = pd_;
    access.qp = QpNumber(77);
    access.address = address;
    access.length = length;
    return access;
  }
  AccessFault fault(const AccessRequest& access) {
    segments_.clear();
    const AccessFault result = table_.translate(access, segments_).fault;
    EXPECT_EQ(segments_.empty(), result != AccessFault::kNone || access.length == 0);
    return result;
  }

  CachePort cache_;
  PdTable pds_{1024};
  MemoryConfig config_;
  MkeyTable table_{config_, pds_, cache_};
  PdNumber pd_;
  std::vector<Segment> segments_;
};

}  // namespace hca::adapter::test
