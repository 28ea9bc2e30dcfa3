// Device memory: as large as the device says, reached by copies and by requests, shared, given back.
#include <infiniband/mlx5dv.h>

#include <algorithm>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

constexpr unsigned kDmAccess = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                               IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

std::uint64_t mostDeviceMemory(ibv_context* context) {
  ibv_device_attr_ex attributes{};
  check(ibv_query_device_ex(context, nullptr, &attributes) == 0, "ibv_query_device_ex");
  return attributes.max_dm_size;
}

ibv_dm* allocateDm(ibv_context* context, std::size_t length, std::uint32_t logAlignment = 0) {
  ibv_alloc_dm_attr attributes{};
  attributes.length = length;
  attributes.log_align_req = logAlignment;
  return ibv_alloc_dm(context, &attributes);
}

void allocationsAreLimitedAndComeBack() {
  Device device;
  const std::uint64_t most = mostDeviceMemory(device.context);
  check(most == 131072, "the device says another size");
  check(allocateDm(device.context, most + 1) == nullptr && errno == EINVAL, "more than there is");
  for (int round = 0; round < 3; ++round) {
    ibv_dm* all = need(allocateDm(device.context, most), "ibv_alloc_dm");
    check(allocateDm(device.context, 4) == nullptr, "more than is free");
    check(ibv_free_dm(all) == 0, "ibv_free_dm");
  }
  std::vector<ibv_dm*> pieces;
  while (ibv_dm* piece = allocateDm(device.context, 64)) pieces.push_back(piece);
  check(pieces.size() == most / 4096, "pieces have pages of their own");
  for (ibv_dm* piece : pieces) check(ibv_free_dm(piece) == 0, "ibv_free_dm");
  check(allocateDm(device.context, 0) == nullptr, "nothing at all");
  check(allocateDm(device.context, 64, 40) == nullptr, "no memory is aligned like that");
  device.close();
}

void regionsAreCheckedAndKeepTheMemory() {
  Device device;
  ibv_dm* dm = need(allocateDm(device.context, 100), "ibv_alloc_dm");
  check(ibv_reg_dm_mr(device.pd, dm, 0, 104, kDmAccess) == nullptr && errno == EINVAL, "beyond the end");
  check(ibv_reg_dm_mr(device.pd, dm, 104, 0, kDmAccess) == nullptr && errno == EINVAL, "from beyond the end");
  check(ibv_reg_dm_mr(device.pd, dm, 0, 64, kDmAccess & ~unsigned{IBV_ACCESS_ZERO_BASED}) == nullptr,
        "addresses that don't count from 0");
  check(ibv_reg_dm_mr(device.pd, dm, 0, 64, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE) == nullptr,
        "remote without local writes");
  ibv_mr* mr = need(ibv_reg_dm_mr(device.pd, dm, 4, 96, kDmAccess), "ibv_reg_dm_mr");
  check(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE) != 0,
        "ibv_rereg_mr of device memory");
  check(ibv_free_dm(dm) == EBUSY, "the memory of a region goes");
  check(ibv_dereg_mr(mr) == 0 && ibv_free_dm(dm) == 0, "the objects stay");
  device.close();
}

// Every width and alignment of ordinary code, across pages.
void mappedAddressesTakePlainAccesses() {
  Device device;
  ibv_dm* dm = need(allocateDm(device.context, 8192), "ibv_alloc_dm");
  mlx5dv_dm mapped{};
  mlx5dv_obj object{};
  object.dm.in = dm;
  object.dm.out = &mapped;
  check(mlx5dv_init_obj(&object, MLX5DV_OBJ_DM) == 0, "mlx5dv_init_obj");
  auto* bytes = static_cast<volatile std::uint8_t*>(mapped.buf);
  for (int i = 0; i < 64; ++i) bytes[4064 + i] = static_cast<std::uint8_t>(i);
  auto* base = const_cast<std::uint8_t*>(bytes);
  check(*reinterpret_cast<volatile std::uint16_t*>(base + 4066) == 0x0302, "two bytes");
  std::uint32_t four = 0;
  std::uint64_t eight = 0;
  asm volatile("movl (%1), %0" : "=r"(four) : "r"(base + 4093));
  asm volatile("movq (%1), %0" : "=r"(eight) : "r"(base + 4093));
  check(four == 0x201F1E1D && eight == 0x24232221201F1E1D, "unaligned loads across pages");
  alignas(16) std::uint8_t vector[16] = {};
  asm volatile("movdqu (%0), %%xmm3\n movdqu %%xmm3, (%1)" : : "r"(base + 4089), "r"(vector) : "xmm3", "memory");
  for (int i = 0; i < 16; ++i) check(vector[i] == 25 + i, "a vector load across pages");
  asm volatile("movdqa (%0), %%xmm4\n movdqu %%xmm4, (%1)" : : "r"(vector), "r"(base + 101) : "xmm4", "memory");
  for (int i = 0; i < 16; ++i) check(bytes[101 + i] == 25 + i, "an unaligned vector store");
  std::uint64_t extended = ~std::uint64_t{0};
  asm volatile("movzbl (%1), %k0" : "=r"(extended) : "r"(base + 101));
  check(extended == 25, "a load that extends");
  check(ibv_free_dm(dm) == 0, "ibv_free_dm");
  device.close();
}

struct Transfer {
  ibv_wr_opcode opcode;
  std::uint64_t remote;
  std::uint32_t key;
  ibv_sge local;
};

ibv_wc_status run(ibv_qp* qp, ibv_cq* cq, Transfer what) {
  ibv_send_wr request{};
  request.sg_list = &what.local;
  request.num_sge = 1;
  request.opcode = what.opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  if (what.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    request.wr.atomic.remote_addr = what.remote;
    request.wr.atomic.rkey = what.key;
    request.wr.atomic.compare_add = 5;
  } else {
    request.wr.rdma.remote_addr = what.remote;
    request.wr.rdma.rkey = what.key;
  }
  check(post(qp, request) == 0, "ibv_post_send");
  return take(cq, 1).front().status;
}

// Through a queue pair that is connected with itself: writes, reads and atomics in both directions, then beyond.
void requestsReachIt() {
  constexpr std::size_t kLength = 9000;  // several packets
  Device device;
  ibv_cq* cq = device.cq(16);
  ibv_qp* qp = makeQp(device, device.pd, cq, cq);
  connect(device, qp, qp->qp_num);
  ibv_qp_attr rights{};
  rights.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  check(ibv_modify_qp(qp, &rights, IBV_QP_ACCESS_FLAGS) == 0, "rights");
  ibv_dm* dm = need(allocateDm(device.context, 32768), "ibv_alloc_dm");
  ibv_mr* mr = need(ibv_reg_dm_mr(device.pd, dm, 4096, 16384, kDmAccess), "ibv_reg_dm_mr");
  for (std::size_t i = 0; i < kLength; ++i) device.buffer[i] = static_cast<std::uint8_t>(i * 7);
  const auto own = device.piece(0, kLength);
  check(run(qp, cq, {IBV_WR_RDMA_WRITE, 16, mr->rkey, own}) == IBV_WC_SUCCESS, "a write into it");
  std::vector<std::uint8_t> seen(kLength);
  check(ibv_memcpy_from_dm(seen.data(), dm, 4096 + 16, kLength) == 0, "ibv_memcpy_from_dm");
  check(std::equal(seen.begin(), seen.end(), device.buffer.begin()), "a write left other bytes");
  const std::uint32_t mark[] = {0xCAFE, 0xBEEF};
  check(ibv_memcpy_to_dm(dm, 4096 + 16, mark, sizeof mark) == 0, "ibv_memcpy_to_dm");
  const std::size_t half = Device::kBuffer / 2;
  check(run(qp, cq, {IBV_WR_RDMA_READ, 16, mr->rkey, device.piece(half, kLength)}) == IBV_WC_SUCCESS, "a read of it");
  check(std::memcmp(&device.buffer[half], mark, sizeof mark) == 0, "a read missed what the processor wrote");
  check(std::equal(seen.begin() + 8, seen.end(), device.buffer.begin() + half + 8), "a read brought other bytes");
  // As the near side of requests.
  const ibv_sge near{16, 64, mr->lkey};
  check(run(qp, cq, {IBV_WR_RDMA_WRITE, device.address(half), device.mr->rkey, near}) == IBV_WC_SUCCESS, "out of it");
  check(std::memcmp(&device.buffer[half], mark, sizeof mark) == 0, "a write out of it brought other bytes");
  const ibv_sge into{8192, 64, mr->lkey};
  check(run(qp, cq, {IBV_WR_RDMA_READ, device.address(), device.mr->rkey, into}) == IBV_WC_SUCCESS, "a read into it");
  check(ibv_memcpy_from_dm(seen.data(), dm, 4096 + 8192, 64) == 0, "ibv_memcpy_from_dm");
  check(std::equal(seen.begin(), seen.begin() + 64, device.buffer.begin()), "a read into it left other bytes");
  // Atomics.
  const std::uint64_t before = 37;
  check(ibv_memcpy_to_dm(dm, 4096 + 64, &before, sizeof before) == 0, "ibv_memcpy_to_dm");
  check(run(qp, cq, {IBV_WR_ATOMIC_FETCH_AND_ADD, 64, mr->rkey, device.piece(half, 8)}) == IBV_WC_SUCCESS, "an atomic");
  std::uint64_t after = 0, fetched = 0;
  check(ibv_memcpy_from_dm(&after, dm, 4096 + 64, sizeof after) == 0, "ibv_memcpy_from_dm");
  std::memcpy(&fetched, &device.buffer[half], sizeof fetched);
  check(after == 42 && fetched == 37, "an atomic counted wrong");
  // The last byte, and one more.
  const auto one = device.piece(0, 1);
  check(run(qp, cq, {IBV_WR_RDMA_WRITE, 16383, mr->rkey, one}) == IBV_WC_SUCCESS, "the last byte");
  // Self-connected: the queue pair may be in error by its other half before it hears so.
  check(run(qp, cq, {IBV_WR_RDMA_WRITE, 16384, mr->rkey, one}) != IBV_WC_SUCCESS, "beyond the end");
  check(ibv_dereg_mr(mr) == 0 && ibv_free_dm(dm) == 0, "the memory stays");
  check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0, "the queues stay");
  device.close();
}

std::int64_t fastestRead(ibv_qp* qp, ibv_cq* cq, const Transfer& what) {
  std::int64_t fastest = INT64_MAX;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t began = nowNs();
    check(run(qp, cq, what) == IBV_WC_SUCCESS, "a read");
    fastest = std::min(fastest, nowNs() - began);
  }
  return fastest;
}

// With --virtual-time: the adapter answers a read from its own memory without a trip to the host's.
void readsOfItAreFaster() {
  Device device;
  ibv_cq* cq = device.cq(16);
  ibv_qp* qp = makeQp(device, device.pd, cq, cq);
  connect(device, qp, qp->qp_num);
  ibv_dm* dm = need(allocateDm(device.context, 4096), "ibv_alloc_dm");
  ibv_mr* mr = need(ibv_reg_dm_mr(device.pd, dm, 0, 4096, kDmAccess), "ibv_reg_dm_mr");
  const auto into = device.piece(0, 64);
  const std::int64_t ofHost = fastestRead(qp, cq, {IBV_WR_RDMA_READ, device.address(4096), device.mr->rkey, into});
  const std::int64_t ofDevice = fastestRead(qp, cq, {IBV_WR_RDMA_READ, 0, mr->rkey, into});
  std::printf("64 bytes: %lld ns from host memory, %lld ns from device memory\n", static_cast<long long>(ofHost),
              static_cast<long long>(ofDevice));
  check(ofDevice + 300 < ofHost, "device memory is hardly faster");
  check(ibv_dereg_mr(mr) == 0 && ibv_free_dm(dm) == 0, "the memory stays");
  check(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0, "the queues stay");
  device.close();
}

void withoutAnyThereIsNone() {
  Device device;
  check(mostDeviceMemory(device.context) == 0, "max_dm_size");
  check(allocateDm(device.context, 64) == nullptr, "memory that isn't there");
  device.close();
}

const Register kDeviceMemoryCases[] = {{"dm_limits", allocationsAreLimitedAndComeBack},
                                       {"dm_regions", regionsAreCheckedAndKeepTheMemory},
                                       {"dm_mapped", mappedAddressesTakePlainAccesses},
                                       {"dm_requests", requestsReachIt},
                                       {"dm_timing", readsOfItAreFaster},
                                       {"dm_none", withoutAnyThereIsNone}};

}  // namespace
}  // namespace kit
