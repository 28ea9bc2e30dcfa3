// What is in an adapter, and what its command interface was asked.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "models/adapter/command/command_device.h"
#include "models/adapter/command/command_record.h"
#include "models/adapter/command/object_account.h"

namespace hca::adapter {

/// Plain values, as of one moment. What was left in the adapter: `left`, and if `state` isn't kInitialized the pages
/// that are still held; while it is, a driver uses what is there.
struct AdapterAccount {
  DeviceState state = DeviceState::kDisabled;
  std::array<ObjectCount, kObjectKinds> objects{};  ///< by ObjectKind
  PageCount pages;
  std::uint64_t generations = 0;  ///< times that a driver brought it up
  std::vector<GenerationLeft> left;
  std::map<wire::CommandOpcode, std::uint64_t> commands;  ///< executed, successfully or not
  std::map<CommandStatus, std::uint64_t> statuses;        ///< what they returned
  std::array<std::uint64_t, static_cast<std::size_t>(CommandRejection::kCount)> rejections{};
};

}  // namespace hca::adapter
