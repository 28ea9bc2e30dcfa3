// Which queue an Ethernet frame is for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/ids.h"
#include "models/network/ethernet_frame.h"

namespace hca::adapter {

/// One rule: what a frame must have, and where it then goes. Fields that are empty match anything.
struct FlowRule {
  std::uint64_t order = 0;  ///< rules with a lower one are tried first; equal ones by age
  std::uint8_t port = 1;
  std::optional<std::array<std::uint8_t, 6>> destination;
  std::optional<std::array<std::uint8_t, 6>> source;
  std::optional<std::uint16_t> type;
  std::optional<bool> tagged;
  std::optional<std::uint16_t> vlan;  ///< 12 bits
  QpNumber queue;
  std::uint32_t flowTag = 0;  ///< 24 bits: told in the completion
};

/// The rules of an adapter, in the order in which they are tried.
class FlowSteering {
 public:
  /// Returns the rule's name.
  std::uint64_t add(const FlowRule& rule) {
    std::size_t place = rules_.size();
    while (place > 0 && rules_[place - 1].rule.order > rule.order) --place;
    rules_.insert(rules_.begin() + static_cast<std::ptrdiff_t>(place), Named{++last_, rule});
    return last_;
  }
  /// False if there is no such rule.
  bool remove(std::uint64_t name) {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (rules_[i].name != name) continue;
      rules_.erase(rules_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }
  /// Null if no rule fits.
  [[nodiscard]] const FlowRule* find(const network::EthernetFrame& frame, std::uint8_t port) const {
    for (const Named& each : rules_) {
      if (fits(each.rule, frame, port)) return &each.rule;
    }
    return nullptr;
  }
  [[nodiscard]] bool leadsTo(QpNumber queue) const {
    for (const Named& each : rules_) {
      if (each.rule.queue == queue) return true;
    }
    return false;
  }
  void clear() { rules_.clear(); }

 private:
  struct Named {
    std::uint64_t name;
    FlowRule rule;
  };
  static bool fits(const FlowRule& rule, const network::EthernetFrame& frame, std::uint8_t port) {
    constexpr std::uint16_t kVlan = 0xFFF;
    return rule.port == port && (!rule.destination || *rule.destination == frame.destination) &&
           (!rule.source || *rule.source == frame.source) && (!rule.type || *rule.type == frame.type) &&
           (!rule.tagged || *rule.tagged == frame.tagged) &&
           (!rule.vlan || (frame.tagged && *rule.vlan == (frame.tag & kVlan)));
  }

  std::vector<Named> rules_;
  std::uint64_t last_ = 0;
};

}  // namespace hca::adapter
