// Raw packets: frames, rules, what completions tell.
#include "tests/cosim/programs/cases/frames_kit.h"

namespace kit {
namespace {

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
  Station client, first, second;
  ibv_flow* one = Rule(0, IBV_FLOW_ATTR_MC_DEFAULT).on(first.qp);
  ibv_flow* other = Rule(0, IBV_FLOW_ATTR_MC_DEFAULT).on(second.qp);
  for (unsigned slot = 0; slot < 2; ++slot) {
    first.receive(slot);
    second.receive(slot);
  }
  Bytes frame = frameOf({});
  client.send(frame);
  check(first.isEmpty(), "a frame of a single station");
  frame[0] |= 1;
  client.send(frame);
  for (Station* station : {&first, &second}) {
    station->expect(IBV_WC_RECV);
    station->leave();
  }
  destroy(one);
  client.send(frame);
  second.expect(IBV_WC_RECV);
  second.leave();
  check(first.isEmpty(), "a frame for a rule that is gone");
  destroy(other);
  client.close();
  first.close();
  second.close();
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

const Register kFrames[] = {{"frames", frames},        {"frames_old_poll", oldPoll},
                            {"frames_rules", rules},   {"frames_fcs", frameCheckSequence},
                            {"frames_groups", groups}, {"frames_own", own}};

}  // namespace
}  // namespace kit
