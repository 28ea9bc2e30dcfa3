#include "sim/driver/completion_parser.h"

#include <gtest/gtest.h>

#include <array>

#include "models/base/byte_view.h"

namespace hca::driver {
namespace {

using EntryBytes = std::array<std::uint8_t, 64>;

wire::Cqe entry(const EntryBytes& bytes) { return structFrom<wire::Cqe>({bytes.data(), bytes.size()}); }

EntryBytes requester(std::uint8_t sendOpcode) {
  EntryBytes bytes{};
  bytes[0x2F] = 99;  // byte count
  bytes[0x37] = 5;   // time stamp
  bytes[0x38] = sendOpcode;
  bytes[0x39] = 0x01, bytes[0x3A] = 0x02, bytes[0x3B] = 0x03;  // QP number
  return bytes;
}

TEST(ParseCompletion, RequesterOpcodes) {
  const std::pair<int, WcOpcode> opcodes[] = {
      {0x08, WcOpcode::kWrite}, {0x09, WcOpcode::kWrite}, {0x0A, WcOpcode::kSend},        {0x0B, WcOpcode::kSend},
      {0x01, WcOpcode::kSend},  {0x10, WcOpcode::kRead},  {0x11, WcOpcode::kCompareSwap}, {0x12, WcOpcode::kFetchAdd}};
  for (const auto& [number, opcode] : opcodes) {
    const WorkCompletion completion = parseCompletion(entry(requester(static_cast<std::uint8_t>(number))));
    EXPECT_EQ(completion.opcode, opcode) << number;
    EXPECT_EQ(completion.status, WcStatus::kSuccess);
    EXPECT_EQ(completion.qp, QpNumber(0x010203));
    EXPECT_EQ(completion.timestamp, 5U);
  }
}

TEST(ParseCompletion, OnlyReadsAndAtomicsOfARequesterHaveALength) {
  EXPECT_EQ(parseCompletion(entry(requester(0x08))).byteLength, 0U);
  EXPECT_EQ(parseCompletion(entry(requester(0x10))).byteLength, 99U);
  EXPECT_EQ(parseCompletion(entry(requester(0x11))).byteLength, 8U);
}

TEST(ParseCompletion, ResponderWithImmediate) {
  EntryBytes bytes{};
  bytes[0x19] = 0xAA, bytes[0x1A] = 0xBB, bytes[0x1B] = 0xCC;  // remote QP
  bytes[0x24] = 0xDE, bytes[0x25] = 0xAD, bytes[0x26] = 0xBE, bytes[0x27] = 0xEF;
  bytes[0x2E] = 0x10;  // byte count 0x1000
  bytes[0x3F] = 0x30;  // responder send with immediate
  WorkCompletion completion = parseCompletion(entry(bytes));
  EXPECT_EQ(completion.opcode, WcOpcode::kReceive);
  EXPECT_TRUE(completion.hasImmediate);
  EXPECT_EQ(completion.immediateOrKey, 0xDEADBEEFU);
  EXPECT_EQ(completion.byteLength, 0x1000U);
  EXPECT_EQ(completion.sourceQp, QpNumber(0xAABBCC));
  EXPECT_FALSE(completion.hasGlobalRoute);
  bytes[0x16] = 0x12, bytes[0x17] = 0x34;  // source LID
  bytes[0x18] = 0x17;                      // GRH in the buffer, service level 7
  completion = parseCompletion(entry(bytes));
  EXPECT_TRUE(completion.hasGlobalRoute);
  EXPECT_EQ(completion.sourceLid, Lid(0x1234));
  EXPECT_EQ(completion.serviceLevel, 7);
  EXPECT_EQ(completion.sourceQp, QpNumber(0xAABBCC));
  bytes[0x3F] = 0x10;
  completion = parseCompletion(entry(bytes));
  EXPECT_EQ(completion.opcode, WcOpcode::kReceiveWriteImmediate);
  EXPECT_TRUE(completion.hasImmediate);
  bytes[0x3F] = 0x20;
  completion = parseCompletion(entry(bytes));
  EXPECT_FALSE(completion.hasImmediate);
  EXPECT_EQ(completion.immediateOrKey, 0U);
  bytes[0x3F] = 0x40;
  completion = parseCompletion(entry(bytes));
  EXPECT_TRUE(completion.hasInvalidatedKey);
  EXPECT_FALSE(completion.hasImmediate);
}

TEST(ParseCompletion, RawPacket) {
  EntryBytes bytes{};
  bytes[0x1C] = 7;     // L2, L3 and L4 are right
  bytes[0x1D] = 0x29;  // UDP, IPv4, a tag
  bytes[0x1E] = 0x60, bytes[0x1F] = 0x05;
  bytes[0x39] = 0xAB, bytes[0x3A] = 0xCD, bytes[0x3B] = 0xEF;  // flow tag
  bytes[0x3F] = 0x20;
  WorkCompletion completion = parseCompletion(entry(bytes));
  EXPECT_TRUE(completion.checksumOk);
  EXPECT_EQ(completion.vlan, 0x6005);
  EXPECT_EQ(completion.flowTag, 0xABCDEFU);
  bytes[0x1C] = 3;
  EXPECT_FALSE(parseCompletion(entry(bytes)).checksumOk) << "the transport's is wrong";
  bytes[0x1C] = 7, bytes[0x1D] = 0x25;
  EXPECT_FALSE(parseCompletion(entry(bytes)).checksumOk) << "of IPv4 alone, as libmlx5 has it";
}

TEST(ParseCompletion, ErrorEntry) {
  EntryBytes bytes{};
  bytes[0x36] = 0x88;
  bytes[0x37] = 0x13;
  bytes[0x3B] = 9;
  bytes[0x3F] = 0xD0;
  const WorkCompletion completion = parseCompletion(entry(bytes));
  EXPECT_EQ(completion.status, WcStatus::kRemoteAccess);
  EXPECT_EQ(completion.vendorError, 0x88);
  EXPECT_EQ(completion.qp, QpNumber(9));
}

TEST(StatusOf, EverySyndrome) {
  const std::pair<int, WcStatus> statuses[] = {
      {0x01, WcStatus::kLocalLength},     {0x02, WcStatus::kLocalQpOperation},
      {0x04, WcStatus::kLocalProtection}, {0x05, WcStatus::kFlushed},
      {0x06, WcStatus::kWindowBind},      {0x10, WcStatus::kBadResponse},
      {0x11, WcStatus::kLocalAccess},     {0x12, WcStatus::kRemoteInvalidRequest},
      {0x13, WcStatus::kRemoteAccess},    {0x14, WcStatus::kRemoteOperation},
      {0x15, WcStatus::kRetryExceeded},   {0x16, WcStatus::kRnrRetryExceeded},
      {0x22, WcStatus::kRemoteAborted},   {0x00, WcStatus::kGeneral},
      {0x03, WcStatus::kGeneral},         {0xFF, WcStatus::kGeneral}};
  for (const auto& [syndrome, status] : statuses) {
    EXPECT_EQ(statusOf(static_cast<std::uint8_t>(syndrome)), status) << syndrome;
  }
  EXPECT_STREQ(name(WcStatus::kRetryExceeded), "RETRY_EXC_ERR");
}

TEST(CompletedQueue, ByOpcode) {
  EXPECT_EQ(completedQueue(wire::CqeOpcode::kRequester), CompletedQueue::kSend);
  EXPECT_EQ(completedQueue(wire::CqeOpcode::kRequesterError), CompletedQueue::kSend);
  EXPECT_EQ(completedQueue(wire::CqeOpcode::kResponderSend), CompletedQueue::kReceive);
  EXPECT_EQ(completedQueue(wire::CqeOpcode::kResponderError), CompletedQueue::kReceive);
  EXPECT_EQ(completedQueue(wire::CqeOpcode::kResize), CompletedQueue::kNone);
  EXPECT_EQ(completedQueue(wire::CqeOpcode::kSignatureError), CompletedQueue::kNone);
}

TEST(ErrorOf, StatusesAsTheStockDriverMapsThem) {
  using adapter::CommandStatus;
  EXPECT_EQ(errorOf({CommandStatus::kOk}), VerbsError::kNone);
  EXPECT_EQ(errorOf({CommandStatus::kResourceBusy}), VerbsError::kBusy);
  EXPECT_EQ(errorOf({CommandStatus::kExceedLimit}), VerbsError::kNoMemory);
  EXPECT_EQ(errorOf({CommandStatus::kBadParameter}), VerbsError::kInvalid);
  EXPECT_EQ(errorOf({CommandStatus::kInternalError}), VerbsError::kInputOutput);
  EXPECT_EQ(errorOf({static_cast<CommandStatus>(0x77)}), VerbsError::kInputOutput);
}

}  // namespace
}  // namespace hca::driver
