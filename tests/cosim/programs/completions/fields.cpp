// Every field of a completion, as libmlx5 reads it: by ibv_poll_cq and by the read functions, from entries of both
// sizes.
#include <endian.h>

#include "tests/cosim/programs/completions/line.h"

namespace kit {
namespace {

constexpr std::size_t kLength = 100;  // more than fits an entry
constexpr std::uint8_t kServiceLevel = 5, kSourceBits = 2, kPeerBits = 3;
constexpr std::uint32_t kImmediate = 0x01020304;
// adapter.port.pkeys = 0xffff, 0x8001 on the left and 0xffff, 0, 0x8001 on the right.
constexpr std::uint16_t kLeftPartition = 1, kRightPartition = 2;
const Way kWay{IBV_QPT_RC, kServiceLevel, kSourceBits, kPeerBits, kLeftPartition, {}};

// A completion queue of the kind that the test is about, read the way that it is about.
class Reader {
 public:
  struct Kind {
    std::uint16_t entryBytes = 64;
    std::uint32_t flags = 0;  // of ibv_cq_init_attr_ex
    bool extended = false;    // by read functions
    std::uint64_t stamps = 0;
  };
  Reader(ibv_context* context, const Kind& kind) : isExtended_(kind.extended), stamps_(kind.stamps) {
    ibv_cq_init_attr_ex wish{};
    wish.cqe = 64;
    wish.wc_flags = IBV_WC_STANDARD_FLAGS | kind.stamps;
    if (kind.flags != 0) wish.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    wish.flags = kind.flags;
    mlx5dv_cq_init_attr own{};
    own.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE;
    own.cqe_size = kind.entryBytes;
    cq_ = need(mlx5dv_create_cq(context, &wish, &own), "mlx5dv_create_cq");
  }
  [[nodiscard]] ibv_cq* cq() const { return ibv_cq_ex_to_cq(cq_); }

  // The next completion. What the read functions don't give (the partition's index) is left as it is.
  ibv_wc take() {
    if (!isExtended_) return kit::take(cq(), 1).front();
    ibv_poll_cq_attr none{};
    while (ibv_start_poll(cq_, &none) == ENOENT) {
    }
    const ibv_wc found = read();
    ibv_end_poll(cq_);
    return found;
  }
  std::uint64_t stamp = 0, wall = 0;

 private:
  ibv_wc read() {
    ibv_wc found{};
    found.wr_id = cq_->wr_id;
    found.status = cq_->status;
    found.opcode = ibv_wc_read_opcode(cq_);
    found.vendor_err = ibv_wc_read_vendor_err(cq_);
    found.wc_flags = ibv_wc_read_wc_flags(cq_);
    found.byte_len = ibv_wc_read_byte_len(cq_);
    found.qp_num = ibv_wc_read_qp_num(cq_);
    found.src_qp = ibv_wc_read_src_qp(cq_);
    found.slid = static_cast<std::uint16_t>(ibv_wc_read_slid(cq_));
    found.sl = ibv_wc_read_sl(cq_);
    found.dlid_path_bits = ibv_wc_read_dlid_path_bits(cq_);
    if ((found.wc_flags & IBV_WC_WITH_INV) != 0) {
      found.invalidated_rkey = ibv_wc_read_invalidated_rkey(cq_);
    } else {
      found.imm_data = ibv_wc_read_imm_data(cq_);
    }
    if ((stamps_ & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) != 0) stamp = ibv_wc_read_completion_ts(cq_);
    if ((stamps_ & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) != 0) wall = ibv_wc_read_completion_wallclock_ns(cq_);
    return found;
  }
  ibv_cq_ex* cq_;
  bool isExtended_;
  std::uint64_t stamps_;
};

void same(std::uint64_t found, std::uint64_t wanted, const std::string& what) {
  check(found == wanted, what + " is " + std::to_string(found) + ", not " + std::to_string(wanted));
}

struct FieldsTest {
  explicit FieldsTest(const Reader::Kind& kind)
      : line(false), extended(kind.extended), lefts(line.left.context, kind), rights(line.right.context, kind) {
    line.leftCq = lefts.cq();
    line.rightCq = rights.cq();
    line.rightPartition = kRightPartition;
    line.connect(kWay);
  }
  // Sends, and takes the requester's completion, which must be of `opcode`.
  void send(ibv_send_wr request, ibv_wc_opcode opcode, std::uint32_t length = 0) {
    check(post(line.leftQp, request) == 0, "ibv_post_send");
    const ibv_wc found = lefts.take();
    const std::string what = "requester " + std::to_string(opcode) + ": ";
    same(found.status, IBV_WC_SUCCESS, what + "status");
    same(found.opcode, opcode, what + "opcode");
    same(found.wr_id, request.wr_id, what + "wr_id");
    same(found.qp_num, line.leftQp->qp_num, what + "qp_num");
    // ibv_poll_cq says of the sender's completion, too, that its message had an immediate.
    const bool hadImmediate = request.opcode == IBV_WR_SEND_WITH_IMM || request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    same(found.wc_flags, hadImmediate && !extended ? IBV_WC_WITH_IMM : 0, what + "wc_flags");
    if (length != 0) same(found.byte_len, length, what + "byte_len");
  }
  // Takes the responder's completion of a message of `length` bytes.
  ibv_wc receive(ibv_wc_opcode opcode, unsigned flags, std::size_t length, std::uint64_t id) {
    const ibv_wc found = rights.take();
    const std::string what = "responder " + std::to_string(opcode) + ": ";
    same(found.status, IBV_WC_SUCCESS, what + "status");
    same(found.opcode, opcode, what + "opcode");
    same(found.wr_id, id, what + "wr_id");
    same(found.byte_len, length, what + "byte_len");
    same(found.qp_num, line.rightQp->qp_num, what + "qp_num");
    same(found.src_qp, line.leftQp->qp_num, what + "src_qp");
    same(found.slid, line.left.port.lid | kSourceBits, what + "slid");
    same(found.sl, kServiceLevel, what + "sl");
    same(found.dlid_path_bits, kPeerBits, what + "dlid_path_bits");
    same(found.wc_flags, flags, what + "wc_flags");
    const bool hasIndex = !extended && (flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV)) == 0;
    if (hasIndex) same(found.pkey_index, kRightPartition, what + "pkey_index");
    return found;
  }
  void postRight(std::uint64_t id) { check(postReceive(line.right, line.rightQp, id) == 0, "ibv_post_recv"); }

  Line line;
  bool extended;
  Reader lefts, rights;
};

void messages(FieldsTest& test) {
  ibv_sge piece = test.line.left.piece(0, kLength);
  test.postRight(10);
  test.send(test.line.request(&piece, 1, IBV_WR_SEND), IBV_WC_SEND);
  test.receive(IBV_WC_RECV, 0, kLength, 10);

  test.postRight(11);
  ibv_send_wr immediate = test.line.request(&piece, 2, IBV_WR_SEND_WITH_IMM);
  immediate.imm_data = htobe32(kImmediate);
  test.send(immediate, IBV_WC_SEND);
  same(test.receive(IBV_WC_RECV, IBV_WC_WITH_IMM, kLength, 11).imm_data, htobe32(kImmediate), "imm_data of a SEND");

  test.postRight(12);
  immediate = test.line.request(&piece, 3, IBV_WR_RDMA_WRITE_WITH_IMM);
  immediate.imm_data = htobe32(kImmediate + 1);
  test.send(immediate, IBV_WC_RDMA_WRITE);
  same(test.receive(IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM, kLength, 12).imm_data, htobe32(kImmediate + 1),
       "imm_data of a WRITE");

  test.send(test.line.request(&piece, 4, IBV_WR_RDMA_WRITE), IBV_WC_RDMA_WRITE);
  test.send(test.line.request(&piece, 5, IBV_WR_RDMA_READ), IBV_WC_RDMA_READ, kLength);
}

void atomics(FieldsTest& test) {
  ibv_sge piece = test.line.left.piece(64, 8);
  for (const ibv_wr_opcode opcode : {IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    ibv_send_wr request = test.line.request(&piece, 20, opcode);
    request.wr.atomic = {test.line.right.address(Device::kBuffer / 2), 1, 2, test.line.right.mr->rkey};
    const bool swaps = opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    test.send(request, swaps ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD, 8);
  }
}

// The right side lends a window to the left one, which gives it back with its next message.
void windows(FieldsTest& test) {
  Line& line = test.line;
  ibv_mw* window = need(ibv_alloc_mw(line.right.pd, IBV_MW_TYPE_2), "ibv_alloc_mw");
  const auto bind = [&](std::uint8_t key) {
    ibv_send_wr request{};
    request.wr_id = 30;
    request.opcode = IBV_WR_BIND_MW;
    request.send_flags = IBV_SEND_SIGNALED;
    request.bind_mw.mw = window;
    request.bind_mw.rkey = (window->rkey & ~0xFFU) | key;
    request.bind_mw.bind_info = {line.right.mr, line.right.address(), 4096, IBV_ACCESS_REMOTE_WRITE};
    check(post(line.rightQp, request) == 0, "ibv_post_send of a bind");
    const ibv_wc found = test.rights.take();
    same(found.status, IBV_WC_SUCCESS, "status of a bind");
    same(found.opcode, IBV_WC_BIND_MW, "opcode of a bind");
    return request.bind_mw.rkey;
  };
  const std::uint32_t lent = bind(7);
  test.postRight(31);
  ibv_sge piece = line.left.piece(0, kLength);
  ibv_send_wr back = line.request(&piece, 32, IBV_WR_SEND_WITH_INV);
  back.invalidate_rkey = lent;
  test.send(back, IBV_WC_SEND);
  same(test.receive(IBV_WC_RECV, IBV_WC_WITH_INV, kLength, 31).invalidated_rkey, lent, "invalidated_rkey");

  ibv_send_wr local{};
  local.wr_id = 33;
  local.opcode = IBV_WR_LOCAL_INV;
  local.send_flags = IBV_SEND_SIGNALED;
  local.invalidate_rkey = bind(8);
  check(post(line.rightQp, local) == 0, "ibv_post_send of an invalidation");
  const ibv_wc found = test.rights.take();
  same(found.status, IBV_WC_SUCCESS, "status of an invalidation");
  same(found.opcode, IBV_WC_LOCAL_INV, "opcode of an invalidation");
  check(ibv_dealloc_mw(window) == 0, "ibv_dealloc_mw");
}

void allFieldsOf(const Reader::Kind& kind) {
  FieldsTest test(kind);
  messages(test);
  atomics(test);
  windows(test);
  test.line.close();
}

void allFieldsInEveryKindOfQueue() {
  // libmlx5 44 looks for the data of an atomic in the wrong half of a wide entry; nothing here is signaled always, so
  // that none are there.
  for (const std::uint16_t entryBytes : {64, 128}) {
    for (const bool extended : {false, true}) {
      for (const std::uint32_t flags : {0U, std::uint32_t{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}}) {
        allFieldsOf({entryBytes, flags, extended, 0});
      }
    }
  }
}

void datagram(bool hasGlobalRoute, bool extended) {
  Line line(false);
  const Reader::Kind kind{64, 0, extended, 0};
  Reader lefts(line.left.context, kind), rights(line.right.context, kind);
  line.leftCq = lefts.cq();
  line.rightCq = rights.cq();
  line.rightPartition = kRightPartition;
  line.connect({IBV_QPT_UD, 0, 0, 0, kLeftPartition, {}});
  ibv_ah_attr to{};
  to.dlid = static_cast<std::uint16_t>(line.right.port.lid | kPeerBits);
  to.sl = kServiceLevel;
  to.src_path_bits = kSourceBits;
  to.port_num = 1;
  to.is_global = hasGlobalRoute ? 1 : 0;
  to.grh.hop_limit = 8;
  if (hasGlobalRoute) check(ibv_query_gid(line.right.context, 1, 0, &to.grh.dgid) == 0, "ibv_query_gid");
  ibv_ah* ah = need(ibv_create_ah(line.left.pd, &to), "ibv_create_ah");
  check(postReceive(line.right, line.rightQp, 40) == 0, "ibv_post_recv");
  ibv_sge piece = line.left.piece(0, kLength);
  ibv_send_wr request = line.request(&piece, 41, IBV_WR_SEND);
  request.wr.ud = {ah, line.rightQp->qp_num, kQueueKey};
  check(post(line.leftQp, request) == 0, "ibv_post_send");
  same(lefts.take().opcode, IBV_WC_SEND, "opcode of a datagram");
  const ibv_wc found = rights.take();
  same(found.opcode, IBV_WC_RECV, "opcode of a received datagram");
  same(found.byte_len, kLength + 40, "byte_len of a datagram, with the room for the GRH");
  same(found.src_qp, line.leftQp->qp_num, "src_qp of a datagram");
  same(found.slid, line.left.port.lid | kSourceBits, "slid of a datagram");
  same(found.sl, kServiceLevel, "sl of a datagram");
  same(found.dlid_path_bits, kPeerBits, "dlid_path_bits of a datagram");
  same(found.wc_flags, hasGlobalRoute ? IBV_WC_GRH : 0, "wc_flags of a datagram");
  if (!extended) same(found.pkey_index, kRightPartition, "pkey_index of a datagram");
  check(ibv_destroy_ah(ah) == 0, "ibv_destroy_ah");
  line.close();
}

void datagrams() {
  for (const bool hasGlobalRoute : {false, true}) {
    for (const bool extended : {false, true}) datagram(hasGlobalRoute, extended);
  }
}

std::uint64_t rawClock(ibv_context* context) {
  ibv_values_ex values{};
  values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  check(ibv_query_rt_values_ex(context, &values) == 0, "ibv_query_rt_values_ex");
  return static_cast<std::uint64_t>(values.raw_clock.tv_nsec);  // ticks
}

// Both stamps of one queue; they go on together, and lie between two looks at the adapter's clock.
void timeStampsAreTheClocks() {
  constexpr std::uint64_t kBoth = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
  FieldsTest test({64, 0, true, kBoth});
  ibv_device_attr_ex all{};
  check(ibv_query_device_ex(test.line.left.context, nullptr, &all) == 0, "ibv_query_device_ex");
  ibv_sge piece = test.line.left.piece(0, kLength);
  std::uint64_t lastStamp = 0, lastWall = 0;
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t before = rawClock(test.line.left.context);
    test.send(test.line.request(&piece, 50, IBV_WR_RDMA_WRITE), IBV_WC_RDMA_WRITE);
    const std::uint64_t after = rawClock(test.line.left.context);
    check(before < test.lefts.stamp && test.lefts.stamp < after, "the stamp isn't of its time");
    if (round > 0) {
      const std::uint64_t span = (test.lefts.stamp - lastStamp) * 1'000'000 / all.hca_core_clock;
      const std::uint64_t wallSpan = test.lefts.wall - lastWall;
      check(span <= wallSpan + 8 && wallSpan <= span + 8, "the wall clock goes at another pace");
    }
    lastStamp = test.lefts.stamp;
    lastWall = test.lefts.wall;
  }
  test.line.close();
}

const Register kAll[] = {
    {"fields", allFieldsInEveryKindOfQueue}, {"fields_datagram", datagrams}, {"fields_time", timeStampsAreTheClocks}};

}  // namespace
}  // namespace kit
