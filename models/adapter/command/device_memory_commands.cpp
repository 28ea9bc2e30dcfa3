// Device memory: places in it.
#include "models/adapter/command/command_handlers.h"
#include "models/wire/device_memory.h"

namespace hca::adapter::commands {

CommandResult allocateDeviceMemory(CommandDevice& device, const CommandCall& call) {
  using Input = wire::AllocDeviceMemoryInput;
  const DeviceMemory::Range range{Input::RangeStart::get(call.input), Input::RangeSize::get(call.input)};
  const std::uint32_t size = Input::Size::get(call.input);
  std::uint64_t start = 0;
  const CommandResult result =
      device.targets.deviceMemory.allocate(range, size, Input::LogAlignment::get(call.input), start);
  if (!result.ok()) return result;
  wire::AllocDeviceMemoryOutput::Start::set(call.output, start);
  return {};
}

CommandResult deallocateDeviceMemory(CommandDevice& device, const CommandCall& call) {
  using Input = wire::DeallocDeviceMemoryInput;
  const std::uint64_t start = Input::Start::get(call.input);
  return device.targets.deviceMemory.free(start, Input::Size::get(call.input));
}

}  // namespace hca::adapter::commands
