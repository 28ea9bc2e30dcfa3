#include "sim/cosim/uverbs/ioctl_request.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

namespace hca::cosim {
namespace {

// Memory of a program, from address kBase on.
class ScriptedMemory final : public ProgramMemory {
 public:
  static constexpr std::uint64_t kBase = 0x1000;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(1024);

  bool copyIn(std::uint64_t address, MutableByteView into) override {
    if (!contains(address, into.size())) return false;
    std::memcpy(into.data(), bytes.data() + (address - kBase), into.size());
    return true;
  }
  bool copyOut(std::uint64_t address, ByteView from) override {
    if (!contains(address, from.size())) return false;
    std::memcpy(bytes.data() + (address - kBase), from.data(), from.size());
    return true;
  }
  template <class Struct>
  void put(std::uint64_t address, const Struct& object) {
    ASSERT_TRUE(copyOut(address, bytesOf(object)));
  }

 private:
  [[nodiscard]] bool contains(std::uint64_t address, std::size_t length) const {
    return address >= kBase && address + length <= kBase + bytes.size();
  }
};

struct Header {
  std::uint16_t length, object, method, attributes;
  std::uint64_t reserved1;
  std::uint32_t driver, reserved2;
};

constexpr std::uint64_t kAttributes = ScriptedMemory::kBase + sizeof(Header);

ib_uverbs_attr attribute(std::uint16_t id, std::uint16_t length, std::uint64_t data, std::uint16_t flags = 0) {
  ib_uverbs_attr made{};
  made.attr_id = id;
  made.len = length;
  made.flags = flags;
  made.data = data;
  return made;
}

class IoctlRequestTest : public testing::Test {
 protected:
  void putHeader(std::uint16_t attributes) {
    const auto length = static_cast<std::uint16_t>(sizeof(Header) + attributes * sizeof(ib_uverbs_attr));
    memory_.put(ScriptedMemory::kBase, Header{length, 3, 4, attributes, 0, 0, 0});
  }
  int read() { return request_.read(memory_, ScriptedMemory::kBase); }

  ScriptedMemory memory_;
  IoctlRequest request_;
};

TEST_F(IoctlRequestTest, ShortDataAreInlineAndLongOnesAtTheirAddress) {
  putHeader(2);
  memory_.put(kAttributes, attribute(1, 4, 0x11223344));
  memory_.put(kAttributes + sizeof(ib_uverbs_attr), attribute(2, 12, ScriptedMemory::kBase + 512));
  memory_.put(ScriptedMemory::kBase + 512, std::uint64_t{77});
  ASSERT_EQ(read(), 0);
  EXPECT_EQ(request_.object(), 3U);
  EXPECT_EQ(request_.method(), 4U);
  EXPECT_EQ(request_.bytes(1), (std::vector<std::uint8_t>{0x44, 0x33, 0x22, 0x11}));
  EXPECT_EQ(request_.bytes(2).size(), 12U);
  EXPECT_EQ(request_.bytes(2)[0], 77U);
  EXPECT_TRUE(request_.bytes(3).empty());
}

TEST_F(IoctlRequestTest, AnswersNoMoreThanTheProgramHasRoomForAndMarksIt) {
  putHeader(1);
  memory_.put(kAttributes, attribute(1, 4, ScriptedMemory::kBase + 512));
  ASSERT_EQ(read(), 0);
  EXPECT_TRUE(request_.answer(1, bytesOf(~std::uint64_t{0})));
  EXPECT_EQ(memory_.bytes[515], 0xFF);
  EXPECT_EQ(memory_.bytes[516], 0x00);
  const auto after =
      structFrom<ib_uverbs_attr>(ByteView(memory_.bytes).subview(sizeof(Header), sizeof(ib_uverbs_attr)));
  EXPECT_EQ(after.flags, UVERBS_ATTR_F_VALID_OUTPUT);
}

TEST_F(IoctlRequestTest, RefusesWhatIsMalformed) {
  EXPECT_EQ(request_.read(memory_, 0), EFAULT) << "no memory there";
  putHeader(1);
  memory_.put(ScriptedMemory::kBase, Header{10, 3, 4, 1, 0, 0, 0});
  EXPECT_EQ(read(), EINVAL) << "length and number of attributes disagree";
  memory_.put(ScriptedMemory::kBase, Header{sizeof(Header), 3, 4, 0, 1, 0, 0});
  EXPECT_EQ(read(), EPROTONOSUPPORT) << "reserved bits";
  constexpr std::uint16_t kTooMany = 64;  // beyond the end of this memory
  putHeader(kTooMany);
  EXPECT_EQ(read(), EFAULT);
}

TEST_F(IoctlRequestTest, MandatoryAttributesMustBeKnown) {
  putHeader(2);
  memory_.put(kAttributes, attribute(1, 4, 0, UVERBS_ATTR_F_MANDATORY));
  memory_.put(kAttributes + sizeof(ib_uverbs_attr), attribute(9, 4, 0));
  ASSERT_EQ(read(), 0);
  EXPECT_FALSE(request_.hasUnknown({1}));
  EXPECT_TRUE(request_.hasUnknown({9}));
}

}  // namespace
}  // namespace hca::cosim
