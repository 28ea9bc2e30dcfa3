// Memory that can be given to another process.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

namespace hca::cosim {

/// A zeroed structure in memory of its own, with the descriptor by which another process maps it.
template <class Struct>
class SharedMapping {
 public:
  explicit SharedMapping(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    if (descriptor_ < 0 || ftruncate(descriptor_, sizeof(Struct)) != 0) throw std::runtime_error("no shared memory");
    // Nobody can take it away from under the other's feet.
    constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (fcntl(descriptor_, F_ADD_SEALS, kSeals) != 0) throw std::runtime_error("no shared memory");
    void* address = mmap(nullptr, sizeof(Struct), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (address == MAP_FAILED) throw std::runtime_error("no shared memory");
    struct_ = static_cast<Struct*>(address);
  }
  ~SharedMapping() {
    munmap(struct_, sizeof(Struct));
    ::close(descriptor_);
  }
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  Struct* operator->() const { return struct_; }
  Struct& operator*() const { return *struct_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
  Struct* struct_ = nullptr;
};

}  // namespace hca::cosim
