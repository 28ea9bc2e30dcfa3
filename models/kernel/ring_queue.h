// A first-in first-out queue that allocates nothing while empty and nothing in a steady state.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>

#include "models/base/prefetch.h"

namespace hca::kernel {

/// A queue in a circular buffer that doubles when full. Elements are moved. Unlike std::deque an empty
/// queue owns no memory, so that a hundred thousand idle queue pairs cost nothing.
template <class Element>
class RingQueue {
 public:
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Element `index` places behind the front.
  [[nodiscard]] Element& operator[](std::size_t index) {
    assert(index < count_);
    return slots_[(head_ + static_cast<std::uint32_t>(index)) & (capacity_ - 1)];
  }
  [[nodiscard]] const Element& operator[](std::size_t index) const {
    assert(index < count_);
    return slots_[(head_ + static_cast<std::uint32_t>(index)) & (capacity_ - 1)];
  }
  [[nodiscard]] Element& front() { return (*this)[0]; }
  [[nodiscard]] Element& back() { return (*this)[count_ - 1]; }

  /// Starts to bring the place of the next element into the processor's cache.
  void prefetchBack() const {
    if (capacity_ != 0) prefetch(&slots_[(head_ + count_) & (capacity_ - 1)], sizeof(Element));
  }

  void push(Element&& element) { append() = std::move(element); }
  void push(const Element& element) { append() = element; }
  /// A place at the back for the caller to fill; what it holds is left from before.
  Element& append() {
    if (count_ == capacity_) grow();
    return slots_[(head_ + count_++) & (capacity_ - 1)];
  }
  Element pop() {
    Element element = std::move(front());
    drop();
    return element;
  }
  /// Forgets the front, whose content was moved out of it.
  void drop() {
    assert(count_ > 0);
    head_ = (head_ + 1) & (capacity_ - 1);
    --count_;
  }
  void clear() {
    while (!empty()) pop();
  }

 private:
  void grow() {
    const std::uint32_t capacity = capacity_ == 0 ? 1 : capacity_ * 2;
    auto larger = std::make_unique<Element[]>(capacity);
    for (std::uint32_t i = 0; i < count_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    capacity_ = capacity;
    head_ = 0;
  }

  // Not a vector: a queue pair has five of these.
  std::unique_ptr<Element[]> slots_;
  std::uint32_t capacity_ = 0;
  std::uint32_t head_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace hca::kernel
