// What the kernel keeps of each object of a program.
#pragma once

#include <rdma/ib_user_verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "models/adapter/memory/mkey_attributes.h"
#include "models/adapter/receive_queue/srq_attributes.h"
#include "models/adapter/transport/qp_attributes.h"
#include "models/base/ids.h"
#include "models/network/packet.h"
#include "sim/cosim/event_file.h"
#include "sim/cosim/uverbs/pinned_range.h"
#include "sim/cosim/uverbs/qp_state_rules.h"
#include "sim/cosim/uverbs/shared_files.h"
#include "sim/driver/raw_queue_pair.h"

// The kernel's structures end in arrays without a length.
#pragma GCC diagnostic ignored "-Wpedantic"

namespace hca::cosim {

/// An object that others refer to can't go before them.
struct Referenced {
  std::uint32_t users = 0;
};

struct UserPd : Referenced {
  PdNumber number;
};

struct UserUar {
  UarIndex number;
};

struct UserXrcd : Referenced {
  adapter::XrcdNumber number;
  SharedFiles::Identity file;  ///< through which it is shared; may be null
};

/// Device memory.
struct UserDm : Referenced {
  static constexpr std::uint64_t kPage = 4096;
  std::uint64_t start = 0;   ///< offset in BAR0
  std::uint64_t length = 0;  ///< bytes, as the program asked

  [[nodiscard]] std::uint64_t firstPage() const { return start / kPage; }
  [[nodiscard]] std::uint64_t endPage() const { return (start + length + kPage - 1) / kPage; }
};

struct UserMr {
  std::shared_ptr<UserPd> pd;
  std::shared_ptr<UserDm> dm;  ///< of device memory alone, which has no `memory`
  Pinned memory;
  MemoryKey key;
  adapter::MkeyAttributes attributes;
  std::uint64_t start = 0;  ///< the program's address; `attributes.start` is what requests name
  std::uint32_t access = 0;
};

struct UserMw {
  std::shared_ptr<UserPd> pd;
  MemoryKey key;
};

struct UserAh {
  std::shared_ptr<UserPd> pd;
};

/// Events of one object that the program was told.
struct EventCounts {
  std::uint32_t completion = 0;
  std::uint32_t async = 0;
};

struct UserCq : Referenced {
  CqNumber number;
  std::uint64_t userHandle = 0;
  std::uint32_t entries = 0;
  std::uint32_t entryBytes = 64;
  bool isPadded = false;  ///< entries of 128 bytes are written whole
  Pinned ring;
  Pinned record;
  std::shared_ptr<EventFile> channel;  ///< may be null
  EventCounts events;
};

struct UserSrq : Referenced {
  SrqNumber number;
  std::uint64_t userHandle = 0;
  adapter::SrqAttributes attributes;
  std::uint32_t maxSge = 0;
  std::shared_ptr<UserPd> pd;
  std::shared_ptr<UserCq> cq;      ///< of an XRC or tag-matching queue
  std::shared_ptr<UserXrcd> xrcd;  ///< of an XRC queue
  Pinned ring;
  Pinned record;
  EventCounts events;
};

/// A receive queue of raw packets.
struct UserWq : Referenced {
  QpNumber number;
  std::uint64_t userHandle = 0;
  wire::WorkQueueState state = wire::WorkQueueState::kReset;  ///< as the program brought it to
  adapter::QpAttributes attributes;
  std::shared_ptr<UserPd> pd;
  std::shared_ptr<UserCq> cq;
  Pinned ring;
  Pinned record;
  EventCounts events;
};

/// An indirection table.
struct UserSpread : Referenced {
  std::uint32_t number = 0;
  std::vector<std::shared_ptr<UserWq>> queues;
};

struct UserQp {
  /// Types of the device's own, which the kernel keeps apart by flags: dynamic connections.
  static constexpr std::uint8_t kDci = 0xF5, kDct = 0xF6;

  /// Whether the program gave it a buffer, a doorbell record and a register.
  [[nodiscard]] bool hasMemory() const {
    constexpr std::uint8_t kXrcReceive = 10;
    return type != kXrcReceive && type != kDct;
  }

  QpNumber number;
  std::uint64_t userHandle = 0;
  std::uint8_t type = 0;                ///< ib_uverbs_qp_type, or one of those above
  ib_uverbs_create_qp_resp capacity{};  ///< max_... as answered
  bool signalsAll = false;
  adapter::QpAttributes attributes;  ///< as the program set them so far
  ib_uverbs_modify_qp set{};         ///< likewise, in the program's own words
  std::shared_ptr<UserPd> pd;
  std::shared_ptr<UserCq> sendCq;
  std::shared_ptr<UserCq> receiveCq;
  std::shared_ptr<UserSrq> srq;
  std::shared_ptr<UserXrcd> xrcd;
  Pinned buffer;
  Pinned record;
  unsigned blueFlameRegister = 0;
  bool ownsBlueFlameRegister = false;
  std::set<network::Gid> groups;
  EventCounts events;
  // Of raw packets.
  std::shared_ptr<driver::RawQueuePair> raw;  ///< its queues
  VerbsState rawState = VerbsState::kReset;   ///< as the program brought it to
  Pinned sendBuffer;                          ///< `buffer` is the receive queue's
  std::shared_ptr<UserSpread> spread;         ///< of one that only receives, instead of queues
  std::uint32_t flows = 0;                    ///< rules that lead to it
};

/// Which fields rules look at.
struct UserFlowMatcher : Referenced {
  adapter::FlowKey mask{};
  std::uint32_t priority = 0;
};

struct UserFlow {
  std::vector<std::uint32_t> numbers;  ///< at the driver
  std::shared_ptr<UserQp> qp;          ///< may be null
  std::shared_ptr<UserFlowMatcher> matcher;
};

}  // namespace hca::cosim
