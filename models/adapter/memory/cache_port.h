// The way to every structure that real silicon keeps in host memory and caches on chip.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/base/units.h"

namespace hca::adapter {

/// What an access reads or updates.
enum class CachedObject : std::uint8_t {
  kQpContext,
  kCqContext,
  kEqContext,
  kSrqContext,
  kMemoryKey,
  kTranslation,  ///< one page of a memory key
  kWorkRequest,
  kCount,
};

/// Decides what an access costs: a cache of limited size with its refill path.
class CacheModel {
 public:
  /// `key` names the object among those of its kind. The result is what the access waits for beyond the stage's own
  /// latency; zero for a hit.
  virtual Time access(CachedObject what, std::uint64_t key) = 0;

 protected:
  ~CacheModel() = default;
};

/// Counts accesses, and asks the model if there is one. Without a model every access hits: unlimited caches.
class CachePort {
 public:
  Time access(CachedObject what, std::uint64_t key) {
    ++accesses_[static_cast<std::size_t>(what)];
    return model_ == nullptr ? Time() : model_->access(what, key);
  }

  /// nullptr: unlimited.
  void setModel(CacheModel* model) { model_ = model; }
  [[nodiscard]] std::uint64_t accesses(CachedObject what) const { return accesses_[static_cast<std::size_t>(what)]; }

 private:
  CacheModel* model_ = nullptr;
  std::array<std::uint64_t, static_cast<std::size_t>(CachedObject::kCount)> accesses_{};
};

}  // namespace hca::adapter
