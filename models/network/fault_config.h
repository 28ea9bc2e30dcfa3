// Sections [link.faults] and [switch.faults]: what goes wrong on the way of the packets of one direction of a link.
#pragma once

#include <cstdint>
#include <string>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::network {

struct FaultConfig {
  double loss = 0;
  std::uint32_t lossBurst = 1;
  double corruption = 0;
  double duplication = 0;
  double delay = 0;
  Time delayTime = microseconds(1);
  std::string lose;
  std::string corrupt;
  std::string duplicate;
  std::string hold;
  std::string distort;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("loss", self.loss, range(0.0, 1.0), "Probability that a packet is lost, or with it a burst");
    key("loss_burst", self.lossBurst, range(1U, 1U << 20), "Packets in a row that one such loss takes");
    key("corruption", self.corruption, range(0.0, 1.0), "Probability that a packet arrives with a wrong checksum");
    key("duplication", self.duplication, range(0.0, 1.0),
        "Probability that a packet arrives twice, delay_time apart (0: one right after the other)");
    key("delay", self.delay, range(0.0, 1.0), "Probability that a packet is held, so that later ones overtake it");
    key("delay_time", self.delayTime, range(Time(0), milliseconds(1000)),
        "How much later a held packet arrives, or the second of two");
    key("lose", self.lose, "Packets to lose, by number: \"3, 10-12\"; the first that is sent has number 1");
    key("corrupt", self.corrupt, "Packets to corrupt, by number");
    key("duplicate", self.duplicate, "Packets to duplicate, by number");
    key("hold", self.hold, "Packets to hold for delay_time, by number");
    key("distort", self.distort,
        "Acknowledgements, by the packet's number, that arrive with a reserved code although their checksum is right: "
        "an "
        "answer that means nothing");
  }
};

}  // namespace hca::network
