// The command interface's transport: queue entries and mailbox blocks in host memory, their checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/base/byte_view.h"
#include "models/wire/endian.h"
#include "models/wire/field.h"

namespace hca::wire {

/// Bytes of input and of output that fit into the queue entry itself.
constexpr std::size_t kCommandInlineSize = 16;
/// Bytes of payload in a mailbox block.
constexpr std::size_t kMailboxDataSize = 512;

/// CommandEntry::statusOwner [7:1]. Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c, MLX5_CMD_DELIVERY_STAT_*.
enum class DeliveryStatus : std::uint8_t {
  kOk = 0x00,
  kSignatureError = 0x01,
  kTokenError = 0x02,
  kBadBlockNumber = 0x03,
  kOutputPointerAlignment = 0x04,
  kInputPointerAlignment = 0x05,
  kFirmwareError = 0x06,
  kInputLengthError = 0x07,
  kOutputLengthError = 0x08,
  kReservedFieldNotClear = 0x09,
  kBadDescriptorType = 0x10,
};

/// One slot of the command queue. Linux include/linux/mlx5/device.h, struct mlx5_cmd_layout.
struct CommandEntry {
  std::uint8_t type = 0;  ///< kTypePcie
  std::uint8_t reserved0[3] = {};
  Be32 inputLength;   ///< bytes of the whole input
  Be64 inputMailbox;  ///< bus address of the first block, 512-byte aligned; 0: none
  std::uint8_t input[kCommandInlineSize] = {};
  std::uint8_t output[kCommandInlineSize] = {};
  Be64 outputMailbox;
  Be32 outputLength;
  std::uint8_t token = 0;
  std::uint8_t signature = 0;
  std::uint8_t reserved1 = 0;
  std::uint8_t statusOwner = 0;

  using Status = Field<std::uint8_t, 7, 1, DeliveryStatus>;  ///< of statusOwner
  using HardwareOwned = Field<std::uint8_t, 0, 0, bool>;     ///< of statusOwner
  static constexpr std::uint8_t kTypePcie = 7;
  static constexpr std::uint64_t kMailboxAlignment = 512;
};

static_assert(sizeof(CommandEntry) == 64, "a command queue entry is 64 bytes (mlx5_cmd_layout)");
static_assert(std::is_standard_layout_v<CommandEntry> && std::is_trivially_copyable_v<CommandEntry>);
static_assert(offsetof(CommandEntry, type) == 0x00 && offsetof(CommandEntry, inputLength) == 0x04);
static_assert(offsetof(CommandEntry, inputMailbox) == 0x08 && offsetof(CommandEntry, input) == 0x10);
static_assert(offsetof(CommandEntry, output) == 0x20 && offsetof(CommandEntry, outputMailbox) == 0x30);
static_assert(offsetof(CommandEntry, outputLength) == 0x38 && offsetof(CommandEntry, token) == 0x3C);
static_assert(offsetof(CommandEntry, signature) == 0x3D && offsetof(CommandEntry, statusOwner) == 0x3F);

/// The low command queue address register (InitSegment::kCommandQueueLow).
struct CommandQueueLow {
  using Address = Field<std::uint32_t, 31, 12>;
  using NicInterface = Field<std::uint32_t, 9, 8>;  ///< 0 full driver, 1 disabled, 2 without RDMA
  using LogEntries = Field<std::uint32_t, 7, 4>;
  using LogStride = Field<std::uint32_t, 3, 0>;  ///< log2 of bytes from slot to slot
};

/// A block of a mailbox chain. Linux include/linux/mlx5/device.h, struct mlx5_cmd_prot_block.
struct MailboxBlock {
  std::uint8_t data[kMailboxDataSize] = {};
  std::uint8_t reserved0[48] = {};
  Be64 next;  ///< bus address of the next block, 0: last
  Be32 blockNumber;
  std::uint8_t reserved1 = 0;
  std::uint8_t token = 0;
  std::uint8_t controlSignature = 0;
  std::uint8_t signature = 0;
};

static_assert(sizeof(MailboxBlock) == 576, "a mailbox block is 576 bytes (mlx5_cmd_prot_block)");
static_assert(std::is_standard_layout_v<MailboxBlock> && std::is_trivially_copyable_v<MailboxBlock>);
static_assert(offsetof(MailboxBlock, data) == 0x000 && offsetof(MailboxBlock, reserved0) == 0x200);
static_assert(offsetof(MailboxBlock, next) == 0x230 && offsetof(MailboxBlock, blockNumber) == 0x238);
static_assert(offsetof(MailboxBlock, token) == 0x23D && offsetof(MailboxBlock, controlSignature) == 0x23E);
static_assert(offsetof(MailboxBlock, signature) == 0x23F);

/// Blocks that carry what of `length` bytes does not fit inline.
[[nodiscard]] constexpr std::size_t mailboxBlocks(std::size_t length) {
  return length <= kCommandInlineSize ? 0 : (length - kCommandInlineSize + kMailboxDataSize - 1) / kMailboxDataSize;
}

/// All bytes xor-ed.
[[nodiscard]] std::uint8_t xor8(ByteView bytes);

// Signatures: the xor of the signed bytes, the signature among them, is 0xff. A driver may leave them out (the stock
// one does unless asked); whether to check is the receiver's choice. Linux .../mlx5/core/cmd.c: xor8_buf,
// calc_block_sig, verify_block_sig, set_signature, verify_signature.

/// Signs a slot; call it after every other byte is final, the owner bit included.
void sign(CommandEntry& entry);
[[nodiscard]] bool isSigned(const CommandEntry& entry);

/// Signs a block: first the control part (all after the data but the signature), then the whole.
void sign(MailboxBlock& block);
[[nodiscard]] bool isSigned(const MailboxBlock& block);

/// A few words for logs.
[[nodiscard]] const char* name(DeliveryStatus status);

}  // namespace hca::wire
