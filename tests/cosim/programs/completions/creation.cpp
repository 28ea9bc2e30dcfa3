// What mlx5dv_create_cq makes and refuses; entries that come compressed.
#include <endian.h>

#include "tests/cosim/programs/completions/line.h"

namespace kit {
namespace {

// What the adapter of a test can do.
struct Abilities {
  bool compresses = true;
  bool wide = true;  // pads entries of 128 bytes, and compresses them
};

struct Wish {
  std::uint16_t entryBytes = 0;  // 0: not said
  bool padded = false;
  std::uint8_t format = 0;  // 0: not compressed
};

bool isPossible(const Wish& wish, const Abilities& can) {
  const std::uint16_t size = wish.entryBytes == 0 ? 64 : wish.entryBytes;
  if (size != 64 && size != 128) return false;
  if (wish.padded && (size != 128 || !can.wide)) return false;
  if (wish.format == 0) return true;
  const bool isOne = wish.format == MLX5DV_CQE_RES_FORMAT_HASH || wish.format == MLX5DV_CQE_RES_FORMAT_CSUM ||
                     wish.format == MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX;
  return isOne && can.compresses && (size == 64 || can.wide) && !wish.padded;
}

ibv_cq_ex* create(const Device& device, const Wish& wish, std::uint64_t moreMask = 0, std::uint32_t moreFlags = 0) {
  ibv_cq_init_attr_ex general{};
  general.cqe = 63;
  general.wc_flags = IBV_WC_STANDARD_FLAGS;
  mlx5dv_cq_init_attr own{};
  own.comp_mask = moreMask;
  if (wish.entryBytes != 0) own.comp_mask |= MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE;
  own.cqe_size = wish.entryBytes;
  if (wish.padded || moreFlags != 0) own.comp_mask |= MLX5DV_CQ_INIT_ATTR_MASK_FLAGS;
  own.flags = moreFlags | (wish.padded ? std::uint32_t{MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD} : 0U);
  if (wish.format != 0) own.comp_mask |= MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE;
  own.cqe_comp_res_format = wish.format;
  errno = 0;
  return mlx5dv_create_cq(device.context, &general, &own);
}

void everyCombination(const Abilities& can) {
  Device device;
  mlx5dv_context offered{};
  offered.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION;
  check(mlx5dv_query_device(device.context, &offered) == 0, "mlx5dv_query_device");
  check((offered.cqe_comp_caps.max_num != 0) == can.compresses, "cqe_comp_caps.max_num");
  check(((offered.flags & MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD) != 0) == can.wide, "the flag of padding");
  check(((offered.flags & MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP) != 0) == (can.wide && can.compresses),
        "the flag of compressed entries of 128 bytes");
  for (const std::uint16_t entryBytes : {0, 1, 32, 63, 64, 96, 128, 256}) {
    for (const bool padded : {false, true}) {
      for (std::uint8_t format = 0; format <= 8; ++format) {
        const Wish wish{entryBytes, padded, format};
        const std::string what = std::to_string(entryBytes) + " bytes, " + (padded ? "padded" : "not padded") +
                                 ", format " + std::to_string(format);
        ibv_cq_ex* cq = create(device, wish);
        check((cq != nullptr) == isPossible(wish, can), what + (cq != nullptr ? " is made" : " is refused"));
        check(cq != nullptr || errno != 0, what + " leaves no errno");
        if (cq != nullptr) check(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0, "ibv_destroy_cq");
      }
    }
  }
  check(create(device, {}, std::uint64_t{1} << 40) == nullptr && errno != 0, "an unknown mask bit is taken");
  check(create(device, {}, 0, 1U << 20) == nullptr && errno != 0, "an unknown flag is taken");
  device.close();
}

void withEverything() { everyCombination({}); }
void withoutCompression() { everyCombination({false, true}); }
void withoutWideEntries() { everyCombination({true, false}); }

// ---- reading a ring oneself, as data-plane libraries do

struct Ring {
  explicit Ring(ibv_cq_ex* cq) {
    mlx5dv_obj object{};
    object.cq.in = ibv_cq_ex_to_cq(cq);
    object.cq.out = &queue;
    check(mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ) == 0, "mlx5dv_init_obj");
  }
  // The descriptor of entry `index`, in the second half of a wide one.
  [[nodiscard]] volatile mlx5_cqe64* at(std::uint32_t index) const {
    const std::size_t place = (index & (queue.cqe_cnt - 1)) * std::size_t{queue.cqe_size};
    return reinterpret_cast<volatile mlx5_cqe64*>(static_cast<char*>(queue.buf) + place + queue.cqe_size - 64);
  }
  void waitFor(std::uint32_t index) const {
    const std::uint8_t owner = (index / queue.cqe_cnt) & 1;
    for (;;) {
      const std::uint8_t own = at(index)->op_own;
      if (own >> 4 != MLX5_CQE_INVALID && (own & MLX5_CQE_OWNER_MASK) == owner) return;
    }
  }
  mlx5dv_cq queue{};
};

// Eight receives come in one session: a title, and an array of their lengths in the slot behind it.
void aSessionIsReadFromTheRing() {
  for (const std::uint16_t entryBytes : {64, 128}) {
    constexpr std::uint32_t kCount = 8;
    Device device;
    ibv_cq_ex* compressed = need(create(device, {entryBytes, false, MLX5DV_CQE_RES_FORMAT_HASH}), "a compressed queue");
    const Ring ring(compressed);
    ibv_cq* sends = device.cq(64);
    ibv_qp* sender = makeQp(device, device.pd, sends, sends);
    ibv_qp* receiver = makeQp(device, device.pd, ibv_cq_ex_to_cq(compressed), ibv_cq_ex_to_cq(compressed));
    connect(device, receiver, sender->qp_num);
    connect(device, sender, receiver->qp_num);
    for (std::uint32_t i = 0; i < kCount; ++i) check(postReceive(device, receiver, i) == 0, "ibv_post_recv");
    std::vector<ibv_sge> pieces(kCount);
    std::vector<ibv_send_wr> requests(kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      pieces[i] = device.piece(0, 70 + i);  // more than fits an entry: that would end the session
      requests[i] = sendOf(device, &pieces[i], i);
      requests[i].next = i + 1 < kCount ? &requests[i + 1] : nullptr;
    }
    check(post(sender, requests[0]) == 0, "ibv_post_send");
    take(sends, kCount);
    ring.waitFor(0);
    const volatile mlx5_cqe64* title = ring.at(0);
    constexpr std::uint8_t kFormat = 0xC;  // [3:2] of op_own
    check((title->op_own & kFormat) == kFormat && title->op_own >> 4 == MLX5_CQE_RESP_SEND, "no title");
    check(be32toh(title->byte_cnt) == kCount, "the title tells " + std::to_string(be32toh(title->byte_cnt)));
    const volatile std::uint32_t* array = reinterpret_cast<const volatile std::uint32_t*>(ring.at(1));
    for (std::uint32_t i = 0; i < kCount; ++i) check(be32toh(array[2 * i + 1]) == 70 + i, "another length");
    check(ibv_destroy_qp(sender) == 0 && ibv_destroy_qp(receiver) == 0, "ibv_destroy_qp");
    check(ibv_destroy_cq(sends) == 0 && ibv_destroy_cq(ibv_cq_ex_to_cq(compressed)) == 0, "ibv_destroy_cq");
    device.close();
  }
}

// hcasim says that this can't work; it is what the test looks for.
void theLibraryPollsACompressedQueue() {
  Device device;
  ibv_cq_ex* compressed = need(create(device, {64, false, MLX5DV_CQE_RES_FORMAT_HASH}), "a compressed queue");
  ibv_poll_cq_attr none{};
  check(ibv_start_poll(compressed, &none) == ENOENT, "an empty queue isn't empty");
  ibv_wc completion{};
  check(ibv_poll_cq(ibv_cq_ex_to_cq(compressed), 1, &completion) == 0, "an empty queue isn't empty");
  check(ibv_destroy_cq(ibv_cq_ex_to_cq(compressed)) == 0, "ibv_destroy_cq");
  device.close();
}

// No reason to say anything: the ring's owner reads it, and the library another one.
void theLibraryPollsAnotherQueue() {
  Device device;
  ibv_cq_ex* compressed = need(create(device, {64, false, MLX5DV_CQE_RES_FORMAT_HASH}), "a compressed queue");
  ibv_cq_ex* plain = need(create(device, {}), "a plain queue");
  ibv_poll_cq_attr none{};
  ibv_wc completion{};
  check(ibv_start_poll(plain, &none) == ENOENT, "an empty queue isn't empty");
  check(ibv_poll_cq(ibv_cq_ex_to_cq(plain), 1, &completion) == 0, "an empty queue isn't empty");
  check(ibv_destroy_cq(ibv_cq_ex_to_cq(compressed)) == 0, "ibv_destroy_cq");
  check(ibv_destroy_cq(ibv_cq_ex_to_cq(plain)) == 0, "ibv_destroy_cq");
  device.close();
}

const Register kAll[] = {{"creation", withEverything},
                         {"creation_uncompressed", withoutCompression},
                         {"creation_narrow", withoutWideEntries},
                         {"compressed_ring", aSessionIsReadFromTheRing},
                         {"compressed_polled", theLibraryPollsACompressedQueue},
                         {"compressed_unpolled", theLibraryPollsAnotherQueue}};

}  // namespace
}  // namespace kit
