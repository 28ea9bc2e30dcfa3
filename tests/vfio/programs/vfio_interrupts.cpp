// Cases of vfio_user: interrupts and resets.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>

#include "tests/vfio/programs/command_queue.h"
#include "tests/vfio/programs/vfio_cases.h"
#include "tests/vfio/programs/vfio_device.h"

namespace vfio_test {
namespace {

bool isRaised(int event, int milliseconds) {
  pollfd raised{event, POLLIN, 0};
  if (::poll(&raised, 1, milliseconds) != 1) return false;
  std::uint64_t count = 0;
  return ::read(event, &count, sizeof count) == sizeof count && count != 0;
}

// An event queue for the completions of commands, which raises vector 1.
int createCommandEq(CommandQueue& queue) {
  if (queue.run({0x8020000}) != 0) return -1;  // ALLOC_UAR
  const std::uint32_t uar = queue.output(2) & 0xFFFFFF;
  CommandQueue::Words input(0x110 / 4);
  input[0] = 0x3010000;
  input[4 + 3] = 7U << 24 | uar;  // 128 entries
  input[4 + 5] = 1;               // vector
  input[0x58 / 4] = 0;
  input[0x5C / 4] = 1U << 10;  // command completions
  std::uint8_t* ring = queue.memory(CommandQueue::kFree);
  for (unsigned n = 0; n < 128; ++n) ring[64 * n + 63] = 1;  // the adapter's
  input.push_back(0);
  input.push_back(0);
  input[0x110 / 4] = 0;
  input[0x114 / 4] = static_cast<std::uint32_t>(CommandQueue::kFree);
  input.push_back(0);
  input.push_back(static_cast<std::uint32_t>(CommandQueue::kFree + kPage));
  return queue.run(input);
}

void armEq(const Device& device, std::uint32_t eq, std::uint32_t index) {
  constexpr std::uint64_t kUar = 64 * kPage, kArm = 0x40;
  device.writeRegister(kUar + kArm, eq << 24 | index);
}

}  // namespace

void interrupts() {
  const Container container;
  Device device(0);
  device.openIn(container);
  CommandQueue queue(container, device);
  EXPECT(queue.bringUp() == 0);
  const int first = ::eventfd(0, EFD_NONBLOCK), second = ::eventfd(0, EFD_NONBLOCK);
  EXPECT(device.setVectors(0, {STDOUT_FILENO}) == EINVAL);  // no event file
  EXPECT(device.setVectors(4096, {first}) == EINVAL);
  EXPECT(device.setVectors(0, {first, second}) == 0);
  EXPECT(device.setVectors(2, {first}) == EINVAL);  // more than at first
  EXPECT(createCommandEq(queue) == 0);
  const std::uint32_t eq = queue.output(2) & 0xFF;
  armEq(device, eq, 0);
  queue.post({kNop});
  EXPECT(isRaised(second, 1000));
  EXPECT(queue.wait() == 0);
  EXPECT(!isRaised(first, 0));
  // A vector that raises nothing is masked, and remembers.
  EXPECT(device.setVectors(1, {-1}) == 0);
  armEq(device, eq, 1);
  EXPECT(queue.run({kNop}) == 0);
  EXPECT(!isRaised(second, 50));
  EXPECT(device.setVectors(1, {second}) == 0);
  EXPECT(isRaised(second, 1000));
  EXPECT(device.disableVectors() == 0);
  EXPECT(device.disableVectors() == EINVAL);
  EXPECT(device.setVectors(0, {second, first}) == 0);
  armEq(device, eq, 2);
  queue.post({kNop});
  EXPECT(isRaised(first, 1000));
}

// At any moment: while the adapter reads the command, executes it, writes what came of it.
void resets() {
  const Container container;
  Device device(0);
  device.openIn(container);
  CommandQueue queue(container, device);
  for (int i = 0; i < 60; ++i) {
    EXPECT(queue.bringUp() == 0);
    queue.post({kQueryIssi});
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(i);
    while (std::chrono::steady_clock::now() < end) {
    }
    EXPECT(device.reset() == 0);
    queue.start();
  }
  // A reset by the function's own register does the same.
  EXPECT(queue.bringUp() == 0);
  constexpr std::uint32_t kControl = 0x68;
  device.writeConfig16(kControl, static_cast<std::uint16_t>(device.readConfig16(kControl) | 0x8000));
  EXPECT((device.readConfig16(kControl) & 0x8000) == 0);
  queue.start();
  EXPECT(queue.bringUp() == 0);
}

void resetKeepsInterrupts() {
  const Container container;
  Device device(0);
  device.openIn(container);
  CommandQueue queue(container, device);
  const int first = ::eventfd(0, EFD_NONBLOCK), second = ::eventfd(0, EFD_NONBLOCK);
  EXPECT(device.setVectors(0, {first, second}) == 0);
  const std::uint16_t command = device.readConfig16(4);
  EXPECT(device.reset() == 0);
  EXPECT(device.readConfig16(4) == command);
  queue.start();
  EXPECT(queue.bringUp() == 0);
  EXPECT(createCommandEq(queue) == 0);
  armEq(device, queue.output(2) & 0xFF, 0);
  queue.post({kNop});
  EXPECT(isRaised(second, 1000));
}

}  // namespace vfio_test
