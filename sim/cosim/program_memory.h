// The memory of a program that uses the device.
#pragma once

#include <cstdint>

#include <map>
#include <utility>

#include "models/host/bus_address_space.h"

namespace hca::cosim {

/// Told of every byte that DMA wrote into a program's memory.
class ProgramMemoryListener {
 public:
  virtual void onProgramMemoryWritten(std::uint64_t address, std::uint64_t length) = 0;

 protected:
  ~ProgramMemoryListener() = default;
};

/// Addresses are the program's own. DMA comes through the MemoryBackend interface and is told to the listener; the
/// structures of system calls come through copyIn and copyOut.
class ProgramMemory : public host::MemoryBackend {
 public:
  void setListener(ProgramMemoryListener* listener) { listener_ = listener; }

  virtual bool copyIn(std::uint64_t address, MutableByteView into) = 0;
  /// The last eight bytes become visible last, together: they hold the owner bit of a completion.
  virtual bool copyOut(std::uint64_t address, ByteView bytes) = 0;

  /// The simulation runs from here to `endSlice`: writes may be done as late as there, in their order; one that fails
  /// only then is lost, as one on a bus is. `isQuiet`: the program doesn't run meanwhile, so that reads may be done
  /// ahead.
  virtual void beginSlice(bool isQuiet) { (void)isQuiet; }
  virtual void endSlice() {}

  /// The program is gone: every access fails from now on.
  virtual void end() {}

  /// The program gave [address, address + length) back, so that DMA there fails, whatever it maps there later...
  void forget(std::uint64_t address, std::uint64_t length);
  /// ... until it names the range again.
  void remember(std::uint64_t address, std::uint64_t length);

  struct Range {
    std::uint64_t address = 0, length = 0;
  };
  /// What it named last, once.
  Range takeNamed() { return std::exchange(named_, Range{}); }

  bool read(std::uint64_t address, MutableByteView into) final {
    return !isForgotten(address, into.size()) && copyIn(address, into);
  }
  bool write(std::uint64_t address, ByteView bytes) final {
    if (isForgotten(address, bytes.size()) || !copyOut(address, bytes)) return false;
    if (listener_ != nullptr) listener_->onProgramMemoryWritten(address, bytes.size());
    return true;
  }

 private:
  [[nodiscard]] bool isForgotten(std::uint64_t address, std::uint64_t length) const;

  ProgramMemoryListener* listener_ = nullptr;
  Range named_;
  std::map<std::uint64_t, std::uint64_t> forgotten_;  // start to end; neither overlap nor touch
};

}  // namespace hca::cosim
