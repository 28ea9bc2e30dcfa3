// The sending side of one direction of a link: order, credits, serialisation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/base/units.h"
#include "models/kernel/calendar.h"
#include "models/kernel/ring_queue.h"
#include "models/kernel/timer.h"
#include "models/pcie/credit_ledger.h"
#include "models/pcie/link_timing.h"
#include "models/pcie/pcie_config.h"
#include "models/pcie/traffic.h"

namespace hca::pcie {

enum class TlpClass : std::uint8_t { kPosted, kNonPosted, kCompletion };
constexpr std::size_t kTlpClasses = 3;

/// What went over one direction for one purpose.
struct TrafficCount {
  std::uint64_t tlps = 0;
  std::uint64_t bytes = 0;  ///< headers and framing included
  Time busy{};              ///< time for which the lanes carried it
};
using TrafficCounts = std::array<TrafficCount, static_cast<std::size_t>(Traffic::kCount)>;

/// What waits in front of one direction, for reports and for whoever looks for a stall.
struct WaitState {
  struct OfClass {
    std::size_t bursts = 0;
    Time oldestSince = kForever;  ///< when the oldest of them came
    CreditLedger::Credits available;
  };
  std::array<OfClass, kTlpClasses> classes;
  std::uint64_t delayed = 0;  ///< bursts so far that went after a wait for credits
  Time longestWait{};         ///< of those
};

/// Sends bursts in the order in which they come, each class as long as its receiver has credits. A class that has none
/// lets the others pass, but nothing passes an earlier posted burst (PCI Express Base Specification, 2.4.1) except what
/// carries relaxed ordering. A burst is sent whole, back to back. SystemC-free; acts at Calendar::now() alone.
template <class Cargo>
class Transmitter {
 public:
  struct Outbound {
    TlpClass tlpClass = TlpClass::kPosted;
    bool relaxedOrdering = false;
    Traffic traffic = Traffic::kPayload;
    Burst burst;
    Cargo cargo{};
    Time since{};              ///< set by the transmitter
    std::uint64_t order = 0;   ///< likewise
    std::uint32_t passed = 0;  ///< likewise: relaxed ones that went first
  };
  class Sink {
   public:
    /// `outbound` goes out now; its last bit leaves at `last`.
    virtual void onTransmit(const Outbound& outbound, Time last) = 0;

   protected:
    ~Sink() = default;
  };

  Transmitter(kernel::Calendar& calendar, const CreditLimits& limits, Sink& sink)
      : calendar_(calendar),
        sink_(sink),
        ledgers_{CreditLedger({limits.postedHeaders, limits.postedData}),
                 CreditLedger({limits.nonPostedHeaders, limits.nonPostedData}),
                 CreditLedger({limits.completionHeaders, limits.completionData})},
        retry_(calendar, kernel::Priority::kLink, *this, &Transmitter::pump) {}

  void send(const Outbound& outbound) {
    if (waiting_ == 0 && takeCredits(outbound)) return transmit(outbound);
    Queue& waiting = queue(outbound.tlpClass);
    waiting.push(outbound);
    waiting.back().since = calendar_.now();
    waiting.back().order = ++orders_;
    ++waiting_;
    pump();
  }

  /// The receiver is done with a burst of this shape; its credits are usable from `when` on.
  void giveBack(TlpClass tlpClass, const Burst& burst, Time when) {
    CreditLedger& ledger = ledgers_[index(tlpClass)];
    if (ledger.infinite()) return;
    ledger.giveBack(creditsOf(burst), when);
    if (waiting_ > 0 && !pumping_) armRetry();
  }

  [[nodiscard]] bool isLimited(TlpClass tlpClass) const { return !ledgers_[index(tlpClass)].infinite(); }
  [[nodiscard]] const TrafficCounts& counts() const { return counts_; }
  [[nodiscard]] Time freeAt() const { return freeAt_; }
  [[nodiscard]] WaitState waitState() const {
    WaitState state;
    for (std::size_t i = 0; i < kTlpClasses; ++i) {
      state.classes[i].bursts = queues_[i].size();
      if (!queues_[i].empty()) state.classes[i].oldestSince = queues_[i][0].since;
      state.classes[i].available = ledgers_[i].available();
    }
    state.delayed = delayed_;
    state.longestWait = longestWait_;
    return state;
  }

 private:
  using Queue = kernel::RingQueue<Outbound>;

  // Relaxed bursts may pass a posted one this often: a stream of small ones must not keep a large one waiting for ever.
  static constexpr std::uint32_t kMostPasses = 16;
  // Relaxed bursts are looked for among so many behind the posted one that waits, as a transmit buffer would hold.
  static constexpr std::size_t kRelaxedWindow = 32;

  static constexpr std::size_t index(TlpClass tlpClass) { return static_cast<std::size_t>(tlpClass); }
  static CreditLedger::Credits creditsOf(const Burst& burst) { return {burst.tlps, burst.dataCredits}; }
  Queue& queue(TlpClass tlpClass) { return queues_[index(tlpClass)]; }
  [[nodiscard]] Time start() const { return later(calendar_.now(), freeAt_); }

  bool takeCredits(const Outbound& outbound) {
    CreditLedger& ledger = ledgers_[index(outbound.tlpClass)];
    return ledger.infinite() || ledger.take(creditsOf(outbound.burst), start());
  }

  void transmit(const Outbound& outbound) {
    freeAt_ = start() + outbound.burst.duration;
    TrafficCount& count = counts_[static_cast<std::size_t>(outbound.traffic)];
    count.tlps += outbound.burst.tlps;
    count.bytes += static_cast<std::uint64_t>(outbound.burst.bytes.count());
    count.busy += outbound.burst.duration;
    sink_.onTransmit(outbound, freeAt_);
  }

  // Sends all that may go now, oldest first.
  void pump() {
    if (pumping_) return;
    pumping_ = true;
    while (waiting_ > 0 && (sendOldest() || sendRelaxed())) {
    }
    pumping_ = false;
    if (waiting_ > 0) armRetry();
  }

  [[nodiscard]] bool mayGo(const Outbound& outbound) {
    Queue& posted = queue(TlpClass::kPosted);
    return outbound.relaxedOrdering || posted.empty() || outbound.order <= posted.front().order;
  }

  bool sendOldest() {
    std::array<Queue*, kTlpClasses> heads{};
    std::size_t count = 0;
    for (Queue& candidate : queues_) {
      if (candidate.empty() || !mayGo(candidate.front())) continue;
      std::size_t place = count++;
      for (; place > 0 && candidate.front().order < heads[place - 1]->front().order; --place) {
        heads[place] = heads[place - 1];
      }
      heads[place] = &candidate;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!takeCredits(heads[i]->front())) continue;
      leave(heads[i]->pop());
      return true;
    }
    return false;
  }

  // The posted queue's head can't go: perhaps a relaxed one behind it can.
  bool sendRelaxed() {
    Queue& posted = queue(TlpClass::kPosted);
    if (posted.empty() || posted.front().passed >= kMostPasses) return false;
    for (std::size_t i = 1; i < std::min(posted.size(), kRelaxedWindow); ++i) {
      if (!posted[i].relaxedOrdering || !takeCredits(posted[i])) continue;
      const Outbound chosen = posted[i];
      for (std::size_t hole = i; hole > 0; --hole) posted[hole] = posted[hole - 1];
      posted.pop();
      ++posted.front().passed;
      leave(chosen);
      return true;
    }
    return false;
  }

  void leave(const Outbound& outbound) {
    --waiting_;
    const Time wait = calendar_.now() - outbound.since;
    if (wait > Time()) ++delayed_;
    longestWait_ = later(longestWait_, wait);
    transmit(outbound);
  }

  // Credits whose return is booked come without an event of their own: one retry looks for all of them.
  void armRetry() {
    Time when = kForever;
    for (std::size_t i = 0; i < kTlpClasses; ++i) {
      if (queues_[i].empty() || !mayGo(queues_[i].front())) continue;
      when = earlier(when, ledgers_[i].availableAt(creditsOf(queues_[i].front().burst)));
    }
    when = earlier(when, relaxedAt());
    if (when == kForever) return retry_.cancel();
    retry_.set(later(when, calendar_.now()));
  }

  [[nodiscard]] Time relaxedAt() {
    Queue& posted = queue(TlpClass::kPosted);
    Time when = kForever;
    if (posted.empty() || posted.front().passed >= kMostPasses) return when;
    for (std::size_t i = 1; i < std::min(posted.size(), kRelaxedWindow); ++i) {
      if (!posted[i].relaxedOrdering) continue;
      when = earlier(when, ledgers_[index(TlpClass::kPosted)].availableAt(creditsOf(posted[i].burst)));
    }
    return when;
  }

  kernel::Calendar& calendar_;
  Sink& sink_;
  std::array<CreditLedger, kTlpClasses> ledgers_;
  std::array<Queue, kTlpClasses> queues_;
  kernel::Timer<Transmitter> retry_;
  TrafficCounts counts_{};
  Time freeAt_{};
  Time longestWait_{};
  std::uint64_t orders_ = 0;
  std::uint64_t delayed_ = 0;
  std::size_t waiting_ = 0;
  bool pumping_ = false;
};

}  // namespace hca::pcie
