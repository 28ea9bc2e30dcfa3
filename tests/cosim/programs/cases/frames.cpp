// Raw packets: frames, rules, spreading, what completions tell. Wants RoCE ports.
#include <algorithm>
#include <array>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kReceiveAt = 4096;  // where the receives' buffers begin; each is of 2 KiB
constexpr std::size_t kReceiveSize = 2048;

struct FrameWish {
  std::uint8_t destination = 0x22;  // last byte of the address
  std::uint16_t vlan = 0;           // 0: no tag
  std::uint16_t udpPort = 7;        // of the receiver
  std::uint8_t host = 1;            // last byte of the sender's IPv4 address
  bool checksums = true;            // or zeros in their place
};

void put(Bytes& bytes, std::uint64_t value, unsigned size) {
  for (unsigned i = size; i > 0; --i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * (i - 1))));
}

std::uint16_t sumOf(const Bytes& bytes, std::size_t from, std::size_t to, std::uint32_t sum = 0) {
  for (std::size_t i = from; i < to; i += 2) sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// UDP over IPv4 with 100 bytes of data.
Bytes frameOf(const FrameWish& wish) {
  constexpr std::uint16_t kData = 100, kUdp = 8 + kData, kIp = 20 + kUdp;
  Bytes frame;
  put(frame, 0x020000000000 | wish.destination, 6);
  put(frame, 0x020000000011, 6);
  if (wish.vlan != 0) put(frame, 0x81000000U | wish.vlan, 4);
  put(frame, 0x0800, 2);
  const std::size_t ip = frame.size();
  put(frame, 0x4500, 2);
  put(frame, kIp, 2);
  put(frame, 0x00004000, 4);
  put(frame, 0x4011, 2);
  put(frame, 0, 2);
  put(frame, 0x0A000000 | wish.host, 4);
  put(frame, 0x0A000002, 4);
  const std::size_t udp = frame.size();
  put(frame, 1000, 2);
  put(frame, wish.udpPort, 2);
  put(frame, kUdp, 2);
  put(frame, 0, 2);
  for (unsigned i = 0; i < kData; ++i) frame.push_back(static_cast<std::uint8_t>(i));
  if (!wish.checksums) return frame;
  const std::uint16_t header = sumOf(frame, ip, udp);
  frame[ip + 10] = static_cast<std::uint8_t>(header >> 8);
  frame[ip + 11] = static_cast<std::uint8_t>(header);
  const std::uint16_t segment = sumOf(frame, ip + 12, frame.size(), 17 + kUdp);
  frame[udp + 6] = static_cast<std::uint8_t>(segment >> 8);
  frame[udp + 7] = static_cast<std::uint8_t>(segment);
  return frame;
}

ibv_cq_ex* makeCq(const Device& device) {
  ibv_cq_init_attr_ex init{};
  init.cqe = 64;
  init.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG |
                  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  return need(ibv_create_cq_ex(device.context, &init), "ibv_create_cq_ex");
}

void toReady(ibv_qp* qp, bool sends = true) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT) == 0, "to INIT");
  attr.qp_state = IBV_QPS_RTR;
  check(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0, "to RTR");
  attr.qp_state = IBV_QPS_RTS;
  if (sends) check(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0, "to RTS");
}

/// A device opened once more: a program's own frames don't come back to the same opening of it.
struct Station {
  explicit Station(std::uint32_t flags = 0) : cq(makeCq(device)) {
    ibv_qp_init_attr_ex init{};
    init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
    init.cap = {16, 16, 1, 1, 0};
    init.qp_type = IBV_QPT_RAW_PACKET;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    init.create_flags = flags;
    init.pd = device.pd;
    qp = need(ibv_create_qp_ex(device.context, &init), "ibv_create_qp_ex");
    toReady(qp);
  }
  void receive(unsigned slot) {
    ibv_sge piece = device.piece(kReceiveAt + slot * kReceiveSize, kReceiveSize);
    ibv_recv_wr request{}, *bad = nullptr;
    request.wr_id = 100 + slot;
    request.sg_list = &piece;
    request.num_sge = 1;
    check(ibv_post_recv(qp, &request, &bad) == 0, "ibv_post_recv");
  }
  void send(const Bytes& frame, unsigned flags = 0) {
    std::copy(frame.begin(), frame.end(), device.buffer.begin());
    ibv_sge piece = device.piece(0, frame.size());
    ibv_send_wr request = sendOf(device, &piece, 1, IBV_WR_SEND, IBV_SEND_SIGNALED | flags);
    check(post(qp, request) == 0, "ibv_post_send");
    expect(IBV_WC_SEND);
  }
  /// Waits for a completion, and stays at it: `leave` goes on.
  void expect(ibv_wc_opcode opcode) {
    ibv_poll_cq_attr attr{};
    int error = ENOENT;
    while (error == ENOENT) error = ibv_start_poll(cq, &attr);
    check(error == 0 && cq->status == IBV_WC_SUCCESS, "a failed completion");
    check(ibv_wc_read_opcode(cq) == opcode, "another opcode");
    if (opcode == IBV_WC_SEND) ibv_end_poll(cq);
  }
  void leave() { ibv_end_poll(cq); }
  [[nodiscard]] bool isEmpty() {
    ibv_poll_cq_attr attr{};
    for (int i = 0; i < 1000; ++i) {
      if (ibv_start_poll(cq, &attr) == ENOENT) continue;
      ibv_end_poll(cq);
      return false;
    }
    return true;
  }
  [[nodiscard]] Bytes received(unsigned slot, std::size_t length) const {
    const auto from = device.buffer.begin() + static_cast<std::ptrdiff_t>(kReceiveAt + slot * kReceiveSize);
    return {from, from + static_cast<std::ptrdiff_t>(length)};
  }
  void close() {
    check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0, "the objects stay");
    device.close();
  }
  Device device;
  ibv_cq_ex* cq;
  ibv_qp* qp;
};

/// A rule: attributes and specifications one behind the other, as ibv_create_flow wants them.
class Rule {
 public:
  explicit Rule(std::uint16_t priority = 0, ibv_flow_attr_type type = IBV_FLOW_ATTR_NORMAL) {
    attr().type = type;
    attr().size = sizeof(ibv_flow_attr);
    attr().priority = priority;
    attr().port = 1;
  }
  Rule& to(std::uint8_t destination, std::uint16_t vlan = 0) {
    ibv_flow_spec_eth spec{};
    spec.type = IBV_FLOW_SPEC_ETH;
    const std::uint8_t mac[6] = {2, 0, 0, 0, 0, destination};
    std::memcpy(spec.val.dst_mac, mac, sizeof mac);
    std::memset(spec.mask.dst_mac, 0xFF, sizeof mac);
    spec.val.vlan_tag = htobe16(vlan);
    spec.mask.vlan_tag = vlan != 0 ? htobe16(0xFFF) : 0;
    return add(spec);
  }
  Rule& udp(std::uint16_t port) {
    ibv_flow_spec_ipv4_ext ip{};
    ip.type = IBV_FLOW_SPEC_IPV4_EXT;
    ip.val.dst_ip = htobe32(0x0A000002);
    ip.mask.dst_ip = 0xFFFFFFFF;
    add(ip);
    ibv_flow_spec_tcp_udp spec{};
    spec.type = IBV_FLOW_SPEC_UDP;
    spec.val.dst_port = htobe16(port);
    spec.mask.dst_port = 0xFFFF;
    return add(spec);
  }
  Rule& tag(std::uint32_t value) {
    ibv_flow_spec_action_tag spec{};
    spec.type = IBV_FLOW_SPEC_ACTION_TAG;
    spec.tag_id = value;
    return add(spec);
  }
  Rule& drop() {
    ibv_flow_spec_action_drop spec{};
    spec.type = IBV_FLOW_SPEC_ACTION_DROP;
    return add(spec);
  }
  Rule& flags(std::uint32_t value) {
    attr().flags = value;
    return *this;
  }
  ibv_flow* tryOn(ibv_qp* qp) { return ibv_create_flow(qp, &attr()); }
  ibv_flow* on(ibv_qp* qp) { return need(tryOn(qp), "ibv_create_flow"); }
  ibv_flow_attr& attr() { return *reinterpret_cast<ibv_flow_attr*>(bytes_.data()); }

 private:
  template <class Spec>
  Rule& add(Spec spec) {
    spec.size = sizeof spec;
    std::memcpy(bytes_.data() + attr().size, &spec, sizeof spec);
    attr().size = static_cast<std::uint16_t>(attr().size + sizeof spec);
    ++attr().num_of_specs;
    return *this;
  }
  alignas(8) std::array<std::uint8_t, 512> bytes_{};
};

void destroy(ibv_flow* flow) { check(ibv_destroy_flow(flow) == 0, "ibv_destroy_flow"); }

void frames() {
  Station client, server(IBV_QP_CREATE_CVLAN_STRIPPING);
  ibv_flow* flow = Rule().to(0x22).tag(0xABCDEF).on(server.qp);
  for (unsigned slot = 0; slot < 4; ++slot) server.receive(slot);
  const Bytes plain = frameOf({});
  client.send(plain);
  server.expect(IBV_WC_RECV);
  check(server.cq->wr_id == 100, "another receive");
  check(ibv_wc_read_byte_len(server.cq) == plain.size(), "another length");
  check(ibv_wc_read_flow_tag(server.cq) == 0xABCDEF, "another tag");
  check((ibv_wc_read_wc_flags(server.cq) & IBV_WC_IP_CSUM_OK) != 0, "the checksums are right");
  check(ibv_wc_read_cvlan(server.cq) == 0, "there is no VLAN");
  const std::uint64_t first = ibv_wc_read_completion_ts(server.cq);
  server.leave();
  check(server.received(0, plain.size()) == plain, "another frame");
  // A VLAN tag goes into the completion.
  FrameWish tagged;
  tagged.vlan = 0x6005;
  client.send(frameOf(tagged));
  server.expect(IBV_WC_RECV);
  check(ibv_wc_read_cvlan(server.cq) == 0x6005, "another VLAN");
  check(ibv_wc_read_byte_len(server.cq) == plain.size(), "the tag is still there");
  check(ibv_wc_read_completion_ts(server.cq) > first, "no time passed");
  server.leave();
  check(server.received(1, plain.size()) == plain, "more than the tag went");
  // Checksums: wrong ones are told, and the adapter inserts right ones.
  FrameWish without;
  without.checksums = false;
  Bytes bare = frameOf(without);
  bare[14 + 20 + 6] = 1;  // a UDP checksum of zero would be none
  client.send(bare);
  server.expect(IBV_WC_RECV);
  check((ibv_wc_read_wc_flags(server.cq) & IBV_WC_IP_CSUM_OK) == 0, "wrong checksums pass");
  server.leave();
  client.send(bare, IBV_SEND_IP_CSUM);
  server.expect(IBV_WC_RECV);
  check((ibv_wc_read_wc_flags(server.cq) & IBV_WC_IP_CSUM_OK) != 0, "no checksums were inserted");
  server.leave();
  check(server.received(3, plain.size()) == plain, "other checksums");
  destroy(flow);
  client.close();
  server.close();
}

// The old way to poll tells the flags as well.
void oldPoll() {
  Station client;
  Device device;
  ibv_cq* cq = device.cq(16);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.cap = {0, 4, 0, 1, 0};
  init.qp_type = IBV_QPT_RAW_PACKET;
  ibv_qp* qp = need(ibv_create_qp(device.pd, &init), "ibv_create_qp");
  toReady(qp);
  ibv_flow* flow = Rule().to(0x33).on(qp);
  ibv_sge piece = device.piece(kReceiveAt, kReceiveSize);
  ibv_recv_wr request{}, *bad = nullptr;
  request.sg_list = &piece;
  request.num_sge = 1;
  check(ibv_post_recv(qp, &request, &bad) == 0, "ibv_post_recv");
  FrameWish wish;
  wish.destination = 0x33;
  client.send(frameOf(wish));
  const ibv_wc done = take(cq, 1).front();
  check(done.status == IBV_WC_SUCCESS && done.opcode == IBV_WC_RECV && done.byte_len == frameOf(wish).size(),
        "another completion");
  check((done.wc_flags & IBV_WC_IP_CSUM_OK) != 0, "the checksums are right");
  destroy(flow);
  check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0, "the objects stay");
  device.close();
  client.close();
}

// The frame check sequence stays at the end on demand.
void frameCheckSequence() {
  Station client, server(IBV_QP_CREATE_SCATTER_FCS);
  ibv_flow* flow = Rule().to(0x22).on(server.qp);
  server.receive(0);
  const Bytes plain = frameOf({});
  client.send(plain);
  server.expect(IBV_WC_RECV);
  check(ibv_wc_read_byte_len(server.cq) == plain.size() + 4, "no sequence");
  server.leave();
  std::uint32_t crc = 0xFFFFFFFF;  // IEEE 802.3, 3.2.9
  for (const std::uint8_t byte : plain) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  const Bytes got = server.received(0, plain.size() + 4);
  for (std::size_t i = 0; i < 4; ++i) {
    check(got[plain.size() + i] == static_cast<std::uint8_t>(~crc >> (8 * i)), "another sequence");
  }
  destroy(flow);
  client.close();
  server.close();
}

// Which rule gets a frame.
void rules() {
  Station client, server;
  for (unsigned slot = 0; slot < 10; ++slot) server.receive(slot);
  const auto tagOf = [&](const FrameWish& wish) {
    client.send(frameOf(wish));
    server.expect(IBV_WC_RECV);
    const std::uint32_t tag = ibv_wc_read_flow_tag(server.cq);
    server.leave();
    return tag;
  };
  FrameWish wish;
  ibv_flow* everything = Rule(0, IBV_FLOW_ATTR_ALL_DEFAULT).on(server.qp);
  check(tagOf(wish) == 0, "not by default");
  ibv_flow* address = Rule(3).to(0x22).tag(3).on(server.qp);
  check(tagOf(wish) == 3, "not by its address");
  ibv_flow* port = Rule(2).to(0x22).udp(7).tag(2).on(server.qp);
  check(tagOf(wish) == 2, "not by the better priority");
  wish.udpPort = 8;
  check(tagOf(wish) == 3, "by a port of another");
  ibv_flow* vlan = Rule(1).to(0x22, 5).tag(1).on(server.qp);
  check(tagOf(wish) == 3, "without a VLAN by one");
  wish.vlan = 0x6005;
  check(tagOf(wish) == 1, "not by its VLAN");
  destroy(vlan);
  check(tagOf(wish) == 3, "by a rule that is gone");
  // Dropped.
  ibv_flow* dropped = Rule(0).to(0x22).drop().on(server.qp);
  client.send(frameOf(wish));
  check(server.isEmpty(), "not dropped");
  destroy(dropped);
  // To both: the first rule doesn't trap.
  ibv_flow* copied = Rule(0).to(0x22).tag(9).flags(IBV_FLOW_ATTR_FLAGS_DONT_TRAP).on(server.qp);
  client.send(frameOf(wish));
  std::uint32_t tags = 0;
  for (int i = 0; i < 2; ++i) {
    server.expect(IBV_WC_RECV);
    tags += ibv_wc_read_flow_tag(server.cq);
    server.leave();
  }
  check(tags == 9 + 3, "not to both");
  for (ibv_flow* flow : {copied, port, address, everything}) destroy(flow);
  client.send(frameOf(wish));
  check(server.isEmpty(), "without a rule");
  client.close();
  server.close();
}

// A group's frames go to everybody that wants them.
void groups() {
  Station client, first;
  ibv_flow* one = Rule(0, IBV_FLOW_ATTR_MC_DEFAULT).on(first.qp);
  first.receive(0);
  Bytes frame = frameOf({});
  client.send(frame);
  check(first.isEmpty(), "a frame of a single station");
  frame[0] |= 1;
  client.send(frame);
  first.expect(IBV_WC_RECV);
  first.leave();
  destroy(one);
  client.close();
  first.close();
}

/// Receive queues, an indirection table and the queue pair over them.
struct Spread {
  static constexpr unsigned kQueues = 4;
  Spread() {
    for (unsigned i = 0; i < kQueues; ++i) {
      cqs.push_back(device.cq(64));
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

// Frames of one's own opening of the device don't come back.
void own() {
  Station station;
  ibv_flow* flow = Rule().to(0x22).on(station.qp);
  station.receive(0);
  station.send(frameOf({}));
  check(station.isEmpty(), "it came back");
  destroy(flow);
  station.close();
}

const Register kAll[] = {{"frames", frames},          {"frames_old_poll", oldPoll},
                         {"frames_rules", rules},    {"frames_fcs", frameCheckSequence},
                         {"frames_groups", groups},  {"frames_spreading", spreading},
                         {"frames_misuse", misuse},  {"frames_own", own}};

}  // namespace
}  // namespace kit
