// What programs see of faults that their adapter has on purpose: the [drill.NAME] sections are the tests'.
#include <cerrno>

#include "tests/cosim/programs/completions/line.h"

namespace kit {
namespace {

ibv_async_event nextEvent(ibv_context* context) {
  ibv_async_event event{};
  check(ibv_get_async_event(context, &event) == 0, "ibv_get_async_event");
  ibv_ack_async_event(&event);
  return event;
}

// The first creation of a queue fails by `wanted`, the second one does not.
void expectFirstToFail(int wanted) {
  Device device;
  errno = 0;
  check(ibv_create_cq(device.context, 16, nullptr, nullptr, 0) == nullptr && errno == wanted,
        std::string("ibv_create_cq: ") + std::strerror(errno));
  ibv_cq* cq = ibv_create_cq(device.context, 16, nullptr, nullptr, 0);
  check(cq != nullptr, "a second queue can't be created");
  check(ibv_destroy_cq(cq) == 0, "ibv_destroy_cq");
  device.close();
}

void aStatusIsAnErrno() { expectFirstToFail(ENOMEM); }
void aDeliveryStatusIsAFault() { expectFirstToFail(EIO); }
void aCommandWithoutAnswerTimesOut() { expectFirstToFail(ETIMEDOUT); }

void aQueueThatBreaksIsNamed() {
  Device device;
  ibv_cq* cq = device.cq(16);
  const ibv_async_event event = nextEvent(device.context);
  check(event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == cq, ibv_event_type_str(event.event_type));
  check(ibv_destroy_cq(cq) == 0, "ibv_destroy_cq");
  device.close();
}

void aLinkFlapsTwice() {
  Device device;
  for (int i = 0; i < 4; ++i) {
    const ibv_async_event event = nextEvent(device.context);
    check(event.event_type == (i % 2 == 0 ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE) && event.element.port_num == 1,
          ibv_event_type_str(event.event_type));
  }
  device.close();
}

// Its completion comes, and nobody tells.
void aProgramWaitsForWhatIsLost() {
  Device device;
  ibv_comp_channel* channel = ibv_create_comp_channel(device.context);
  check(channel != nullptr, "ibv_create_comp_channel");
  ibv_cq* cq = ibv_create_cq(device.context, 16, nullptr, channel, 0);
  check(cq != nullptr, "ibv_create_cq");
  ibv_qp* qp = makeQp(device, device.pd, cq, cq);
  connect(device, qp, qp->qp_num);
  check(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
  ibv_send_wr request{}, *bad = nullptr;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  check(ibv_post_send(qp, &request, &bad) == 0, "ibv_post_send");
  ibv_cq* told = nullptr;
  void* unused = nullptr;
  check(ibv_get_cq_event(channel, &told, &unused) == 0, "ibv_get_cq_event");
  check(false, "an event came");
}

const Register kAllDrills[] = {{"drill_status", aStatusIsAnErrno},
                               {"drill_delivery", aDeliveryStatusIsAFault},
                               {"drill_timeout", aCommandWithoutAnswerTimesOut},
                               {"drill_waits", aProgramWaitsForWhatIsLost},
                               {"drill_cq_error", aQueueThatBreaksIsNamed},
                               {"drill_link_flap", aLinkFlapsTwice}};

}  // namespace
}  // namespace kit
