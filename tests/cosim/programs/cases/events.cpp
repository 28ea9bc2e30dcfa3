// Notification and completion events.
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

constexpr int kSoon = 60;  // milliseconds: nothing comes any more

/// A queue with a channel, and a queue pair that is connected with itself.
struct Loop {
  explicit Loop(int entries = 64) {
    channel = need(ibv_create_comp_channel(device.context), "ibv_create_comp_channel");
    cq = device.cq(entries, channel);
    qp = makeQp(device, device.pd, cq, cq, {32, 32, 1, 0, false});
    connect(device, qp, qp->qp_num);
  }
  void close() {
    check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0, "the queues stay");
    check(ibv_destroy_comp_channel(channel) == 0, "the channel stays");
    device.close();
  }
  void write(std::uint64_t id = 1) {
    ibv_sge piece = device.piece(0, 64);
    ibv_send_wr request = sendOf(device, &piece, id, IBV_WR_RDMA_WRITE);
    check(post(qp, request) == 0, "ibv_post_send");
  }
  void arm(bool solicitedOnly = false) {
    check(ibv_req_notify_cq(cq, solicitedOnly ? 1 : 0) == 0, "ibv_req_notify_cq");
  }
  [[nodiscard]] bool hasEvent(int milliseconds = kSoon) const { return readable(channel->fd, milliseconds); }
  int drain() {
    ibv_wc completion{};
    int count = 0;
    while (ibv_poll_cq(cq, 1, &completion) == 1) ++count;
    return count;
  }
  Device device;
  ibv_comp_channel* channel;
  ibv_cq* cq;
  ibv_qp* qp;
};

void sleepFor(long nanoseconds) {
  const timespec span{0, nanoseconds};
  nanosleep(&span, nullptr);
}

// Polls until empty, arms `delay` later, and sleeps; the completion comes at some time meanwhile. Whether it woke up.
bool wakesUp(Loop& loop, long delay, bool pollsAgain) {
  loop.write();
  if (loop.drain() == 1) return true;  // an empty poll may take until something changes
  sleepFor(delay);
  loop.arm();
  if (pollsAgain && loop.drain() == 1) return true;
  if (!loop.hasEvent(20)) return false;
  takeEvent(loop.channel);
  return loop.drain() == 1;
}

// Over the whole window in which the completion may fall between poll and arm. How often the program slept for ever.
int stalls(bool pollsAgain) {
  int count = 0;
  for (long delay = 0; delay <= 2400; delay += 200) {
    Loop loop;
    if (!wakesUp(loop, delay, pollsAgain)) ++count;
    while (loop.hasEvent(0)) takeEvent(loop.channel);
    loop.drain();
    loop.close();
  }
  return count;
}

void rightCodeNeverStalls() { check(stalls(true) == 0, "code that polls after the arm slept for ever"); }
void wrongCodeStallsWhereTheSpecificationLetsIt() {
  check(stalls(false) > 0, "code that doesn't poll again was lucky");
}
void wrongCodeIsSavedByTheAdapter() { check(stalls(false) == 0, "code that doesn't poll again slept for ever"); }

void armTakesEffectWithoutAPoll() {
  Loop loop;
  loop.arm();
  loop.write(1);
  takeEvent(loop.channel);
  loop.arm();  // nothing is polled
  loop.write(2);
  check(loop.hasEvent(1000), "no event after the arm");
  takeEvent(loop.channel);
  check(take(loop.cq, 2).back().wr_id == 2, "another completion");
  loop.close();
}

void destroyWaitsForReadEvents() {
  Device device;
  ibv_comp_channel* channel = need(ibv_create_comp_channel(device.context), "ibv_create_comp_channel");
  ibv_cq* cqs[3];
  ibv_qp* qps[3];
  ibv_sge piece = device.piece(0, 64);
  for (int i = 0; i < 3; ++i) {
    cqs[i] = device.cq(16, channel);
    qps[i] = makeQp(device, device.pd, cqs[i], cqs[i]);
    connect(device, qps[i], qps[i]->qp_num);
    check(ibv_req_notify_cq(cqs[i], 0) == 0, "ibv_req_notify_cq");
    ibv_send_wr request = sendOf(device, &piece, 1, IBV_WR_RDMA_WRITE);
    check(post(qps[i], request) == 0, "ibv_post_send");
    take(cqs[i], 1);
  }
  for (int i = 0; i < 3; ++i) {
    ibv_cq* cq = nullptr;
    void* unused = nullptr;
    check(ibv_get_cq_event(channel, &cq, &unused) == 0, "ibv_get_cq_event");
  }
  ibv_ack_cq_events(cqs[2], 3);  // all on the last
  for (ibv_qp* qp : qps) check(ibv_destroy_qp(qp) == 0, "ibv_destroy_qp");
  std::atomic<bool> isDestroyed{false};
  std::thread destroyer([&] {
    check(ibv_destroy_cq(cqs[0]) == 0, "ibv_destroy_cq");
    isDestroyed = true;
  });
  usleep(200'000);
  check(!isDestroyed, "destroyed although an event that was read wasn't acknowledged");
  ibv_ack_cq_events(cqs[0], 1);
  destroyer.join();
  ibv_ack_cq_events(cqs[1], 1);
  check(ibv_destroy_cq(cqs[1]) == 0, "ibv_destroy_cq");
  // An event that nobody read needs no acknowledgement.
  ibv_cq* unread = device.cq(16, channel);
  ibv_qp* qp = makeQp(device, device.pd, unread, unread);
  connect(device, qp, qp->qp_num);
  check(ibv_req_notify_cq(unread, 0) == 0, "ibv_req_notify_cq");
  ibv_send_wr request = sendOf(device, &piece, 1, IBV_WR_RDMA_WRITE);
  check(post(qp, request) == 0, "ibv_post_send");
  check(readable(channel->fd, 1000), "no event");
  check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(unread) == 0, "the queues stay");
  check(!readable(channel->fd, 0), "an event of a queue that is gone");
  device.close();
}

void solicitedIsAReceiveThatAskedForItOrAnyFailure() {
  Loop loop;
  ibv_sge piece = loop.device.piece(0, 64);
  const auto send = [&](ibv_wr_opcode opcode, unsigned flags) {
    check(postReceive(loop.device, loop.qp, 2) == 0, "ibv_post_recv");
    ibv_send_wr request = sendOf(loop.device, &piece, 1, opcode, IBV_SEND_SIGNALED | flags);
    check(post(loop.qp, request) == 0, "ibv_post_send");
    take(loop.cq, 2);
  };
  loop.arm(true);
  send(IBV_WR_SEND, 0);
  check(!loop.hasEvent(), "a good send or a plain receive is solicited");
  send(IBV_WR_SEND, IBV_SEND_SOLICITED);
  check(loop.hasEvent(), "a solicited receive is not");
  takeEvent(loop.channel);
  loop.arm(true);
  send(IBV_WR_RDMA_WRITE_WITH_IMM, 0);
  check(!loop.hasEvent(), "a plain write with immediate is solicited");
  send(IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SOLICITED);
  check(loop.hasEvent(), "a solicited write with immediate is not");
  takeEvent(loop.channel);
  loop.arm(true);
  ibv_send_wr bad = sendOf(loop.device, &piece, 3, IBV_WR_RDMA_WRITE);
  bad.wr.rdma.rkey ^= 0x100;
  check(post(loop.qp, bad) == 0, "ibv_post_send");
  check(loop.hasEvent(1000), "a failed send is not solicited");
  takeEvent(loop.channel);
  loop.drain();
  loop.close();
}

enum class Wait { kPoll, kLevel, kEdge };

bool waits(int fd, Wait how, int milliseconds) {
  if (how == Wait::kPoll) return readable(fd, milliseconds);
  const int set = epoll_create1(0);
  epoll_event what{};
  what.events = EPOLLIN | (how == Wait::kEdge ? EPOLLET : 0U);
  check(epoll_ctl(set, EPOLL_CTL_ADD, fd, &what) == 0, "epoll_ctl");
  const bool found = epoll_wait(set, &what, 1, milliseconds) == 1;
  close(set);
  return found;
}

void waitingForTheChannelsDescriptor(Wait how, bool blocks) {
  Loop loop;
  if (!blocks) check(fcntl(loop.channel->fd, F_SETFL, fcntl(loop.channel->fd, F_GETFL) | O_NONBLOCK) == 0, "fcntl");
  ibv_cq* cq = nullptr;
  void* unused = nullptr;
  check(!waits(loop.channel->fd, how, 0), "readable without an event");
  if (!blocks) {
    check(ibv_get_cq_event(loop.channel, &cq, &unused) == -1 && errno == EAGAIN,
          "a read without an event isn't EAGAIN");
  }
  loop.arm();
  loop.write(1);
  check(waits(loop.channel->fd, how, 2000), "not readable with an event");
  takeEvent(loop.channel);
  check(!waits(loop.channel->fd, how, 0), "readable behind the last event");
  check(loop.drain() == 1, "no completion");
  // Drained before the event is taken: the event finds nothing.
  loop.arm();
  loop.write(2);
  take(loop.cq, 1);
  check(waits(loop.channel->fd, how, 2000), "no event for an entry that was drained");
  takeEvent(loop.channel);
  check(loop.drain() == 0, "an entry that was taken before");
  loop.close();
}

void readableIfAnEventIsUnread() {
  for (const Wait how : {Wait::kPoll, Wait::kLevel, Wait::kEdge}) {
    for (const bool blocks : {true, false}) waitingForTheChannelsDescriptor(how, blocks);
  }
}

void moderate(Loop& loop, std::uint16_t count, std::uint16_t period) {
  ibv_modify_cq_attr change{};
  change.attr_mask = IBV_CQ_ATTR_MODERATE;
  change.moderate = {count, period};
  check(ibv_modify_cq(loop.cq, &change) == 0, "ibv_modify_cq");
}

// With --virtual-time.
std::int64_t timeToEvent(Loop& loop, int writes) {
  loop.arm();
  const std::int64_t began = nowNs();
  for (int i = 0; i < writes; ++i) loop.write();
  takeEvent(loop.channel);
  const std::int64_t span = nowNs() - began;
  take(loop.cq, static_cast<std::size_t>(writes));
  return span;
}

void eventsComeAtTheCountOrThePeriod() {
  Loop loop;
  ibv_device_attr_ex all{};
  check(ibv_query_device_ex(loop.device.context, nullptr, &all) == 0, "ibv_query_device_ex");
  check(all.cq_mod_caps.max_cq_count == 65535 && all.cq_mod_caps.max_cq_period == 4095, "limits of moderation");
  moderate(loop, 16, 100);
  const std::int64_t few = timeToEvent(loop, 5);
  check(few > 95'000 && few < 130'000, "5 entries: not after the period, but " + std::to_string(few) + " ns");
  const std::int64_t many = timeToEvent(loop, 16);
  check(many < 40'000, "16 entries: not at the 16th, but after " + std::to_string(many) + " ns");
  moderate(loop, 0, 0);
  const std::int64_t off = timeToEvent(loop, 1);
  check(off < 30'000, "not at once, but after " + std::to_string(off) + " ns");
  // Switched off with entries pending: nothing is lost.
  moderate(loop, 16, 4000);
  loop.arm();
  for (int i = 0; i < 5; ++i) loop.write();
  take(loop.cq, 5);
  moderate(loop, 0, 0);
  check(loop.hasEvent(2000), "the event of pending entries is lost");
  takeEvent(loop.channel);
  ibv_modify_cq_attr change{};
  change.attr_mask = IBV_CQ_ATTR_MODERATE;
  change.moderate = {1, 4096};
  check(ibv_modify_cq(loop.cq, &change) != 0, "a period over the limit is taken");
  loop.close();
}

// With adapter.completion.moderation=no.
void anAdapterWithoutModerationSaysSo() {
  Loop loop;
  ibv_modify_cq_attr change{};
  change.attr_mask = IBV_CQ_ATTR_MODERATE;
  change.moderate = {16, 100};
  const int answer = ibv_modify_cq(loop.cq, &change);
  check(answer == EOPNOTSUPP || (answer == -1 && errno == EOPNOTSUPP), "not EOPNOTSUPP");
  loop.close();
}

const Register kAll[] = {{"C11_right", rightCodeNeverStalls},
                         {"C11_wrong_stalls", wrongCodeStallsWhereTheSpecificationLetsIt},
                         {"C11_wrong_saved", wrongCodeIsSavedByTheAdapter},
                         {"C13", armTakesEffectWithoutAPoll},
                         {"C16", destroyWaitsForReadEvents},
                         {"C18", solicitedIsAReceiveThatAskedForItOrAnyFailure},
                         {"C19", readableIfAnEventIsUnread},
                         {"C20", eventsComeAtTheCountOrThePeriod},
                         {"C20_unsupported", anAdapterWithoutModerationSaysSo}};

}  // namespace
}  // namespace kit
