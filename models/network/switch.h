// A switch with output queues.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/kernel/calendar.h"
#include "models/kernel/inbox.h"
#include "models/kernel/ring_queue.h"
#include "models/network/fabric_identity.h"
#include "models/network/packet.h"
#include "models/network/packet_receiver.h"
#include "models/network/switch_config.h"
#include "models/observe/probes.h"

namespace hca::network {

/// Of one port.
struct SwitchCounters {
  std::uint64_t forwarded = 0;           ///< packets sent out of the port
  Bytes highWater{};                     ///< most bytes that waited for the port at a time
  std::uint64_t droppedBuffer = 0;       ///< packets for the port that found no room
  std::uint64_t droppedDestination = 0;  ///< packets that came in at the port for a destination that no port leads to
};

/// Forwards each packet to the port of its destination, first come, first served: by LID, or with RoCE by GID. A
/// multicast packet goes to every port but the one it came from: there is no subnet manager to tell who joined a group,
/// so adapters drop what they have no member for.
///
/// Cut-through: a packet may leave while it still arrives, so a link to the switch must deliver at the first bit (see
/// LinkEnd::forwards). What comes in slower than it goes out starts later, so that its end is there in time. A
/// corrupted packet goes on as it is, to be found out at its destination. There is no credit flow control: what finds
/// the output queue full is lost.
class Switch final : private kernel::CalendarClient {
 public:
  /// `self` stands for the switch in packet events: no host has this number.
  Switch(kernel::Calendar& calendar, observe::Probes& probes, const SwitchConfig& config, std::uint32_t ports,
         HostIndex self);
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  /// Connects port `port`: packets for `neighbour` leave through `sender`, of which the switch must be the only user.
  /// `rate`: of its link, if links differ.
  void connect(std::uint32_t port, const PortIdentity& neighbour, PacketSender& sender,
               BitsPerSecond rate = BitsPerSecond(0));
  /// The neighbour at `port` has the LIDs of `now` instead of those of `before`.
  void changeLids(std::uint32_t port, const PortIdentity& before, const PortIdentity& now);
  /// Takes what comes in at `port`.
  [[nodiscard]] PacketReceiver& receiver(std::uint32_t port) { return ports_[port]; }
  /// The end of a link at the switch.
  [[nodiscard]] HostIndex self() const { return self_; }

  [[nodiscard]] const SwitchCounters& counters(std::uint32_t port) const { return ports_[port].counters; }

 private:
  struct Port final : PacketReceiver {
    void onPacket(Packet& packet) override { owner->enter(number, packet); }

    Switch* owner = nullptr;
    std::uint32_t number = 0;
    PacketSender* sender = nullptr;
    BitsPerSecond rate{0};
    kernel::RingQueue<Packet> waiting;
    Bytes waitingBytes{};
    SwitchCounters counters;
  };
  struct Crossing {
    Packet packet;
    std::uint32_t from = 0;
  };
  struct GidRoute {
    Gid gid;
    std::uint32_t port;
  };
  static constexpr std::uint32_t kNoPort = UINT32_MAX;

  void setLids(const PortIdentity& neighbour, std::uint32_t port);
  void enter(std::uint32_t port, Packet& packet);
  void forward(Crossing& crossing);
  void replicate(const Crossing& crossing);
  void enqueue(Port& port, Packet&& packet);
  void onCalendar(std::uint64_t port) override;
  void sendOut(Port& port, Packet&& packet);
  void drop(std::uint64_t& counter, const Packet& packet);
  void addRoute(const Gid& gid, std::uint32_t port);
  [[nodiscard]] std::uint32_t portOf(const Route& route) const;
  [[nodiscard]] Time fillTime(const Port& from, const Packet& packet) const;

  kernel::Calendar& calendar_;
  observe::Probes& probes_;
  SwitchConfig config_;
  HostIndex self_;
  std::vector<Port> ports_;
  BitsPerSecond fastest_{0};  // of all links
  std::vector<std::uint32_t> portOfLid_;
  std::vector<GidRoute> routes_;  // by GID
  kernel::Inbox<Switch, Crossing> crossings_;
};

}  // namespace hca::network
