// Caches of limited size, refilled over PCI Express.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/memory/cache_config.h"
#include "models/adapter/memory/cache_port.h"
#include "models/adapter/memory/context_memory_port.h"
#include "models/kernel/associative_table.h"
#include "models/kernel/ring_queue.h"

namespace hca::adapter {

/// One cache for each kind of object. A miss reads the object by DMA; accesses to it meanwhile wait for the same read.
/// Only so many reads are under way, the others queue. Contexts change with use: one that makes room is written back.
/// What is read is not looked at (the model has every structure at hand): only its time and its bytes on the link
/// count.
class ContextCache final : public CacheModel, private pcie::DmaClient {
 public:
  struct Counters {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t evictions = 0;
  };

  /// `seed`: of random replacement.
  ContextCache(const AdapterContext& context, const CacheConfig& config, std::uint64_t seed);
  /// Before the first access.
  void setMemory(const ContextMemory& memory) { memory_ = &memory; }

  /// Whether any cache has a size.
  [[nodiscard]] static bool isLimited(const CacheConfig& config);

  void access(CachedObject what, std::uint64_t key) override;
  void fill(CachedObject what, std::uint64_t key) override;
  void drop(CachedObject what, std::uint64_t key) override;
  bool waits(CacheClient& client, std::uint64_t token) override;
  void abandon() override;

  /// Function-level reset: all caches are empty. Whoever waits is called, to find what it waited for gone.
  void reset();

  /// None for a kind without a size.
  [[nodiscard]] std::optional<Counters> counters(CachedObject what) const;

 private:
  static constexpr std::uint32_t kNone = ~0U;
  struct Nothing {};
  using Table = kernel::AssociativeTable<Nothing>;
  struct Cache {
    std::optional<Table> table;
    std::uint32_t bytes = 0;
    bool writesBack = false;
    Counters counters;
  };
  struct Refill {
    CachedObject what = CachedObject::kCount;
    std::uint64_t key = 0;
    std::vector<std::uint32_t> tickets;
  };
  /// Somebody who waits for one or more refills.
  struct Ticket {
    std::uint32_t missing = 0;
    CacheClient* client = nullptr;  // nullptr: not told yet who it is, or nobody
    std::uint64_t token = 0;
  };

  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t, host::DmaStatus) override {}
  void makeCache(CachedObject what, std::int64_t entries, Bytes size, bool writesBack);
  Cache& cacheOf(CachedObject what) { return caches_[static_cast<std::size_t>(what)]; }
  [[nodiscard]] static std::uint64_t numberOf(CachedObject what, std::uint64_t key);
  std::uint32_t newRefill(CachedObject what, std::uint64_t key);
  void start(std::uint32_t refill);
  void startWaiting();
  void insert(CachedObject what, std::uint64_t key);
  void join(std::uint32_t refill);
  void redeem(std::uint32_t ticket);

  AdapterContext context_;
  CacheConfig config_;
  std::uint64_t seed_;
  const ContextMemory* memory_ = nullptr;
  std::array<Cache, static_cast<std::size_t>(CachedObject::kCount)> caches_;
  std::vector<Refill> refills_;
  std::vector<std::uint32_t> freeRefills_;
  std::unordered_map<std::uint64_t, std::uint32_t> pending_;  // by number of the object; never iterated
  kernel::RingQueue<std::uint32_t> queued_;
  std::uint32_t underWay_ = 0;
  std::vector<Ticket> tickets_;
  std::vector<std::uint32_t> freeTickets_;
  std::uint32_t current_ = kNone;  // of the accesses since the last call of `waits`
};

}  // namespace hca::adapter
