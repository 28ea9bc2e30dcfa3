// Every asynchronous event, by its real cause and with its object.
#include <fcntl.h>

#include "tests/cosim/programs/completions/line.h"

namespace kit {
namespace {

constexpr std::size_t kLength = 100;

// Waits for the next event of the device, which must be `type`; acknowledges it.
ibv_async_event expectEvent(ibv_context* context, ibv_event_type type) {
  ibv_async_event event{};
  check(ibv_get_async_event(context, &event) == 0, "ibv_get_async_event");
  check(event.event_type == type,
        std::string(ibv_event_type_str(event.event_type)) + " instead of " + ibv_event_type_str(type));
  ibv_ack_async_event(&event);
  return event;
}

void expectQpEvent(ibv_context* context, ibv_event_type type, const ibv_qp* qp) {
  check(expectEvent(context, type).element.qp == qp, std::string(ibv_event_type_str(type)) + " of another queue pair");
}

bool hasEvent(ibv_context* context, int milliseconds = 50) { return readable(context->async_fd, milliseconds); }

void toState(ibv_qp* qp, ibv_qp_state state) {
  ibv_qp_attr attr{};
  attr.qp_state = state;
  check(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0, "ibv_modify_qp");
}

void overrun() {
  Line line(false);
  line.leftCq = line.left.cq(1);  // two entries
  line.rightCq = line.right.cq(64);
  line.connect();
  ibv_sge piece = line.left.piece(0, kLength);
  for (std::uint64_t id = 0; id < 3; ++id) {
    ibv_send_wr request = line.request(&piece, id, IBV_WR_RDMA_WRITE);
    check(post(line.leftQp, request) == 0, "ibv_post_send");
  }
  check(expectEvent(line.left.context, IBV_EVENT_CQ_ERR).element.cq == line.leftCq, "CQ_ERR of another queue");
  expectQpEvent(line.left.context, IBV_EVENT_QP_FATAL, line.leftQp);
  line.close();
}

void refusedRequests() {
  for (const bool isInvalid : {false, true}) {
    Line line;
    line.connect();
    ibv_sge piece = line.left.piece(0, 8);
    ibv_send_wr request = line.request(&piece, 1, IBV_WR_ATOMIC_FETCH_AND_ADD);
    request.wr.atomic = {line.right.address(), 1, 0, line.right.mr->rkey};
    (isInvalid ? request.wr.atomic.remote_addr : request.wr.atomic.compare_add) += 4;
    if (!isInvalid) request.wr.atomic.rkey ^= 0x100;
    check(post(line.leftQp, request) == 0, "ibv_post_send");
    expectQpEvent(line.right.context, isInvalid ? IBV_EVENT_QP_REQ_ERR : IBV_EVENT_QP_ACCESS_ERR, line.rightQp);
    check(!hasEvent(line.left.context), "an event at the side that asked");
    line.close();
  }
}

void firstPacketBeforeReadyToSend() {
  Line line;
  const Way way;
  line.leftQp = makeQpOf(line.left, line.leftCq, line.leftCq, way.type);
  line.rightQp = makeQpOf(line.right, line.rightCq, line.rightCq, way.type);
  toReadyToReceive(line.right, line.rightQp, line.left, line.leftQp->qp_num, way);
  toReadyToReceive(line.left, line.leftQp, line.right, line.rightQp->qp_num, way);
  toReadyToSend(line.leftQp, way);
  ibv_sge piece = line.left.piece(0, kLength);
  ibv_send_wr request = line.request(&piece, 1, IBV_WR_RDMA_WRITE);
  check(post(line.leftQp, request) == 0, "ibv_post_send");
  expectQpEvent(line.right.context, IBV_EVENT_COMM_EST, line.rightQp);
  toReadyToSend(line.rightQp, way);
  line.close();
}

void drained() {
  Line line;
  line.connect();
  ibv_sge piece = line.left.piece(0, 1U << 16);
  ibv_send_wr request = line.request(&piece, 1, IBV_WR_RDMA_WRITE);
  check(post(line.leftQp, request) == 0, "ibv_post_send");
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_SQD;
  attr.en_sqd_async_notify = 1;
  check(ibv_modify_qp(line.leftQp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) == 0, "to SQD");
  expectQpEvent(line.left.context, IBV_EVENT_SQ_DRAINED, line.leftQp);
  check(take(line.leftCq, 1).front().status == IBV_WC_SUCCESS, "what began isn't done");
  line.close();
}

ibv_srq* makeSrq(const Line& line, std::uint32_t limit) {
  ibv_srq_init_attr wish{};
  wish.attr = {16, 1, 0};
  ibv_srq* srq = need(ibv_create_srq(line.right.pd, &wish), "ibv_create_srq");
  for (std::uint64_t id = 0; id < 4; ++id) {
    ibv_sge room = line.right.piece(4096, 256);
    ibv_recv_wr receive{id, nullptr, &room, 1};
    ibv_recv_wr* bad = nullptr;
    check(ibv_post_srq_recv(srq, &receive, &bad) == 0, "ibv_post_srq_recv");
  }
  if (limit == 0) return srq;
  ibv_srq_attr attr{};
  attr.srq_limit = limit;
  check(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) == 0, "ibv_modify_srq");
  return srq;
}

void sendOne(Line& line, std::uint64_t id) {
  ibv_sge piece = line.left.piece(0, kLength);
  ibv_send_wr request = line.request(&piece, id, IBV_WR_SEND);
  check(post(line.leftQp, request) == 0, "ibv_post_send");
}

void sharedQueueRunsLow() {
  Line line;
  ibv_srq* srq = makeSrq(line, 3);
  line.connect({}, srq);
  sendOne(line, 1);
  take(line.rightCq, 1);
  check(!hasEvent(line.right.context), "three of three are left");
  sendOne(line, 2);
  check(expectEvent(line.right.context, IBV_EVENT_SRQ_LIMIT_REACHED).element.srq == srq, "the limit of another queue");
  toState(line.rightQp, IBV_QPS_ERR);
  expectQpEvent(line.right.context, IBV_EVENT_QP_LAST_WQE_REACHED, line.rightQp);
  check(ibv_destroy_qp(line.leftQp) == 0 && ibv_destroy_qp(line.rightQp) == 0, "ibv_destroy_qp");
  check(ibv_destroy_srq(srq) == 0, "ibv_destroy_srq");
}

// The list of the queue's entries leads out of the queue.
void sharedQueueIsBroken() {
  Line line;
  ibv_srq* srq = makeSrq(line, 0);
  mlx5dv_srq ring{};
  mlx5dv_obj object{};
  object.srq = {srq, &ring};
  check(mlx5dv_init_obj(&object, MLX5DV_OBJ_SRQ) == 0, "mlx5dv_init_obj");
  for (std::uint32_t i = 0; i < 4; ++i) {
    auto* next = reinterpret_cast<std::uint8_t*>(ring.buf) + (std::size_t{i} * ring.stride) + 2;
    next[0] = next[1] = 0xEE;
  }
  line.connect({}, srq);
  sendOne(line, 1);
  sendOne(line, 2);
  check(expectEvent(line.right.context, IBV_EVENT_SRQ_ERR).element.srq == srq, "the error of another queue");
  check(ibv_destroy_qp(line.leftQp) == 0 && ibv_destroy_qp(line.rightQp) == 0, "ibv_destroy_qp");
  check(ibv_destroy_srq(srq) == 0, "ibv_destroy_srq");
}

void everyEventOfAQueue() {
  overrun();
  refusedRequests();
  firstPacketBeforeReadyToSend();
  drained();
  sharedQueueRunsLow();
  sharedQueueIsBroken();
}

// ---- path migration, with two ports an adapter

void rearm(const Device& device, ibv_qp* qp, std::uint16_t alternateLid) {
  ibv_qp_attr attr{};
  attr.alt_ah_attr.dlid = alternateLid;
  attr.alt_ah_attr.port_num = 2;
  attr.alt_port_num = 2;
  attr.alt_timeout = 12;
  attr.path_mig_state = IBV_MIG_REARM;
  check(ibv_modify_qp(qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE) == 0, "ibv_modify_qp to REARM");
  (void)device;
}

ibv_qp_attr query(ibv_qp* qp) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  check(ibv_query_qp(qp, &attr, IBV_QP_PATH_MIG_STATE | IBV_QP_AV | IBV_QP_ALT_PATH, &init) == 0, "ibv_query_qp");
  return attr;
}

void write(Line& line) {
  ibv_sge piece = line.left.piece(0, kLength);
  ibv_send_wr request = line.request(&piece, 1, IBV_WR_RDMA_WRITE);
  check(post(line.leftQp, request) == 0, "ibv_post_send");
}

std::uint16_t secondLid(const Device& device) {
  ibv_port_attr port{};
  check(ibv_query_port(device.context, 2, &port) == 0, "ibv_query_port");
  return port.lid;
}

void migration(bool isKnown) {
  Line line;
  Way way;
  way.retries = {8, 2, 7, 12};
  line.connect(way);
  check(query(line.leftQp).path_mig_state == IBV_MIG_MIGRATED, "not migrated at first");
  rearm(line.left, line.leftQp, secondLid(line.right));
  rearm(line.right, line.rightQp, isKnown ? secondLid(line.left) : std::uint16_t{0x77});
  check(query(line.leftQp).path_mig_state == IBV_MIG_REARM, "not rearmed");
  write(line);
  check(take(line.leftCq, 1).front().status == IBV_WC_SUCCESS, "the first path");
  check(query(line.leftQp).path_mig_state == IBV_MIG_ARMED, "not armed");
  ibv_qp_attr attr{};
  attr.path_mig_state = IBV_MIG_MIGRATED;
  check(ibv_modify_qp(line.leftQp, &attr, IBV_QP_PATH_MIG_STATE) == 0, "ibv_modify_qp to MIGRATED");
  expectQpEvent(line.left.context, IBV_EVENT_PATH_MIG, line.leftQp);
  const ibv_qp_attr now = query(line.leftQp);
  check(now.path_mig_state == IBV_MIG_MIGRATED && now.ah_attr.port_num == 2 &&
            now.ah_attr.dlid == secondLid(line.right) && now.alt_port_num == 1,
        "not on the other path");
  write(line);
  expectQpEvent(line.right.context, isKnown ? IBV_EVENT_PATH_MIG : IBV_EVENT_PATH_MIG_ERR, line.rightQp);
  const ibv_wc found = take(line.leftCq, 1).front();
  check(found.status == (isKnown ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR), "another end of the second message");
  line.close();
}

void connectionsMigrate() {
  migration(true);
  migration(false);
}

// The cable of the first path is pulled: adapter.port.down_at.
void aPulledCableIsSurvived() {
  Line line;
  Way way;
  way.retries = {8, 2, 7, 12};
  line.connect(way);
  rearm(line.left, line.leftQp, secondLid(line.right));
  rearm(line.right, line.rightQp, secondLid(line.left));
  write(line);
  take(line.leftCq, 1);
  check(expectEvent(line.left.context, IBV_EVENT_PORT_ERR).element.port_num == 1, "another port");
  write(line);
  check(take(line.leftCq, 1).front().status == IBV_WC_SUCCESS, "the connection is lost");
  expectQpEvent(line.left.context, IBV_EVENT_PATH_MIG, line.leftQp);
  expectQpEvent(line.right.context, IBV_EVENT_PATH_MIG, line.rightQp);
  line.close();
}

// ---- what happens to a port, and to a device: keys ..._at

void everyEventOfAPort() {
  Device device(0, 2);
  const std::uint16_t before = device.port.lid;
  ibv_gid gidBefore{}, gid{};
  check(ibv_query_gid(device.context, 2, 0, &gidBefore) == 0, "ibv_query_gid");
  const ibv_event_type all[] = {IBV_EVENT_PORT_ERR,    IBV_EVENT_PORT_ACTIVE, IBV_EVENT_LID_CHANGE,
                                IBV_EVENT_PKEY_CHANGE, IBV_EVENT_GID_CHANGE,  IBV_EVENT_CLIENT_REREGISTER};
  for (const ibv_event_type type : all) {
    check(expectEvent(device.context, type).element.port_num == 2, "an event of another port");
    ibv_port_attr port{};
    check(ibv_query_port(device.context, 2, &port) == 0, "ibv_query_port");
    check((port.state == IBV_PORT_DOWN) == (type == IBV_EVENT_PORT_ERR), "another state of the port");
    const bool hasMoved = type != IBV_EVENT_PORT_ERR && type != IBV_EVENT_PORT_ACTIVE;
    __be16 key = 0;
    check(ibv_query_pkey(device.context, 2, 1, &key) == 0, "ibv_query_pkey");
    const bool hasKey =
        type == IBV_EVENT_PKEY_CHANGE || type == IBV_EVENT_GID_CHANGE || type == IBV_EVENT_CLIENT_REREGISTER;
    check(key == (hasKey ? htobe16(0x8001) : 0), "another partition key");
    check(port.lid == (hasMoved ? 0x40 : before), "another LID");
  }
  check(ibv_query_gid(device.context, 2, 0, &gid) == 0, "ibv_query_gid");
  check(gid.global.interface_id == htobe64(0x0200C0FFEE000001) && gidBefore.raw[15] != gid.raw[15], "another GID");
  // The other port saw nothing of it.
  ibv_port_attr first{};
  check(ibv_query_port(device.context, 1, &first) == 0 && first.lid != 0x40, "the first port moved");
  device.close();
}

void aDeviceThatFailsTellsEverybody() {
  Device one, two;
  ibv_cq* cq = one.cq(16);
  ibv_qp* qp = makeQp(one, one.pd, cq, cq);
  connect(one, qp, qp->qp_num);
  ibv_alloc_dm_attr attr{};
  attr.length = 64;
  ibv_dm* memory = ibv_alloc_dm(one.context, &attr);
  check(memory != nullptr, "ibv_alloc_dm");
  expectEvent(one.context, IBV_EVENT_DEVICE_FATAL);
  expectEvent(two.context, IBV_EVENT_DEVICE_FATAL);
  check(!hasEvent(one.context) && !hasEvent(two.context), "it came twice");
  errno = 0;
  check(ibv_create_cq(two.context, 16, nullptr, nullptr, 0) == nullptr && errno == EIO, "a new queue isn't EIO");
  // A program can still end in an orderly way.
  check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0, "the queues stay");
  check(ibv_free_dm(memory) == 0, "device memory stays");
  one.close();
  two.close();
}

const Register kAll[] = {{"events_queues", everyEventOfAQueue},
                         {"events_migration", connectionsMigrate},
                         {"events_cable", aPulledCableIsSurvived},
                         {"events_port", everyEventOfAPort},
                         {"events_fatal", aDeviceThatFailsTellsEverybody}};

}  // namespace
}  // namespace kit
