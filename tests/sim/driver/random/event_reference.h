// Which events the arms of one completion queue must lead to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/adapter/completion/arm_rule.h"
#include "models/observe/events.h"

namespace hca::test {

/// One shot: each event serves the arms before it, and there is an entry that it is for; each arm that an entry came
/// for is served. Judged by what becomes visible outside of the adapter.
class EventReference {
 public:
  explicit EventReference(adapter::ArmRule rule) : rule_(rule) {}

  void on(const observe::CqEvent& event) {
    using Action = observe::CqAction;
    switch (event.action) {
      case Action::kCqeVisible:
        entries_.resize(std::max(entries_.size(), event.index - base_ + 1));
        entries_[event.index - base_] = {event.solicited, event.time};
        return;
      case Action::kResized:
        // It takes an index, and software moves the entries that it has not consumed one up.
        ++base_;
        ++request_.from;
        ++request_.dueFrom;
        ++notified_;
        for (Fired& fired : fired_) {
          ++fired.from;
          ++fired.to;
        }
        return;
      case Action::kArmArrived:
        before_ = request_;
        return arm(event);
      case Action::kArmIgnored:
        request_ = before_;
        return;
      case Action::kEventFired:
        return fire(event);
      case Action::kEventDelivered:
        ++delivered_;
        return;
      default:
        return;
    }
  }

  /// When nothing happens any more. `mayWait`: moderation may hold an event back for ever, or the queue is in error.
  [[nodiscard]] std::string atRest(bool mayWait) {
    if (!problem_.empty()) return problem_;
    for (const Fired& fired : fired_) {
      if (!hasEntry(fired.from, fired.to, fired.solicitedOnly, Time())) return "an event for no entry";
    }
    fired_.clear();
    forget();
    if (events_ != delivered_) return "an event was raised and not delivered";
    if (mayWait || !request_.armed) return "";
    const bool due = hasEntry(request_.dueFrom, base_ + entries_.size(), request_.solicitedOnly, request_.notBefore);
    return due ? "an arm was not served although entries came" : "";
  }

  /// Events that software got so far.
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }

 private:
  /// How long an entry may be on its way into memory, so that it counts as written before an arm.
  static constexpr Time kLongestWay = microseconds(100);

  struct Entry {
    bool solicited = false;
    Time visible{};
  };
  struct Request {
    bool armed = false;
    bool solicitedOnly = false;
    std::uint64_t from = 0;     // the first entry that may be meant
    std::uint64_t dueFrom = 0;  // the first that must be
    Time notBefore{};           // and if it came earlier, needn't be
  };
  struct Fired {
    std::uint64_t from = 0, to = 0;
    bool solicitedOnly = false;
  };

  void arm(const observe::CqEvent& event) {
    const bool specOnly = rule_ == adapter::ArmRule::kIbSpec;
    const std::uint64_t from = specOnly ? base_ + entries_.size() : event.index;
    const std::uint64_t dueFrom = specOnly || rule_ == adapter::ArmRule::kCiCompare ? from : std::max(from, notified_);
    // On top of an arm that may be due already, what that one meant still counts.
    request_.from = request_.armed ? std::min(request_.from, from) : from;
    request_.dueFrom = dueFrom;
    request_.notBefore = specOnly ? event.time + kLongestWay : Time();
    request_.solicitedOnly = event.solicitedOnly && (!request_.armed || request_.solicitedOnly);
    request_.armed = true;
  }
  // Nobody arms with an index that is so far behind.
  void forget() {
    constexpr std::size_t kKept = 8192;
    if (entries_.size() <= kKept) return;
    const std::size_t gone = entries_.size() - kKept;
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(gone));
    base_ += gone;
  }
  void fire(const observe::CqEvent& event) {
    ++events_;
    if (!request_.armed && problem_.empty()) problem_ = "an event without an arm";
    fired_.push_back({request_.from, event.index, request_.solicitedOnly});
    notified_ = event.index;
    request_ = {};
  }
  [[nodiscard]] bool hasEntry(std::uint64_t from, std::uint64_t to, bool solicitedOnly, Time notBefore) const {
    for (std::uint64_t i = std::max(from, base_); i < std::min<std::uint64_t>(to, base_ + entries_.size()); ++i) {
      const Entry& entry = entries_[i - base_];
      if ((entry.solicited || !solicitedOnly) && entry.visible >= notBefore) return true;
    }
    return false;
  }

  adapter::ArmRule rule_;
  Request request_, before_;
  std::uint64_t notified_ = 0;
  std::uint64_t events_ = 0, delivered_ = 0;
  std::uint64_t base_ = 0;  // number of the first of entries_
  std::vector<Entry> entries_;
  std::vector<Fired> fired_;
  std::string problem_;
};

}  // namespace hca::test
