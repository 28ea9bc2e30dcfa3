// What a program asks of a device as a whole.
#include <endian.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"

namespace hca::cosim {
namespace {

constexpr std::uint64_t kCoreSupport = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
constexpr std::uint32_t kVendor = 0x2C9;
constexpr std::uint32_t kMaxSge = 30;
constexpr std::uint32_t kDynamicRegisters = 512;  // MLX5_MAX_DYNAMIC_BFREGS
constexpr std::uint32_t kMostRegisters = 512;
constexpr std::uint32_t kMostModerated = 65535;
constexpr std::uint32_t kLongestPeriod = 4095;

// Linux include/uapi/rdma/ib_user_verbs.h, ib_uverbs_device_cap_flags.
constexpr std::uint32_t kCapabilities = IB_UVERBS_DEVICE_AUTO_PATH_MIG | IB_UVERBS_DEVICE_BAD_PKEY_CNTR |
                                        IB_UVERBS_DEVICE_BAD_QKEY_CNTR | IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
                                        IB_UVERBS_DEVICE_SYS_IMAGE_GUID | IB_UVERBS_DEVICE_RC_RNR_NAK_GEN |
                                        IB_UVERBS_DEVICE_MEM_WINDOW | IB_UVERBS_DEVICE_XRC |
                                        IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS | IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B;

std::uint32_t roundUp(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

ib_uverbs_query_device_resp describeDevice(const UverbsContext& context) {
  const driver::QueueLimits& limits = context.driver.capabilities().limits;
  const DeviceDescription& device = context.device;
  ib_uverbs_query_device_resp answer{};
  answer.fw_ver = device.firmwareMajor << 32 | device.firmwareMinor << 16 | device.firmwareSub;
  answer.node_guid = answer.sys_image_guid = htobe64(device.nodeGuid);
  answer.max_mr_size = ~std::uint64_t{0};
  answer.page_size_cap = ~std::uint64_t{0} << 12;
  answer.vendor_id = kVendor;
  answer.vendor_part_id = device.vendorPart;
  answer.max_qp = 1U << 18;
  answer.max_qp_wr = limits.maxQueueEntries;
  answer.device_cap_flags = kCapabilities;
  const driver::RawPacketCapabilities& ethernet = context.driver.capabilities().ethernet;
  if (ethernet.offered) {
    answer.device_cap_flags |= IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING;
    if (ethernet.checksums) answer.device_cap_flags |= IB_UVERBS_DEVICE_RAW_IP_CSUM;
  }
  answer.max_sge = answer.max_sge_rd = kMaxSge;
  answer.max_cq = 1U << 24;
  answer.max_cqe = limits.maxCqEntries - 1;
  answer.max_mr = answer.max_mw = 1U << 24;
  answer.max_pd = 1U << 24;
  answer.max_qp_rd_atom = answer.max_qp_init_rd_atom = 16;
  answer.max_res_rd_atom = answer.max_qp * answer.max_qp_rd_atom;
  answer.atomic_cap = 1;  // IB_ATOMIC_HCA
  answer.max_mcast_grp = 1U << 21;
  answer.max_mcast_qp_attach = 240;
  answer.max_total_mcast_qp_attach = answer.max_mcast_qp_attach * answer.max_mcast_grp;
  answer.max_ah = INT32_MAX;
  answer.max_srq = 1U << 23;
  answer.max_srq_wr = limits.maxSrqEntries - 1;
  answer.max_srq_sge = limits.maxReceiveWqe / 16 - 1;
  answer.max_pkeys = 128;
  answer.local_ca_ack_delay = 16;
  answer.phys_port_cnt = static_cast<std::uint8_t>(device.ports.size());
  return answer;
}

// Linux drivers/infiniband/hw/mlx5/main.c, mlx5_ib_query_device.
ib_uverbs_tm_caps describeTagMatching(const driver::DeviceCapabilities& device) {
  constexpr std::uint32_t kMostHeader = 64, kMostSge = 1, kRc = 1;  // IB_TM_CAP_RNDV_RC
  ib_uverbs_tm_caps caps{};
  if (device.logTagList == 0) return caps;
  caps.max_num_tags = (1U << device.logTagList) - 1;
  caps.max_ops = device.limits.maxQueueEntries;
  caps.max_sge = kMostSge;
  if (!device.rendezvous) return caps;
  caps.flags = kRc;
  caps.max_rndv_hdr_size = kMostHeader;
  return caps;
}

mlx5_ib_striding_rq_caps describeStriding() {
  using Layout = adapter::StridingLayout;
  constexpr std::uint32_t kRawPacket = 1U << 8;
  mlx5_ib_striding_rq_caps caps{};
  caps.min_single_stride_log_num_of_bytes = Layout::kLogSmallest;
  caps.max_single_stride_log_num_of_bytes = Layout::kLogLargest;
  caps.min_single_wqe_log_num_of_strides = Layout::kLogFewest;
  caps.max_single_wqe_log_num_of_strides = Layout::kLogMost;
  caps.supported_qpts = kRawPacket;
  return caps;
}

mlx5_ib_alloc_ucontext_resp describeContext(const UverbsContext& context) {
  const driver::DeviceCapabilities& device = context.driver.capabilities();
  mlx5_ib_alloc_ucontext_resp answer{};
  answer.qp_tab_size = 1U << 18;
  answer.bf_reg_size = device.blueFlameRegisterSize;
  // None of these where the program makes UAR objects.
  answer.tot_bfregs = context.blueFlame == nullptr ? 0 : context.blueFlame->total();
  answer.cache_line_size = 64;
  answer.max_sq_desc_sz = static_cast<std::uint16_t>(device.limits.maxSendWqe);
  answer.max_rq_desc_sz = static_cast<std::uint16_t>(device.limits.maxReceiveWqe);
  answer.max_send_wqebb = device.limits.maxQueueEntries;
  answer.max_recv_wr = device.limits.maxQueueEntries;
  answer.max_srq_recv_wr = device.limits.maxSrqEntries;
  answer.num_ports = static_cast<std::uint16_t>(context.device.ports.size());
  answer.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET;
  answer.response_length = sizeof answer;
  answer.cqe_version = static_cast<std::uint8_t>(context.cqeVersion);
  answer.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
  answer.eth_min_inline = MLX5_USER_INLINE_MODE_NONE;
  answer.clock_info_versions = 1U << MLX5_IB_CLOCK_INFO_V1;
  answer.hca_core_clock_offset = 0;  // in the page that is mapped for it
  answer.log_uar_size = 12;
  answer.num_uars_per_page = 1;
  answer.num_dyn_bfregs = context.blueFlame == nullptr ? 0 : kDynamicRegisters;
  return answer;
}

void finishContext(UverbsContext& context, const Call& call) {
  context.isOpen = true;
  call->answerAttribute(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, context.driver.completionVectors());
  call->answerAttribute(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, kCoreSupport);
  call->answerDriver(describeContext(context));
  call->finish(0);
}

void allocateUars(UverbsContext& context, const Call& call, std::size_t wanted) {
  if (context.uars.size() == wanted) return finishContext(context, call);
  context.driver.allocateUar(context.owner, [&context, call, wanted](const driver::Answer<UarIndex>& answer) {
    if (!answer.ok()) return call->finish(errnoOf(answer.result));
    context.uars.push_back(answer.value);
    allocateUars(context, call, wanted);
  });
}

// Linux drivers/infiniband/hw/mlx5/main.c, mlx5_ib_query_device. Raw packets of enum ib_raw_packet_caps.
void describeRawPackets(const driver::RawPacketCapabilities& ethernet, ib_uverbs_ex_query_device_resp& answer) {
  constexpr std::uint32_t kRawPacket = 8, kMostSpreads = 1U << 16, kMostQueues = 1U << 16;
  if (ethernet.vlanStrip) answer.raw_packet_caps |= IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING;
  if (ethernet.checksums) answer.raw_packet_caps |= IB_UVERBS_RAW_PACKET_CAP_IP_CSUM;
  if (ethernet.scatterFcs) {
    answer.raw_packet_caps |= IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS;
    answer.device_cap_flags_ex |= IB_UVERBS_DEVICE_RAW_SCATTER_FCS;
  }
  answer.rss_caps.supported_qpts = 1U << kRawPacket;
  answer.rss_caps.max_rwq_indirection_tables = kMostSpreads;
  answer.rss_caps.max_rwq_indirection_table_size = 1U << ethernet.logMaxSpread;
  answer.max_wq_type_rq = kMostQueues;
}

}  // namespace

// Linux drivers/infiniband/hw/mlx5/main.c, mlx5_ib_alloc_ucontext.
void getContext(UverbsContext& context, const Call& call) {
  const auto wanted = call->driver<mlx5_ib_alloc_ucontext_req_v2>();
  if (context.isOpen) return call->finish(EINVAL);
  if ((wanted.flags & MLX5_IB_ALLOC_UCTX_DEVX) != 0) return call->finish(EINVAL);  // the library asks again without
  if (wanted.flags != 0 || wanted.comp_mask != 0) return call->finish(EINVAL);
  context.cqeVersion = std::min<std::uint32_t>(context.config.cqe_version, wanted.max_cqe_version);
  if (wanted.total_num_bfregs == 0 || wanted.total_num_bfregs > kMostRegisters) return call->finish(EINVAL);
  if ((wanted.lib_caps & MLX5_LIB_CAP_DYN_UAR) != 0) return finishContext(context, call);
  const std::uint32_t total = roundUp(wanted.total_num_bfregs, BlueFlameRegisters::kPerPage);
  if (wanted.num_low_latency_bfregs > total - 1) return call->finish(EINVAL);
  context.blueFlame = std::make_unique<BlueFlameRegisters>(total, wanted.num_low_latency_bfregs);
  allocateUars(context, call, total / BlueFlameRegisters::kPerPage);
}

// What the library needs to import a context by a duplicate of its descriptor.
void queryContext(UverbsContext& context, const Call& call) {
  if (!context.isOpen) return call->finish(EINVAL);
  call->answerAttribute(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, context.driver.completionVectors());
  call->answerAttribute(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, kCoreSupport);
  call->answerAttribute(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, describeContext(context));
  call->finish(0);
}

// Events go to the first of these files.
void allocateAsyncEvents(UverbsContext& context, const Call& call) {
  if (!call->offeredPipe) return call->finish(CommandCall::kNeedsPipe);
  const auto file = call->process->openEventFile(call->offeredPipe->writeEnd, call->offeredPipe->readEnd,
                                                 sizeof(ib_uverbs_async_event_desc));
  if (file == nullptr) return call->finish(EMFILE);
  if (context.asyncEvents == nullptr) context.asyncEvents = file;
  const auto descriptor = static_cast<std::uint64_t>(call->offeredPipe->readEnd);
  call->finish(call->ioctl.answerInline(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, descriptor) ? 0 : EFAULT);
}

void queryDevice(UverbsContext& context, const Call& call) {
  // By this the library finds out whether commands in this form are understood.
  if (call->coreRoom() < sizeof(ib_uverbs_query_device_resp)) return call->finish(ENOSPC);
  call->answerCore(describeDevice(context));
  call->finish(0);
}

void queryDeviceExtended(UverbsContext& context, const Call& call) {
  const driver::DeviceCapabilities& device = context.driver.capabilities();
  constexpr std::int64_t kPerKilohertz = 1000;
  ib_uverbs_ex_query_device_resp answer{};
  answer.base = describeDevice(context);
  answer.response_length = static_cast<std::uint32_t>(std::min(sizeof answer, call->coreRoom()));
  answer.timestamp_mask = context.device.clock.mask();
  answer.hca_core_clock = static_cast<std::uint64_t>(context.device.clock.frequency().count() / kPerKilohertz);
  answer.device_cap_flags_ex = answer.base.device_cap_flags;
  answer.max_dm_size = device.deviceMemory.maxAllocation;
  if (device.ethernet.offered) describeRawPackets(device.ethernet, answer);
  if (device.moderation) {
    answer.cq_moderation_caps.max_cq_moderation_count = kMostModerated;
    answer.cq_moderation_caps.max_cq_moderation_period = kLongestPeriod;
  }
  answer.tm_caps = describeTagMatching(device);
  call->answerCore(answer);
  mlx5_ib_query_device_resp own{};
  own.response_length = static_cast<std::uint32_t>(std::min(sizeof own, call->driverRoom()));
  if (device.ethernet.offered) {
    own.rss_caps.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ;
    own.rss_caps.rx_hash_fields_mask = MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4 | MLX5_RX_HASH_SRC_IPV6 |
                                       MLX5_RX_HASH_DST_IPV6 | MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_DST_PORT_TCP |
                                       MLX5_RX_HASH_SRC_PORT_UDP | MLX5_RX_HASH_DST_PORT_UDP;
  }
  if (device.compression) {
    own.cqe_comp_caps.max_num = device.compressionMax;
    own.cqe_comp_caps.supported_format = MLX5_IB_CQE_RES_FORMAT_HASH | MLX5_IB_CQE_RES_FORMAT_CSUM;
    if (device.miniStrideIndex) own.cqe_comp_caps.supported_format |= MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
  }
  if (device.wideEntries) own.flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD;
  if (device.wideCompression) own.flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP;
  if (device.striding) own.striding_rq_caps = describeStriding();
  call->answerDriver(own);
  call->finish(0);
}

}  // namespace hca::cosim
