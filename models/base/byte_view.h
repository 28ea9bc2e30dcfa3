// Views of raw bytes (C++17 has no std::span).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hca {

/// Read-only bytes owned by somebody else.
class ByteView {
 public:
  constexpr ByteView() = default;
  constexpr ByteView(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  // NOLINTNEXTLINE(google-explicit-constructor): implicit like span
  ByteView(const std::vector<std::uint8_t>& bytes) : ByteView(bytes.data(), bytes.size()) {}

  [[nodiscard]] constexpr const std::uint8_t* data() const { return data_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] const std::uint8_t* begin() const { return data_; }
  [[nodiscard]] const std::uint8_t* end() const { return data_ + size_; }
  std::uint8_t operator[](std::size_t index) const {
    assert(index < size_);
    return data_[index];
  }
  [[nodiscard]] ByteView subview(std::size_t offset, std::size_t length) const {
    assert(offset + length <= size_);
    return {data_ + offset, length};
  }

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Writable bytes owned by somebody else.
class MutableByteView {
 public:
  constexpr MutableByteView() = default;
  constexpr MutableByteView(std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  MutableByteView(std::vector<std::uint8_t>& bytes) : MutableByteView(bytes.data(), bytes.size()) {}  // NOLINT

  [[nodiscard]] constexpr std::uint8_t* data() const { return data_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  std::uint8_t& operator[](std::size_t index) const {
    assert(index < size_);
    return data_[index];
  }
  [[nodiscard]] MutableByteView subview(std::size_t offset, std::size_t length) const {
    assert(offset + length <= size_);
    return {data_ + offset, length};
  }
  operator ByteView() const { return {data_, size_}; }  // NOLINT: implicit like span

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The bytes of a trivially copyable wire structure.
template <class Struct>
ByteView bytesOf(const Struct& object) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  return {reinterpret_cast<const std::uint8_t*>(&object), sizeof(Struct)};
}

/// A wire structure read from the front of `bytes`; `bytes.size()` must be at least its size.
template <class Struct>
Struct structFrom(ByteView bytes) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  assert(bytes.size() >= sizeof(Struct));
  Struct object;
  std::memcpy(&object, bytes.data(), sizeof(Struct));
  return object;
}

}  // namespace hca
