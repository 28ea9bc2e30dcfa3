// A port that keeps what arrives.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/kernel/calendar.h"
#include "models/network/packet_receiver.h"

namespace hca::network {

class RecordingPort final : public PacketReceiver {
 public:
  explicit RecordingPort(kernel::Calendar& c) : calendar(c) {}
  void onPacket(Packet& packet) override {
    arrived.emplace_back(packet.psn, calendar.now());
    taken.push_back(std::move(packet));
  }
  void expect(const Packet& packet) override { announced.emplace_back(packet.psn, calendar.now()); }
  kernel::Calendar& calendar;
  std::vector<std::pair<std::uint32_t, Time>> arrived;    // PSN, when
  std::vector<std::pair<std::uint32_t, Time>> announced;  // the same
  std::vector<Packet> taken;
};

}  // namespace hca::network
