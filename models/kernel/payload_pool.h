// Reused byte buffers for moved payload.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "models/base/byte_view.h"

namespace hca::kernel {

class PayloadPool;

/// A buffer on loan from a PayloadPool; goes back when destroyed. Move-only, of the size of a pointer: packets carry it
/// from stage to stage. An empty one owns nothing.
class Payload {
 public:
  Payload() = default;
  Payload(Payload&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  Payload& operator=(Payload&& other) noexcept {
    Buffer* const taken = std::exchange(other.buffer_, nullptr);
    if (buffer_ != nullptr) release();
    buffer_ = taken;
    return *this;
  }
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;
  ~Payload() {
    if (buffer_ != nullptr) release();
  }

  [[nodiscard]] std::size_t size() const { return buffer_ == nullptr ? 0 : buffer_->bytes.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] ByteView view() const { return buffer_ == nullptr ? ByteView() : ByteView(buffer_->bytes); }
  [[nodiscard]] MutableByteView mutableView() {
    return buffer_ == nullptr ? MutableByteView() : MutableByteView(buffer_->bytes);
  }
  /// The same bytes in another buffer of the same pool.
  [[nodiscard]] inline Payload clone() const;

 private:
  friend class PayloadPool;
  struct Buffer {
    PayloadPool* pool;
    std::vector<std::uint8_t> bytes;
  };
  explicit Payload(Buffer* buffer) : buffer_(buffer) {}
  inline void release();

  Buffer* buffer_ = nullptr;
};

/// Lends buffers and takes them back; must outlive them.
class PayloadPool {
 public:
  /// A buffer of `size` bytes of unspecified content.
  [[nodiscard]] Payload acquire(std::size_t size) {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Payload::Buffer>());
      all_.back()->pool = this;
      free_.push_back(all_.back().get());
    }
    Payload::Buffer* const buffer = free_.back();
    free_.pop_back();
    buffer->bytes.resize(size);
    return Payload(buffer);
  }
  [[nodiscard]] Payload copyOf(ByteView source) {
    Payload payload = acquire(source.size());
    if (!source.empty()) std::memcpy(payload.mutableView().data(), source.data(), source.size());
    return payload;
  }

 private:
  friend class Payload;
  std::vector<std::unique_ptr<Payload::Buffer>> all_;
  std::vector<Payload::Buffer*> free_;
};

inline Payload Payload::clone() const { return buffer_ == nullptr ? Payload() : buffer_->pool->copyOf(buffer_->bytes); }

inline void Payload::release() { buffer_->pool->free_.push_back(buffer_); }

}  // namespace hca::kernel
