#include "models/kernel/object_slab.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>

namespace hca::kernel {
namespace {

struct alignas(64) Named {
  std::string name;
  std::shared_ptr<int> held;
};

TEST(ObjectSlab, AgreesWithAMap) {
  std::mt19937 random(2);
  ObjectSlab<Named> slab;
  std::map<std::size_t, const Named*> reference;
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t number = random() % 300;
    const Named* const found = slab.find(number);
    const auto known = reference.find(number);
    ASSERT_EQ(found, known == reference.end() ? nullptr : known->second) << "objects never move";
    if (found == nullptr) {
      Named& made = slab.emplace(number, Named{std::to_string(number), nullptr});
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&made) % alignof(Named), 0u);
      reference[number] = &made;
    } else {
      EXPECT_EQ(found->name, std::to_string(number));
      slab.erase(number);
      reference.erase(known);
    }
  }
  auto next = reference.begin();
  slab.forEach([&](Named& each) { EXPECT_EQ(&each, (next++)->second); });
  EXPECT_EQ(next, reference.end());
}

TEST(ObjectSlab, NumbersBeyondTheLastBlockHaveNone) {
  ObjectSlab<int> slab;
  EXPECT_EQ(slab.find(0), nullptr);
  EXPECT_EQ(slab.find(~std::size_t{0}), nullptr);
  slab.emplace(31, 7);
  EXPECT_EQ(*slab.find(31), 7);
  EXPECT_EQ(slab.find(30), nullptr);
  EXPECT_EQ(slab.find(32), nullptr);
  slab.erase(32);
  slab.erase(4000);
  EXPECT_NE(slab.find(31), nullptr);
}

TEST(ObjectSlab, DestroysEachObjectOnce) {
  auto counted = std::make_shared<int>();
  {
    ObjectSlab<Named> slab;
    for (std::size_t number = 0; number < 100; number += 3) slab.emplace(number, Named{"", counted});
    EXPECT_EQ(counted.use_count(), 35);
    slab.erase(3);
    slab.erase(3);
    EXPECT_EQ(counted.use_count(), 34);
    slab.clear();
    EXPECT_EQ(counted.use_count(), 1);
    EXPECT_EQ(slab.find(0), nullptr);
    slab.emplace(0, Named{"", counted});
  }
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace hca::kernel
