// Tag-matching shared receive queues.
#include <endian.h>
#include <infiniband/tm_types.h>

#include <algorithm>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

constexpr std::size_t kUnexpected = 0x10000, kTagged = 0x20000, kData = 0x40000;  // in the buffer

/// What an entry of an extended completion queue tells of tags.
struct TagCompletion {
  std::uint64_t id = 0;
  ibv_wc_status status = IBV_WC_SUCCESS;
  ibv_wc_opcode opcode = IBV_WC_SEND;
  unsigned flags = 0;
  std::uint32_t length = 0;
  ibv_wc_tm_info info{};
};

/// A sender whose messages go to a tag-matching queue of the same program.
struct Tags {
  Tags() {
    ibv_cq_init_attr_ex wanted{};
    wanted.cqe = 64;
    wanted.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_TM_INFO;
    cq = need(ibv_create_cq_ex(device.context, &wanted), "ibv_create_cq_ex");
    ibv_srq_init_attr_ex init{};
    init.attr.max_wr = 16;
    init.attr.max_sge = 1;
    init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
    init.srq_type = IBV_SRQT_TM;
    init.pd = device.pd;
    init.cq = ibv_cq_ex_to_cq(cq);
    init.tm_cap.max_num_tags = 15;
    init.tm_cap.max_ops = 16;
    srq = need(ibv_create_srq_ex(device.context, &init), "ibv_create_srq_ex");
    senderCq = device.cq(64);
    sender = makeQp(device, device.pd, senderCq, senderCq);
    ibv_qp_init_attr receiverInit{};
    receiverInit.send_cq = receiverInit.recv_cq = senderCq;
    receiverInit.srq = srq;
    receiverInit.qp_type = IBV_QPT_RC;  // its send queue is the adapter's
    receiver = need(ibv_create_qp(device.pd, &receiverInit), "ibv_create_qp");
    connect(device, receiver, sender->qp_num);
    connect(device, sender, receiver->qp_num);
  }
  void close() {
    check(ibv_destroy_srq(srq) != 0, "a queue in use goes");
    check(ibv_destroy_qp(sender) == 0 && ibv_destroy_qp(receiver) == 0, "ibv_destroy_qp");
    check(ibv_destroy_srq(srq) == 0, "ibv_destroy_srq");
    check(ibv_destroy_cq(senderCq) == 0 && ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0, "ibv_destroy_cq");
    device.close();
  }

  void postEntry(std::uint64_t id) {
    ibv_sge piece = device.piece(kUnexpected, 4096);
    ibv_recv_wr request{id, nullptr, &piece, 1};
    ibv_recv_wr* bad = nullptr;
    check(ibv_post_srq_recv(srq, &request, &bad) == 0, "ibv_post_srq_recv");
  }
  int operate(ibv_ops_wr& operation) {
    ibv_ops_wr* bad = nullptr;
    return ibv_post_srq_ops(srq, &operation, &bad);
  }
  /// Appends a tag; its handle.
  std::uint32_t add(std::uint64_t tag, std::uint32_t length, std::uint64_t id) {
    ibv_sge piece = device.piece(kTagged, length);
    ibv_ops_wr operation{};
    operation.wr_id = id;
    operation.opcode = IBV_WR_TAG_ADD;
    operation.flags = IBV_OPS_SIGNALED;
    operation.tm.unexpected_cnt = handled;
    operation.tm.add.recv_wr_id = id + 1000;
    operation.tm.add.sg_list = &piece;
    operation.tm.add.num_sge = 1;
    operation.tm.add.tag = tag;
    operation.tm.add.mask = ~std::uint64_t{0};
    check(operate(operation) == 0, "ibv_post_srq_ops");
    const TagCompletion done = take();
    check(done.opcode == IBV_WC_TM_ADD && done.id == id, "not added");
    needsSync = (done.flags & IBV_WC_TM_SYNC_REQ) != 0;
    return operation.tm.handle;
  }
  TagCompletion remove(std::uint32_t handle) {
    ibv_ops_wr operation{};
    operation.wr_id = 77;
    operation.opcode = IBV_WR_TAG_DEL;
    operation.flags = IBV_OPS_SIGNALED;
    operation.tm.handle = handle;
    check(operate(operation) == 0, "ibv_post_srq_ops");
    return take();
  }
  void synchronize() {
    ibv_ops_wr operation{};
    operation.opcode = IBV_WR_TAG_SYNC;
    operation.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;
    operation.tm.unexpected_cnt = handled;
    check(operate(operation) == 0, "ibv_post_srq_ops");
    check(take().opcode == IBV_WC_TM_SYNC, "not synchronized");
  }

  void send(ibv_tmh_op message, std::uint64_t tag, std::uint32_t length, std::uint32_t dataLength = 0) {
    for (std::size_t i = 0; i < length; ++i) device.buffer[i] = static_cast<std::uint8_t>(i * 5 + 1);
    ibv_tmh header{};
    header.opcode = static_cast<std::uint8_t>(message);
    header.app_ctx = htobe32(0x1234);
    header.tag = htobe64(tag);
    std::memcpy(device.buffer.data(), &header, sizeof header);
    if (message == IBV_TMH_RNDV) {
      const ibv_rvh where{htobe64(device.address(kData)), htobe32(device.mr->rkey), htobe32(dataLength)};
      std::memcpy(device.buffer.data() + sizeof header, &where, sizeof where);
    }
    ibv_sge piece = device.piece(0, length);
    ibv_send_wr request = sendOf(device, &piece, 9);
    check(post(sender, request) == 0, "ibv_post_send");
    sent = kit::take(senderCq, 1).front();
  }
  TagCompletion take() {
    ibv_poll_cq_attr how{};
    int state = ENOENT;
    while (state == ENOENT) state = ibv_start_poll(cq, &how);
    check(state == 0, "ibv_start_poll");
    TagCompletion found;
    found.id = cq->wr_id;
    found.status = cq->status;
    if (found.status == IBV_WC_SUCCESS) {
      found.opcode = ibv_wc_read_opcode(cq);
      found.flags = ibv_wc_read_wc_flags(cq);
      found.length = ibv_wc_read_byte_len(cq);
    }
    ibv_wc_read_tm_info(cq, &found.info);
    ibv_end_poll(cq);
    return found;
  }
  [[nodiscard]] bool arrived(std::size_t at, std::size_t from, std::size_t length) const {
    return std::equal(device.buffer.begin() + at, device.buffer.begin() + at + length, device.buffer.begin() + from);
  }

  Device device;
  ibv_cq_ex* cq = nullptr;
  ibv_cq* senderCq = nullptr;
  ibv_srq* srq = nullptr;
  ibv_qp* sender = nullptr;
  ibv_qp* receiver = nullptr;
  std::uint32_t handled = 0;  // unexpected messages
  bool needsSync = false;     // as the last append said
  ibv_wc sent{};
};

constexpr unsigned kWhole = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;

void capabilities() {
  Device device;
  ibv_device_attr_ex attributes{};
  check(ibv_query_device_ex(device.context, nullptr, &attributes) == 0, "ibv_query_device_ex");
  const ibv_tm_caps& caps = attributes.tm_caps;
  check(caps.max_num_tags == 127 && caps.max_sge == 1 && caps.max_rndv_hdr_size == 64, "not a ConnectX-5's");
  check(caps.flags == IBV_TM_CAP_RC && caps.max_ops == 32768, "not a ConnectX-5's");
  device.close();
}

void expectedMessages() {
  Tags tags;
  tags.add(0x55, 2048, 1);
  tags.send(IBV_TMH_EAGER, 0x55, 216);
  TagCompletion got = tags.take();
  check(got.opcode == IBV_WC_TM_RECV && got.id == 1001 && got.flags == kWhole && got.length == 200, "not whole");
  check(got.info.tag == 0x55 && got.info.priv == 0x1234, "another tag");
  check(tags.arrived(kTagged, 16, 200), "other bytes");
  // Of several packets: the match and the data are told apart.
  tags.add(0x56, 4096, 2);
  tags.send(IBV_TMH_EAGER, 0x56, 3016);
  got = tags.take();
  check(got.opcode == IBV_WC_TM_RECV && got.id == 1002 && got.flags == IBV_WC_TM_MATCH, "no match first");
  check(got.info.tag == 0x56, "another tag");
  got = tags.take();
  check(got.opcode == IBV_WC_TM_RECV && got.id == 1002 && got.flags == IBV_WC_TM_DATA_VALID, "no data then");
  check(got.length == 3000 && tags.arrived(kTagged, 16, 3000), "other bytes");
  tags.close();
}

void unexpectedMessages() {
  Tags tags;
  for (std::uint64_t i = 0; i < 4; ++i) tags.postEntry(50 + i);
  tags.add(0x55, 2048, 1);
  check(!tags.needsSync, "out of step from the first");
  tags.send(IBV_TMH_EAGER, 0x99, 116);
  TagCompletion got = tags.take();
  check(got.opcode == IBV_WC_TM_RECV && got.flags == 0 && got.id == 50 && got.length == 116, "not unexpected");
  check(tags.arrived(kUnexpected, 0, 116), "other bytes");
  tags.add(0x99, 2048, 2);
  check(tags.needsSync, "in step although a message was unexpected");
  tags.send(IBV_TMH_EAGER, 0x99, 116);
  check(tags.take().flags == 0, "a tag out of step matched");
  tags.send(IBV_TMH_EAGER, 0x55, 116);
  check(tags.take().flags == kWhole, "a tag from before doesn't match");
  tags.handled = 2;
  tags.synchronize();
  tags.send(IBV_TMH_EAGER, 0x99, 116);
  check(tags.take().flags == kWhole, "no match after the synchronization");
  tags.send(IBV_TMH_NO_TAG, 0x99, 116);
  got = tags.take();
  check(got.opcode == IBV_WC_TM_NO_TAG && got.id == 52, "not without a tag");
  tags.close();
}

void removedTags() {
  Tags tags;
  const std::uint32_t first = tags.add(1, 64, 1);
  const std::uint32_t second = tags.add(2, 64, 2);
  TagCompletion got = tags.remove(first);
  check(got.status == IBV_WC_SUCCESS && got.opcode == IBV_WC_TM_DEL && got.id == 77, "not removed");
  // The message is on its way past the removal's completion, or has taken the tag before.
  tags.send(IBV_TMH_EAGER, 2, 16);
  got = tags.remove(second);
  const bool consumedFirst = got.status == IBV_WC_SUCCESS && got.opcode == IBV_WC_TM_RECV;
  check(consumedFirst && tags.take().status == IBV_WC_TM_ERR, "a tag that is gone was removed");
  // Fifteen fit, whichever went before.
  for (std::uint64_t i = 0; i < 15; ++i) tags.add(i, 64, 10 + i);
  ibv_ops_wr operation{};
  operation.opcode = IBV_WR_TAG_ADD;
  check(tags.operate(operation) == ENOMEM, "more tags than the queue was made for");
  tags.close();
}

void rendezvous() {
  Tags tags;
  check(postReceive(tags.device, tags.sender, 33) == 0, "ibv_post_recv");
  constexpr std::uint32_t kLength = 5000;
  for (std::size_t i = 0; i < kLength; ++i) tags.device.buffer[kData + i] = static_cast<std::uint8_t>(i * 3);
  tags.add(7, 8192, 1);
  tags.send(IBV_TMH_RNDV, 7, 32, kLength);
  TagCompletion got = tags.take();
  check(got.opcode == IBV_WC_TM_RECV && got.flags == IBV_WC_TM_MATCH && got.id == 1001, "no match first");
  got = tags.take();
  check(got.flags == IBV_WC_TM_DATA_VALID && got.id == 1001 && got.length == kLength, "no data then");
  check(tags.arrived(kTagged, kData, kLength), "other bytes");
  const ibv_wc finished = take(tags.senderCq, 1).front();
  check(finished.wr_id == 33 && finished.byte_len == 32, "the sender isn't told");
  check(tags.device.buffer[4096] == IBV_TMH_FIN, "of something else");
  // Too long for the tag: software's affair, with the headers at hand.
  tags.add(8, kLength - 1, 2);
  tags.send(IBV_TMH_RNDV, 8, 32, kLength);
  got = tags.take();
  check(got.status == IBV_WC_TM_RNDV_INCOMPLETE && got.id == 1002, "fetched although it doesn't fit");
  check(tags.arrived(kTagged, 0, 32), "no headers");
  tags.close();
}

void unsupported() {
  Device device;
  ibv_device_attr_ex attributes{};
  check(ibv_query_device_ex(device.context, nullptr, &attributes) == 0, "ibv_query_device_ex");
  check(attributes.tm_caps.flags == 0 && attributes.tm_caps.max_num_tags == 0, "there are none");
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = 8;
  wanted.wc_flags = IBV_WC_EX_WITH_TM_INFO;
  ibv_cq_ex* cq = need(ibv_create_cq_ex(device.context, &wanted), "ibv_create_cq_ex");
  ibv_srq_init_attr_ex init{};
  init.attr.max_wr = init.attr.max_sge = 1;
  init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
  init.srq_type = IBV_SRQT_TM;
  init.pd = device.pd;
  init.cq = ibv_cq_ex_to_cq(cq);
  init.tm_cap.max_num_tags = init.tm_cap.max_ops = 4;
  check(ibv_create_srq_ex(device.context, &init) == nullptr && errno == EOPNOTSUPP, "made all the same");
  check(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0, "ibv_destroy_cq");
  device.close();
}

const Register kCapabilities("tag_capabilities", capabilities);
const Register kExpected("tag_expected", expectedMessages);
const Register kUnexpectedMessages("tag_unexpected", unexpectedMessages);
const Register kRemoved("tag_removed", removedTags);
const Register kRendezvous("tag_rendezvous", rendezvous);
const Register kUnsupported("tag_unsupported", unsupported);

}  // namespace
}  // namespace kit
