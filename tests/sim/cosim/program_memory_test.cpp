#include "sim/cosim/program_memory.h"

#include <gtest/gtest.h>

namespace hca::cosim {
namespace {

// All of it can be reached, but for what was given back.
class WholeMemory final : public ProgramMemory {
 public:
  bool copyIn(std::uint64_t, MutableByteView) override { return true; }
  bool copyOut(std::uint64_t, ByteView) override { return true; }

  bool reaches(std::uint64_t address, std::size_t length) {
    std::uint8_t bytes[64] = {};
    return read(address, {bytes, length}) && write(address, {bytes, length});
  }
};

TEST(ProgramMemory, LosesWhatWasGivenBackToTheByte) {
  WholeMemory memory;
  memory.forget(100, 50);
  EXPECT_TRUE(memory.reaches(90, 10));
  EXPECT_FALSE(memory.reaches(90, 11));
  EXPECT_FALSE(memory.reaches(149, 1));
  EXPECT_TRUE(memory.reaches(150, 1));
}

TEST(ProgramMemory, JoinsRangesThatTouch) {
  WholeMemory memory;
  memory.forget(100, 10);
  memory.forget(120, 10);
  EXPECT_TRUE(memory.reaches(110, 10));
  memory.forget(110, 10);
  EXPECT_FALSE(memory.reaches(119, 1));
  memory.remember(100, 30);
  EXPECT_TRUE(memory.reaches(100, 30));
}

TEST(ProgramMemory, RemembersTheMiddleOfARange) {
  WholeMemory memory;
  memory.forget(100, 30);
  memory.remember(110, 10);
  EXPECT_FALSE(memory.reaches(109, 1));
  EXPECT_TRUE(memory.reaches(110, 10));
  EXPECT_FALSE(memory.reaches(120, 1));
  EXPECT_FALSE(memory.reaches(129, 1));
  EXPECT_TRUE(memory.reaches(130, 1));
}

}  // namespace
}  // namespace hca::cosim
