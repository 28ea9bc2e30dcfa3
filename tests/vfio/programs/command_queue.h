// As much of a driver as it takes to give the adapter commands.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/wire/command.h"
#include "tests/vfio/programs/vfio_device.h"

namespace vfio_test {

/// A command queue in memory of the program, of which slot 0 is used. Bytes are those of the mlx5 interface.
class CommandQueue {
 public:
  static constexpr std::uint64_t kBus = 0x40'0000;  // of its memory
  static constexpr std::uint64_t kSize = 0x10'0000;
  static constexpr std::uint64_t kFree = kBus + 0x4000;  // from here on nothing of the queue's own lies
  using Words = std::vector<std::uint32_t>;

  /// Maps the memory and tells the adapter, whose registers and bus mastering get enabled.
  CommandQueue(const Container& container, const Device& device);
  ~CommandQueue();
  CommandQueue(const CommandQueue&) = delete;
  CommandQueue& operator=(const CommandQueue&) = delete;

  /// Of the adapter: again after a reset.
  void start();
  /// Gives a command away.
  void post(const Words& input);
  /// Waits for it: its status, -1 if it wasn't done within a second.
  int wait();
  int run(const Words& input) {
    post(input);
    return wait();
  }
  /// Words of the answer.
  [[nodiscard]] std::uint32_t output(unsigned word) const;
  /// From ENABLE_HCA to INIT_HCA. The status of the first that fails.
  int bringUp();
  [[nodiscard]] std::uint8_t* memory(std::uint64_t bus) { return memory_ + (bus - kBus); }

 private:
  int givePages(std::uint32_t kind);

  const Container& container_;
  const Device& device_;
  std::uint8_t* memory_;
  void* pages_;  // the adapter's
  std::uint64_t nextPage_ = 0;
};

}  // namespace vfio_test
