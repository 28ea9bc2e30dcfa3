// A PCI function in the hands of a user: another process, a guest.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/base/byte_view.h"
#include "models/pcie/pci_function.h"
#include "sim/vfio/virtual_configuration.h"

namespace hca::vfio {

/// What a host's kernel does for the user of a function that it hands out, as Linux's vfio-pci: a safe view of its
/// configuration space, its registers but for the MSI-X table, its interrupts, its reset. Errors are those of errno(3)
/// that the kernel gives.
///
/// Acts at Calendar::now(), as PciFunction does.
class PassthroughFunction final : private pcie::InterruptSink {
 public:
  static constexpr unsigned kBars = 6;

  /// Told what the function raises.
  class VectorListener {
   public:
    virtual void onVector(std::uint32_t vector) = 0;

   protected:
    ~VectorListener() = default;
  };

  /// `function` has a PCI Express and an MSI-X capability; throws std::invalid_argument if not.
  explicit PassthroughFunction(pcie::PciFunction& function);
  ~PassthroughFunction();
  PassthroughFunction(const PassthroughFunction&) = delete;
  PassthroughFunction& operator=(const PassthroughFunction&) = delete;

  [[nodiscard]] std::uint64_t barSize(unsigned bar) const { return function_.barSize(bar); }
  [[nodiscard]] std::uint32_t vectors() const { return vectors_; }

  /// A user comes, or goes: the function is as after power-on then, without interrupts and without bus mastering.
  void open(VectorListener& listener);
  void close();
  [[nodiscard]] bool isOpen() const { return listener_ != nullptr; }

  // What follows is for an open function.

  /// EINVAL for what isn't wholly inside.
  int readConfig(std::uint64_t offset, MutableByteView into);
  int writeConfig(std::uint64_t offset, ByteView bytes);
  /// EINVAL for what isn't wholly inside, EIO while the function's registers are disabled. The MSI-X table is the
  /// machine's: writes to it are dropped.
  int writeBar(unsigned bar, std::uint64_t offset, ByteView bytes);
  using ReadDone = std::function<void(ByteView bytes)>;
  /// The same errors; else `done` is called when everything has arrived. The MSI-X table reads as all ones.
  int readBar(unsigned bar, std::uint64_t offset, std::uint32_t length, ReadDone done);

  /// Vector `first` + i raises something (is unmasked) if `raises[i]`. The first call turns interrupts on and says how
  /// many vectors there are until `disableVectors`: EINVAL for further ones.
  int connectVectors(std::uint32_t first, const std::vector<bool>& raises);
  /// EINVAL if interrupts are off already.
  int disableVectors();

  /// The adapter is as after power-on; configuration and interrupts stay as they are.
  int reset();

 private:
  void onInterrupt(InterruptVector vector) override;
  void connect(std::uint32_t vector, bool raises);
  void writeEntry(std::uint32_t vector);
  void setMsix(bool isOn);
  void writeTable(std::uint32_t first, std::uint32_t count);
  void releaseMemory();
  [[nodiscard]] bool isTable(unsigned bar, std::uint64_t offset) const;
  [[nodiscard]] int checkBar(unsigned bar, std::uint64_t offset, std::uint64_t length) const;

  pcie::PciFunction& function_;
  VirtualConfiguration configuration_;
  std::uint32_t msix_;
  std::uint32_t vectors_ = 0;
  unsigned tableBar_ = 0;
  std::uint64_t tableOffset_ = 0;
  VectorListener* listener_ = nullptr;
  std::vector<bool> raises_;  // of the vectors in use; empty: interrupts are off
  // Writes to the table under way for which memory decoding was turned on, and what the user wants meanwhile.
  std::uint32_t borrowings_ = 0;
  bool isMemoryWanted_ = false;
  std::uint32_t users_ = 0;  // so far
};

}  // namespace hca::vfio
