#include "models/adapter/command/page_account.h"

#include <algorithm>

#include "models/base/mixed_bits.h"

namespace hca::adapter {

CommandResult PageAccount::give(const std::vector<BusAddress>& pages) {
  if (pages_.size() + pages.size() > needed()) return {CommandStatus::kExceedLimit, Syndrome::kTooManyPages};
  std::unordered_set<BusAddress> offered;
  for (const BusAddress page : pages) {
    const bool aligned = page.value() % kPageSize == 0;
    if (!aligned) return {CommandStatus::kBadParameter, Syndrome::kPageMisaligned};
    const bool fresh = known_.count(page) == 0 && offered.insert(page).second;
    if (!fresh) return {CommandStatus::kBadParameter, Syndrome::kPageGivenTwice};
  }
  known_.insert(pages.begin(), pages.end());
  pages_.insert(pages_.end(), pages.begin(), pages.end());
  given_ += pages.size();
  most_ = std::max<std::uint64_t>(most_, pages_.size());
  return {};
}

std::vector<BusAddress> PageAccount::take(std::size_t most) {
  const std::size_t count = std::min(most, returnable());
  std::vector<BusAddress> returned;
  returned.reserve(count);
  for (std::size_t n = 0; n < count; ++n) {
    returned.push_back(pages_.back());
    known_.erase(pages_.back());
    pages_.pop_back();
  }
  taken_ += returned.size();
  return returned;
}

BusAddress PageAccount::home(std::uint64_t number, std::uint32_t length) const {
  if (pages_.empty()) return BusAddress(0);
  std::uint64_t each = 64;
  while (each < length) each *= 2;
  const std::uint64_t random = mixedBits(number);
  constexpr unsigned kHalf = 32;
  return advance(pages_[random % pages_.size()], (random >> kHalf) % (kPageSize / each) * each);
}

std::uint32_t PageAccount::missingForBoot() const {
  return pages_.size() >= bootPages_ ? 0 : bootPages_ - static_cast<std::uint32_t>(pages_.size());
}

std::uint32_t PageAccount::missingForInit() const {
  return static_cast<std::uint32_t>(needed() - std::min(needed(), pages_.size()));
}

std::size_t PageAccount::returnable() const { return inUse_ ? 0 : pages_.size(); }

void PageAccount::reset() {
  inUse_ = false;
  pages_.clear();
  known_.clear();
}

}  // namespace hca::adapter
