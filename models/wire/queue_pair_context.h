// The context of a queue pair (qpc) with its address path (ads).
#pragma once

#include "models/wire/context_field.h"

namespace hca::wire {

/// 44 bytes. Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_ads_bits.
struct AddressPathContext {
  static constexpr std::size_t kSize = 0x2C;

  using ForceLoopback = ContextField<0x00, 31, 31>;
  using FreeAdaptiveRouting = ContextField<0x00, 30, 30>;
  using PkeyIndex = ContextField<0x00, 15, 0>;
  using GlobalRoute = ContextField<0x04, 23, 23>;
  using SourcePathBits = ContextField<0x04, 22, 16>;
  using RemoteLid = ContextField<0x04, 15, 0>;
  using AckTimeout = ContextField<0x08, 31, 27>;  ///< 4.096 us * 2^n, 0: none
  using SourceGidIndex = ContextField<0x08, 23, 16>;
  using StaticRate = ContextField<0x08, 11, 8>;
  using HopLimit = ContextField<0x08, 7, 0>;
  using TrafficClass = ContextField<0x0C, 27, 20>;
  using FlowLabel = ContextField<0x0C, 19, 0>;
  using RemoteGid = ContextBlock<0x10, 16>;
  using ForceDscp = ContextField<0x20, 27, 27>;
  using ForceEcn = ContextField<0x20, 26, 26>;
  using ForceEthernetPriority = ContextField<0x20, 24, 24>;
  using Ecn = ContextField<0x20, 23, 22>;
  using Dscp = ContextField<0x20, 21, 16>;
  using UdpSourcePort = ContextField<0x20, 15, 0>;
  using EthernetPriority = ContextField<0x24, 30, 28>;
  using ServiceLevel = ContextField<0x24, 27, 24>;
  using Port = ContextField<0x24, 23, 16>;
  using RemoteMac = ContextBlock<0x26, 6>;
};

/// 232 bytes. Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_qpc_bits.
struct QueuePairContext {
  static constexpr std::size_t kSize = 0xE8;

  using State = ContextField<0x00, 31, 28>;    ///< 0 reset, 1 init, 2 RTR, 3 RTS, 4 SQ error, 5 SQ drained, 6 error
  using Service = ContextField<0x00, 23, 16>;  ///< 0 RC, 1 UC, 2 UD, 3 XRC, 7 QP0, 8 QP1, 12 registered UMR
  using PathMigration = ContextField<0x00, 12, 11>;  ///< 3 migrated
  using OffloadType = ContextField<0x00, 7, 4>;
  static constexpr std::uint32_t kRendezvous = 1;  ///< the adapter fetches the data of matched rendezvous requests
  using EndPadding = ContextField<0x00, 3, 2>;
  using WqeSignature = ContextField<0x04, 31, 31>;
  using BlockLoopbackMulticast = ContextField<0x04, 30, 30>;
  using LatencySensitive = ContextField<0x04, 28, 28>;
  using DrainSignatureErrors = ContextField<0x04, 26, 26>;
  using ProtectionDomain = ContextField<0x04, 23, 0>;
  using Mtu = ContextField<0x08, 31, 29>;  ///< 1: 256 B ... 5: 4096 B
  using LogMaxMessage = ContextField<0x08, 28, 24>;
  using LogReceiveQueueSize = ContextField<0x08, 22, 19>;  ///< log2 of entries
  using LogReceiveStride = ContextField<0x08, 18, 16>;     ///< log2 of bytes, minus 4
  using NoSendQueue = ContextField<0x08, 15, 15>;
  using LogSendQueueSize = ContextField<0x08, 14, 11>;  ///< log2 of 64-byte blocks
  using TimestampFormat = ContextField<0x08, 7, 6>;
  using ReservedLkey = ContextField<0x08, 4, 4>;
  using OffloadMode = ContextField<0x08, 3, 0>;
  using CounterSet = ContextField<0x0C, 31, 24>;
  using UarPage = ContextField<0x0C, 23, 0>;
  using UserIndex = ContextField<0x10, 23, 0>;
  using LogPageSize = ContextField<0x14, 28, 24>;  ///< log2 of the page size, minus 12
  using RemoteQp = ContextField<0x14, 23, 0>;
  using PrimaryPath = ContextBlock<0x18, AddressPathContext::kSize>;
  using SecondaryPath = ContextBlock<0x44, AddressPathContext::kSize>;
  using LogAckRequestFrequency = ContextField<0x70, 31, 28>;
  using LogMaxOutstandingReads = ContextField<0x70, 23, 21>;  ///< log_sra_max: as requester
  using RetryCount = ContextField<0x70, 18, 16>;
  using RnrRetry = ContextField<0x70, 15, 13>;
  using FastRegisterEnabled = ContextField<0x70, 11, 11>;
  using CurrentRnrRetry = ContextField<0x70, 10, 8>;
  using CurrentRetryCount = ContextField<0x70, 7, 5>;
  using NextSendPsn = ContextField<0x78, 23, 0>;
  using SendCq = ContextField<0x7C, 23, 0>;
  using DethSourceQp = ContextField<0x80, 23, 0>;
  using LastAckedPsn = ContextField<0x88, 23, 0>;
  using SendSequenceNumber = ContextField<0x8C, 23, 0>;
  using LogMaxResponderReads = ContextField<0x90, 23, 21>;  ///< log_rra_max: as responder
  using AtomicMode = ContextField<0x90, 19, 16>;
  using RemoteRead = ContextField<0x90, 15, 15>;
  using RemoteWrite = ContextField<0x90, 14, 14>;
  using RemoteAtomic = ContextField<0x90, 13, 13>;
  using PageOffset = ContextField<0x90, 11, 6>;  ///< units of page size / 64
  using CrossChannelSlaveReceive = ContextField<0x90, 2, 2>;
  using CrossChannelSlaveSend = ContextField<0x90, 1, 1>;
  using CrossChannelMaster = ContextField<0x90, 0, 0>;
  using MinRnrNak = ContextField<0x94, 28, 24>;
  using NextReceivePsn = ContextField<0x94, 23, 0>;
  using XrcDomain = ContextField<0x98, 23, 0>;
  using ReceiveCq = ContextField<0x9C, 23, 0>;
  using DoorbellRecord = ContextWord64<0xA0>;  ///< +0 receive counter, +4 send counter
  using QueueKey = ContextField<0xA8, 31, 0>;
  using ReceiveQueueType = ContextField<0xAC, 26, 24>;  ///< 0 own, 1 SRQ, 3 none
  using SharedReceiveQueue = ContextField<0xAC, 23, 0>;
  using ReceiveMsn = ContextField<0xB0, 23, 0>;
  using HardwareSendCounter = ContextField<0xB4, 31, 16>;
  using SoftwareSendCounter = ContextField<0xB4, 15, 0>;
  using HardwareReceiveCounter = ContextField<0xB8, 31, 0>;
  using SoftwareReceiveCounter = ContextField<0xBC, 31, 0>;
  using RequesterInlineScatter = ContextField<0xC4, 15, 8>;  ///< cs_req: 0x11 32 B, 0x22 64 B
  using ResponderInlineScatter = ContextField<0xC4, 7, 0>;   ///< cs_res: 1 32 B, 2 64 B
  using DcAccessKey = ContextWord64<0xC8>;
};

}  // namespace hca::wire
