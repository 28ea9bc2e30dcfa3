// Memory regions that change, groups, resizing.
#include <fcntl.h>

#include <algorithm>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

ibv_wc_status write(const Device& device, ibv_qp* qp, ibv_cq* cq, const ibv_mr* into, const void* address) {
  ibv_sge piece = device.piece(0, 64);
  ibv_send_wr request = sendOf(device, &piece, 1, IBV_WR_RDMA_WRITE);
  request.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(address);
  request.wr.rdma.rkey = into->rkey;
  check(post(qp, request) == 0, "ibv_post_send");
  return take(cq, 1).front().status;
}

void reregistrationKeepsTheKey() {
  Device device;
  ibv_cq* cq = device.cq(16);
  ibv_qp* qp = makeQp(device, device.pd, cq, cq);
  connect(device, qp, qp->qp_num);
  constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  std::vector<std::uint8_t> first(8192), second(8192), large(4U << 20);
  ibv_mr* mr = need(ibv_reg_mr(device.pd, first.data(), first.size(), kAll), "ibv_reg_mr");
  const std::uint32_t key = mr->rkey;
  device.buffer[0] = 0x11;
  check(write(device, qp, cq, mr, first.data()) == IBV_WC_SUCCESS && first[0] == 0x11, "not reached");
  // Another place: the same key, and nothing goes to the old one.
  check(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, second.data(), second.size(), 0) == 0,
        "ibv_rereg_mr");
  check(mr->rkey == key, "the key changed with the translation");
  device.buffer[0] = 0x22;
  check(write(device, qp, cq, mr, second.data()) == IBV_WC_SUCCESS, "the new place isn't reached");
  check(second[0] == 0x22 && first[0] == 0x11, "the old place was written");
  // Larger than the key has room for: it works, with whatever key.
  check(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, large.data(), large.size(), 0) == 0, "ibv_rereg_mr");
  check(write(device, qp, cq, mr, &large.back() - 64) == IBV_WC_SUCCESS, "the large place isn't reached");
  // Another domain and back, then less rights.
  ibv_pd* other = need(ibv_alloc_pd(device.context), "ibv_alloc_pd");
  const std::uint32_t now = mr->rkey;
  check(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, nullptr, 0, 0) == 0 && mr->rkey == now, "ibv_rereg_mr");
  check(ibv_dealloc_pd(other) == EBUSY, "the domain of a region goes");
  check(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, device.pd, nullptr, 0, 0) == 0 && mr->rkey == now, "ibv_rereg_mr");
  check(ibv_dealloc_pd(other) == 0, "ibv_dealloc_pd");
  check(write(device, qp, cq, mr, large.data()) == IBV_WC_SUCCESS, "not reached after its domain changed");
  check(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE) == 0, "ibv_rereg_mr");
  check(mr->rkey == now, "the key changed with the rights");
  // The queue pair refuses itself, and may be in error before it hears so.
  check(write(device, qp, cq, mr, large.data()) != IBV_WC_SUCCESS, "reached without the right");
  check(ibv_dereg_mr(mr) == 0 && ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0, "the objects stay");
  device.close();
}

// Receives that a datagram queue pair gets of what it sends to its own group.
int receivesOfItsOwn(bool blocks) {
  Device device;
  ibv_cq* cq = device.cq(16);
  ibv_qp_init_attr_ex init{};
  init.send_cq = init.recv_cq = cq;
  init.cap = {4, 4, 1, 1, 0};
  init.qp_type = IBV_QPT_UD;
  init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
  init.pd = device.pd;
  init.create_flags = blocks ? unsigned{IBV_QP_CREATE_BLOCK_SELF_MCAST_LB} : 0U;
  ibv_qp* qp = need(ibv_create_qp_ex(device.context, &init), "ibv_create_qp_ex");
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = 7;
  check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0, "to INIT");
  attr.qp_state = IBV_QPS_RTR;
  check(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0, "to RTR");
  attr.qp_state = IBV_QPS_RTS;
  check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0, "to RTS");
  constexpr std::uint16_t kGroupLid = 0xC001;
  ibv_gid group{};
  const std::uint8_t name[16] = {0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  std::copy(std::begin(name), std::end(name), std::begin(group.raw));
  check(ibv_attach_mcast(qp, &group, kGroupLid) == 0, "ibv_attach_mcast");
  ibv_ah_attr to{};
  to.dlid = kGroupLid;
  to.is_global = 1;
  to.grh.dgid = group;
  to.port_num = 1;
  ibv_ah* ah = need(ibv_create_ah(device.pd, &to), "ibv_create_ah");
  check(postReceive(device, qp, 5, 4096, 128) == 0, "ibv_post_recv");
  ibv_sge piece = device.piece(0, 64);
  ibv_send_wr request = sendOf(device, &piece, 6);
  request.wr.ud.ah = ah;
  request.wr.ud.remote_qpn = 0xFFFFFF;
  request.wr.ud.remote_qkey = 7;
  check(post(qp, request) == 0, "ibv_post_send");
  int receives = 0, sends = 0;
  for (int looks = 0; looks < 200; ++looks) {
    ibv_wc found{};
    if (ibv_poll_cq(cq, 1, &found) == 0) continue;
    ++(found.opcode == IBV_WC_RECV ? receives : sends);
  }
  check(sends == 1, "the send didn't complete");
  check(ibv_detach_mcast(qp, &group, kGroupLid) == 0 && ibv_destroy_ah(ah) == 0, "the group stays");
  check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0, "the queues stay");
  device.close();
  return receives;
}

void ownMulticastMayBeBlocked() {
  check(receivesOfItsOwn(false) == 1, "what a member sends doesn't come to it");
  check(receivesOfItsOwn(true) == 0, "what a member sends comes to it although it is blocked");
}

// A second device of the same program, through which the domain and the target of the first are opened.
struct Opener {
  Opener(int file, std::uint32_t target) {
    ibv_device** list = need(ibv_get_device_list(nullptr), "ibv_get_device_list");
    context = need(ibv_open_device(list[0]), "ibv_open_device");
    ibv_free_device_list(list);
    ibv_xrcd_init_attr wanted{};
    wanted.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    wanted.fd = file;
    domain = need(ibv_open_xrcd(context, &wanted), "ibv_open_xrcd");
    qp = open(target);
  }
  ibv_qp* open(std::uint32_t target) {
    ibv_qp_open_attr wanted{};
    wanted.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_CONTEXT | IBV_QP_OPEN_ATTR_TYPE;
    wanted.qp_num = target;
    wanted.xrcd = domain;
    wanted.qp_context = this;
    wanted.qp_type = IBV_QPT_XRC_RECV;
    return ibv_open_qp(context, &wanted);
  }
  ibv_context* context = nullptr;
  ibv_xrcd* domain = nullptr;
  ibv_qp* qp = nullptr;
};

void expectEventOf(ibv_context* context, ibv_qp* qp, ibv_event_type type) {
  ibv_async_event event{};
  check(readable(context->async_fd, 1000), "no event came");
  check(ibv_get_async_event(context, &event) == 0, "ibv_get_async_event");
  check(event.event_type == type && event.element.qp == qp, "another event");
  ibv_ack_async_event(&event);
}

ibv_qp* makeXrcQp(ibv_context* context, const ibv_qp_init_attr_ex& wanted) {
  ibv_qp_init_attr_ex init = wanted;
  return need(ibv_create_qp_ex(context, &init), "ibv_create_qp_ex");
}

void connectXrc(const Device& device, ibv_qp* target, ibv_qp* sender) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  for (ibv_qp* qp : {target, sender}) {
    check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "INIT");
  }
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.ah_attr.dlid = device.port.lid;
  attr.ah_attr.port_num = 1;
  attr.min_rnr_timer = 12;
  constexpr int kRtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  attr.dest_qp_num = sender->qp_num;
  check(ibv_modify_qp(target, &attr, kRtr | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0, "target to RTR");
  attr.dest_qp_num = target->qp_num;
  check(ibv_modify_qp(sender, &attr, kRtr) == 0, "sender to RTR");
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = attr.rnr_retry = 7;
  check(ibv_modify_qp(sender, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC) == 0,
        "sender to RTS");
}

// A target that a second program opens: it sees what the first one set, gets its events, and keeps it alive.
void openedTargetsAreShared() {
  Device device;
  std::FILE* file = need(std::tmpfile(), "tmpfile");
  ibv_xrcd_init_attr domainOf{};
  domainOf.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  domainOf.fd = fileno(file);
  domainOf.oflags = O_CREAT;
  ibv_xrcd* domain = need(ibv_open_xrcd(device.context, &domainOf), "ibv_open_xrcd");
  ibv_qp_init_attr_ex targetOf{};
  targetOf.qp_type = IBV_QPT_XRC_RECV;
  targetOf.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  targetOf.xrcd = domain;
  ibv_qp* target = makeXrcQp(device.context, targetOf);
  ibv_cq* cq = device.cq(16);
  ibv_qp_init_attr_ex senderOf{};
  senderOf.qp_type = IBV_QPT_XRC_SEND;
  senderOf.comp_mask = IBV_QP_INIT_ATTR_PD;
  senderOf.pd = device.pd;
  senderOf.send_cq = cq;
  senderOf.cap = {4, 0, 1, 0, 0};
  ibv_qp* sender = makeXrcQp(device.context, senderOf);
  Opener opener(fileno(file), target->qp_num);
  check(opener.qp != nullptr && opener.qp->qp_num == target->qp_num, "ibv_open_qp");
  check(opener.open(target->qp_num + 100) == nullptr && errno == EINVAL, "a target that isn't there");
  connectXrc(device, target, sender);
  ibv_qp_attr seen{};
  ibv_qp_init_attr init{};
  check(ibv_query_qp(opener.qp, &seen, IBV_QP_STATE | IBV_QP_DEST_QPN | IBV_QP_ACCESS_FLAGS, &init) == 0, "query");
  check(seen.qp_state == IBV_QPS_RTR && seen.dest_qp_num == sender->qp_num, "another state");
  check(seen.qp_access_flags == IBV_ACCESS_REMOTE_WRITE, "other rights");
  // A shared queue that isn't there: the target goes to error, and both hear of it.
  ibv_sge piece = device.piece(0, 8);
  ibv_send_wr request = sendOf(device, &piece, 1);
  request.qp_type.xrc.remote_srqn = 0xFFFFF0;
  check(post(sender, request) == 0, "ibv_post_send");
  check(take(cq, 1).front().status != IBV_WC_SUCCESS, "a send to no queue");
  expectEventOf(device.context, target, IBV_EVENT_COMM_EST);
  expectEventOf(opener.context, opener.qp, IBV_EVENT_COMM_EST);
  check(ibv_close_xrcd(opener.domain) == EBUSY, "the domain of an open target goes");
  check(ibv_destroy_qp(target) == 0 && ibv_close_xrcd(domain) == 0, "the maker can't leave");
  check(ibv_query_qp(opener.qp, &seen, IBV_QP_STATE, &init) == 0, "the target went with its maker");
  // Not by ibv_destroy_qp: libmlx5 44 crashes there, as mlx5_destroy_qp gives back a doorbell record that an opened
  // queue pair doesn't have.
  check(ibv_close_device(opener.context) == 0, "ibv_close_device");
  check(ibv_destroy_qp(sender) == 0 && ibv_destroy_cq(cq) == 0, "the sender stays");
  std::fclose(file);
  device.close();
}

// With MLX5_CQE_SIZE=128: unread entries move.
void resizingLosesNothing() {
  Device device;
  ibv_cq* cq = device.cq(7);
  ibv_qp* qp = makeQp(device, device.pd, cq, cq, {64, 1, 1, 0, true});
  connect(device, qp, qp->qp_num);
  ibv_sge piece = device.piece(0, 64);
  std::uint64_t next = 0;
  for (const int size : {63, 15, 255}) {
    for (std::uint64_t id = next; id < next + 5; ++id) {
      ibv_send_wr request = sendOf(device, &piece, id, IBV_WR_RDMA_WRITE);
      check(post(qp, request) == 0, "ibv_post_send");
    }
    check(ibv_resize_cq(cq, size) == 0 && cq->cqe >= size, "ibv_resize_cq");
    for (const ibv_wc& found : take(cq, 5)) check(found.wr_id == next++, "lost, repeated or out of order");
  }
  check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0, "the queues stay");
  device.close();
}

const Register kAll[] = {{"reregistration", reregistrationKeepsTheKey},
                         {"multicast_loopback", ownMulticastMayBeBlocked},
                         {"open_qp", openedTargetsAreShared},
                         {"resize", resizingLosesNothing}};

}  // namespace
}  // namespace kit
