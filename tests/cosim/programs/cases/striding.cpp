// A striding receive queue, filled and read as its users do: past the library, which knows neither its entries nor its
// completions.
#include <endian.h>
#include <infiniband/mlx5dv.h>

#include <algorithm>
#include <array>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

constexpr std::size_t kStride = 64, kStrides = 512, kShift = 2, kEntries = 2;
constexpr std::size_t kReceived = 0x40000, kFrame = 0x1000;  // in the buffer

/// Sends Ethernet frames to a striding queue of its own.
struct Strider {
  Strider() {
    mlx5dv_context caps{};
    caps.comp_mask = MLX5DV_CONTEXT_MASK_STRIDING_RQ;
    check(mlx5dv_query_device(device.context, &caps) == 0, "mlx5dv_query_device");
    const mlx5dv_striding_rq_caps& strides = caps.striding_rq_caps;
    check(strides.min_single_stride_log_num_of_bytes == 6 && strides.max_single_stride_log_num_of_bytes == 13 &&
              strides.min_single_wqe_log_num_of_strides == 9 && strides.max_single_wqe_log_num_of_strides == 16 &&
              strides.supported_qpts == 1U << IBV_QPT_RAW_PACKET,
          "not a ConnectX-5's");
    makeQueue();
    makeReceiver();
    makeSender();
  }

  void makeQueue() {
    cq = device.cq(64);
    ibv_wq_init_attr init{};
    init.wq_type = IBV_WQT_RQ;
    init.max_wr = kEntries;
    init.max_sge = 1;
    init.pd = device.pd;
    init.cq = cq;
    mlx5dv_wq_init_attr striding{};
    striding.comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ;
    striding.striding_rq_attrs = {14, 9, 1};
    check(mlx5dv_create_wq(device.context, &init, &striding) == nullptr && errno == EINVAL, "a stride of 16 KiB");
    striding.striding_rq_attrs = {6, 9, 1};
    wq = need(mlx5dv_create_wq(device.context, &init, &striding), "mlx5dv_create_wq");
    ibv_wq_attr ready{};
    ready.attr_mask = IBV_WQ_ATTR_STATE;
    ready.wq_state = IBV_WQS_RDY;
    check(ibv_modify_wq(wq, &ready) == 0, "ibv_modify_wq");
    mlx5dv_obj objects{};
    objects.rwq = {wq, &ring};
    objects.cq = {cq, &completions};
    check(mlx5dv_init_obj(&objects, MLX5DV_OBJ_RWQ | MLX5DV_OBJ_CQ) == 0, "mlx5dv_init_obj");
    for (std::size_t entry = 0; entry < kEntries; ++entry) {
      struct Wqe {
        mlx5_wqe_srq_next_seg next;
        mlx5_wqe_data_seg data;
      } wqe{};
      wqe.data.byte_count = htobe32(kStride * kStrides);
      wqe.data.lkey = htobe32(device.mr->lkey);
      wqe.data.addr = htobe64(device.address(kReceived + entry * kStride * kStrides));
      std::memcpy(static_cast<std::uint8_t*>(ring.buf) + entry * ring.stride, &wqe, sizeof wqe);
    }
    *ring.dbrec = htobe32(kEntries);
  }

  void makeReceiver() {
    ibv_rwq_ind_table_init_attr table{};
    table.ind_tbl = &wq;
    spread = need(ibv_create_rwq_ind_table(device.context, &table), "ibv_create_rwq_ind_table");
    std::array<std::uint8_t, 40> key{};
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_RAW_PACKET;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
    init.pd = device.pd;
    init.rwq_ind_tbl = spread;
    init.rx_hash_conf.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
    init.rx_hash_conf.rx_hash_key_len = key.size();
    init.rx_hash_conf.rx_hash_key = key.data();
    mlx5dv_qp_init_attr own{};
    own.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
    own.create_flags = MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC;
    receiver = need(mlx5dv_create_qp(device.context, &init, &own), "mlx5dv_create_qp");
    struct Rule {
      ibv_flow_attr attr;
      ibv_flow_spec_eth ethernet;
    } rule{};
    rule.attr.type = IBV_FLOW_ATTR_NORMAL;
    rule.attr.size = sizeof rule;
    rule.attr.num_of_specs = 1;
    rule.attr.port = 1;
    rule.ethernet.type = IBV_FLOW_SPEC_ETH;
    rule.ethernet.size = sizeof rule.ethernet;
    std::copy(kAddress.begin(), kAddress.end(), rule.ethernet.val.dst_mac);
    std::fill_n(rule.ethernet.mask.dst_mac, kAddress.size(), std::uint8_t{0xFF});
    flow = need(ibv_create_flow(receiver, &rule.attr), "ibv_create_flow");
  }

  void makeSender() {
    senderCq = device.cq(16);
    ibv_qp_init_attr init{};
    init.qp_type = IBV_QPT_RAW_PACKET;
    init.send_cq = init.recv_cq = senderCq;
    init.cap = {16, 1, 1, 1, 0};
    sender = need(ibv_create_qp(device.pd, &init), "ibv_create_qp");
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    check(ibv_modify_qp(sender, &attr, IBV_QP_STATE | IBV_QP_PORT) == 0, "to INIT");
    attr.qp_state = IBV_QPS_RTR;
    check(ibv_modify_qp(sender, &attr, IBV_QP_STATE) == 0, "to RTR");
    attr.qp_state = IBV_QPS_RTS;
    check(ibv_modify_qp(sender, &attr, IBV_QP_STATE) == 0, "to RTS");
  }

  void send(std::uint32_t length) {
    std::uint8_t* const frame = device.buffer.data() + kFrame;
    std::fill_n(frame, length, static_cast<std::uint8_t>(++frames));
    std::copy(kAddress.begin(), kAddress.end(), frame);
    frame[12] = 0x88;
    frame[13] = 0xB5;
    ibv_sge piece = device.piece(kFrame, length);
    ibv_send_wr request = sendOf(device, &piece, 1);
    check(post(sender, request) == 0, "ibv_post_send");
    check(take(senderCq, 1).front().status == IBV_WC_SUCCESS, "not sent");
  }

  /// The next entry of the completion queue.
  mlx5_cqe64 next() {
    const std::uint32_t slot = consumed % completions.cqe_cnt;
    auto* const cqe = reinterpret_cast<mlx5_cqe64*>(static_cast<std::uint8_t*>(completions.buf) +
                                                    (slot + 1) * completions.cqe_size - sizeof(mlx5_cqe64));
    const std::uint8_t owner = (consumed / completions.cqe_cnt) & 1;
    volatile const std::uint8_t* const last = &cqe->op_own;
    while (*last >> 4 == MLX5_CQE_INVALID || (*last & 1) != owner) ibv_poll_cq(senderCq, 0, nullptr);
    *completions.dbrec = htobe32(++consumed & 0xFFFFFF);
    return *cqe;
  }
  void expect(std::uint32_t length, std::size_t entry, std::size_t stride, std::size_t strides) {
    const mlx5_cqe64 cqe = next();
    check(cqe.op_own >> 4 == MLX5_CQE_RESP_SEND, "no receive");
    check(be32toh(cqe.byte_cnt) == (strides << 16 | length), "another length, or other strides");
    check(be16toh(cqe.wqe_counter) == stride && be16toh(cqe.wqe_id) == entry, "another place");
    const auto at = device.buffer.begin() + kReceived + (entry * kStrides + stride) * kStride;
    check(at[0] == 0 && at[1] == 0, "no room in front");
    check(std::equal(at + kShift, at + kShift + length, device.buffer.begin() + kFrame), "other bytes");
  }

  void close() {
    check(ibv_destroy_flow(flow) == 0 && ibv_destroy_qp(sender) == 0 && ibv_destroy_qp(receiver) == 0, "destroy");
    check(ibv_destroy_rwq_ind_table(spread) == 0 && ibv_destroy_wq(wq) == 0, "destroy");
    check(ibv_destroy_cq(cq) == 0 && ibv_destroy_cq(senderCq) == 0, "ibv_destroy_cq");
    device.close();
  }

  static constexpr std::array<std::uint8_t, 6> kAddress = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};
  Device device;
  ibv_cq* cq = nullptr;
  ibv_cq* senderCq = nullptr;
  ibv_wq* wq = nullptr;
  ibv_rwq_ind_table* spread = nullptr;
  ibv_qp* receiver = nullptr;
  ibv_qp* sender = nullptr;
  ibv_flow* flow = nullptr;
  mlx5dv_rwq ring{};
  mlx5dv_cq completions{};
  std::uint32_t consumed = 0, frames = 0;
};

void framesInStrides() {
  Strider strider;
  std::size_t used = 0;
  const auto sendAndExpect = [&](std::uint32_t length) {
    const std::size_t strides = (length + kShift + kStride - 1) / kStride;
    strider.send(length);
    strider.expect(length, 0, used, strides);
    used += strides;
  };
  for (const std::uint32_t length : {62U, 63U, 1000U}) sendAndExpect(length);
  while (used + 16 <= kStrides) sendAndExpect(1000);
  // What is left is too short for the next frame.
  strider.send(1000);
  const mlx5_cqe64 filler = strider.next();
  check(be32toh(filler.byte_cnt) == (1U << 31 | (kStrides - used) << 16), "no filler");
  check(be16toh(filler.wqe_counter) == used, "of another place");
  strider.expect(1000, 1, 0, 16);
  strider.close();
}

const Register kStriding("striding", framesInStrides);

}  // namespace
}  // namespace kit
