// Live bytes of objects.
#pragma once

#include <cstdint>

namespace hca::bench {

/// Bytes that operator new gave out and did not get back. The memory of modelled hosts is not among them: it comes from
/// the C library directly (models/host/sparse_memory.cpp).
[[nodiscard]] std::int64_t heapUse();

}  // namespace hca::bench
