// The way to every structure that real silicon keeps in host memory and caches on chip.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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

/// Told that what it waits for is on the chip.
class CacheClient {
 public:
  virtual void onCacheReady(std::uint64_t token) = 0;

 protected:
  ~CacheClient() = default;
};

/// Caches of limited size with their refill path.
class CacheModel {
 public:
  /// `key` names the object among those of its kind. A miss is remembered until the next call of `waits`.
  virtual void access(CachedObject what, std::uint64_t key) = 0;
  /// The object came onto the chip on its own; another one may have to make room.
  virtual void fill(CachedObject what, std::uint64_t key) = 0;
  /// The object is no longer needed.
  virtual void drop(CachedObject what, std::uint64_t key) = 0;
  /// Whether any access since the last call missed. If so, `client.onCacheReady(token)` follows once, later, when all
  /// that they missed is there. Whoever waits for the same object is called in the order of asking.
  virtual bool waits(CacheClient& client, std::uint64_t token) = 0;
  /// Nobody will wait for what the accesses since the last call of `waits` missed.
  virtual void abandon() = 0;

 protected:
  ~CacheModel() = default;
};

/// Counts accesses, and asks the model if there is one. Without a model every access hits: unlimited caches.
///
/// A stage makes its accesses, then asks whether it has to wait. When it is called back it goes on whatever is in the
/// cache by then (with a Bypass, if it makes the same accesses again): so each miss ends in progress.
class CachePort {
 public:
  void access(CachedObject what, std::uint64_t key) {
    ++accesses_[static_cast<std::size_t>(what)];
    if (isLimited()) model_->access(what, key);
  }
  void fill(CachedObject what, std::uint64_t key) {
    if (isLimited()) model_->fill(what, key);
  }
  void drop(CachedObject what, std::uint64_t key) {
    if (isLimited()) model_->drop(what, key);
  }
  [[nodiscard]] bool waits(CacheClient& client, std::uint64_t token) {
    return isLimited() && model_->waits(client, token);
  }

  /// The access of a stage that makes but one, and whether it has to wait for it.
  [[nodiscard]] bool misses(CachedObject what, std::uint64_t key, CacheClient& client, std::uint64_t token) {
    if (isLimited()) model_->abandon();
    access(what, key);
    return waits(client, token);
  }

  /// Whether an access may miss.
  [[nodiscard]] bool isLimited() const { return model_ != nullptr && !bypassed_; }
  /// nullptr: unlimited.
  void setModel(CacheModel* model) { model_ = model; }
  [[nodiscard]] std::uint64_t accesses(CachedObject what) const { return accesses_[static_cast<std::size_t>(what)]; }

  /// While it lives, accesses hit: of a stage that has waited already.
  class Bypass {
   public:
    explicit Bypass(CachePort& port) : port_(port), before_(port.bypassed_) { port.bypassed_ = true; }
    ~Bypass() { port_.bypassed_ = before_; }
    Bypass(const Bypass&) = delete;
    Bypass& operator=(const Bypass&) = delete;

   private:
    CachePort& port_;
    bool before_;
  };

 private:
  CacheModel* model_ = nullptr;
  bool bypassed_ = false;
  std::array<std::uint64_t, static_cast<std::size_t>(CachedObject::kCount)> accesses_{};
};

/// Key of a send request among all: of its queue pair and the index of its first block.
[[nodiscard]] constexpr std::uint64_t workRequestKey(std::uint32_t qp, std::uint64_t index) {
  constexpr unsigned kIndexBits = 32;
  return std::uint64_t{qp} << kIndexBits | (index & 0xFFFFFFFF);
}

}  // namespace hca::adapter
