// Sizes, limits and overrun.
#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

// 128 queue pairs complete into one queue and nobody polls.
std::map<ibv_event_type, int> floodSharedQueue(int cqe, int writes) {
  Device device;
  ibv_cq* cq = device.cq(cqe);
  std::vector<ibv_qp*> qps;
  for (int i = 0; i < 128; ++i) {
    qps.push_back(makeQp(device, device.pd, cq, cq, {2, 1, 1, 0, false}));
    connect(device, qps.back(), qps.back()->qp_num);
  }
  ibv_sge piece = device.piece(0, 64);
  for (int i = 0; i < writes; ++i) {
    ibv_send_wr request = sendOf(device, &piece, static_cast<std::uint64_t>(i), IBV_WR_RDMA_WRITE);
    check(post(qps[static_cast<std::size_t>(i) % qps.size()], request) == 0, "ibv_post_send");
  }
  std::map<ibv_event_type, int> events;
  while (readable(device.context->async_fd, 100)) {
    ibv_async_event event{};
    check(ibv_get_async_event(device.context, &event) == 0, "ibv_get_async_event");
    ++events[event.event_type];
    if (event.event_type == IBV_EVENT_CQ_ERR) check(event.element.cq == cq, "the error names another queue");
    ibv_ack_async_event(&event);
  }
  for (ibv_qp* qp : qps) check(ibv_destroy_qp(qp) == 0, "ibv_destroy_qp");
  check(ibv_destroy_cq(cq) == 0, "ibv_destroy_cq");
  device.close();
  return events;
}

void overrunOfASharedQueueIsOneError() {
  auto events = floodSharedQueue(100, 129);
  check(events[IBV_EVENT_CQ_ERR] == 1, "not one CQ_ERR");
  check(events[IBV_EVENT_QP_FATAL] == 1, "not one QP_FATAL");
}
void queueOfTwiceTheDepthHasNoError() { check(floodSharedQueue(200, 129).empty(), "an event"); }

bool isRefused(const Device& device, int cqe, int vector = 0) {
  errno = 0;
  ibv_cq* cq = ibv_create_cq(device.context, cqe, nullptr, nullptr, vector);
  if (cq != nullptr) check(ibv_destroy_cq(cq) == 0, "ibv_destroy_cq");
  return cq == nullptr && errno == EINVAL;
}

// With adapter.completion.log_max_cq_size=10.
void depthBeyondTheDevicesIsRefused() {
  Device device;
  check(device.attributes.max_cqe == 1023, "max_cqe");
  for (const int cqe : {1, 511, 1023}) {
    ibv_cq* cq = device.cq(cqe);
    check(cq->cqe >= cqe, "fewer entries than asked for");
    check(ibv_destroy_cq(cq) == 0, "ibv_destroy_cq");
  }
  check(isRefused(device, 1024), "1024 entries aren't refused with EINVAL");
  device.close();
}

// With few entries at most: the library allocates them before the device refuses.
void refusalSetsErrnoAndLeaksNothing() {
  Device device;
  for (int i = 0; i < 20; ++i) {
    check(isRefused(device, device.attributes.max_cqe + 1), "max_cqe + 1 isn't refused with EINVAL");
    check(isRefused(device, -1), "-1 isn't refused with EINVAL");
  }
  check(ibv_destroy_cq(device.cq(16)) == 0, "ibv_destroy_cq");
  device.close();
}

void attributesAreInput() {
  Device device;
  for (const int cqe : {device.attributes.max_cqe, device.attributes.max_cqe - 1}) {
    ibv_cq_init_attr_ex attributes{};
    attributes.cqe = static_cast<std::uint32_t>(cqe);
    for (int i = 0; i < 2; ++i) {
      ibv_cq_ex* cq = need(ibv_create_cq_ex(device.context, &attributes), "ibv_create_cq_ex");
      check(attributes.cqe == static_cast<std::uint32_t>(cqe), "the attributes were changed");
      check(ibv_cq_ex_to_cq(cq)->cqe >= cqe, "fewer entries than asked for");
      check(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0, "ibv_destroy_cq");
    }
  }
  device.close();
}

void zeroIsRefusedAsMlx5HasIt() {
  Device device;
  check(isRefused(device, 0), "no entries aren't refused with EINVAL");
  ibv_cq* cq = device.cq(1);
  check(cq->cqe >= 1 && cq->cqe < 64, "one entry isn't a small queue");
  check(ibv_destroy_cq(cq) == 0, "ibv_destroy_cq");
  device.close();
}

// With driver.num_comp_vectors=4.
void vectorsAreThoseOfTheDevice() {
  Device device;
  check(device.context->num_comp_vectors == 4, "num_comp_vectors");
  for (int vector = 0; vector < 4; ++vector) check(!isRefused(device, 16, vector), "a vector of the device is refused");
  for (const int vector : {4, 5, -1}) check(isRefused(device, 16, vector), "a vector that isn't there is taken");
  // The event of vector 2 comes by the interrupt of vector 2: whoever runs this looks at the result.
  ibv_comp_channel* channel = need(ibv_create_comp_channel(device.context), "ibv_create_comp_channel");
  ibv_cq* cq = device.cq(16, channel, 2);
  ibv_qp* qp = makeQp(device, device.pd, cq, cq);
  connect(device, qp, qp->qp_num);
  check(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
  ibv_sge piece = device.piece(0, 64);
  ibv_send_wr request = sendOf(device, &piece, 1, IBV_WR_RDMA_WRITE);
  check(post(qp, request) == 0, "ibv_post_send");
  check(takeEvent(channel) == cq, "an event of another queue");
  check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0, "the queues stay");
  check(ibv_destroy_comp_channel(channel) == 0, "the channel stays");
  device.close();
}

const Register kAll[] = {{"C01_overrun", overrunOfASharedQueueIsOneError},
                         {"C01_control", queueOfTwiceTheDepthHasNoError},
                         {"C04", depthBeyondTheDevicesIsRefused},
                         {"C05", refusalSetsErrnoAndLeaksNothing},
                         {"C06", attributesAreInput},
                         {"C07", zeroIsRefusedAsMlx5HasIt},
                         {"C10", vectorsAreThoseOfTheDevice}};

}  // namespace
}  // namespace kit
