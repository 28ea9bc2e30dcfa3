// Whether a list of pages holds a ring.
#pragma once

#include <cstdint>

#include "models/adapter/memory/page_list.h"

namespace hca::adapter {

/// Pages of at least 4 KiB, each aligned to its size, and 2^logEntries entries that start within the first page, lie in
/// the pages to their end and never straddle two of them. `entryBytes` is a power of two.
bool ringPagesFit(const PageList& ring, unsigned logEntries, std::uint32_t entryBytes);

}  // namespace hca::adapter
