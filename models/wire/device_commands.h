// Layouts of the commands that bring an adapter up and down. Linux include/linux/mlx5/mlx5_ifc.h, the structures
// mlx5_ifc_NAME_in_bits and mlx5_ifc_NAME_out_bits of each command's name.
#pragma once

#include "models/wire/command_header.h"
#include "models/wire/device_memory.h"
#include "models/wire/hca_capabilities.h"

namespace hca::wire {

/// ENABLE_HCA and DISABLE_HCA input.
struct EnableHcaInput {
  static constexpr std::size_t kSize = 16;
  using Function = ContextField<0x08, 15, 0>;
};

/// QUERY_ISSI output: the interface revisions that the adapter speaks.
struct QueryIssiOutput {
  static constexpr std::size_t kSize = 0x70;
  using Current = ContextField<0x08, 15, 0>;
  using SupportedLow = ContextField<0x6C, 31, 0>;  ///< bit n: revision n
};

/// SET_ISSI input.
struct SetIssiInput {
  static constexpr std::size_t kSize = 16;
  using Current = ContextField<0x08, 15, 0>;
};

/// QUERY_PAGES input modifier.
enum class PagesKind : std::uint16_t { kBoot = 1, kInit = 2, kRegular = 3 };

/// QUERY_PAGES output.
struct QueryPagesOutput {
  static constexpr std::size_t kSize = 16;
  using Function = ContextField<0x08, 15, 0>;
  using Pages = ContextField<0x0C, 31, 0>;  ///< two's complement
};

/// MANAGE_PAGES input modifier.
enum class PagesOperation : std::uint16_t { kCannotGive = 0, kGive = 1, kTake = 2 };

/// MANAGE_PAGES input; a list of 4 KiB pages when giving.
struct ManagePagesInput {
  static constexpr std::size_t kSize = 16;
  using Function = ContextField<0x08, 15, 0>;
  using Entries = ContextField<0x0C, 31, 0>;
  using Pages = ContextWords64<0x10>;
};

/// MANAGE_PAGES output; a list of pages when taking.
struct ManagePagesOutput {
  static constexpr std::size_t kSize = 16;
  using Entries = ContextField<0x08, 31, 0>;
  using Pages = ContextWords64<0x10>;
};

/// QUERY_HCA_CAP input modifier: [15:1] CapabilityType, [0] 0 the most that could be set, 1 current.
struct CapabilityModifier {
  using Type = Field<std::uint32_t, 15, 1, CapabilityType>;
  using Current = Field<std::uint32_t, 0, 0, bool>;
};

/// QUERY_HCA_CAP output.
struct QueryHcaCapOutput {
  static constexpr std::size_t kSize = 0x10 + HcaCapabilities::kUnionSize;
  using General = ContextBlock<0x10, HcaCapabilities::kSize>;
  using Atomic = ContextBlock<0x10, AtomicCapabilities::kSize>;
  using DeviceMemory = ContextBlock<0x10, DeviceMemoryCapabilities::kSize>;
};

/// SET_HCA_CAP input.
struct SetHcaCapInput {
  static constexpr std::size_t kSize = 0x10 + HcaCapabilities::kUnionSize;
  using General = ContextBlock<0x10, HcaCapabilities::kSize>;
  using Atomic = ContextBlock<0x10, AtomicCapabilities::kSize>;
};

/// TEARDOWN_HCA input.
struct TeardownHcaInput {
  static constexpr std::size_t kSize = 16;
  using Profile = ContextField<0x08, 15, 0>;  ///< 0 graceful, 1 forced, 2 fast
};

/// TEARDOWN_HCA output.
struct TeardownHcaOutput {
  static constexpr std::size_t kSize = 16;
  using ForcedFailed = ContextField<0x0C, 0, 0>;
};

/// QUERY_ADAPTER output.
struct QueryAdapterOutput {
  static constexpr std::size_t kSize = 0x110;
  using IeeeVendorId = ContextField<0x10 + 0x18, 23, 0>;
  using VsdVendorId = ContextField<0x10 + 0x1C, 15, 0>;
  using BoardId = ContextBlock<0x10 + 0xF0, 16>;  ///< the text that sysfs shows as board_id
};

/// SET_DRIVER_VERSION input.
struct SetDriverVersionInput {
  static constexpr std::size_t kSize = 0x50;
  using Text = ContextBlock<0x10, 64>;
};

/// QUERY_SPECIAL_CONTEXTS output.
struct QuerySpecialContextsOutput {
  static constexpr std::size_t kSize = 0x20;
  using DumpFillKey = ContextField<0x08, 31, 0>;
  using ReservedLkey = ContextField<0x0C, 31, 0>;
  using NullKey = ContextField<0x10, 31, 0>;
};

/// ACCESS_REG input modifier.
enum class RegisterAccess : std::uint16_t { kWrite = 0, kRead = 1 };

/// ACCESS_REG input; the register's bytes follow at kData.
struct AccessRegisterInput {
  static constexpr std::size_t kSize = 16;
  static constexpr std::size_t kData = 0x10;
  using Register = ContextField<0x08, 15, 0>;  ///< RegisterId
  using Argument = ContextField<0x0C, 31, 0>;
};

/// ACCESS_REG output; the register's bytes follow at kData.
struct AccessRegisterOutput {
  static constexpr std::size_t kSize = 16;
  static constexpr std::size_t kData = 0x10;
};

}  // namespace hca::wire
