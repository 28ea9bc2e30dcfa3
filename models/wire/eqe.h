// Event queue entries, as the adapter writes them into host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/wire/endian.h"
#include "models/wire/field.h"

namespace hca::wire {

/// Eqe::type. Linux include/linux/mlx5/device.h, enum mlx5_event.
enum class EventType : std::uint8_t {
  kCompletion = 0x00,
  kPathMigrated = 0x01,
  kCommunicationEstablished = 0x02,
  kSendQueueDrained = 0x03,
  kCqError = 0x04,
  kWorkQueueCatastrophicError = 0x05,
  kPathMigrationFailed = 0x07,
  kInternalError = 0x08,
  kPortChange = 0x09,
  kCommandCompletion = 0x0A,
  kPageRequest = 0x0B,
  kPageFault = 0x0C,
  kNicVportChange = 0x0D,
  kWorkQueueInvalidRequest = 0x10,
  kWorkQueueAccessError = 0x11,
  kSrqCatastrophicError = 0x12,
  kSrqLastWqe = 0x13,
  kSrqLimit = 0x14,
  kGpio = 0x15,
  kPortModule = 0x16,
  kTemperatureWarning = 0x17,
  kXrqError = 0x18,
  kDoorbellCongestion = 0x1A,
  kStall = 0x1B,
  kDctDrained = 0x1C,
  kGeneral = 0x22,
  kObjectChange = 0x27,
};

/// Eqe::subType of kPortChange. Linux include/linux/mlx5/device.h, MLX5_PORT_CHANGE_SUBTYPE_*.
enum class PortChange : std::uint8_t {
  kDown = 1,
  kActive = 4,
  kInitialized = 5,
  kLidChanged = 6,
  kPkeyChanged = 7,
  kGuidChanged = 8,
  kClientReregister = 9,
};

/// Data syndrome of kCqError. Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_cq_error_bits.
enum class CqErrorSyndrome : std::uint8_t { kOverrun = 1, kAccessViolation = 2 };

/// Linux include/linux/mlx5/device.h, struct mlx5_eqe. `data` holds one of the structures below.
struct Eqe {
  std::uint8_t reserved0 = 0;
  std::uint8_t type = 0;  ///< EventType
  std::uint8_t reserved1 = 0;
  std::uint8_t subType = 0;
  std::uint8_t reserved2[0x1C] = {};
  std::uint8_t data[28] = {};
  std::uint8_t reserved3[2] = {};
  std::uint8_t signature = 0;
  std::uint8_t owner = 1;  ///< bit 0; the last byte to become visible

  using Owner = Field<std::uint8_t, 0, 0, bool>;
};

static_assert(sizeof(Eqe) == 64, "an EQE is 64 bytes (mlx5_eqe)");
static_assert(std::is_standard_layout_v<Eqe> && std::is_trivially_copyable_v<Eqe>);
static_assert(offsetof(Eqe, type) == 0x01 && offsetof(Eqe, subType) == 0x03 && offsetof(Eqe, data) == 0x20);
static_assert(offsetof(Eqe, signature) == 0x3E && offsetof(Eqe, owner) == 0x3F, "the owner byte is the last one");

constexpr std::size_t kEqeSize = sizeof(Eqe);

/// Data of kCompletion.
struct CompletionEvent {
  std::uint8_t reserved[24] = {};
  Be32 cq;
};
static_assert(sizeof(CompletionEvent) == 28 && offsetof(CompletionEvent, cq) == 0x38 - 0x20);

/// Data of kCqError.
struct CqErrorEvent {
  Be32 cq;
  std::uint8_t reserved0[7] = {};
  std::uint8_t syndrome = 0;  ///< CqErrorSyndrome
  std::uint8_t reserved1[16] = {};
};
static_assert(sizeof(CqErrorEvent) == 28 && offsetof(CqErrorEvent, cq) == 0);
static_assert(offsetof(CqErrorEvent, syndrome) == 0x2B - 0x20);

/// Data of the events of a queue pair or shared receive queue.
struct QueueEvent {
  std::uint8_t reserved0[20] = {};
  std::uint8_t type = 0;  ///< 0 queue pair, 1 receive queue, 2 send queue (Linux: MLX5_EVENT_QUEUE_TYPE_*)
  std::uint8_t reserved1[3] = {};
  Be32 number;  ///< QP or SRQ number
};
static_assert(sizeof(QueueEvent) == 28 && offsetof(QueueEvent, type) == 0x34 - 0x20);
static_assert(offsetof(QueueEvent, number) == 0x38 - 0x20);

/// Data of kCommandCompletion: bit n for command slot n.
struct CommandEvent {
  Be32 slots;
  std::uint8_t reserved[24] = {};
};
static_assert(sizeof(CommandEvent) == 28 && offsetof(CommandEvent, slots) == 0);

/// Data of kPageRequest.
struct PageRequestEvent {
  std::uint8_t reserved0[2] = {};
  Be16 function;
  Be32 pages;  ///< two's complement: negative asks to take pages back
  std::uint8_t reserved1[20] = {};
};
static_assert(sizeof(PageRequestEvent) == 28 && offsetof(PageRequestEvent, function) == 0x22 - 0x20);
static_assert(offsetof(PageRequestEvent, pages) == 0x24 - 0x20);

/// Data of kPortChange.
struct PortEvent {
  std::uint8_t reserved0[8] = {};
  std::uint8_t port = 0;
  std::uint8_t reserved1[19] = {};

  using Port = Field<std::uint8_t, 7, 4>;
};
static_assert(sizeof(PortEvent) == 28 && offsetof(PortEvent, port) == 0x28 - 0x20);

/// Puts `data`, one of the structures above, into an entry.
template <class Data>
void setEventData(Eqe& eqe, const Data& data) {
  static_assert(sizeof(Data) == sizeof(eqe.data) && std::is_trivially_copyable_v<Data>);
  std::memcpy(eqe.data, &data, sizeof data);
}

/// Reads an entry's data as `Data`.
template <class Data>
[[nodiscard]] Data eventData(const Eqe& eqe) {
  static_assert(sizeof(Data) == sizeof(eqe.data) && std::is_trivially_copyable_v<Data>);
  Data data;
  std::memcpy(&data, eqe.data, sizeof data);
  return data;
}

/// Owner bit of the event with free-running index `index` in a queue of 2^logSize entries: 0 on the first pass.
[[nodiscard]] constexpr bool eventOwnerBit(std::uint32_t index, unsigned logSize) {
  return ((index >> logSize) & 1) != 0;
}

}  // namespace hca::wire
