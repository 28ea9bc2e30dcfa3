// Raw packets: work queues and spreading, what the device offers and refuses.
#include "tests/cosim/programs/cases/frames_kit.h"

namespace kit {
namespace {

/// Receive queues, an indirection table and the queue pair over them.
struct Spread {
  static constexpr unsigned kQueues = 4;
  explicit Spread(int completions = 64) {
    for (unsigned i = 0; i < kQueues; ++i) {
      cqs.push_back(device.cq(completions));
      ibv_wq_init_attr init{};
      init.wq_type = IBV_WQT_RQ;
      init.max_wr = 16;
      init.max_sge = 1;
      init.pd = device.pd;
      init.cq = cqs[i];
      wqs.push_back(need(ibv_create_wq(device.context, &init), "ibv_create_wq"));
      setState(i, IBV_WQS_RDY);
      for (unsigned slot = 0; slot < 8; ++slot) receive(i, slot);
    }
    ibv_rwq_ind_table_init_attr init{};
    init.log_ind_tbl_size = 2;
    init.ind_tbl = wqs.data();
    table = need(ibv_create_rwq_ind_table(device.context, &init), "ibv_create_rwq_ind_table");
    qp = need(makeQp(IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4), "ibv_create_qp_ex");
  }
  ibv_qp* makeQp(std::uint64_t fields, std::uint8_t keyLength = 40) {
    std::array<std::uint8_t, 40> key{};
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(53 * i + 7);
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_RAW_PACKET;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
    init.pd = device.pd;
    init.rwq_ind_tbl = table;
    init.rx_hash_conf = {IBV_RX_HASH_FUNC_TOEPLITZ, keyLength, key.data(), fields};
    return ibv_create_qp_ex(device.context, &init);
  }
  void setState(unsigned queue, ibv_wq_state state) {
    ibv_wq_attr attr{};
    attr.attr_mask = IBV_WQ_ATTR_STATE;
    attr.wq_state = state;
    check(ibv_modify_wq(wqs[queue], &attr) == 0, "ibv_modify_wq");
  }
  void receive(unsigned queue, unsigned slot) {
    ibv_sge piece = device.piece(kReceiveAt + (8 * queue + slot) * kReceiveSize, kReceiveSize);
    ibv_recv_wr request{}, *bad = nullptr;
    request.sg_list = &piece;
    request.num_sge = 1;
    check(ibv_post_wq_recv(wqs[queue], &request, &bad) == 0, "ibv_post_wq_recv");
  }
  /// The queue that got the frame that was sent.
  unsigned taker() {
    for (;;) {
      for (unsigned i = 0; i < kQueues; ++i) {
        ibv_wc done{};
        const int got = ibv_poll_cq(cqs[i], 1, &done);
        check(got >= 0 && done.status == IBV_WC_SUCCESS, "ibv_poll_cq");
        if (got == 1) return i;
      }
    }
  }
  void close() {
    check(ibv_destroy_wq(wqs[0]) == EBUSY, "a queue of a table goes");
    check(ibv_destroy_rwq_ind_table(table) == EBUSY, "the table of a queue pair goes");
    check(ibv_destroy_qp(qp) == 0 && ibv_destroy_rwq_ind_table(table) == 0, "the objects stay");
    for (unsigned i = 0; i < kQueues; ++i) {
      check(ibv_destroy_wq(wqs[i]) == 0 && ibv_destroy_cq(cqs[i]) == 0, "the queues stay");
    }
    device.close();
  }
  Device device;
  std::vector<ibv_cq*> cqs;
  std::vector<ibv_wq*> wqs;
  ibv_rwq_ind_table* table = nullptr;
  ibv_qp* qp = nullptr;
};

void spreading() {
  Station client;
  Spread server;
  ibv_flow* flow = Rule().to(0x22).on(server.qp);
  unsigned taken[Spread::kQueues] = {};
  std::vector<unsigned> takers;
  FrameWish wish;
  for (wish.host = 0; wish.host < 16; ++wish.host) {
    client.send(frameOf(wish));
    takers.push_back(server.taker());
    ++taken[takers.back()];
    server.receive(takers.back(), 7);
  }
  check(std::count(std::begin(taken), std::end(taken), 0U) == 0, "a queue that gets nothing");
  // Frames of one sender stay at one queue, whatever their ports.
  wish.host = 5;
  for (wish.udpPort = 100; wish.udpPort < 104; ++wish.udpPort) {
    client.send(frameOf(wish));
    check(server.taker() == takers[5], "another queue for the same sender");
    server.receive(takers[5], 7);
  }
  // A tag is taken out once the queue is told so.
  ibv_wq_attr attr{};
  attr.attr_mask = IBV_WQ_ATTR_FLAGS;
  attr.flags = attr.flags_mask = IBV_WQ_FLAGS_CVLAN_STRIPPING;
  check(ibv_modify_wq(server.wqs[takers[5]], &attr) == 0, "ibv_modify_wq");
  wish.vlan = 5;
  client.send(frameOf(wish));
  ibv_wc done{};
  while (ibv_poll_cq(server.cqs[takers[5]], 1, &done) == 0) {
  }
  check(done.status == IBV_WC_SUCCESS && done.byte_len == frameOf({}).size(), "the tag is still there");
  // In error a queue flushes its receives.
  server.setState(0, IBV_WQS_ERR);
  check(take(server.cqs[0], 1).front().status == IBV_WC_WR_FLUSH_ERR, "not flushed");
  destroy(flow);
  server.close();
  client.close();
}

// More frames than the completion queue of a work queue has room for.
void queueFails() {
  Station client;
  Spread server(1);  // two entries
  ibv_flow* flow = Rule().to(0x22).on(server.qp);
  for (int i = 0; i < 3; ++i) client.send(frameOf({}));
  ibv_async_event event{};
  check(ibv_get_async_event(server.device.context, &event) == 0, "ibv_get_async_event");
  check(event.event_type == IBV_EVENT_CQ_ERR, "another event than CQ_ERR");
  const auto at = std::find(server.cqs.begin(), server.cqs.end(), event.element.cq);
  check(at != server.cqs.end(), "a completion queue of nobody");
  ibv_ack_async_event(&event);
  check(ibv_get_async_event(server.device.context, &event) == 0, "ibv_get_async_event");
  check(event.event_type == IBV_EVENT_WQ_FATAL, "another event than WQ_FATAL");
  check(event.element.wq == server.wqs[static_cast<std::size_t>(at - server.cqs.begin())], "another work queue");
  ibv_ack_async_event(&event);
  destroy(flow);
  server.close();
  client.close();
}

// What the device says, and what it refuses.
void misuse() {
  Station station;
  ibv_device_attr_ex what{};
  check(ibv_query_device_ex(station.device.context, nullptr, &what) == 0, "ibv_query_device_ex");
  check(what.raw_packet_caps ==
            (IBV_RAW_PACKET_CAP_CVLAN_STRIPPING | IBV_RAW_PACKET_CAP_SCATTER_FCS | IBV_RAW_PACKET_CAP_IP_CSUM),
        "other abilities");
  check((what.orig_attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING) != 0, "no rules");
  check((what.orig_attr.device_cap_flags & IBV_DEVICE_RAW_IP_CSUM) != 0, "no checksums");
  check(what.rss_caps.supported_qpts == 1U << IBV_QPT_RAW_PACKET && what.rss_caps.rx_hash_function == 1,
        "no spreading");
  check(what.tso_caps.max_tso == 0, "segmentation, which isn't there");
  const auto refused = [&](Rule rule, int error, const char* text) {
    errno = 0;
    check(rule.tryOn(station.qp) == nullptr && errno == error, text);
  };
  refused(Rule(16).to(1), ENOSPC, "a priority that isn't there");
  refused(Rule().to(1).tag(1U << 24), EINVAL, "a tag of 25 bits");
  refused(Rule(0, IBV_FLOW_ATTR_SNIFFER), EOPNOTSUPP, "sniffing");
  refused(Rule().to(1).flags(IBV_FLOW_ATTR_FLAGS_EGRESS), EOPNOTSUPP, "a rule of what is sent");
  Rule otherPort;
  otherPort.to(1).attr().port = 2;
  refused(otherPort, EINVAL, "a port that isn't there");
  ibv_flow* flow = Rule().to(1).on(station.qp);
  refused(Rule().to(1).tag(5), EEXIST, "two tags for one match");
  refused(Rule().to(1).drop(), EEXIST, "a drop and a receiver for one match");
  check(ibv_destroy_qp(station.qp) == EBUSY, "a queue pair with a rule goes");
  destroy(flow);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.rate_limit = 1000;
  check(ibv_modify_qp(station.qp, &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT) == EOPNOTSUPP, "a rate");
  // Queue pairs of another kind take no rules.
  ibv_cq* cq = station.device.cq(4);
  ibv_qp* rc = makeQp(station.device, station.device.pd, cq, cq);
  check(Rule().to(1).tryOn(rc) == nullptr && errno == EINVAL, "a rule of a connection");
  check(ibv_destroy_qp(rc) == 0 && ibv_destroy_cq(cq) == 0, "the objects stay");
  // Hashes.
  Spread spread;
  check(spread.makeQp(IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_SRC_IPV6) == nullptr && errno == EINVAL, "both protocols");
  check(spread.makeQp(IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_UDP) == nullptr && errno == EINVAL, "both ports");
  check(spread.makeQp(IBV_RX_HASH_SRC_IPV4, 39) == nullptr && errno == EINVAL, "a short key");
  check(spread.makeQp(0) == nullptr && errno == EINVAL, "four queues without a hash");
  check(ibv_query_qp(spread.qp, &attr, IBV_QP_STATE, std::array<ibv_qp_init_attr, 1>().data()) != 0, "its state");
  spread.close();
  // A frame without a header ends its queue pair's sends.
  ibv_sge piece = station.device.piece(0, 10);
  ibv_send_wr request = sendOf(station.device, &piece, 7);
  check(post(station.qp, request) == 0, "ibv_post_send");
  ibv_poll_cq_attr poll{};
  while (ibv_start_poll(station.cq, &poll) == ENOENT) {
  }
  check(station.cq->status == IBV_WC_LOC_LEN_ERR, "ten bytes pass");
  ibv_end_poll(station.cq);
  ibv_qp_init_attr init{};
  check(ibv_query_qp(station.qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_SQE, "another state");
  attr.qp_state = IBV_QPS_RESET;
  check(ibv_modify_qp(station.qp, &attr, IBV_QP_STATE) == 0, "to RESET");
  toReady(station.qp);
  station.send(frameOf({}));
  station.close();
}

const Register kFrameQueues[] = {
    {"frames_spreading", spreading}, {"frames_queue_fails", queueFails}, {"frames_misuse", misuse}};

}  // namespace
}  // namespace kit
