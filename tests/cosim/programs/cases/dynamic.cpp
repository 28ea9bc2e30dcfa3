// Dynamic connections through the stock library: one initiator, two targets.
#include <infiniband/mlx5dv.h>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

constexpr std::uint64_t kAccessKey = 0x123456789ABCDEF0;

struct Dynamic {
  Dynamic() {
    ibv_srq_init_attr shared{};
    shared.attr = {16, 1, 0};
    srq = need(ibv_create_srq(device.pd, &shared), "ibv_create_srq");
    initiator = make(MLX5DV_DCTYPE_DCI);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    check(ibv_modify_qp(initiator, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT) == 0, "DCI to INIT");
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    check(ibv_modify_qp(initiator, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU) == 0, "DCI to RTR");
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    attr.max_rd_atomic = 1;
    check(ibv_modify_qp(initiator, &attr,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                            IBV_QP_MAX_QP_RD_ATOMIC) == 0,
          "DCI to RTS");
    for (ibv_qp*& target : targets) target = makeTarget();
    ibv_ah_attr to{};
    to.dlid = device.port.lid;
    to.port_num = 1;
    ah = need(ibv_create_ah(device.pd, &to), "ibv_create_ah");
  }
  ibv_qp* make(mlx5dv_dc_type type) {
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_DRIVER;
    init.comp_mask = IBV_QP_INIT_ATTR_PD;
    init.pd = device.pd;
    init.send_cq = init.recv_cq = cq;
    init.srq = srq;
    init.sq_sig_all = 1;
    if (type == MLX5DV_DCTYPE_DCI) {
      init.cap = {16, 0, 1, 0, 0};
      init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
      init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ;
    }
    mlx5dv_qp_init_attr own{};
    own.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC;
    own.dc_init_attr.dc_type = type;
    if (type == MLX5DV_DCTYPE_DCT) own.dc_init_attr.dct_access_key = kAccessKey;
    return need(mlx5dv_create_qp(device.context, &init, &own), "mlx5dv_create_qp");
  }
  ibv_qp* makeTarget() {
    ibv_qp* target = make(MLX5DV_DCTYPE_DCT);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    check(ibv_modify_qp(target, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
          "DCT to INIT");
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.min_rnr_timer = 12;
    attr.ah_attr.port_num = 1;
    check(ibv_modify_qp(target, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV) == 0,
          "DCT to RTR");
    check(target->qp_num != 0, "a target without a number");
    return target;
  }
  enum class What { kWrite, kSend, kRead };
  void post(What what, const ibv_qp* target, std::size_t offset, std::uint64_t key = kAccessKey) {
    ibv_qp_ex* qp = ibv_qp_to_qp_ex(initiator);
    ibv_wr_start(qp);
    qp->wr_id = ++id;
    if (what == What::kWrite) ibv_wr_rdma_write(qp, device.mr->rkey, device.address(Device::kBuffer / 2 + offset));
    if (what == What::kRead) ibv_wr_rdma_read(qp, device.mr->rkey, device.address(Device::kBuffer / 2 + offset));
    if (what == What::kSend) ibv_wr_send(qp);
    mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(qp), ah, target->qp_num, key);
    ibv_wr_set_sge(qp, device.mr->lkey, device.address(offset), 3000);
    check(ibv_wr_complete(qp) == 0, "ibv_wr_complete");
  }
  void destroy() {
    check(ibv_destroy_ah(ah) == 0 && ibv_destroy_qp(initiator) == 0, "the initiator stays");
    for (ibv_qp* target : targets) check(ibv_destroy_qp(target) == 0, "a target stays");
    check(ibv_destroy_srq(srq) == 0 && ibv_destroy_cq(cq) == 0, "the queues stay");
    device.close();
  }

  Device device;
  ibv_cq* cq = device.cq(64);
  ibv_srq* srq = nullptr;
  ibv_qp* initiator = nullptr;
  ibv_qp* targets[2] = {};
  ibv_ah* ah = nullptr;
  std::uint64_t id = 0;
};

void oneInitiatorServesSeveralTargets() {
  using What = Dynamic::What;
  Dynamic all;
  ibv_sge piece = all.device.piece(65536, 4096);
  ibv_recv_wr receive{99, nullptr, &piece, 1};
  ibv_recv_wr* bad = nullptr;
  check(ibv_post_srq_recv(all.srq, &receive, &bad) == 0, "ibv_post_srq_recv");
  for (std::size_t i = 0; i < 20000; ++i) all.device.buffer[i] = static_cast<std::uint8_t>(i * 13);
  for (int i = 0; i < 6; ++i) all.post(What::kWrite, all.targets[i % 2], static_cast<std::size_t>(i) * 3000);
  all.post(What::kSend, all.targets[1], 0);
  std::uint64_t next = 1;
  bool hasReceived = false;
  for (const ibv_wc& found : take(all.cq, 8)) {
    check(found.status == IBV_WC_SUCCESS, "a request failed");
    if (found.opcode == IBV_WC_RECV) {
      check(found.qp_num == all.targets[1]->qp_num && found.byte_len == 3000 && found.wr_id == 99, "a receive");
      hasReceived = true;
    } else {
      check(found.wr_id == next++, "out of order");
    }
  }
  check(hasReceived, "nothing was received");
  check(std::memcmp(&all.device.buffer[0], &all.device.buffer[Device::kBuffer / 2], 18000) == 0, "other bytes");
  check(std::memcmp(&all.device.buffer[0], &all.device.buffer[65536], 3000) == 0, "other bytes received");
  all.destroy();
}

void whoDoesNotKnowTheKeyIsRefused() {
  using What = Dynamic::What;
  Dynamic all;
  all.post(What::kWrite, all.targets[0], 0, kAccessKey + 1);
  check(take(all.cq, 1).front().status == IBV_WC_REM_ACCESS_ERR, "a wrong key");
  ibv_async_event event{};
  check(readable(all.device.context->async_fd, 1000), "no event came");
  check(ibv_get_async_event(all.device.context, &event) == 0, "ibv_get_async_event");
  check(event.event_type == IBV_EVENT_QP_ACCESS_ERR && event.element.qp == all.targets[0], "another event");
  ibv_ack_async_event(&event);
  all.destroy();
}

// A device that failed drains nothing any more; programs can end all the same.
void aFailedDeviceLetsTargetsGo() {
  Dynamic all;
  ibv_async_event event{};
  check(ibv_get_async_event(all.device.context, &event) == 0 && event.event_type == IBV_EVENT_DEVICE_FATAL,
        "no failure");
  ibv_ack_async_event(&event);
  all.destroy();
}

const Register kDynamicCases[] = {{"dc_targets", oneInitiatorServesSeveralTargets},
                                  {"dc_key", whoDoesNotKnowTheKeyIsRefused},
                                  {"dc_fatal", aFailedDeviceLetsTargetsGo}};

}  // namespace
}  // namespace kit
