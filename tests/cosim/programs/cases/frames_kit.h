// What programs with raw packets share: frames, an opening of the device, rules. Wants RoCE ports.
#pragma once

#include <algorithm>
#include <array>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {

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

inline void put(Bytes& bytes, std::uint64_t value, unsigned size) {
  for (unsigned i = size; i > 0; --i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * (i - 1))));
}

inline std::uint16_t sumOf(const Bytes& bytes, std::size_t from, std::size_t to, std::uint32_t sum = 0) {
  for (std::size_t i = from; i < to; i += 2) sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// UDP over IPv4 with 100 bytes of data.
inline Bytes frameOf(const FrameWish& wish) {
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

inline ibv_cq_ex* makeCq(const Device& device) {
  ibv_cq_init_attr_ex init{};
  init.cqe = 64;
  init.wc_flags =
      IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  return need(ibv_create_cq_ex(device.context, &init), "ibv_create_cq_ex");
}

inline void toReady(ibv_qp* qp, bool sends = true) {
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

inline void destroy(ibv_flow* flow) { check(ibv_destroy_flow(flow) == 0, "ibv_destroy_flow"); }

}  // namespace kit
