// Contexts by hand-assembled bytes; then every field there and back.
#include "models/adapter/command/context_codec.h"

#include <gtest/gtest.h>

#include "models/adapter/memory/mkey_context.h"

namespace hca::adapter {
namespace {

using Bytes64 = std::vector<std::uint8_t>;

TEST(ContextCodec, CqContextFromBytes) {
  Bytes64 bytes(64);
  bytes[0x01] = 0x32;  // cqe_sz 1, cc, oi
  bytes[0x02] = 0xC9;  // period mode 1 (low bit), compression, st 9
  bytes[0x0A] = 0x00;
  bytes[0x0B] = 0xC0;  // page_offset 3
  bytes[0x0C] = 0x07;  // log_cq_size
  bytes[0x0F] = 0x45;  // uar_page
  bytes[0x10] = 0x01;
  bytes[0x11] = 0x23;  // cq_period
  bytes[0x12] = 0x45;
  bytes[0x13] = 0x67;  // cq_max_count
  bytes[0x17] = 0x09;  // c_eqn
  bytes[0x18] = 0x01;  // log_page_size
  bytes[0x3E] = 0x12;
  bytes[0x3F] = 0x38;  // dbr_addr
  const CqAttributes cq = decodeCqContext(bytes);
  EXPECT_EQ(cq.stride, CqeStride::k128);
  EXPECT_TRUE(cq.collapsed);
  EXPECT_TRUE(cq.ignoreOverrun);
  EXPECT_EQ(cq.periodMode, PeriodMode::kFromEntry);
  EXPECT_TRUE(cq.compression);
  EXPECT_EQ(cq.notification, NotificationState::kArmed);
  EXPECT_EQ(cq.ring.logPageSize, 13);
  EXPECT_EQ(cq.ring.offset, 3U * 8192 / 64);
  EXPECT_EQ(cq.logSize, 7);
  EXPECT_EQ(cq.uar, UarIndex(0x45));
  EXPECT_EQ(cq.moderationPeriod, 0x123);
  EXPECT_EQ(cq.moderationCount, 0x4567);
  EXPECT_EQ(cq.eq, EqNumber(9));
  EXPECT_EQ(cq.doorbellRecord, BusAddress(0x1238));
  Bytes64 again(64);
  encodeCqContext(cq, again);
  EXPECT_EQ(again, bytes);
}

TEST(ContextCodec, EqContextFromBytes) {
  Bytes64 bytes(64);
  bytes[0x01] = 0x02;  // oi
  bytes[0x02] = 0x0A;  // st fired
  bytes[0x0C] = 0x0B;  // log_eq_size
  bytes[0x0E] = 0x01;
  bytes[0x0F] = 0x02;  // uar_page
  bytes[0x16] = 0x01;
  bytes[0x17] = 0x05;  // intr 0x105
  bytes[0x2B] = 0x33;
  bytes[0x2F] = 0x44;
  const EqAttributes eq = decodeEqContext(bytes);
  EXPECT_TRUE(eq.ignoreOverrun);
  EXPECT_EQ(eq.state, EqState::kFired);
  EXPECT_EQ(eq.logSize, 11);
  EXPECT_EQ(eq.uar, UarIndex(0x102));
  EXPECT_EQ(eq.vector, InterruptVector(0x105));
  EXPECT_EQ(eq.consumerCounter, 0x33U);
  EXPECT_EQ(eq.producerCounter, 0x44U);
  Bytes64 again(64);
  encodeEqContext(eq, again);
  EXPECT_EQ(again, bytes);
}

TEST(ContextCodec, MkeyContextFromBytes) {
  Bytes64 bytes(64);
  bytes[0x01] = 0x04;  // relaxed ordering write
  bytes[0x02] = 0x7D;  // a, rw, rr, lw, lr; mode 1
  bytes[0x04] = 0xFF;
  bytes[0x05] = 0xFF;
  bytes[0x06] = 0xFF;
  bytes[0x07] = 0x99;  // variant
  bytes[0x0F] = 0x21;  // pd
  bytes[0x16] = 0x10;  // start 0x1000
  bytes[0x1E] = 0x20;  // len 0x2000
  bytes[0x37] = 0x01;  // translations_octword_size
  bytes[0x3B] = 0x0C;  // log_page_size
  MkeyAttributes key = decodeMkeyContext(bytes);
  EXPECT_TRUE(key.relaxedOrderingWrite);
  EXPECT_TRUE(key.rights.localRead && key.rights.localWrite && key.rights.remoteRead && key.rights.remoteWrite &&
              key.rights.atomic);
  EXPECT_EQ(key.mode, MkeyMode::kTranslated);
  EXPECT_EQ(key.boundQp, 0xFFFFFFU);
  EXPECT_EQ(key.variant, 0x99);
  EXPECT_EQ(key.pd, PdNumber(0x21));
  EXPECT_EQ(key.start, 0x1000U);
  EXPECT_EQ(key.length, 0x2000U);
  EXPECT_EQ(key.logPageSize, 12);
  key.pages.resize(2);
  Bytes64 again(64);
  encodeMkeyContext(key, again);
  EXPECT_EQ(again, bytes);
}

TEST(ContextCodec, MkeyRightsAreSeparateBits) {
  constexpr std::uint8_t kLocalRead = 0x04, kLocalWrite = 0x08, kRemoteRead = 0x10, kRemoteWrite = 0x20, kAtomic = 0x40;
  for (const std::uint8_t bit : {kLocalRead, kLocalWrite, kRemoteRead, kRemoteWrite, kAtomic}) {
    Bytes64 bytes(64);
    bytes[0x02] = bit;
    const AccessRights rights = decodeMkeyContext(bytes).rights;
    EXPECT_EQ(rights.localRead, bit == kLocalRead);
    EXPECT_EQ(rights.localWrite, bit == kLocalWrite);
    EXPECT_EQ(rights.remoteRead, bit == kRemoteRead);
    EXPECT_EQ(rights.remoteWrite, bit == kRemoteWrite);
    EXPECT_EQ(rights.atomic, bit == kAtomic);
  }
}

TEST(ContextCodec, QpContextFromBytes) {
  Bytes64 bytes(0xE8);
  bytes[0x00] = 0x30;  // state RTS
  bytes[0x01] = 0x02;  // st UD
  bytes[0x07] = 0x11;  // pd
  bytes[0x08] = 0xBE;  // mtu 5 (4096), log_msg_max 30
  bytes[0x09] = 0x3A;  // log_rq_size 7, log_rq_stride 2
  bytes[0x0A] = 0x48;  // no_sq 0, log_sq_size 9
  bytes[0x0F] = 0x40;  // uar
  bytes[0x11] = 0xAB;
  bytes[0x12] = 0xCD;
  bytes[0x13] = 0xEF;  // user_index
  bytes[0x15] = 0x01;
  bytes[0x16] = 0x02;
  bytes[0x17] = 0x03;  // remote_qpn
  bytes[0x1B] = 0x05;  // pkey_index
  bytes[0x1D] = 0x80;  // grh
  bytes[0x1F] = 0x09;  // rlid
  bytes[0x20] = 0x70;  // ack_timeout 14
  bytes[0x28] = 0xFE;  // rgid
  bytes[0x3C] = 0x03;  // sl
  bytes[0x3D] = 0x01;  // port
  bytes[0x71] = 0x87;  // log_sra_max 4, retry_count 7
  bytes[0x72] = 0xC0;  // rnr_retry 6
  bytes[0x7B] = 0x55;  // next_send_psn
  bytes[0x7F] = 0x66;  // cqn_snd
  bytes[0x91] = 0x60;  // log_rra_max 3
  bytes[0x92] = 0xE0;  // rre rwe rae
  bytes[0x94] = 0x0C;  // min_rnr_nak
  bytes[0x97] = 0x77;  // next_rcv_psn
  bytes[0x9F] = 0x88;  // cqn_rcv
  bytes[0xA7] = 0x40;  // dbr_addr
  bytes[0xAB] = 0x01;  // q_key
  bytes[0xAC] = 0x03;  // rq_type none
  bytes[0xC6] = 0x22;  // cs_req
  bytes[0xC7] = 0x01;  // cs_res
  const QpAttributes qp = decodeQpContext(bytes);
  EXPECT_EQ(qp.state, QpState::kReadyToSend);
  EXPECT_EQ(qp.service, QpService::kUd);
  EXPECT_EQ(qp.pd, PdNumber(0x11));
  EXPECT_EQ(qp.mtu, 4096U);
  EXPECT_EQ(qp.logMaxMessage, 30);
  EXPECT_EQ(qp.logReceiveQueueSize, 7);
  EXPECT_EQ(qp.logReceiveStride, 6);
  EXPECT_TRUE(qp.hasSendQueue);
  EXPECT_EQ(qp.logSendQueueSize, 9);
  EXPECT_EQ(qp.userIndex, 0xABCDEFU);
  EXPECT_EQ(qp.remoteQp, QpNumber(0x10203));
  EXPECT_EQ(qp.path.partitionIndex, 5);
  EXPECT_TRUE(qp.path.globalRoute);
  EXPECT_EQ(qp.path.remoteLid, Lid(9));
  EXPECT_EQ(qp.path.ackTimeout, 14);
  EXPECT_EQ(qp.path.remoteGid[0], 0xFE);
  EXPECT_EQ(qp.path.serviceLevel, 3);
  EXPECT_EQ(qp.path.port, 1);
  EXPECT_EQ(qp.logMaxOutstandingReads, 4);
  EXPECT_EQ(qp.retryCount, 7);
  EXPECT_EQ(qp.rnrRetry, 6);
  EXPECT_EQ(qp.nextSendPsn, 0x55U);
  EXPECT_EQ(qp.sendCq, CqNumber(0x66));
  EXPECT_EQ(qp.logMaxResponderReads, 3);
  EXPECT_TRUE(qp.remoteRead && qp.remoteWrite && qp.remoteAtomic);
  EXPECT_EQ(qp.minRnrNak, 12);
  EXPECT_EQ(qp.nextReceivePsn, 0x77U);
  EXPECT_EQ(qp.receiveCq, CqNumber(0x88));
  EXPECT_EQ(qp.doorbellRecord, BusAddress(0x40));
  EXPECT_EQ(qp.queueKey, 1U);
  EXPECT_EQ(qp.receiveQueueType, RqType::kNone);
  EXPECT_EQ(qp.requesterInlineScatter, 0x22);
  EXPECT_EQ(qp.responderInlineScatter, 1);
  Bytes64 again(0xE8);
  encodeQpContext(qp, again);
  EXPECT_EQ(again, bytes);
}

TEST(ContextCodec, MtuCodes) {
  constexpr std::uint32_t kBytes[] = {0, 256, 512, 1024, 2048, 4096, 0, 0};
  for (std::uint8_t code = 0; code < 8; ++code) {
    Bytes64 bytes(0xE8);
    bytes[0x08] = static_cast<std::uint8_t>(code << 5);
    EXPECT_EQ(decodeQpContext(bytes).mtu, kBytes[code]);
  }
}

}  // namespace
}  // namespace hca::adapter
