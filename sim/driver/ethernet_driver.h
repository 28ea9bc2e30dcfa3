// What the kernel driver does for raw packets, on adapters whose ports are Ethernet.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/adapter/transport/flow_key.h"
#include "models/adapter/transport/receive_hash.h"
#include "models/wire/ethernet_commands.h"
#include "sim/driver/driver_role.h"

namespace hca::driver {

/// Kinds of objects that raw packets need, each with numbers of its own.
enum class EthernetObject : std::uint8_t {
  kFlow,
  kReceiver,         ///< TIR
  kSpread,           ///< RQT, an indirection table
  kSendQueue,        ///< SQ
  kReceiveQueue,     ///< RQ
  kSendInterface,    ///< TIS
  kTransportDomain,  ///< a program's own frames don't come back to it
};

/// MODIFY_SQ or MODIFY_RQ. The last two are of receive queues alone.
struct WorkQueueChange {
  wire::WorkQueueState from = wire::WorkQueueState::kReset;
  wire::WorkQueueState to = wire::WorkQueueState::kReset;
  std::optional<bool> stripVlan;
  std::optional<bool> scatterFcs;
};

/// Where a receiver's frames go: to one queue, or spread over those of a table.
struct ReceiverAttributes {
  adapter::TransportDomainNumber domain;
  QpNumber queue;
  std::uint32_t spread = 0;  ///< 0: `queue` counts
  adapter::ReceiveHash hash;
  // Whether it gets what queues of its own domain send through the same port.
  bool takesOwnUnicast = false;
  bool takesOwnMulticast = false;
};

struct FlowAttributes {
  /// Rules of a lower one come first; of one, the older. Rules of one priority that match the same all get the frame.
  std::uint32_t priority = 0;
  adapter::FlowKey mask{};  ///< as wire::FlowMatch
  adapter::FlowKey value{};
  std::vector<std::uint32_t> receivers;  ///< none: the frame is dropped, unless it goes on
  bool continues = false;                ///< later rules get the frame, too
  std::uint32_t flowTag = 0;
};

/// Answers as DriverRole's calls do; an object of another owner is refused like one that isn't there. `releaseOwner`
/// destroys what is left.
class EthernetDriver {
 public:
  static constexpr std::uint32_t kLastPriority = 62;

  virtual void allocateTransportDomain(OwnerId owner, Done<adapter::TransportDomainNumber> done) = 0;
  virtual void createSendInterface(OwnerId owner, adapter::TransportDomainNumber domain, Done<std::uint32_t> done) = 0;
  /// Of `attributes` buffer, sizes, record, user index, protection domain, UAR, and `sendCq`.
  virtual void createSendQueue(OwnerId owner, const adapter::QpAttributes& attributes, std::uint32_t sendInterface,
                               Done<QpNumber> done) = 0;
  /// Likewise, with `receiveCq` and what concerns frames.
  virtual void createReceiveQueue(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done) = 0;
  virtual void modifyWorkQueue(OwnerId owner, EthernetObject kind, QpNumber queue, const WorkQueueChange& change,
                               Done<int> done) = 0;
  virtual void queryWorkQueue(OwnerId owner, EthernetObject kind, QpNumber queue, Done<wire::WorkQueueState> done) = 0;
  /// A power of two of receive queues.
  virtual void createSpread(OwnerId owner, const std::vector<QpNumber>& queues, Done<std::uint32_t> done) = 0;
  virtual void createReceiver(OwnerId owner, const ReceiverAttributes& attributes, Done<std::uint32_t> done) = 0;
  virtual void createFlow(OwnerId owner, const FlowAttributes& attributes, Done<std::uint32_t> done) = 0;
  /// Refused as busy while something else needs it.
  virtual void destroyEthernet(OwnerId owner, EthernetObject kind, std::uint32_t number, Done<int> done) = 0;

 protected:
  ~EthernetDriver() = default;
};

}  // namespace hca::driver
