// Original functions of objects whose functions were replaced.
#pragma once

#include <pthread.h>
#include <stdint.h>

namespace hca::shim {

/// By the object's address, which may be used again by a later object: the last set counts. Reads take no lock.
template <class Function>
class HookTable {
 public:
  /// False if there is no room: then the object stays as it is.
  bool set(const void* object, Function function) {
    pthread_mutex_lock(&mutex_);
    Entry* place = nullptr;
    for (unsigned i = 0; i < kEntries && place == nullptr; ++i) {
      Entry& entry = entries_[(start(object) + i) % kEntries];
      if (entry.object == nullptr || entry.object == object) place = &entry;
    }
    if (place != nullptr) {
      place->function = function;
      __atomic_store_n(&place->object, object, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex_);
    return place != nullptr;
  }
  bool has(const void* object) const {
    for (unsigned i = 0; i < kEntries; ++i) {
      const void* const there = __atomic_load_n(&entries_[(start(object) + i) % kEntries].object, __ATOMIC_ACQUIRE);
      if (there == object) return true;
      if (there == nullptr) return false;
    }
    return false;
  }
  /// Precondition: it was set.
  Function find(const void* object) const {
    for (unsigned i = 0;; ++i) {
      const Entry& entry = entries_[(start(object) + i) % kEntries];
      if (__atomic_load_n(&entry.object, __ATOMIC_ACQUIRE) == object) return entry.function;
    }
  }

 private:
  static constexpr unsigned kEntries = 4096;
  struct Entry {
    const void* object;
    Function function;
  };
  static unsigned start(const void* object) {
    return static_cast<unsigned>(reinterpret_cast<uintptr_t>(object) >> 4) * 2654435761U % kEntries;
  }
  Entry entries_[kEntries] = {};
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace hca::shim
