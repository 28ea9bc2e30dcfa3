// An eventfd of another process.
#pragma once

#include <utility>

namespace hca::vfio {

/// Owns a descriptor that came from a process, to signal it (eventfd(2)).
class EventDescriptor {
 public:
  EventDescriptor() = default;
  explicit EventDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~EventDescriptor();
  EventDescriptor(EventDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  EventDescriptor& operator=(EventDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  [[nodiscard]] bool isThere() const { return descriptor_ >= 0; }
  /// Whether it is an eventfd: a write to anything else could do anything, or block.
  [[nodiscard]] bool isEventFile() const;
  /// Adds one to its count. Never blocks: a count that has no room left is signalled anyway.
  void signal() const;

 private:
  int descriptor_ = -1;
};

}  // namespace hca::vfio
