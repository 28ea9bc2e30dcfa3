// What follows the control segment of a request that binds, unbinds or invalidates a window.
#pragma once

#include <array>
#include <cstdint>

#include "models/base/ids.h"
#include "models/wire/memory_key_context.h"
#include "models/wire/wqe.h"
#include "sim/driver/verbs_types.h"

namespace hca::driver {

/// The segments that libmlx5 builds (rdma-core providers/mlx5/qp.c, set_bind_wr).
struct WindowSegments {
  wire::UmrControlSegment control;
  std::array<std::uint8_t, wire::MemoryKeyContext::kSize> context{};
  std::array<std::uint8_t, 64> list{};  ///< one wire::KeyPieceSegment, padded; unless the window is unbound
};

[[nodiscard]] WindowSegments windowSegments(const WindowBind& bind, QpNumber qp);

/// A local invalidate is the unbinding of a window of type 2.
[[nodiscard]] constexpr WindowBind invalidation(MemoryKey key) {
  WindowBind bind;
  bind.window = key;
  return bind;
}

}  // namespace hca::driver
