#include "models/adapter/memory/context_cache.h"

#include <utility>

namespace hca::adapter {

namespace {
constexpr Bytes kLine{64};  // what a read of a small structure brings
}

ContextCache::ContextCache(const AdapterContext& context, const CacheConfig& config, std::uint64_t seed)
    : context_(context), config_(config), seed_(seed) {
  makeCache(CachedObject::kQpContext, config.qpContextEntries, config.qpContextSize, true);
  makeCache(CachedObject::kCqContext, config.cqContextEntries, config.cqContextSize, true);
  makeCache(CachedObject::kMemoryKey, config.memoryKeyEntries, kLine, false);
  makeCache(CachedObject::kTranslation, config.translationEntries, kLine, false);
  makeCache(CachedObject::kWorkRequest, config.workRequestEntries, kLine, false);
}

void ContextCache::makeCache(CachedObject what, std::int64_t entries, Bytes size, bool writesBack) {
  Cache& cache = cacheOf(what);
  cache.bytes = static_cast<std::uint32_t>(size.count());
  cache.writesBack = writesBack;
  cache.table.reset();
  if (entries == 0) return;
  cache.table.emplace(static_cast<std::uint32_t>(entries), static_cast<std::uint32_t>(config_.ways),
                      config_.replacement, seed_ + static_cast<std::uint64_t>(what));
}

bool ContextCache::isLimited(const CacheConfig& config) {
  return config.qpContextEntries + config.cqContextEntries + config.memoryKeyEntries + config.translationEntries +
             config.workRequestEntries >
         0;
}

// Keys have 56 bits at most (24 of a memory key, 32 of its page).
std::uint64_t ContextCache::numberOf(CachedObject what, std::uint64_t key) {
  constexpr unsigned kKeyBits = 56;
  return static_cast<std::uint64_t>(what) << kKeyBits | key;
}

void ContextCache::access(CachedObject what, std::uint64_t key) {
  Cache& cache = cacheOf(what);
  if (!cache.table) return;
  if (cache.table->find(key) != nullptr) {
    ++cache.counters.hits;
    return;
  }
  ++cache.counters.misses;
  const auto [at, isNew] = pending_.try_emplace(numberOf(what, key), kNone);
  if (isNew) at->second = newRefill(what, key);
  const std::uint32_t refill = at->second;
  join(refill);
  if (!isNew) return;
  queued_.push(refill);
  startWaiting();
}

void ContextCache::fill(CachedObject what, std::uint64_t key) {
  Cache& cache = cacheOf(what);
  if (cache.table && cache.table->find(key) == nullptr) insert(what, key);
}

void ContextCache::drop(CachedObject what, std::uint64_t key) {
  Cache& cache = cacheOf(what);
  if (cache.table) cache.table->erase(key);
}

std::uint32_t ContextCache::newRefill(CachedObject what, std::uint64_t key) {
  if (freeRefills_.empty()) {
    freeRefills_.push_back(static_cast<std::uint32_t>(refills_.size()));
    refills_.emplace_back();
  }
  const std::uint32_t refill = freeRefills_.back();
  freeRefills_.pop_back();
  refills_[refill].what = what;
  refills_[refill].key = key;
  return refill;
}

void ContextCache::join(std::uint32_t refill) {
  if (current_ == kNone) {
    if (freeTickets_.empty()) {
      freeTickets_.push_back(static_cast<std::uint32_t>(tickets_.size()));
      tickets_.emplace_back();
    }
    current_ = freeTickets_.back();
    freeTickets_.pop_back();
    tickets_[current_] = Ticket{};
  }
  refills_[refill].tickets.push_back(current_);
  ++tickets_[current_].missing;
}

bool ContextCache::waits(CacheClient& client, std::uint64_t token) {
  if (current_ == kNone) return false;
  const std::uint32_t mine = std::exchange(current_, kNone);
  if (tickets_[mine].missing == 0) {  // read meanwhile: an earlier access that nobody waited for
    freeTickets_.push_back(mine);
    return false;
  }
  tickets_[mine].client = &client;
  tickets_[mine].token = token;
  return true;
}

void ContextCache::abandon() {
  const std::uint32_t mine = std::exchange(current_, kNone);
  if (mine != kNone && tickets_[mine].missing == 0) freeTickets_.push_back(mine);
}

void ContextCache::startWaiting() {
  while (!queued_.empty() && underWay_ < static_cast<std::uint32_t>(config_.refills)) {
    ++underWay_;
    start(queued_.pop());
  }
}

void ContextCache::start(std::uint32_t refill) {
  const Refill& wanted = refills_[refill];
  pcie::DmaRead read;
  read.length = cacheOf(wanted.what).bytes;
  read.address = memory_->home(numberOf(wanted.what, wanted.key), read.length);
  read.traffic = pcie::Traffic::kContext;
  read.timingOnly = true;
  read.client = this;
  read.token = refill;
  context_.dma.read(read);
}

// A failed read counts as one: what was wanted is at hand all the same.
void ContextCache::onDmaRead(std::uint64_t token, host::DmaStatus, ByteView) {
  Refill& refill = refills_[token];
  const std::vector<std::uint32_t> tickets = std::exchange(refill.tickets, {});
  pending_.erase(numberOf(refill.what, refill.key));
  insert(refill.what, refill.key);
  freeRefills_.push_back(static_cast<std::uint32_t>(token));
  --underWay_;
  startWaiting();
  for (const std::uint32_t ticket : tickets) redeem(ticket);
}

void ContextCache::insert(CachedObject what, std::uint64_t key) {
  Cache& cache = cacheOf(what);
  if (cache.table->find(key) != nullptr) return;
  const std::optional<std::uint64_t> victim = cache.table->insert(key, {});
  if (!victim) return;
  ++cache.counters.evictions;
  if (!cache.writesBack) return;
  pcie::DmaWrite write;
  write.length = cache.bytes;
  write.address = memory_->home(numberOf(what, *victim), write.length);
  write.traffic = pcie::Traffic::kContext;
  context_.dma.write(write);
}

void ContextCache::redeem(std::uint32_t ticket) {
  if (--tickets_[ticket].missing > 0 || ticket == current_) return;
  const Ticket done = tickets_[ticket];
  freeTickets_.push_back(ticket);
  if (done.client != nullptr) done.client->onCacheReady(done.token);
}

void ContextCache::reset() {
  const std::vector<Ticket> waiting = std::exchange(tickets_, {});
  refills_.clear();
  freeRefills_.clear();
  pending_.clear();
  queued_.clear();
  underWay_ = 0;
  freeTickets_.clear();
  current_ = kNone;
  for (Cache& cache : caches_) {
    if (cache.table) cache.table->clear();
  }
  for (const Ticket& ticket : waiting) {
    if (ticket.missing > 0 && ticket.client != nullptr) ticket.client->onCacheReady(ticket.token);
  }
}

std::optional<ContextCache::Counters> ContextCache::counters(CachedObject what) const {
  const Cache& cache = caches_[static_cast<std::size_t>(what)];
  if (!cache.table) return std::nullopt;
  return cache.counters;
}

}  // namespace hca::adapter
