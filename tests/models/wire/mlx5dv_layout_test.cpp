// The project's own formats against the structures that the distribution's provider header publishes.
// Built only where that header is installed.
#include <gtest/gtest.h>
#include <infiniband/mlx5dv.h>

#include <cstddef>
#include <cstring>

#include "models/wire/cqe.h"
#include "models/wire/doorbell.h"
#include "models/wire/mmio_map.h"
#include "models/wire/tag_matching.h"
#include "models/wire/wqe.h"

namespace hca::wire {
namespace {

TEST(PublishedCqe, HasTheSameLayout) {
  EXPECT_EQ(sizeof(Cqe), sizeof(mlx5_cqe64));
  EXPECT_EQ(offsetof(Cqe, wqeId), offsetof(mlx5_cqe64, wqe_id));
  EXPECT_EQ(offsetof(Cqe, pathBits), offsetof(mlx5_cqe64, ml_path));
  EXPECT_EQ(offsetof(Cqe, sourceLid), offsetof(mlx5_cqe64, slid));
  EXPECT_EQ(offsetof(Cqe, flagsRemoteQp), offsetof(mlx5_cqe64, flags_rqpn));
  EXPECT_EQ(offsetof(Cqe, headerFlags), offsetof(mlx5_cqe64, hds_ip_ext));
  EXPECT_EQ(offsetof(Cqe, headerTypes), offsetof(mlx5_cqe64, l4_hdr_type_etc));
  EXPECT_EQ(offsetof(Cqe, vlan), offsetof(mlx5_cqe64, vlan_info));
  EXPECT_EQ(offsetof(Cqe, userIndex), offsetof(mlx5_cqe64, srqn_uidx));
  EXPECT_EQ(offsetof(Cqe, immediate), offsetof(mlx5_cqe64, imm_inval_pkey));
  EXPECT_EQ(offsetof(Cqe, app), offsetof(mlx5_cqe64, app));
  EXPECT_EQ(offsetof(Cqe, appOperation), offsetof(mlx5_cqe64, app_op));
  EXPECT_EQ(offsetof(Cqe, appInfo), offsetof(mlx5_cqe64, app_info));
  EXPECT_EQ(offsetof(Cqe, byteCount), offsetof(mlx5_cqe64, byte_cnt));
  EXPECT_EQ(offsetof(Cqe, timestamp), offsetof(mlx5_cqe64, timestamp));
  EXPECT_EQ(offsetof(Cqe, opcodeQp), offsetof(mlx5_cqe64, sop_drop_qpn));
  EXPECT_EQ(offsetof(Cqe, wqeCounter), offsetof(mlx5_cqe64, wqe_counter));
  EXPECT_EQ(offsetof(Cqe, signature), offsetof(mlx5_cqe64, signature));
  EXPECT_EQ(offsetof(Cqe, opOwn), offsetof(mlx5_cqe64, op_own));
}

TEST(PublishedCqe, AccessorsReadOurs) {
  Cqe ours;
  OpOwn::Opcode::set(ours.opOwn, CqeOpcode::kResponderSend);
  OpOwn::Format::set(ours.opOwn, CqeFormat::kInline32);
  OpOwn::Solicited::set(ours.opOwn, true);
  OpOwn::Owner::set(ours.opOwn, true);
  mlx5_cqe64 theirs;
  static_assert(sizeof theirs == sizeof ours);
  std::memcpy(&theirs, &ours, sizeof theirs);
  EXPECT_EQ(mlx5dv_get_cqe_opcode(&theirs), MLX5_CQE_RESP_SEND);
  EXPECT_EQ(mlx5dv_get_cqe_format(&theirs), static_cast<std::uint8_t>(CqeFormat::kInline32));
  EXPECT_NE(mlx5dv_get_cqe_se(&theirs), 0);
  EXPECT_EQ(mlx5dv_get_cqe_owner(&theirs), 1);
}

TEST(PublishedCqe, ErrorsHaveTheSameLayoutAndCodes) {
  EXPECT_EQ(sizeof(ErrorCqe), sizeof(mlx5_err_cqe));
  EXPECT_EQ(offsetof(ErrorCqe, userIndex), offsetof(mlx5_err_cqe, srqn));
  EXPECT_EQ(offsetof(ErrorCqe, vendorSyndrome), offsetof(mlx5_err_cqe, vendor_err_synd));
  EXPECT_EQ(offsetof(ErrorCqe, syndrome), offsetof(mlx5_err_cqe, syndrome));
  EXPECT_EQ(offsetof(ErrorCqe, opcodeQp), offsetof(mlx5_err_cqe, s_wqe_opcode_qpn));
  EXPECT_EQ(offsetof(ErrorCqe, wqeCounter), offsetof(mlx5_err_cqe, wqe_counter));
  EXPECT_EQ(static_cast<int>(CqeSyndrome::kLocalLength), MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
  EXPECT_EQ(static_cast<int>(CqeSyndrome::kLocalProtection), MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
  EXPECT_EQ(static_cast<int>(CqeSyndrome::kWorkRequestFlushed), MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
  EXPECT_EQ(static_cast<int>(CqeSyndrome::kRemoteAccess), MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
  EXPECT_EQ(static_cast<int>(CqeSyndrome::kTransportRetryExceeded), MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
  EXPECT_EQ(static_cast<int>(CqeSyndrome::kRnrRetryExceeded), MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(static_cast<int>(CqeSyndrome::kRemoteAborted), MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR);
}

TEST(PublishedCqe, OpcodesAreTheSame) {
  EXPECT_EQ(static_cast<int>(CqeOpcode::kRequester), MLX5_CQE_REQ);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kResponderWriteImmediate), MLX5_CQE_RESP_WR_IMM);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kResponderSendInvalidate), MLX5_CQE_RESP_SEND_INV);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kResize), MLX5_CQE_RESIZE_CQ);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kSignatureError), MLX5_CQE_SIG_ERR);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kRequesterError), MLX5_CQE_REQ_ERR);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kResponderError), MLX5_CQE_RESP_ERR);
  EXPECT_EQ(static_cast<int>(CqeOpcode::kInvalid), MLX5_CQE_INVALID);
}

TEST(PublishedWqe, SegmentsHaveTheSameLayout) {
  EXPECT_EQ(sizeof(ControlSegment), sizeof(mlx5_wqe_ctrl_seg));
  EXPECT_EQ(offsetof(ControlSegment, qpSize), offsetof(mlx5_wqe_ctrl_seg, qpn_ds));
  EXPECT_EQ(offsetof(ControlSegment, fenceCompletionSolicited), offsetof(mlx5_wqe_ctrl_seg, fm_ce_se));
  EXPECT_EQ(offsetof(ControlSegment, immediate), offsetof(mlx5_wqe_ctrl_seg, imm));
  EXPECT_EQ(sizeof(RemoteAddressSegment), sizeof(mlx5_wqe_raddr_seg));
  EXPECT_EQ(offsetof(RemoteAddressSegment, key), offsetof(mlx5_wqe_raddr_seg, rkey));
  EXPECT_EQ(sizeof(DataSegment), sizeof(mlx5_wqe_data_seg));
  EXPECT_EQ(offsetof(DataSegment, key), offsetof(mlx5_wqe_data_seg, lkey));
  EXPECT_EQ(offsetof(DataSegment, address), offsetof(mlx5_wqe_data_seg, addr));
  EXPECT_EQ(sizeof(AtomicSegment), sizeof(mlx5_wqe_atomic_seg));
  EXPECT_EQ(offsetof(AtomicSegment, compare), offsetof(mlx5_wqe_atomic_seg, compare));
  EXPECT_EQ(sizeof(DatagramSegment), sizeof(mlx5_wqe_av));
  EXPECT_EQ(offsetof(DatagramSegment, destinationQp), offsetof(mlx5_wqe_av, dqp_dct));
  EXPECT_EQ(offsetof(DatagramSegment, remoteLid), offsetof(mlx5_wqe_av, rlid));
  EXPECT_EQ(offsetof(DatagramSegment, remoteMac), offsetof(mlx5_wqe_av, rmac));
  EXPECT_EQ(offsetof(DatagramSegment, gidFlow), offsetof(mlx5_wqe_av, grh_gid_fl));
  EXPECT_EQ(offsetof(DatagramSegment, remoteGid), offsetof(mlx5_wqe_av, rgid));
  EXPECT_EQ(sizeof(NextSegment), sizeof(mlx5_wqe_srq_next_seg));
  EXPECT_EQ(offsetof(NextSegment, nextIndex), offsetof(mlx5_wqe_srq_next_seg, next_wqe_index));
  EXPECT_EQ(sizeof(UmrControlSegment), sizeof(mlx5_wqe_umr_ctrl_seg));
  EXPECT_EQ(offsetof(UmrControlSegment, keyMask), offsetof(mlx5_wqe_umr_ctrl_seg, mkey_mask));
}

TEST(PublishedTagMatching, HasTheSameLayout) {
  EXPECT_EQ(sizeof(TagSegment), sizeof(mlx5_wqe_tm_seg));
  EXPECT_EQ(offsetof(TagSegment, index), offsetof(mlx5_wqe_tm_seg, index));
  EXPECT_EQ(offsetof(TagSegment, softwareCount), offsetof(mlx5_wqe_tm_seg, sw_cnt));
  EXPECT_EQ(offsetof(TagSegment, tag), offsetof(mlx5_wqe_tm_seg, append_tag));
  EXPECT_EQ(offsetof(TagSegment, mask), offsetof(mlx5_wqe_tm_seg, append_mask));
  EXPECT_EQ(sizeof(TagHeader), sizeof(ibv_tmh));
  EXPECT_EQ(offsetof(TagHeader, userData), offsetof(ibv_tmh, app_ctx));
  EXPECT_EQ(offsetof(TagHeader, tag), offsetof(ibv_tmh, tag));
  EXPECT_EQ(sizeof(RendezvousHeader), sizeof(ibv_rvh));
  EXPECT_EQ(offsetof(RendezvousHeader, length), offsetof(ibv_rvh, len));
  EXPECT_EQ(offsetof(TagListCqe, hardwareCount), offsetof(mlx5_tm_cqe, hw_phase_cnt));
  EXPECT_EQ(offsetof(mlx5_cqe64, tm_cqe), 0U);
  EXPECT_EQ(offsetof(mlx5_cqe64, tmh), 0U);
  EXPECT_EQ(static_cast<int>(TagMessage::kRendezvous), IBV_TMH_RNDV);
  EXPECT_EQ(static_cast<int>(TagMessage::kFinished), IBV_TMH_FIN);
  EXPECT_EQ(static_cast<int>(TagMessage::kEager), IBV_TMH_EAGER);
  EXPECT_EQ(TagListCqe::Succeeded::kMask, MLX5_TMC_SUCCESS);
}

TEST(PublishedWqe, ConstantsAreTheSame) {
  EXPECT_EQ(static_cast<int>(SendOpcode::kSend), MLX5_OPCODE_SEND);
  EXPECT_EQ(static_cast<int>(SendOpcode::kWriteImmediate), MLX5_OPCODE_RDMA_WRITE_IMM);
  EXPECT_EQ(static_cast<int>(SendOpcode::kRead), MLX5_OPCODE_RDMA_READ);
  EXPECT_EQ(static_cast<int>(SendOpcode::kFetchAdd), MLX5_OPCODE_ATOMIC_FA);
  EXPECT_EQ(static_cast<int>(SendOpcode::kLocalInvalidate), MLX5_OPCODE_LOCAL_INVAL);
  EXPECT_EQ(static_cast<int>(SendOpcode::kUmr), MLX5_OPCODE_UMR);
  EXPECT_EQ(ControlSegment::Completion::make(CompletionMode::kAlways), MLX5_WQE_CTRL_CQ_UPDATE);
  EXPECT_EQ(ControlSegment::Solicited::make(true), MLX5_WQE_CTRL_SOLICITED);
  EXPECT_EQ(ControlSegment::Fence::make(FenceMode::kSmallAndFence), MLX5_WQE_CTRL_FENCE);
  EXPECT_EQ(DataSegment::Inline::make(true), static_cast<std::uint32_t>(MLX5_INLINE_SEG));
  EXPECT_EQ(DataSegment::kTerminatorKey, static_cast<std::uint32_t>(MLX5_INVALID_LKEY));
  EXPECT_EQ(DatagramSegment::Extended::make(true), static_cast<std::uint32_t>(MLX5_EXTENDED_UD_AV));
  EXPECT_EQ(kSendBlockSize, static_cast<std::size_t>(MLX5_SEND_WQE_BB));
  EXPECT_EQ(offsetof(QpDoorbellRecord, receiveCounter), sizeof(std::uint32_t) * MLX5_RCV_DBR);
  EXPECT_EQ(offsetof(QpDoorbellRecord, sendCounter), sizeof(std::uint32_t) * MLX5_SND_DBR);
}

}  // namespace
}  // namespace hca::wire
