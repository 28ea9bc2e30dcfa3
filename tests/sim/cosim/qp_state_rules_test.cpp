#include "sim/cosim/uverbs/qp_state_rules.h"

#include <gtest/gtest.h>

namespace hca::cosim {
namespace {

using M = QpMask;
using S = VerbsState;
constexpr std::uint8_t kRc = 2, kUc = 3, kUd = 4;

TEST(QpStateRules, InitNeedsWhatTheServiceNeeds) {
  constexpr std::uint32_t kCommon = M::kState | M::kPkeyIndex | M::kPort;
  EXPECT_TRUE(isModifyAllowed(kRc, S::kReset, S::kInit, kCommon | M::kAccess));
  EXPECT_FALSE(isModifyAllowed(kRc, S::kReset, S::kInit, kCommon));
  EXPECT_FALSE(isModifyAllowed(kRc, S::kReset, S::kInit, kCommon | M::kQueueKey));
  EXPECT_TRUE(isModifyAllowed(kUd, S::kReset, S::kInit, kCommon | M::kQueueKey));
  EXPECT_FALSE(isModifyAllowed(kUd, S::kReset, S::kInit, kCommon | M::kAccess));
}

TEST(QpStateRules, ReliableServicesNeedMoreToConnect) {
  constexpr std::uint32_t kConnect = M::kState | M::kPath | M::kPathMtu | M::kRemoteQp | M::kReceivePsn;
  EXPECT_TRUE(isModifyAllowed(kUc, S::kInit, S::kReadyToReceive, kConnect));
  EXPECT_FALSE(isModifyAllowed(kRc, S::kInit, S::kReadyToReceive, kConnect));
  EXPECT_TRUE(isModifyAllowed(kRc, S::kInit, S::kReadyToReceive, kConnect | M::kMaxResponderReads | M::kMinRnrTimer));
  EXPECT_TRUE(isModifyAllowed(kUd, S::kInit, S::kReadyToReceive, M::kState));
}

TEST(QpStateRules, RawPacketsNeedAPortAndNothingElse) {
  constexpr std::uint8_t kRaw = 8;
  EXPECT_TRUE(isModifyAllowed(kRaw, S::kReset, S::kInit, M::kState | M::kPort));
  EXPECT_FALSE(isModifyAllowed(kRaw, S::kReset, S::kInit, M::kState));
  EXPECT_FALSE(isModifyAllowed(kRaw, S::kReset, S::kInit, M::kState | M::kPort | M::kPkeyIndex));
  EXPECT_TRUE(isModifyAllowed(kRaw, S::kInit, S::kReadyToReceive, M::kState));
  EXPECT_TRUE(isModifyAllowed(kRaw, S::kReadyToReceive, S::kReadyToSend, M::kState));
  EXPECT_FALSE(isModifyAllowed(kRaw, S::kReadyToReceive, S::kReadyToSend, M::kState | M::kSendPsn));
  EXPECT_FALSE(isModifyAllowed(kRaw, S::kReadyToSend, S::kDrain, M::kState));
}

TEST(QpStateRules, ErrorAndResetAreAlwaysOpenAndStatesAreNotSkipped) {
  for (const S from : {S::kReset, S::kInit, S::kReadyToReceive, S::kReadyToSend, S::kError}) {
    EXPECT_TRUE(isModifyAllowed(kRc, from, S::kError, M::kState));
    EXPECT_TRUE(isModifyAllowed(kRc, from, S::kReset, M::kState));
  }
  EXPECT_FALSE(isModifyAllowed(kRc, S::kReset, S::kReadyToSend, M::kState | M::kSendPsn));
  EXPECT_FALSE(isModifyAllowed(kRc, S::kError, S::kReadyToSend, M::kState));
}

TEST(QpStateRules, InitiatorsOfDynamicConnectionsNameNoPeer) {
  constexpr std::uint8_t kDci = 0xF5;
  constexpr std::uint32_t kStart = M::kState | M::kTimeout | M::kRetryCount | M::kRnrRetry | M::kSendPsn | M::kMaxReads;
  EXPECT_TRUE(isModifyAllowed(kDci, S::kReset, S::kInit, M::kState | M::kPkeyIndex | M::kPort));
  EXPECT_FALSE(isModifyAllowed(kDci, S::kReset, S::kInit, M::kState | M::kPort));
  EXPECT_TRUE(isModifyAllowed(kDci, S::kInit, S::kReadyToReceive, M::kState | M::kPathMtu));
  EXPECT_FALSE(isModifyAllowed(kDci, S::kInit, S::kReadyToReceive, M::kState | M::kPathMtu | M::kRemoteQp));
  EXPECT_TRUE(isModifyAllowed(kDci, S::kReadyToReceive, S::kReadyToSend, kStart));
  EXPECT_FALSE(isModifyAllowed(kDci, S::kReadyToReceive, S::kReadyToSend, M::kState | M::kSendPsn));
}

}  // namespace
}  // namespace hca::cosim
