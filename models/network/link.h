// A cable between two ports.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "models/kernel/calendar.h"
#include "models/network/link_direction.h"
#include "models/network/network_config.h"
#include "models/network/packet_receiver.h"
#include "models/observe/probes.h"

namespace hca::network {

/// Full duplex, point to point. Ends are numbered 0 and 1; whoever is at an end sends through `sender(end)` and is
/// attached as its receiver.
class Link {
 public:
  Link(kernel::Calendar& calendar, observe::Probes& probes, const NetworkConfig& config);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void attach(std::size_t end, const LinkEnd& port);
  [[nodiscard]] PacketSender& sender(std::size_t end) { return directions_[end]; }

  /// Takes the link down or up. What is on its way when the link goes down is lost, and so is what is sent while it is
  /// down; senders aren't held back, as a physical layer wouldn't.
  void setUp(bool isUp);
  /// The port at `end` answers to another LID from now on.
  void changeLid(std::size_t end, Lid lid);
  [[nodiscard]] bool isUp() const { return state_.isUp; }
  /// Of one direction, the line code taken off.
  [[nodiscard]] BitsPerSecond rate() const { return rate_; }

  /// What goes wrong on the way of packets sent from `end`, from the next one on.
  void setFaults(std::size_t end, FaultInjector faults) { directions_[end].setFaults(std::move(faults)); }

  /// Of the direction that starts at `end`.
  [[nodiscard]] const LinkCounters& counters(std::size_t end) const { return directions_[end].counters(); }

 private:
  BitsPerSecond rate_;
  LinkState state_;
  std::array<LinkEnd, 2> ends_;
  std::array<LinkDirection, 2> directions_;
};

}  // namespace hca::network
