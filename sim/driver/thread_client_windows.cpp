// ThreadClient's memory windows.
#include <algorithm>
#include <memory>
#include <utility>

#include "sim/driver/client_tables.h"
#include "sim/driver/completion_parser.h"
#include "sim/driver/thread_client.h"

namespace hca::driver {

void ThreadClient::allocateMw(WindowType type, std::function<void(MwAllocated)> done) {
  driver_.allocateMw(owner_, pd_, type, [this, type, done = std::move(done)](const Answer<MemoryKey>& answer) {
    MwAllocated allocated;
    allocated.error = errorOf(answer.result);
    if (answer.ok()) {
      allocated.key = answer.value;
      allocated.handle = handOut<ClientMw, MwHandle>(mws_);
      mws_.back() = std::make_unique<ClientMw>(ClientMw{type, answer.value});
    }
    done(allocated);
  });
}

void ThreadClient::deallocateMw(MwHandle handle, std::function<void(VerbsError)> done) {
  const ClientMw* window = find(mws_, handle);
  if (window == nullptr) return done(VerbsError::kInvalid);
  driver_.deallocateMw(owner_, window->key, [this, handle, done = std::move(done)](const Answer<int>& answer) {
    if (answer.ok()) mws_[handle.value()].reset();
    done(errorOf(answer.result));
  });
}

// What the library checks, because the adapter can't: a memory key's context has no bit for the right to bind. Whatever
// else is wrong ends in an error completion. A region of somebody else's is left to the adapter, too.
VerbsError ThreadClient::checkBind(const WindowBind& bind) const {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 31;
  constexpr std::uint32_t kRights = static_cast<std::uint32_t>(MemoryAccess::kRemoteWrite) |
                                    static_cast<std::uint32_t>(MemoryAccess::kRemoteRead) |
                                    static_cast<std::uint32_t>(MemoryAccess::kRemoteAtomic);
  if (bind.length > kLongest) return VerbsError::kNotSupported;
  const auto zeroBased = static_cast<std::uint32_t>(MemoryAccess::kZeroBased);
  const std::uint32_t allowed = bind.type == WindowType::kType2 ? kRights | zeroBased : kRights;
  if ((bind.access & ~allowed) != 0) return VerbsError::kInvalid;
  if (bind.length == 0) return VerbsError::kNone;
  const auto region = std::find_if(mrs_.begin(), mrs_.end(), [&](const std::unique_ptr<ClientMr>& mr) {
    return mr != nullptr && mr->key == bind.region;
  });
  const bool refused = region != mrs_.end() && !has((*region)->access, MemoryAccess::kWindowBind);
  return refused ? VerbsError::kInvalid : VerbsError::kNone;
}

// rdma-core providers/mlx5/qp.c, mlx5_bind_mw: the low byte of the key goes up by one.
PostResult ThreadClient::bindMw(QpHandle qp, MwHandle handle, const MwBinding& binding) {
  ClientMw* window = find(mws_, handle);
  const ClientMr* region = find(mrs_, binding.region);
  const bool unknown = window == nullptr || (region == nullptr && binding.length != 0);
  if (unknown || window->type != WindowType::kType1) return {VerbsError::kInvalid, 0};
  SendWorkRequest request;
  request.workRequestId = binding.workRequestId;
  request.opcode = SendOpcode::kBindWindow;
  request.signaled = binding.signaled;
  request.fence = binding.fence;
  request.bind.type = WindowType::kType1;
  request.bind.window = window->key;
  request.bind.newKey = MemoryKey((window->key.value() & ~0xFFU) | ((window->key.value() + 1) & 0xFFU));
  if (region != nullptr) request.bind.region = region->key;
  request.bind.address = binding.address;
  request.bind.length = binding.length;
  request.bind.access = binding.access;
  const PostResult result = post(qpOf(qp), &request, 1);
  if (result.error == VerbsError::kNone) window->key = request.bind.newKey;
  return result;
}

}  // namespace hca::driver
