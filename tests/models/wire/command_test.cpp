#include "models/wire/command.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "models/base/byte_view.h"
#include "models/wire/opcode.h"
#include "tests/support/hex_bytes.h"

namespace hca::wire {
namespace {

TEST(CommandEntry, ReadsAHandAssembledSlot) {
  // CREATE_CQ of 280 bytes in and 16 out, token 0x5a, owned by the adapter.
  const auto entry = structFrom<CommandEntry>(test::hexBytes(
      "07 00 00 00 00 00 01 18 00 00 00 01 23 45 66 00 04 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 10 5a 77 00 01"));
  EXPECT_EQ(entry.type, CommandEntry::kTypePcie);
  EXPECT_EQ(entry.inputLength.host(), 280U);
  EXPECT_EQ(entry.inputMailbox.host(), 0x123456600U);
  EXPECT_EQ(entry.input[0], 0x04);
  EXPECT_EQ(entry.outputMailbox.host(), 0U);
  EXPECT_EQ(entry.outputLength.host(), 16U);
  EXPECT_EQ(entry.token, 0x5A);
  EXPECT_EQ(entry.signature, 0x77);
  EXPECT_TRUE(CommandEntry::HardwareOwned::get(entry.statusOwner));
  EXPECT_EQ(CommandEntry::Status::get(entry.statusOwner), DeliveryStatus::kOk);
}

TEST(CommandEntry, KeepsTheDeliveryStatusAboveTheOwnerBit) {
  CommandEntry entry;
  CommandEntry::Status::set(entry.statusOwner, DeliveryStatus::kBadDescriptorType);
  EXPECT_EQ(entry.statusOwner, 0x20);
  EXPECT_STREQ(name(DeliveryStatus::kTokenError), "token error");
  EXPECT_STREQ(name(static_cast<DeliveryStatus>(0x7F)), "unknown delivery status");
}

TEST(CommandEntry, SignatureMakesTheXorAllOnes) {
  CommandEntry entry;
  entry.type = 7;
  entry.inputLength = Be32(0x10);
  entry.token = 0x33;
  entry.statusOwner = 1;
  // 07 ^ 10 ^ 33 ^ 01 = 25; its complement is da.
  sign(entry);
  EXPECT_EQ(entry.signature, 0xDA);
  EXPECT_TRUE(isSigned(entry));
  entry.statusOwner = 0;
  EXPECT_FALSE(isSigned(entry)) << "taking the owner bit away needs a new signature";
  sign(entry);
  EXPECT_TRUE(isSigned(entry));
}

TEST(MailboxBlock, SignsControlPartAndWhole) {
  MailboxBlock block;
  std::memset(block.data, 0x11, 1);
  block.next = Be64(0x2000);
  block.blockNumber = Be32(1);
  block.token = 0x33;
  sign(block);
  // Control: 20 ^ 01 ^ 33 = 12, complement ed. Whole: 11 ^ 12 ^ ed = ee, complement 11.
  EXPECT_EQ(block.controlSignature, 0xED);
  EXPECT_EQ(block.signature, 0x11);
  EXPECT_TRUE(isSigned(block));
}

TEST(MailboxBlock, NoticesEveryChangedByte) {
  MailboxBlock good;
  good.next = Be64(0xABCDE000);
  good.token = 9;
  sign(good);
  for (std::size_t i = 0; i < sizeof good; ++i) {
    std::vector<std::uint8_t> bytes(bytesOf(good).begin(), bytesOf(good).end());
    bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ 0x40);
    EXPECT_FALSE(isSigned(structFrom<MailboxBlock>(bytes))) << "byte " << i;
  }
}

TEST(MailboxBlock, ControlSignatureIsCheckedApart) {
  MailboxBlock block;
  sign(block);
  block.data[5] = 1;
  block.token = 1;  // together invisible to the sum over the whole block
  EXPECT_FALSE(isSigned(block));
}

TEST(Mailboxes, AreNeededForWhatDoesNotFitInline) {
  EXPECT_EQ(mailboxBlocks(0), 0U);
  EXPECT_EQ(mailboxBlocks(16), 0U);
  EXPECT_EQ(mailboxBlocks(17), 1U);
  EXPECT_EQ(mailboxBlocks(528), 1U);
  EXPECT_EQ(mailboxBlocks(529), 2U);
  EXPECT_EQ(mailboxBlocks(4112), 8U);
}

TEST(CommandQueueRegister, SplitsItsLowWord) {
  constexpr std::uint32_t kLow = 0xABCDE156;
  EXPECT_EQ(CommandQueueLow::Address::get(kLow), 0xABCDEU);
  EXPECT_EQ(CommandQueueLow::NicInterface::get(kLow), 1U);
  EXPECT_EQ(CommandQueueLow::LogEntries::get(kLow), 5U);
  EXPECT_EQ(CommandQueueLow::LogStride::get(kLow), 6U);
}

TEST(CommandOpcodes, HaveTheNamesOfThePublicDriver) {
  EXPECT_STREQ(name(CommandOpcode::kQueryHcaCapabilities), "QUERY_HCA_CAP");
  EXPECT_STREQ(name(CommandOpcode::kToReset), "2RST_QP");
  EXPECT_STREQ(name(CommandOpcode::kQueryRmp), "QUERY_RMP");
  EXPECT_STREQ(name(static_cast<CommandOpcode>(0x106)), "unknown");
  EXPECT_STREQ(name(static_cast<CommandOpcode>(0)), "unknown");
  EXPECT_STREQ(name(static_cast<CommandOpcode>(0xFFFF)), "unknown");
}

TEST(CommandOpcodes, OfADriversBringUpAreAllNamed) {
  for (const unsigned opcode :
       {0x104, 0x10a, 0x10b, 0x107, 0x108, 0x805, 0x100, 0x109, 0x102, 0x101, 0x802, 0x301, 0x762, 0x800,
        0x200, 0x400, 0x80e, 0x705, 0x90c, 0x764, 0x765, 0x50d, 0x500, 0x502, 0x503, 0x504, 0x816, 0x50b,
        0x50a, 0x501, 0x401, 0x202, 0x801, 0x803, 0x817, 0x90e, 0x706, 0x80f, 0x302, 0x103, 0x105}) {
    EXPECT_STRNE(name(static_cast<CommandOpcode>(opcode)), "unknown") << std::hex << opcode;
  }
}

}  // namespace
}  // namespace hca::wire
