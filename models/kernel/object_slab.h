// Objects of one kind by a dense number.
#pragma once

#include <sanitizer/asan_interface.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace hca::kernel {

/// A table whose objects lie side by side in blocks and never move. What finds one is small enough to stay in the
/// processor's cache however many there are: the first touch of an object is the only wait.
template <class Object>
class ObjectSlab {
 public:
  ObjectSlab() = default;
  ~ObjectSlab() { clear(); }
  ObjectSlab(const ObjectSlab&) = delete;
  ObjectSlab& operator=(const ObjectSlab&) = delete;

  /// One past the highest number that ever had an object, rounded up.
  [[nodiscard]] std::size_t size() const { return blocks_.size() * kPerBlock; }
  /// nullptr if there is none.
  [[nodiscard]] Object* find(std::size_t number) const {
    const std::size_t block = number / kPerBlock;
    if (block >= blocks_.size() || (blocks_[block].live & bitOf(number)) == 0) return nullptr;
    return at(number);
  }
  /// Precondition: none there yet.
  template <class... Arguments>
  Object& emplace(std::size_t number, Arguments&&... arguments) {
    const std::size_t block = number / kPerBlock;
    if (block >= blocks_.size()) blocks_.resize(block + 1);
    if (blocks_[block].places == nullptr) addPlaces(blocks_[block]);
    ASAN_UNPOISON_MEMORY_REGION(placeOf(number), sizeof(Object));
    auto* const object = new (placeOf(number)) Object{std::forward<Arguments>(arguments)...};
    blocks_[block].live |= bitOf(number);
    return *object;
  }
  /// Nothing happens if there is none.
  void erase(std::size_t number) {
    Object* const object = find(number);
    if (object == nullptr) return;
    blocks_[number / kPerBlock].live &= ~bitOf(number);
    object->~Object();
    ASAN_POISON_MEMORY_REGION(placeOf(number), sizeof(Object));
  }
  /// Calls `visit(object)` for each, in the order of numbers.
  template <class Visit>
  void forEach(Visit&& visit) {
    for (std::size_t number = 0; number < size(); ++number) {
      if (Object* const object = find(number)) visit(*object);
    }
  }
  void clear() {
    for (std::size_t number = 0; number < size(); ++number) erase(number);
    blocks_.clear();
  }

 private:
  static constexpr std::size_t kPerBlock = 32;
  struct Places {
    alignas(Object) std::byte bytes[kPerBlock * sizeof(Object)];
  };
  struct Block {
    std::unique_ptr<Places> places;
    std::uint32_t live = 0;  // a bit for each place
  };
  // Left uninitialised; a sanitizer objects to touching what is no object.
  static void addPlaces(Block& block) {
    block.places.reset(new Places);
    ASAN_POISON_MEMORY_REGION(block.places->bytes, sizeof(Places));
  }
  static std::uint32_t bitOf(std::size_t number) { return std::uint32_t{1} << (number % kPerBlock); }
  [[nodiscard]] std::byte* placeOf(std::size_t number) const {
    return blocks_[number / kPerBlock].places->bytes + number % kPerBlock * sizeof(Object);
  }
  [[nodiscard]] Object* at(std::size_t number) const {
    return std::launder(reinterpret_cast<Object*>(placeOf(number)));
  }

  std::vector<Block> blocks_;
};

}  // namespace hca::kernel
