// What drivers have made in an adapter, and what they left there.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/wire/opcode.h"

namespace hca::adapter {

/// What commands make and end.
enum class ObjectKind : std::uint8_t {
  kPd,
  kUar,
  kXrcd,
  kTransportDomain,
  kMemoryKey,
  kDeviceMemory,
  kEq,
  kCq,
  kQp,
  kDct,
  kSrq,
  kXrcSrq,
  kRmp,
  kXrq,
  kMulticast,  ///< memberships of queue pairs
  kSq,
  kRq,
  kTir,
  kTis,
  kRqt,
  kFlowTable,
  kFlowGroup,
  kFlowEntry,
  kUmem,
  kQueueCounter,
  kCount,
};
constexpr std::size_t kObjectKinds = static_cast<std::size_t>(ObjectKind::kCount);
/// As people say it: "CQ", "memory key".
[[nodiscard]] const char* name(ObjectKind kind);

struct ObjectCount {
  std::uint64_t live = 0;
  std::uint64_t created = 0;  ///< since power-on, as the next
  std::uint64_t destroyed = 0;
  std::uint64_t most = 0;  ///< at once
};

/// What ended the time from an INIT_HCA on, in which a driver may have objects.
enum class GenerationEnd : std::uint8_t {
  kTeardown,  ///< TEARDOWN_HCA
  kDisable,   ///< the interface was disabled through its registers
  kReset,     ///< of the function
};
[[nodiscard]] const char* name(GenerationEnd end);

/// What was left when a generation ended. Objects are gone with it: the adapter ends them itself.
struct GenerationLeft {
  std::uint64_t generation = 0;  ///< from 1
  GenerationEnd end = GenerationEnd::kTeardown;
  std::array<std::uint64_t, kObjectKinds> objects{};
  /// Pages that were held at kDisable or kReset, which forget them. At kTeardown a driver has yet to take them back.
  std::uint64_t pages = 0;
};

/// Counts by the commands that succeed; what it knows of a command is one row of a table.
class ObjectAccount {
 public:
  /// `modifier`: the command's.
  void onSuccess(wire::CommandOpcode opcode, std::uint32_t modifier);
  /// Every object is gone. `pagesHeld`: see GenerationLeft::pages.
  void end(GenerationEnd end, std::uint64_t pagesHeld);

  [[nodiscard]] const ObjectCount& of(ObjectKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const std::array<ObjectCount, kObjectKinds>& counts() const { return counts_; }
  /// Times that a driver brought the adapter up.
  [[nodiscard]] std::uint64_t generations() const { return generations_; }
  /// Of those that left something, in order; the first kMostLeft of them.
  [[nodiscard]] const std::vector<GenerationLeft>& left() const { return left_; }

  static constexpr std::size_t kMostLeft = 64;

 private:
  std::array<ObjectCount, kObjectKinds> counts_{};
  std::uint64_t generations_ = 0;
  std::vector<GenerationLeft> left_;
};

}  // namespace hca::adapter
