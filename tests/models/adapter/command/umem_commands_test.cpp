// CREATE_UMEM and DESTROY_UMEM through the command queue.
#include "models/wire/umem_commands.h"

#include "tests/models/adapter/command/object_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;
using wire::CreateUmemInput;

class UmemCommandsTest : public ObjectCommandsTest {
 protected:
  std::vector<std::uint8_t> umemInput(std::size_t pages) {
    auto input = makeInput(CommandOpcode::kCreateUserMemory, CreateUmemInput::kSize + 8 * pages);
    CreateUmemInput::LogPageSize::set(input, 1);  // 8 KiB
    CreateUmemInput::PageOffset::set(input, 0x1234);
    CreateUmemInput::PageCount::set(input, pages);
    for (std::size_t n = 0; n < pages; ++n) CreateUmemInput::Pages::set(input, n, 0x4000'0000 + n * 0x2000 + 3);
    return input;
  }
  Reply destroyUmem(std::uint32_t number) {
    auto input = makeInput(CommandOpcode::kDestroyUserMemory, 16);
    wire::UmemCommand::Number::set(input, number);
    return issue(input);
  }
  void expectWrong(const std::vector<std::uint8_t>& input) {
    expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kUmemPagesWrong);
  }
};

TEST_F(UmemCommandsTest, TheCapabilitiesOfferThem) {
  const Reply general = issue(makeInput(CommandOpcode::kQueryHcaCapabilities, 16, 1), 0x1010);
  ASSERT_TRUE(general.ok());
  // By hand: umem_uid_0 of mlx5_ifc_cmd_hca_cap_bits.
  EXPECT_EQ(general.output[16 + 0x4A] & 0x20, 0x20);
}

TEST_F(UmemCommandsTest, ComeAndGo) {
  const Reply first = issue(umemInput(3));
  const Reply second = issue(umemInput(1));
  ASSERT_TRUE(first.ok() && second.ok());
  const std::uint32_t number = wire::UmemCommand::Number::get(first.output);
  EXPECT_NE(number, wire::UmemCommand::Number::get(second.output));
  EXPECT_TRUE(destroyUmem(number).ok());
  expectRefusal(destroyUmem(number), CommandStatus::kBadResource, Syndrome::kUnknownUmem);
}

TEST_F(UmemCommandsTest, TheAccountCountsThem) {
  const Reply first = issue(umemInput(1));
  ASSERT_TRUE(first.ok() && issue(umemInput(1)).ok());
  expectWrong(umemInput(0));
  ASSERT_TRUE(destroyUmem(wire::UmemCommand::Number::get(first.output)).ok());
  const ObjectCount& count = processor_.device().account.of(ObjectKind::kUmem);
  EXPECT_EQ(count.created, 2U);
  EXPECT_EQ(count.destroyed, 1U);
  EXPECT_EQ(count.live, 1U);
  EXPECT_EQ(count.most, 2U);
}

TEST_F(UmemCommandsTest, WhatMakesNoSenseIsRefused) {
  auto input = umemInput(2);
  CreateUmemInput::PageCount::set(input, 3);
  expectWrong(input);
  expectWrong(umemInput(0));
  input = umemInput(2);
  CreateUmemInput::Pages::set(input, 1, 0x4000'1003);  // not at a multiple of its size
  expectWrong(input);
  input = umemInput(2);
  CreateUmemInput::Pages::set(input, 0, 0x4000'0002);  // can't be read
  expectWrong(input);
  input = umemInput(2);
  CreateUmemInput::PageOffset::set(input, 0x2000);
  expectWrong(input);
  input = umemInput(1);
  CreateUmemInput::LogPageSize::set(input, 20);
  expectWrong(input);
}

}  // namespace
}  // namespace hca::adapter::test
