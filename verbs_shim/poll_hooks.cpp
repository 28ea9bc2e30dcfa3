// Polls of completion queues are memory reads. Where the library offers a place to, they are told to the simulation,
// which then need not guess what the program does; results are the same without.
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/hook_table.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/settings.h"

using namespace hca::shim;

namespace {

constexpr const char* kVerbs = "libibverbs.so.1";
constexpr const char* kMlx5 = "libmlx5.so.1";
RealCall<decltype(&::ibv_open_device)> openDeviceReal("ibv_open_device", kVerbs);
RealCall<decltype(&::mlx5dv_open_device)> openMlx5Real("mlx5dv_open_device", kMlx5);
RealCall<decltype(&::ibv_destroy_cq)> destroyCqReal("ibv_destroy_cq", kVerbs);
RealCall<decltype(&::mlx5dv_create_cq)> createMlx5CqReal("mlx5dv_create_cq", kMlx5);

using PollCq = int (*)(ibv_cq*, int, ibv_wc*);
using CreateCqEx = ibv_cq_ex* (*)(ibv_context*, ibv_cq_init_attr_ex*);
using StartPoll = int (*)(ibv_cq_ex*, ibv_poll_cq_attr*);
using NextPoll = int (*)(ibv_cq_ex*);
using EndPoll = void (*)(ibv_cq_ex*);

HookTable<PollCq> pollCqs;          // by context
HookTable<CreateCqEx> createCqExs;  // by context
HookTable<StartPoll> startPolls;    // by queue
HookTable<NextPoll> nextPolls;      // by queue
HookTable<EndPoll> endPolls;        // by queue

// Queues of which this thread has begun a poll and not ended it. With no room for more, further ones aren't looked at.
constexpr int kMostStarted = 8;
__attribute__((tls_model("initial-exec"))) __thread const ibv_cq_ex* started[kMostStarted];
__attribute__((tls_model("initial-exec"))) __thread bool hasMore = false;

bool replaceStarted(const ibv_cq_ex* from, const ibv_cq_ex* to) {
  for (const ibv_cq_ex*& each : started) {
    if (each != from) continue;
    each = to;
    return true;
  }
  return false;
}

// Queues whose entries come compressed. libmlx5 has no reader of such entries (rdma-core providers/mlx5/cq.c, to this
// day): programs that want them read the ring themselves. Whoever polls one through the library would get entries that
// are none, without a word.
HookTable<bool> compressedCqs;  // by queue; a queue at the place of one that is gone counts as what it is
bool anyCompressed = false;
bool warned = false;

bool isCompressed(const void* cq) { return anyCompressed && compressedCqs.has(cq) && compressedCqs.find(cq); }

void warnOfCompression(const void* cq) {
  if (!isCompressed(cq) || __atomic_exchange_n(&warned, true, __ATOMIC_RELAXED)) return;
  complain(
      "a completion queue with compressed entries is polled through ibv_poll_cq or ibv_start_poll, but libmlx5 can't "
      "read such entries: what it returns is wrong. Read the ring yourself (mlx5dv_init_obj), or create the queue "
      "without MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE");
}

// Comes back when another look may find more. False if the device is gone.
bool waitAfterEmptyPoll() {
  hca::channel::Request request;
  hca::channel::clear(request, hca::channel::Kind::kPollEmpty);
  hca::channel::Reply reply{};
  return call(request, reply) != EIO;
}

int pollCq(ibv_cq* cq, int most, ibv_wc* completions) {
  const PollCq real = pollCqs.find(cq->context);
  if (anyCompressed) warnOfCompression(cq);
  int found = real(cq, most, completions);
  if (found == 0 && most > 0) {
    const bool isThere = waitAfterEmptyPoll();
    found = real(cq, most, completions);
    if (found == 0 && !isThere) return -EIO;
  }
  if (found > 0) noteCompletions(static_cast<unsigned>(found));
  return found;
}

int startPoll(ibv_cq_ex* cq, ibv_poll_cq_attr* attributes) {
  const StartPoll real = startPolls.find(cq);
  if (anyCompressed) warnOfCompression(cq);
  int result = real(cq, attributes);
  if (result == ENOENT) {
    const bool isThere = waitAfterEmptyPoll();
    result = real(cq, attributes);
    if (result == ENOENT && !isThere) return EIO;
  }
  if (result == 0) noteCompletions(1);
  if (result == 0 && !replaceStarted(nullptr, cq)) hasMore = true;
  return result;
}

// The library would give back a lock that it hasn't, or count entries that nobody took (ibv_create_cq_ex(3)).
void endPoll(ibv_cq_ex* cq) {
  static bool hasComplained = false;
  const bool isMisuse = !replaceStarted(cq, nullptr) && !hasMore;
  if (isMisuse && !__atomic_exchange_n(&hasComplained, true, __ATOMIC_RELAXED)) {
    complain("ibv_end_poll without a poll that was begun: call it only after %s returned 0", "ibv_start_poll");
  }
  endPolls.find(cq)(cq);
}

int nextPoll(ibv_cq_ex* cq) {
  const int result = nextPolls.find(cq)(cq);
  if (result == 0) noteCompletions(1);
  return result;
}

ibv_cq_ex* hookCq(ibv_cq_ex* cq) {
  if (cq == nullptr || cq->start_poll == nullptr || cq->next_poll == nullptr) return cq;
  const bool isHooked =
      startPolls.set(cq, cq->start_poll) && nextPolls.set(cq, cq->next_poll) && endPolls.set(cq, cq->end_poll);
  if (!isHooked) return cq;
  cq->end_poll = endPoll;
  cq->start_poll = startPoll;
  cq->next_poll = nextPoll;
  return cq;
}

ibv_cq_ex* createCqEx(ibv_context* context, ibv_cq_init_attr_ex* attributes) {
  return hookCq(createCqExs.find(context)(context, attributes));
}

ibv_context* hookContext(ibv_context* context) {
  if (context == nullptr || !isConnected()) return context;
  if (pollCqs.set(context, context->ops.poll_cq)) context->ops.poll_cq = pollCq;
  verbs_context* extended = verbs_get_ctx(context);
  const bool canCreate = extended != nullptr && extended->create_cq_ex != nullptr;
  if (canCreate && createCqExs.set(context, extended->create_cq_ex)) extended->create_cq_ex = createCqEx;
  return context;
}

}  // namespace

HCASIM_EXPORT ibv_context* ibv_open_device(ibv_device* device) { return hookContext(openDeviceReal(device)); }
HCASIM_EXPORT ibv_context* mlx5dv_open_device(ibv_device* device, mlx5dv_context_attr* attributes) {
  return hookContext(openMlx5Real(device, attributes));
}
HCASIM_EXPORT ibv_cq_ex* mlx5dv_create_cq(ibv_context* context, ibv_cq_init_attr_ex* attributes,
                                          mlx5dv_cq_init_attr* own) {
  ibv_cq_ex* cq = createMlx5CqReal(context, attributes, own);
  if (cq == nullptr || !isConnected()) return cq;
  if (own != nullptr && (own->comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE) != 0) {
    anyCompressed = compressedCqs.set(cq, true) || anyCompressed;
  }
  return hookCq(cq);
}
HCASIM_EXPORT int ibv_destroy_cq(ibv_cq* cq) {
  const bool wasCompressed = isCompressed(cq);
  const int result = destroyCqReal(cq);
  if (result == 0 && wasCompressed) compressedCqs.set(cq, false);
  return result;
}
