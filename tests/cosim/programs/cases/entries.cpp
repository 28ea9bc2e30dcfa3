// What completions tell; extended creation and polling.
#include <unistd.h>

#include <random>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

void failedStartNeedsNoEnd() {
  Device device;
  ibv_cq_init_attr_ex wish{};
  wish.cqe = 16;
  wish.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
  ibv_cq_ex* cq = need(ibv_create_cq_ex(device.context, &wish), "ibv_create_cq_ex");
  ibv_qp* qp = makeQp(device, device.pd, ibv_cq_ex_to_cq(cq), ibv_cq_ex_to_cq(cq));
  connect(device, qp, qp->qp_num);
  ibv_poll_cq_attr none{};
  for (int i = 0; i < 3; ++i) check(ibv_start_poll(cq, &none) == ENOENT, "an empty queue isn't ENOENT");
  ibv_sge piece = device.piece(0, 64);
  ibv_send_wr request = sendOf(device, &piece, 7, IBV_WR_RDMA_WRITE);
  check(post(qp, request) == 0, "ibv_post_send");
  while (ibv_start_poll(cq, &none) == ENOENT) {
  }
  check(cq->wr_id == 7 && cq->status == IBV_WC_SUCCESS, "another completion");
  check(ibv_next_poll(cq) == ENOENT, "a second completion");
  ibv_end_poll(cq);
  check(ibv_start_poll(cq, &none) == ENOENT, "the completion came twice");
  // Would wait for ever if a lock were held.
  check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0, "the queues stay");
  device.close();
}

// What the misuse checker complains of, once.
void endWithoutStart() {
  Device device;
  ibv_cq_init_attr_ex wish{};
  wish.cqe = 16;
  wish.wc_flags = IBV_WC_STANDARD_FLAGS;
  ibv_cq_ex* cq = need(ibv_create_cq_ex(device.context, &wish), "ibv_create_cq_ex");
  ibv_poll_cq_attr none{};
  check(ibv_start_poll(cq, &none) == ENOENT, "an empty queue isn't ENOENT");
  ibv_end_poll(cq);
}

// Sends and checks `count` messages over a queue pair of `qpPd` that completes into a queue of `cqDomain`.
void exchange(Device& device, ibv_pd* qpPd, ibv_pd* cqDomain, bool isSingleThreaded) {
  ibv_cq_init_attr_ex wish{};
  wish.cqe = 64;
  wish.wc_flags = IBV_WC_STANDARD_FLAGS;
  if (cqDomain != nullptr) {
    wish.comp_mask |= IBV_CQ_INIT_ATTR_MASK_PD;
    wish.parent_domain = cqDomain;
  }
  if (isSingleThreaded) {
    wish.comp_mask |= IBV_CQ_INIT_ATTR_MASK_FLAGS;
    wish.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
  }
  ibv_cq_ex* cq = need(ibv_create_cq_ex(device.context, &wish), "ibv_create_cq_ex");
  ibv_cq* plain = ibv_cq_ex_to_cq(cq);
  ibv_qp* qp = makeQp(device, qpPd, plain, plain);
  connect(device, qp, qp->qp_num);
  ibv_sge piece = device.piece(0, 64);
  for (std::uint64_t id = 0; id < 20; ++id) {
    check(postReceive(device, qp, 100 + id) == 0, "ibv_post_recv");
    ibv_send_wr request = sendOf(device, &piece, id);
    check(post(qp, request) == 0, "ibv_post_send");
    for (const ibv_wc& completion : take(plain, 2)) {
      check(completion.status == IBV_WC_SUCCESS, "a completion with an error");
      check(completion.wr_id % 100 == id, "a completion of another request");
    }
  }
  check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(plain) == 0, "the queues stay");
}

void flagsCountWithTheirMaskAlone() {
  Device device;
  ibv_cq_init_attr_ex wish{};
  wish.cqe = 16;
  wish.flags = ~0U;  // no mask bit: nobody looks
  ibv_cq_ex* cq = need(ibv_create_cq_ex(device.context, &wish), "flags without their mask bit");
  check(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0, "ibv_destroy_cq");
  wish.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  errno = 0;
  check(ibv_create_cq_ex(device.context, &wish) == nullptr && errno != 0, "unknown flags");
  wish.comp_mask = 1U << 31;
  wish.flags = 0;
  check(ibv_create_cq_ex(device.context, &wish) == nullptr && errno != 0, "an unknown mask bit");

  ibv_td_init_attr nothing{};
  ibv_td* td = need(ibv_alloc_td(device.context, &nothing), "ibv_alloc_td");
  ibv_parent_domain_init_attr parent{};
  parent.pd = device.pd;
  parent.td = td;
  ibv_pd* domain = need(ibv_alloc_parent_domain(device.context, &parent), "ibv_alloc_parent_domain");
  exchange(device, device.pd, nullptr, false);
  exchange(device, device.pd, nullptr, true);
  exchange(device, domain, nullptr, false);
  exchange(device, device.pd, domain, false);
  exchange(device, domain, domain, true);
  check(ibv_dealloc_td(td) == EBUSY, "a thread domain goes before its parent domain");
  check(ibv_dealloc_pd(domain) == 0 && ibv_dealloc_td(td) == 0, "the domains stay");
  device.close();
}

void errorsTellWhatIsTrueOfThem() {
  Device device;
  ibv_cq* cq = device.cq(64);
  const Pair pair(device, cq, device.cq(64), {16, 16, 1, 0, true});
  ibv_sge piece = device.piece(0, 64);
  for (std::uint64_t id = 0; id < 5; ++id) {
    ibv_send_wr request = sendOf(device, &piece, id, IBV_WR_RDMA_WRITE);
    if (id == 0) request.wr.rdma.rkey ^= 0x100;
    check(post(pair.left, request) == 0, "ibv_post_send");
  }
  const std::vector<ibv_wc> found = take(cq, 5);
  for (std::uint64_t id = 0; id < 5; ++id) {
    check(found[id].wr_id == id && found[id].qp_num == pair.left->qp_num, "not in the order of the posts");
    const ibv_wc_status wanted = id == 0 ? IBV_WC_REM_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR;
    check(found[id].status == wanted, "another status");
    check(found[id].vendor_err == (id == 0 ? 0x88U : 0xF9U), "another vendor error");
  }
}

void unsignaledFailuresComplete() {
  Device device;
  ibv_cq* cq = device.cq(64);
  const Pair pair(device, cq, device.cq(64));
  ibv_sge piece = device.piece(0, 64);
  for (std::uint64_t id = 0; id < 4; ++id) {
    ibv_send_wr request = sendOf(device, &piece, id, IBV_WR_RDMA_WRITE, 0);
    if (id == 0) request.wr.rdma.rkey ^= 0x100;
    check(post(pair.left, request) == 0, "ibv_post_send");
  }
  const std::vector<ibv_wc> found = take(cq, 4);
  check(found[0].status == IBV_WC_REM_ACCESS_ERR, "the error of an unsignaled request");
  for (std::uint64_t id = 1; id < 4; ++id) check(found[id].status == IBV_WC_WR_FLUSH_ERR, "no flush");
}

// The same bytes whatever the size of an entry (MLX5_CQE_SIZE), and whether data come in it.
void smallDataArriveWhole() {
  Device device;
  ibv_cq* cq = device.cq(64);
  // libmlx5 44 looks for the data of a READ in the wrong half of a wide entry, so they are not to come there.
  const char* size = std::getenv("MLX5_CQE_SIZE");
  const bool readsInEntries = size == nullptr || std::atoi(size) == 64;
  const Pair pair(device, cq, cq, {16, 16, 1, 0, readsInEntries});
  constexpr std::size_t kFrom = 0, kInto = 8192, kRemote = Device::kBuffer / 2;
  for (const std::size_t length : {16, 32, 33, 64, 65}) {
    for (std::size_t i = 0; i < length; ++i) {
      device.buffer[kFrom + i] = static_cast<std::uint8_t>(i * 3 + length);
      device.buffer[kRemote + i] = static_cast<std::uint8_t>(i * 5 + length);
    }
    std::memset(&device.buffer[kInto], 0, 4 * length);
    check(postReceive(device, pair.right, 1, kInto, 256) == 0, "ibv_post_recv");
    ibv_sge from = device.piece(kFrom, length), into = device.piece(kInto + 512, length);
    ibv_send_wr send = sendOf(device, &from, 2), read = sendOf(device, &into, 3, IBV_WR_RDMA_READ);
    check(post(pair.left, send) == 0 && post(pair.left, read) == 0, "ibv_post_send");
    for (const ibv_wc& completion : take(cq, 3)) {
      check(completion.status == IBV_WC_SUCCESS, "a completion with an error");
      if (completion.wr_id == 1) check(completion.byte_len == length, "a receive of another length");
    }
    check(std::memcmp(&device.buffer[kFrom], &device.buffer[kInto], length) == 0, "other bytes were received");
    check(std::memcmp(&device.buffer[kRemote], &device.buffer[kInto + 512], length) == 0, "other bytes were read");
  }
  ibv_sge piece = device.piece(0, 64);
  ibv_send_wr bad = sendOf(device, &piece, 9, IBV_WR_RDMA_WRITE);
  bad.wr.rdma.rkey ^= 0x100;
  check(post(pair.left, bad) == 0, "ibv_post_send");
  const ibv_wc failed = take(cq, 1).front();
  check(failed.wr_id == 9 && failed.status == IBV_WC_REM_ACCESS_ERR && failed.vendor_err == 0x88, "another error");
}

// Requests of one to four blocks, ten times around the ring.
void completionsNameTheirRequests() {
  Device device;
  ibv_cq* cq = device.cq(512);
  const Pair pair(device, cq, cq, {64, 64, 12, 0, false});
  std::mt19937_64 random(1);
  std::vector<ibv_sge> pieces(12, device.piece(0, 8));
  for (int round = 0; round < 160; ++round) {
    std::vector<std::uint64_t> sends, receives, foundSends, foundReceives;
    for (std::size_t i = 0; i < 4; ++i) {
      sends.push_back(random());
      receives.push_back(random());
      check(postReceive(device, pair.right, receives.back()) == 0, "ibv_post_recv");
      ibv_send_wr request = sendOf(device, pieces.data(), sends.back());
      request.num_sge = static_cast<int>(1 + (i + static_cast<std::size_t>(round)) * 5 % 12);
      check(post(pair.left, request) == 0, "ibv_post_send");
    }
    for (const ibv_wc& completion : take(cq, 8)) {
      check(completion.status == IBV_WC_SUCCESS, "a completion with an error");
      (completion.opcode == IBV_WC_RECV ? foundReceives : foundSends).push_back(completion.wr_id);
    }
    check(foundSends == sends && foundReceives == receives, "wr_id of another request");
  }
}

// With --virtual-time and adapter.completion.timestamp_clock=156250kHz. `wraps`: the counter begins again between the
// two completions.
void timeStamps(bool wraps) {
  Device device;
  ibv_device_attr_ex all{};
  check(ibv_query_device_ex(device.context, nullptr, &all) == 0, "ibv_query_device_ex");
  check(all.hca_core_clock == 156250, "the clock's rate is given in kHz");
  ibv_cq_init_attr_ex wish{};
  wish.cqe = 16;
  wish.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
  ibv_cq_ex* cq = need(ibv_create_cq_ex(device.context, &wish), "ibv_create_cq_ex");
  ibv_qp* qp = makeQp(device, device.pd, ibv_cq_ex_to_cq(cq), ibv_cq_ex_to_cq(cq));
  connect(device, qp, qp->qp_num);
  ibv_sge piece = device.piece(0, 64);
  std::uint64_t ticks[2] = {}, wall[2] = {};
  std::int64_t posted[2] = {};
  for (int i = 0; i < 2; ++i) {
    usleep(1000);
    posted[i] = nowNs();
    ibv_send_wr request = sendOf(device, &piece, 7, IBV_WR_RDMA_WRITE);
    check(post(qp, request) == 0, "ibv_post_send");
    ibv_poll_cq_attr none{};
    while (ibv_start_poll(cq, &none) == ENOENT) {
    }
    ticks[i] = ibv_wc_read_completion_ts(cq);
    wall[i] = ibv_wc_read_completion_wallclock_ns(cq);
    ibv_end_poll(cq);
  }
  const std::uint64_t mask = all.completion_timestamp_mask;
  const double nanoseconds = static_cast<double>((ticks[1] - ticks[0]) & mask) * 1e6 / 156250;
  const double simulated = static_cast<double>(posted[1] - posted[0]);
  check(nanoseconds > simulated - 100 && nanoseconds < simulated + 100,
        "stamps " + std::to_string(nanoseconds) + " ns apart for " + std::to_string(simulated) + " ns");
  check((ticks[1] < ticks[0]) == wraps, wraps ? "the counter doesn't begin again" : "the counter begins again");
  check(wall[1] > wall[0], "the wall clock goes backwards");
  const auto apart = static_cast<double>(wall[1] - wall[0]);
  check(apart > simulated - 200 && apart < simulated + 200, "the wall clock isn't in nanoseconds");
  ibv_values_ex now{};
  now.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  check(ibv_query_rt_values_ex(device.context, &now) == 0, "ibv_query_rt_values_ex");
}

const Register kAll[] = {
    {"C21", failedStartNeedsNoEnd},        {"C21_misuse", endWithoutStart},     {"C25", flagsCountWithTheirMaskAlone},
    {"C26", errorsTellWhatIsTrueOfThem},   {"C27", unsignaledFailuresComplete}, {"C28", smallDataArriveWhole},
    {"C30", completionsNameTheirRequests}, {"C33", [] { timeStamps(false); }},  {"C33_wrap", [] { timeStamps(true); }}};

}  // namespace
}  // namespace kit
