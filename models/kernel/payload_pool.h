// Reused byte buffers for moved payload.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "models/base/byte_view.h"

namespace hca::kernel {

class PayloadPool;

/// A buffer on loan from a PayloadPool; goes back when destroyed. Move-only. An empty one owns nothing.
class Payload {
 public:
  Payload() = default;
  Payload(Payload&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), bytes_(std::move(other.bytes_)) {}
  Payload& operator=(Payload&& other) noexcept {
    if (this != &other) {
      release();
      pool_ = std::exchange(other.pool_, nullptr);
      bytes_ = std::move(other.bytes_);
    }
    return *this;
  }
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;
  ~Payload() { release(); }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] ByteView view() const { return bytes_; }
  [[nodiscard]] MutableByteView mutableView() { return bytes_; }
  /// The same bytes in another buffer of the same pool.
  [[nodiscard]] inline Payload clone() const;

 private:
  friend class PayloadPool;
  Payload(PayloadPool& pool, std::vector<std::uint8_t> bytes) : pool_(&pool), bytes_(std::move(bytes)) {}
  inline void release();

  PayloadPool* pool_ = nullptr;
  std::vector<std::uint8_t> bytes_;
};

/// Lends buffers and takes them back; must outlive them.
class PayloadPool {
 public:
  /// A buffer of `size` bytes of unspecified content.
  [[nodiscard]] Payload acquire(std::size_t size) {
    std::vector<std::uint8_t> bytes;
    if (!free_.empty()) {
      bytes = std::move(free_.back());
      free_.pop_back();
    }
    bytes.resize(size);
    return {*this, std::move(bytes)};
  }
  [[nodiscard]] Payload copyOf(ByteView source) {
    Payload payload = acquire(source.size());
    if (!source.empty()) std::memcpy(payload.mutableView().data(), source.data(), source.size());
    return payload;
  }

 private:
  friend class Payload;
  std::vector<std::vector<std::uint8_t>> free_;
};

inline Payload Payload::clone() const { return pool_ == nullptr ? Payload() : pool_->copyOf(bytes_); }

inline void Payload::release() {
  if (pool_ != nullptr) pool_->free_.push_back(std::move(bytes_));
  pool_ = nullptr;
  bytes_.clear();
}

}  // namespace hca::kernel
