// One direction of a link.
#pragma once

#include <cstdint>
#include <utility>

#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/kernel/calendar.h"
#include "models/kernel/inbox.h"
#include "models/network/fabric_identity.h"
#include "models/network/fault_injector.h"
#include "models/network/network_config.h"
#include "models/network/packet.h"
#include "models/network/packet_receiver.h"
#include "models/observe/probes.h"

namespace hca::network {

/// Whose port is at an end of a link.
struct LinkEnd {
  PortIdentity identity;
  AdapterIndex adapter;
  PacketReceiver* receiver = nullptr;
  /// A switch: takes packets for anybody, each as soon as its first bit arrives; kReceived tells of that bit.
  bool forwards = false;
  LinkListener* listener = nullptr;  ///< nullptr: nobody asks
};

struct LinkCounters {
  std::uint64_t packets = 0;             ///< sent
  Bytes bytes{};                         ///< sent, on the wire
  Time busy{};                           ///< time in serialisation
  std::uint64_t droppedDown = 0;         ///< sent while the link was down, or lost when it went down
  std::uint64_t droppedDestination = 0;  ///< addressed to nobody at the far end
  std::uint64_t lost = 0;                ///< by an injected fault
  std::uint64_t corrupted = 0;           ///< by an injected fault, and not lost
  std::uint64_t duplicated = 0;          ///< by an injected fault: packets that arrive twice
  std::uint64_t held = 0;                ///< by an injected fault: packets that later ones may overtake
};

/// Both directions' view of the physical link.
struct LinkState {
  bool isUp = true;
  std::uint32_t changes = 0;  ///< a packet arrives only if this did not change on its way
};

/// Serialises the packets of one port, first come, first served, and delivers each to the port at the far end.
class LinkDirection final : public PacketSender {
 public:
  LinkDirection(kernel::Calendar& calendar, observe::Probes& probes, const NetworkConfig& config,
                const LinkState& state);
  LinkDirection(const LinkDirection&) = delete;
  LinkDirection& operator=(const LinkDirection&) = delete;

  /// Precondition of `transmit`: both are attached.
  void attach(const LinkEnd& from, const LinkEnd& to);
  /// What goes wrong from the next packet on.
  void setFaults(FaultInjector faults) { faults_ = std::move(faults); }

  Time transmit(Packet&& packet) override;
  [[nodiscard]] Time freeAt() const override {
    return to_.receiver->hasRoomAt(later(freeAt_, calendar_.now()), onTheWay_);
  }

  [[nodiscard]] const LinkCounters& counters() const { return counters_; }

 private:
  enum class Fate : std::uint8_t { kDelivered, kLinkDown, kLost, kUnknownDestination };
  struct Flight {
    Packet packet;
    std::uint32_t changes = 0;
    bool wasUp = false;
    bool lost = false;
  };
  Fault injectFaults(Packet& packet, Time& arrival);
  void arrive(Flight& flight);
  [[nodiscard]] Fate fate(const Flight& flight) const;
  void fire(observe::PacketEvent::Action action, Time time, const LinkEnd& end, const Packet& packet) const;

  kernel::Calendar& calendar_;
  observe::Probes& probes_;
  NetworkConfig config_;
  const LinkState& state_;
  LinkEnd from_;
  LinkEnd to_;
  kernel::Inbox<LinkDirection, Flight> flights_;
  FaultInjector faults_;
  Time freeAt_{};
  Bytes onTheWay_{};  // sent and not arrived
  LinkCounters counters_;
};

}  // namespace hca::network
