// Which queue an Ethernet frame is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/adapter/memory/number_table.h"
#include "models/adapter/transport/flow_key.h"
#include "models/adapter/transport/receive_hash.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// Where frames go: a transport interface receive object (TIR).
struct FlowTarget {
  /// The receive queues of an indirection table, a power of two of them; one queue without such a table. Shared with
  /// the table, which can change.
  std::shared_ptr<const std::vector<QpNumber>> queues;
  ReceiveHash hash;
  TransportDomainNumber domain;
  // Whether what queues of the same transport domain send comes back here.
  bool takesOwnUnicast = false;
  bool takesOwnMulticast = false;

  [[nodiscard]] QpNumber queueFor(std::uint32_t hashValue) const { return (*queues)[hashValue & (queues->size() - 1)]; }
  /// `frame` was sent by a queue of `sender` through the port at which it came back.
  [[nodiscard]] bool takesLooped(const network::EthernetFrame& frame, TransportDomainNumber sender) const {
    const bool group = (frame.destination[0] & 1) != 0;
    return sender != domain || (group ? takesOwnMulticast : takesOwnUnicast);
  }
};

/// One rule: what a frame must have, and where it then goes.
struct FlowRule {
  std::uint64_t order = 0;  ///< rules with a lower one are tried first; equal ones by age
  std::uint8_t port = 1;
  FlowKey mask{};                                          ///< bits that count
  FlowKey value{};                                         ///< their values
  std::vector<std::shared_ptr<const FlowTarget>> targets;  ///< each gets the frame; none: it is dropped
  bool continues = false;                                  ///< rules behind it get the frame, too
  std::uint32_t flowTag = 0;                               ///< 24 bits: told in the completion
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
  /// Calls `visit(rule)` with the rules that fit, up to the first that doesn't let the frame go on.
  template <class Visit>
  void forEach(const network::EthernetFrame& frame, std::uint8_t port, Visit visit) const {
    if (rules_.empty()) return;
    const FlowKey key = flowKeyOf(frame);
    for (const Named& each : rules_) {
      if (each.rule.port != port || !fits(each.rule, key)) continue;
      visit(each.rule);
      if (!each.rule.continues) return;
    }
  }
  /// Whether some rule of the port gives `frame`, which `sender` sends through it, to a queue here.
  [[nodiscard]] bool takesLooped(const network::EthernetFrame& frame, std::uint8_t port,
                                 TransportDomainNumber sender) const {
    bool takes = false;
    forEach(frame, port, [&](const FlowRule& rule) {
      for (const auto& target : rule.targets) takes = takes || target->takesLooped(frame, sender);
    });
    return takes;
  }
  [[nodiscard]] bool leadsTo(QpNumber queue) const {
    for (const Named& each : rules_) {
      for (const auto& target : each.rule.targets) {
        for (const QpNumber number : *target->queues) {
          if (number == queue) return true;
        }
      }
    }
    return false;
  }
  void clear() { rules_.clear(); }

 private:
  struct Named {
    std::uint64_t name;
    FlowRule rule;
  };
  static bool fits(const FlowRule& rule, const FlowKey& key) {
    for (std::size_t i = 0; i < key.size(); ++i) {
      if (((key[i] ^ rule.value[i]) & rule.mask[i]) != 0) return false;
    }
    return true;
  }

  std::vector<Named> rules_;
  std::uint64_t last_ = 0;
};

}  // namespace hca::adapter
