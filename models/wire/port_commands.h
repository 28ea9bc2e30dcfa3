// Layouts of the commands about ports. Linux include/linux/mlx5/mlx5_ifc.h, the structures mlx5_ifc_NAME_in_bits and
// mlx5_ifc_NAME_out_bits of each command's name.
#pragma once

#include "models/wire/command_header.h"
#include "models/wire/vport_context.h"

namespace hca::wire {

/// QUERY_HCA_VPORT_CONTEXT, _GID and _PKEY input; MODIFY_HCA_VPORT_CONTEXT has the context at 0x10.
struct HcaVportInput {
  static constexpr std::size_t kSize = 16;
  using OtherVport = ContextField<0x08, 31, 31>;
  using Port = ContextField<0x08, 19, 16>;  ///< 0 when the adapter has one port
  using Vport = ContextField<0x08, 15, 0>;
  using Index = ContextField<0x0C, 15, 0>;  ///< _GID, _PKEY: kAllEntries for the whole table
  using Context = ContextBlock<0x10, HcaVportContext::kSize>;
  static constexpr std::size_t kModifySize = 0x10 + HcaVportContext::kSize;
  static constexpr std::uint32_t kAllEntries = 0xFFFF;
};

/// QUERY_HCA_VPORT_CONTEXT output.
struct HcaVportContextOutput {
  static constexpr std::size_t kSize = 0x10 + HcaVportContext::kSize;
  using Context = ContextBlock<0x10, HcaVportContext::kSize>;
};

/// QUERY_HCA_VPORT_GID output: GIDs of 16 bytes from kTable on.
struct HcaVportGidOutput {
  static constexpr std::size_t kTable = 0x10;
  static constexpr std::size_t kEntrySize = 16;
  using Count = ContextField<0x0C, 31, 16>;
};

/// QUERY_HCA_VPORT_PKEY output: entries of 4 bytes from kTable on, the key in the low half.
struct HcaVportPkeyOutput {
  static constexpr std::size_t kTable = 0x10;
  static constexpr std::size_t kEntrySize = 4;
};

/// QUERY_VPORT_STATE output.
struct VportStateOutput {
  static constexpr std::size_t kSize = 16;
  using AdminState = ContextField<0x0C, 7, 4>;
  using State = ContextField<0x0C, 3, 0>;  ///< 0 down, 1 up
};

/// MAD_IFC input.
struct MadInput {
  static constexpr std::size_t kSize = 0x110;
  using RemoteLid = ContextField<0x08, 31, 16>;
  using Port = ContextField<0x08, 7, 0>;
  using Mad = ContextBlock<0x10, 256>;
};

/// MAD_IFC output.
struct MadOutput {
  static constexpr std::size_t kSize = 0x110;
  using Mad = ContextBlock<0x10, 256>;
};

}  // namespace hca::wire
