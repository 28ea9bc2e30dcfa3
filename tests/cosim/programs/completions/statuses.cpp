// Every status that an adapter gives, by its real cause, as a stock program sees it.
#include <cinttypes>

#include "tests/cosim/programs/completions/line.h"

namespace kit {
namespace {

constexpr std::size_t kLength = 100;
constexpr std::uint32_t kWrongKey = 0x00BADBAD;

void expect(const ibv_wc& found, ibv_wc_status status, std::uint32_t vendor) {
  check(found.status == status,
        std::string("not ") + ibv_wc_status_str(status) + " but " + ibv_wc_status_str(found.status));
  check(found.vendor_err == vendor,
        std::string(ibv_wc_status_str(status)) + ": vendor error " + std::to_string(found.vendor_err));
}

// What the left side sees of `request`, and that the next one is flushed.
void fails(Line& line, ibv_send_wr request, ibv_wc_status status, std::uint32_t vendor) {
  ibv_sge piece = line.left.piece(0, kLength);
  ibv_send_wr next = line.request(&piece, 2, IBV_WR_SEND);
  request.wr_id = 1;
  check(post(line.leftQp, request) == 0 && post(line.leftQp, next) == 0, "ibv_post_send");
  const std::vector<ibv_wc> found = take(line.leftCq, 2);
  check(found[0].wr_id == 1 && found[1].wr_id == 2, "not in the order of the posts");
  expect(found[0], status, vendor);
  expect(found[1], IBV_WC_WR_FLUSH_ERR, 0xF9);
}

void localQpOperation() {
  Line line;
  line.connect({IBV_QPT_UC, 0, 0, 0, 0, {}});
  ibv_sge piece = line.left.piece(0, kLength);
  fails(line, line.request(&piece, 0, IBV_WR_RDMA_READ), IBV_WC_LOC_QP_OP_ERR, 0x53);  // UC has no READ
  line.close();
}

void localProtection() {
  Line line;
  line.connect();
  ibv_sge piece = line.left.piece(0, kLength);
  piece.lkey = kWrongKey;
  fails(line, line.request(&piece, 0, IBV_WR_RDMA_WRITE), IBV_WC_LOC_PROT_ERR, 0x51);
  line.close();
}

void windowBind() {
  Line line;
  line.connect();
  ibv_mw* window = need(ibv_alloc_mw(line.left.pd, IBV_MW_TYPE_2), "ibv_alloc_mw");
  ibv_send_wr bind{};
  bind.opcode = IBV_WR_BIND_MW;
  bind.send_flags = IBV_SEND_SIGNALED;
  bind.bind_mw.mw = window;
  bind.bind_mw.rkey = (window->rkey & ~0xFFU) | 1;
  bind.bind_mw.bind_info = {line.left.mr, line.left.address() + Device::kBuffer - 4096, 8192, IBV_ACCESS_REMOTE_WRITE};
  fails(line, bind, IBV_WC_MW_BIND_ERR, 0x57);
  check(ibv_dealloc_mw(window) == 0, "ibv_dealloc_mw");
  line.close();
}

void remoteAccess() {
  Line line;
  line.connect();
  ibv_sge piece = line.left.piece(0, kLength);
  ibv_send_wr request = line.request(&piece, 0, IBV_WR_RDMA_WRITE);
  request.wr.rdma.rkey = kWrongKey;
  fails(line, request, IBV_WC_REM_ACCESS_ERR, 0x88);
  line.close();
}

void remoteInvalidRequest() {
  Line line;
  line.connect();
  ibv_sge piece = line.left.piece(0, 8);
  ibv_send_wr request = line.request(&piece, 0, IBV_WR_ATOMIC_FETCH_AND_ADD);
  request.wr.atomic = {line.right.address(Device::kBuffer / 2) + 4, 1, 0, line.right.mr->rkey};  // not aligned
  fails(line, request, IBV_WC_REM_INV_REQ_ERR, 0x8A);
  line.close();
}

// Both sides of a message that doesn't fit its receive.
void localLength() {
  Line line;
  line.connect();
  check(postReceive(line.right, line.rightQp, 10, 4096, kLength - 1) == 0, "ibv_post_recv");
  ibv_sge piece = line.left.piece(0, kLength);
  fails(line, line.request(&piece, 0, IBV_WR_SEND), IBV_WC_REM_INV_REQ_ERR, 0x8A);
  expect(take(line.rightCq, 1).front(), IBV_WC_LOC_LEN_ERR, 0x52);
  line.close();
}

// Both sides of a message whose receive can't be used.
void remoteOperation() {
  Line line;
  line.connect();
  ibv_sge room = line.right.piece(4096, 256);
  room.lkey = kWrongKey;
  ibv_recv_wr receive{10, nullptr, &room, 1};
  ibv_recv_wr* bad = nullptr;
  check(ibv_post_recv(line.rightQp, &receive, &bad) == 0, "ibv_post_recv");
  ibv_sge piece = line.left.piece(0, kLength);
  fails(line, line.request(&piece, 0, IBV_WR_SEND), IBV_WC_REM_OP_ERR, 0x89);
  expect(take(line.rightCq, 1).front(), IBV_WC_LOC_PROT_ERR, 0x51);
  line.close();
}

void retriesExceeded() {
  Line line;
  Way way;
  way.retries = {1, 1, 7, 12};
  line.connect(way);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;  // answers nothing
  check(ibv_modify_qp(line.rightQp, &attr, IBV_QP_STATE) == 0, "to ERR");
  ibv_sge piece = line.left.piece(0, kLength);
  fails(line, line.request(&piece, 0, IBV_WR_RDMA_WRITE), IBV_WC_RETRY_EXC_ERR, 0x81);
  line.close();
}

void receiverNotReady() {
  Line line;
  Way way;
  way.retries = {14, 7, 1, 1};
  line.connect(way);
  ibv_sge piece = line.left.piece(0, kLength);
  fails(line, line.request(&piece, 0, IBV_WR_SEND), IBV_WC_RNR_RETRY_EXC_ERR, 0x8D);
  line.close();
}

void everyStatus() {
  localQpOperation();
  localProtection();
  windowBind();
  remoteAccess();
  remoteInvalidRequest();
  localLength();
  remoteOperation();
  retriesExceeded();
  receiverNotReady();
}

// With the first answer distorted (link.faults.distort).
void answerThatMeansNothing() {
  Line line;
  line.connect();
  ibv_sge piece = line.left.piece(0, kLength);
  fails(line, line.request(&piece, 0, IBV_WR_RDMA_WRITE), IBV_WC_BAD_RESP_ERR, 0x59);
  line.close();
}

// With the second packet held: the memory of an RDMA WRITE with immediate data is gone when its end comes.
void memoryThatIsTakenAway() {
  constexpr std::size_t kTwoPackets = 2000;
  Line line;
  line.connect();
  check(postReceive(line.right, line.rightQp, 10) == 0, "ibv_post_recv");
  ibv_mr* lent =
      need(ibv_reg_mr(line.right.pd, &line.right.buffer[Device::kBuffer / 2], kTwoPackets, kAllRights), "ibv_reg_mr");
  ibv_sge piece = line.left.piece(0, kTwoPackets);
  ibv_send_wr request = line.request(&piece, 1, IBV_WR_RDMA_WRITE_WITH_IMM);
  request.wr.rdma.rkey = lent->rkey;
  check(post(line.leftQp, request) == 0, "ibv_post_send");
  check(ibv_dereg_mr(lent) == 0, "ibv_dereg_mr");
  expect(take(line.rightCq, 1).front(), IBV_WC_LOC_ACCESS_ERR, 0x58);
  expect(take(line.leftCq, 1).front(), IBV_WC_REM_ACCESS_ERR, 0x88);
  line.close();
}

// With the second packet lost: what a shared queue gave for a message of an unreliable connection comes back.
void messageThatBreaksOff() {
  constexpr std::size_t kThreePackets = 3000;
  Line line;
  ibv_srq_init_attr wish{};
  wish.attr = {16, 1, 0};
  ibv_srq* srq = need(ibv_create_srq(line.right.pd, &wish), "ibv_create_srq");
  line.connect({IBV_QPT_UC, 0, 0, 0, 0, {}}, srq);
  for (std::uint64_t id = 10; id < 12; ++id) {
    ibv_sge room = line.right.piece(4096, 4096);
    ibv_recv_wr receive{id, nullptr, &room, 1};
    ibv_recv_wr* bad = nullptr;
    check(ibv_post_srq_recv(srq, &receive, &bad) == 0, "ibv_post_srq_recv");
  }
  ibv_sge piece = line.left.piece(0, kThreePackets);
  for (std::uint64_t id = 1; id < 3; ++id) {
    ibv_send_wr request = line.request(&piece, id, IBV_WR_SEND);
    check(post(line.leftQp, request) == 0, "ibv_post_send");
    check(take(line.leftCq, 1).front().status == IBV_WC_SUCCESS, "the sender can't know");
  }
  const std::vector<ibv_wc> found = take(line.rightCq, 2);
  check(found[0].wr_id == 10 && found[1].wr_id == 11, "other receives");
  expect(found[0], IBV_WC_REM_ABORT_ERR, 0x99);
  expect(found[1], IBV_WC_SUCCESS, 0);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  check(ibv_query_qp(line.rightQp, &attr, IBV_QP_STATE, &init) == 0, "ibv_query_qp");
  check(attr.qp_state == IBV_QPS_RTS, "the queue pair didn't go on");
  check(ibv_destroy_qp(line.leftQp) == 0 && ibv_destroy_qp(line.rightQp) == 0, "ibv_destroy_qp");
  check(ibv_destroy_srq(srq) == 0, "ibv_destroy_srq");
}

const Register kAll[] = {{"statuses", everyStatus},
                         {"status_bad_response", answerThatMeansNothing},
                         {"status_local_access", memoryThatIsTakenAway},
                         {"status_aborted", messageThatBreaksOff}};

}  // namespace
}  // namespace kit
