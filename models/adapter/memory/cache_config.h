// Section [adapter.cache]: what of the structures in host memory fits on the chip.
#pragma once

#include <cstdint>
#include <utility>

#include "models/base/config_key.h"
#include "models/base/units.h"
#include "models/kernel/associative_table.h"

namespace hca::adapter {

/// No sizes of real adapters are public: unlimited unless they are set. The 375 B of a queue pair's context are
/// derived from published measurements of a ConnectX-5 class adapter.
struct CacheConfig {
  std::int64_t qpContextEntries = 0;
  std::int64_t cqContextEntries = 0;
  std::int64_t memoryKeyEntries = 0;
  std::int64_t translationEntries = 0;
  std::int64_t workRequestEntries = 0;
  std::int64_t ways = 0;
  kernel::Replacement replacement = kernel::Replacement::kLeastRecentlyUsed;
  std::int64_t refills = 8;
  Bytes qpContextSize{375};
  Bytes cqContextSize{64};

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    constexpr auto kEntries = range<std::int64_t>(0, 1 << 22);
    key("qp_context_entries", self.qpContextEntries, kEntries, "Contexts of queue pairs on the chip; 0: all");
    key("cq_context_entries", self.cqContextEntries, kEntries, "Contexts of completion queues on the chip; 0: all");
    key("memory_key_entries", self.memoryKeyEntries, kEntries, "Memory keys on the chip; 0: all");
    key("translation_entries", self.translationEntries, kEntries,
        "Translations on the chip, one for each page of a memory region; 0: all");
    key("work_request_entries", self.workRequestEntries, kEntries,
        "Fetched send requests on the chip that wait for their turn; one that has to make room is fetched again; 0: "
        "all");
    key("ways", self.ways, range<std::int64_t>(0, 1024), "Places that an entry may take; 0: any");
    key("replacement", self.replacement, "Which of them makes room");
    key("refills", self.refills, range<std::int64_t>(1, 1024), "Reads of host memory for misses, at a time");
    key("qp_context_size", self.qpContextSize, range(Bytes(1), Bytes(4096)),
        "Bytes read for a queue pair's context, and written back when it makes room");
    key("cq_context_size", self.cqContextSize, range(Bytes(1), Bytes(4096)), "The same for a completion queue's");
  }
};

}  // namespace hca::adapter

template <>
struct hca::config::EnumNames<hca::kernel::Replacement> {
  static constexpr std::pair<const char*, hca::kernel::Replacement> kNames[] = {
      {"lru", hca::kernel::Replacement::kLeastRecentlyUsed}, {"random", hca::kernel::Replacement::kRandom}};
};
