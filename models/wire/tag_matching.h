// Tag matching: headers of messages, list operations, and what their completion entries hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/wire/endian.h"
#include "models/wire/field.h"

namespace hca::wire {

/// TagHeader::operation. rdma-core libibverbs/tm_types.h, enum ibv_tmh_op.
enum class TagMessage : std::uint8_t { kNoTag = 0, kRendezvous = 1, kFinished = 2, kEager = 3 };

/// First bytes of every message to a tag-matching queue. struct ibv_tmh.
struct TagHeader {
  std::uint8_t operation = 0;
  std::uint8_t reserved[3] = {};
  Be32 userData;
  Be64 tag;
};

static_assert(sizeof(TagHeader) == 16, "ibv_tmh");
static_assert(offsetof(TagHeader, userData) == 4 && offsetof(TagHeader, tag) == 8);

/// Behind the tag header of a rendezvous request: where the data are. struct ibv_rvh.
struct RendezvousHeader {
  Be64 address;
  Be32 key;
  Be32 length;
};

static_assert(sizeof(RendezvousHeader) == 16, "ibv_rvh");
static_assert(offsetof(RendezvousHeader, key) == 8 && offsetof(RendezvousHeader, length) == 12);

/// Both headers of a rendezvous request; a finish message repeats them, but for the operation.
constexpr std::size_t kRendezvousHeaders = sizeof(TagHeader) + sizeof(RendezvousHeader);

/// What a list operation does. rdma-core providers/mlx5/mlx5.h, MLX5_TM_OPCODE_*.
enum class TagListOperation : std::uint8_t { kNone = 0, kAppend = 1, kRemove = 2 };

/// Behind the control segment of a kTagMatching WQE; the data segment of an appended tag follows.
/// rdma-core providers/mlx5/mlx5dv.h, struct mlx5_wqe_tm_seg; flags: mlx5.h, MLX5_SRQ_FLAG_TM_*.
struct TagSegment {
  std::uint8_t operation = 0;
  std::uint8_t flags = 0;
  Be16 index;  ///< append: the place of the next entry to be appended; remove: of the one that goes
  std::uint8_t reserved0[2] = {};
  Be16 softwareCount;  ///< unexpected messages that software has handled
  std::uint8_t reserved1[8] = {};
  Be64 tag;
  Be64 mask;

  using Operation = Field<std::uint8_t, 7, 4, TagListOperation>;  ///< of operation
  using WantsCompletion = Field<std::uint8_t, 7, 7, bool>;        ///< of flags
  using HasSoftwareCount = Field<std::uint8_t, 6, 6, bool>;       ///< of flags
};

static_assert(sizeof(TagSegment) == 32, "mlx5_wqe_tm_seg");
static_assert(std::is_standard_layout_v<TagSegment> && std::is_trivially_copyable_v<TagSegment>);
static_assert(offsetof(TagSegment, flags) == 1 && offsetof(TagSegment, index) == 2);
static_assert(offsetof(TagSegment, softwareCount) == 6 && offsetof(TagSegment, tag) == 16);
static_assert(offsetof(TagSegment, mask) == 24);

/// Cqe::app of every entry of a tag-matching queue. rdma-core providers/mlx5/cq.c, MLX5_CQE_APP_TAG_MATCHING.
constexpr std::uint8_t kTagMatchingApp = 1;

/// Cqe::appOperation. rdma-core providers/mlx5/cq.c, MLX5_CQE_APP_OP_TM_*. Cqe::appInfo is the place in the list.
enum class TagCompletion : std::uint8_t {
  kConsumed = 0x1,                  ///< a message matched; its data will be told by kExpected
  kExpected = 0x2,                  ///< the data are there
  kUnexpected = 0x3,                ///< no tag matched: the message is in an entry of the shared queue
  kNoTag = 0x4,                     ///< the same, of a message without a tag
  kAppend = 0x5,                    ///< list operation done
  kRemove = 0x6,                    ///< the same
  kNoOperation = 0x7,               ///< the same
  kConsumedSoftware = 0x9,          ///< as kConsumed, of a rendezvous that is left to software
  kConsumedMessage = 0xA,           ///< a message matched and its data are there
  kConsumedMessageSoftware = 0xB,   ///< a rendezvous matched that is left to software; its headers are there
  kMessageCompletionCanceled = 0xC  ///< a message matched, and its data won't come
};

/// Beginning of the entry of a list operation. rdma-core providers/mlx5/mlx5dv.h, struct mlx5_tm_cqe.
struct TagListCqe {
  Be32 success;
  Be16 hardwareCount;  ///< unexpected messages that the adapter has told of
  std::uint8_t reserved[10] = {};

  using Succeeded = Field<std::uint32_t, 31, 31, bool>;  ///< of success
};

static_assert(sizeof(TagListCqe) == 16 && offsetof(TagListCqe, hardwareCount) == 4, "mlx5_tm_cqe");

}  // namespace hca::wire
