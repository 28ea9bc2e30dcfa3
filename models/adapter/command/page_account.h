// The host pages that a driver lent to the adapter.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "models/adapter/command/command_result.h"
#include "models/adapter/memory/context_memory_port.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// Pages by number.
struct PageCount {
  std::uint64_t held = 0;
  std::uint64_t most = 0;    ///< at once
  std::uint64_t given = 0;   ///< by MANAGE_PAGES, all together, as the next
  std::uint64_t taken = 0;   ///< back
  std::uint64_t needed = 0;  ///< from INIT_HCA on
};

/// Keeps what was given and gives back exactly that. Real silicon keeps contexts in these pages; the model keeps them
/// itself: the pages are counted, and where caches are limited, read and written without looking at the bytes.
class PageAccount final : public ContextMemory {
 public:
  static constexpr std::uint64_t kPageSize = 4096;

  PageAccount(std::uint32_t bootPages, std::uint32_t initPages) : bootPages_(bootPages), initPages_(initPages) {}

  /// Takes all of `pages` or none. Refused: an address that is not on a page, one that is held already, more than the
  /// adapter needs.
  CommandResult give(const std::vector<BusAddress>& pages);
  /// Returns up to `most` pages, those given last first; none that the adapter needs (see setInUse).
  [[nodiscard]] std::vector<BusAddress> take(std::size_t most);

  /// Pages that still lack until the adapter can answer queries, and until it can be initialised.
  [[nodiscard]] std::uint32_t missingForBoot() const;
  [[nodiscard]] std::uint32_t missingForInit() const;
  [[nodiscard]] std::size_t held() const { return pages_.size(); }
  [[nodiscard]] PageCount count() const { return {pages_.size(), most_, given_, taken_, needed()}; }
  /// From INIT_HCA to TEARDOWN_HCA the adapter needs its boot and init pages.
  void setInUse(bool inUse) { inUse_ = inUse; }
  /// What `take` could return now.
  [[nodiscard]] std::size_t returnable() const;
  [[nodiscard]] BusAddress home(std::uint64_t number, std::uint32_t length) const override;
  /// Nothing is held any more: the driver frees its pages after a reset.
  void reset();

 private:
  [[nodiscard]] std::size_t needed() const { return std::size_t{bootPages_} + initPages_; }

  std::uint32_t bootPages_;
  std::uint32_t initPages_;
  bool inUse_ = false;
  std::uint64_t most_ = 0;
  std::uint64_t given_ = 0;
  std::uint64_t taken_ = 0;
  std::vector<BusAddress> pages_;
  std::unordered_set<BusAddress> known_;  // looked up only, never iterated
};

}  // namespace hca::adapter
