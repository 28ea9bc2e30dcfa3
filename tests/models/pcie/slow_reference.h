// The link again, independently and slowly: one TLP at a time, one event at a time, no look-ahead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "models/pcie/pcie_config.h"

namespace hca::pcie::test {

/// What a schedule asks for.
struct Operation {
  enum class Kind { kRead, kWrite, kMessage, kRegisterWrite, kRegisterRead };
  Kind kind = Kind::kRead;
  std::int64_t time = 0;  // ps
  std::uint64_t address = 0;
  std::uint32_t length = 0;
};

class SlowReference {
 public:
  SlowReference(const PcieConfig& config, std::int64_t rate, std::uint32_t burstReads)
      : config_(config), rate_(rate), burstReads_(burstReads), freeTags_(config.tags) {
    up_.limits = limitsOf(config.upstreamCredits);
    down_.limits = limitsOf(config.downstreamCredits);
  }

  /// When each operation is over: read answered, write visible, register written, register read back.
  std::vector<std::int64_t> run(const std::vector<Operation>& operations) {
    done_.assign(operations.size(), -1);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      at(operations[i].time, kSoftware, [this, i, operation = operations[i]] { issue(i, operation); });
    }
    while (!events_.empty()) {
      auto first = events_.begin();
      now_ = std::get<0>(first->first);
      const auto action = std::move(first->second);
      events_.erase(first);
      action();
    }
    return done_;
  }

 private:
  enum Priority { kHostMemory = 1, kLanes = 2, kAdapter = 3, kSoftware = 5 };
  enum Class { kPosted, kNonPosted, kCompletion };
  struct Tlp {
    Class tlpClass = kPosted;
    std::int64_t bytes = 0;
    std::int64_t dataCredits = 0;
    std::uint64_t order = 0;
    std::uint64_t burst = 0;                                   // not 0: nothing comes between the TLPs of one
    std::function<std::int64_t(std::int64_t arrival)> arrive;  // returns when the receiver is done with it
  };
  struct Limits {
    std::int64_t headers[3], data[3];
  };
  struct Lanes {
    Limits limits{};
    std::deque<Tlp> waiting;
    std::vector<std::pair<std::int64_t, std::int64_t>> inUse[3];  // until when (or for ever), data
    std::int64_t busyUntil = 0;
    std::uint64_t burst = 0;  // of the last TLP
  };
  struct Group {  // requests that went out together
    std::vector<std::int64_t> ready;
    std::vector<std::vector<std::int64_t>> completions;  // bytes of each TLP, by request
    std::size_t operation = 0;
  };
  struct PendingRead {
    std::size_t operation = 0;
    std::uint64_t address = 0;
    std::int64_t left = 0;
  };

  static Limits limitsOf(const CreditLimits& c) {
    return {{c.postedHeaders, c.nonPostedHeaders, c.completionHeaders},
            {c.postedData, c.nonPostedData, c.completionData}};
  }
  void at(std::int64_t time, int priority, std::function<void()> action) {
    events_[{time, priority, ++sequence_}] = std::move(action);
  }
  [[nodiscard]] std::int64_t laneTime(std::int64_t bytes) const {
    return (bytes * 8'000'000'000'000 + rate_ - 1) / rate_;
  }
  [[nodiscard]] std::int64_t ports() const {
    return (config_.endpointLatency + config_.propagation + config_.rootComplexLatency).count();
  }

  // ---- Lanes and credits

  void enqueue(Lanes& lanes, Tlp tlp) {
    tlp.order = ++orders_;
    lanes.waiting.push_back(std::move(tlp));
    pick(lanes);
  }
  [[nodiscard]] bool hasCredits(Lanes& lanes, const Tlp& tlp) const {
    std::int64_t headers = 0, data = 0;
    for (const auto& [until, amount] : lanes.inUse[tlp.tlpClass]) {
      if (until > now_) ++headers, data += amount;
    }
    const std::int64_t headerLimit = lanes.limits.headers[tlp.tlpClass], dataLimit = lanes.limits.data[tlp.tlpClass];
    return (headerLimit == 0 || headers + 1 <= headerLimit) && (dataLimit == 0 || data + tlp.dataCredits <= dataLimit);
  }
  void pick(Lanes& lanes) {
    if (lanes.busyUntil > now_) return;
    for (auto tlp = lanes.waiting.begin(); lanes.burst != 0 && tlp != lanes.waiting.end(); ++tlp) {
      if (tlp->burst == lanes.burst) return take(lanes, tlp);
    }
    bool postedAhead = false;
    for (auto tlp = lanes.waiting.begin(); tlp != lanes.waiting.end(); ++tlp) {
      if (!postedAhead && isFirstOfClass(lanes, *tlp) && hasCredits(lanes, *tlp)) {
        return take(lanes, tlp);
      }
      postedAhead |= tlp->tlpClass == kPosted;
    }
  }
  static bool isFirstOfClass(const Lanes& lanes, const Tlp& tlp) {
    for (const Tlp& other : lanes.waiting) {
      if (other.tlpClass == tlp.tlpClass) return other.order == tlp.order;
    }
    return false;
  }
  void take(Lanes& lanes, std::deque<Tlp>::iterator which) {
    Tlp chosen = std::move(*which);
    lanes.waiting.erase(which);
    start(lanes, std::move(chosen));
  }
  void start(Lanes& lanes, Tlp tlp) {
    lanes.burst = tlp.burst;
    lanes.busyUntil = now_ + laneTime(tlp.bytes);
    const std::int64_t processed = tlp.arrive(lanes.busyUntil + ports());
    const std::int64_t back = processed + config_.creditReturnLatency.count();
    lanes.inUse[tlp.tlpClass].emplace_back(back, tlp.dataCredits);
    at(lanes.busyUntil, kLanes, [this, &lanes] { pick(lanes); });
    at(back, kLanes, [this, &lanes, which = tlp.tlpClass] {
      auto& used = lanes.inUse[which];
      used.erase(std::remove_if(used.begin(), used.end(), [this](const auto& u) { return u.first <= now_; }),
                 used.end());
      pick(lanes);
    });
  }

  // ---- Operations

  void issue(std::size_t index, const Operation& operation) {
    switch (operation.kind) {
      case Operation::Kind::kRead:
        pending_.push_back({index, operation.address, operation.length});
        answered_[index] = 0;
        requestReads();
        break;
      case Operation::Kind::kWrite:
        issueWrite(index, operation);
        break;
      case Operation::Kind::kMessage:
        enqueue(up_, writeTlp(index, 4));
        break;
      case Operation::Kind::kRegisterWrite:
        issueRegisterWrite(index, operation);
        break;
      case Operation::Kind::kRegisterRead:
        issueRegisterRead(index, operation);
        break;
    }
  }

  // ---- DMA writes

  void issueWrite(std::size_t index, const Operation& operation) {
    std::uint64_t address = operation.address;
    std::int64_t left = operation.length;
    while (left > 0) {
      const std::int64_t page = 4096 - static_cast<std::int64_t>(address % 4096);
      const std::int64_t piece = std::min({left, page, config_.maxPayload.count()});
      enqueue(up_, writeTlp(index, piece));
      address += static_cast<std::uint64_t>(piece);
      left -= piece;
    }
  }
  Tlp writeTlp(std::size_t index, std::int64_t bytes) {
    Tlp tlp;
    tlp.bytes = bytes + 24;
    tlp.dataCredits = (bytes + 15) / 16;
    tlp.arrive = [this, index](std::int64_t arrival) {
      lastVisible_ = std::max(lastVisible_, arrival + config_.writeLatency.count());
      done_[index] = std::max(done_[index], lastVisible_);
      return lastVisible_;
    };
    return tlp;
  }

  // ---- DMA reads

  void requestReads() {
    while (!pending_.empty() && freeTags_ > 0) {
      PendingRead& read = pending_.front();
      auto group = std::make_shared<Group>();
      group->operation = read.operation;
      const std::uint64_t page = read.address / 4096;
      std::vector<std::pair<std::uint64_t, std::int64_t>> pieces;
      while (read.left > 0 && freeTags_ > 0 && read.address / 4096 == page && pieces.size() < burstReads_) {
        const std::int64_t toPage = 4096 - static_cast<std::int64_t>(read.address % 4096);
        const std::int64_t piece = std::min({read.left, toPage, config_.maxReadRequest.count()});
        pieces.emplace_back(read.address, piece);
        read.address += static_cast<std::uint64_t>(piece);
        read.left -= piece;
        --freeTags_;
      }
      outstanding_[read.operation] += pieces.size();
      if (read.left == 0) complete_.insert(read.operation);
      if (read.left == 0) pending_.pop_front();
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        enqueue(up_, readTlp(group, pieces[i], i + 1 == pieces.size()));
      }
    }
  }
  Tlp readTlp(const std::shared_ptr<Group>& group, std::pair<std::uint64_t, std::int64_t> piece, bool isLast) {
    Tlp tlp;
    tlp.tlpClass = kNonPosted;
    tlp.bytes = 24;
    tlp.arrive = [this, group, piece, isLast](std::int64_t arrival) {
      std::int64_t begin = std::max(arrival, lastVisible_);
      std::int64_t transfer = 0;
      if (const std::int64_t bandwidth = config_.hostReadBandwidth.count(); bandwidth > 0) {
        begin = std::max(begin, memoryFreeAt_);
        transfer = (piece.second * 8'000'000'000'000 + bandwidth - 1) / bandwidth;
        memoryFreeAt_ = begin + transfer;
      }
      group->ready.push_back(begin + transfer + config_.readLatency.count());
      group->completions.push_back(cut(piece.first, piece.second));
      if (isLast) at(withoutGap(*group), kHostMemory, [this, group] { answer(group); });
      return begin;
    };
    return tlp;
  }
  [[nodiscard]] std::vector<std::int64_t> cut(std::uint64_t address, std::int64_t length) const {
    const std::int64_t unit = std::min(config_.readCompletionBoundary.count(), config_.maxPayload.count());
    std::vector<std::int64_t> bytes;
    while (length > 0) {
      const std::int64_t piece = std::min(length, unit - static_cast<std::int64_t>(address) % unit);
      bytes.push_back(piece);
      address += static_cast<std::uint64_t>(piece);
      length -= piece;
    }
    return bytes;
  }
  // Tries starts until no request's completions would have to wait for its data.
  [[nodiscard]] std::int64_t withoutGap(const Group& group) const {
    for (std::int64_t begin = group.ready.front();;) {
      std::int64_t time = begin, missing = 0;
      for (std::size_t i = 0; i < group.ready.size() && missing == 0; ++i) {
        missing = std::max<std::int64_t>(0, group.ready[i] - time);
        for (const std::int64_t bytes : group.completions[i]) time += laneTime(bytes + 20);
      }
      if (missing == 0) return begin;
      begin += missing;
    }
  }
  void answer(const std::shared_ptr<Group>& group) {
    ++bursts_;
    for (const std::vector<std::int64_t>& request : group->completions) {
      for (std::size_t i = 0; i < request.size(); ++i) {
        Tlp tlp;
        tlp.tlpClass = kCompletion;
        tlp.bytes = request[i] + 20;
        tlp.dataCredits = (request[i] + 15) / 16;
        tlp.burst = bursts_;
        const bool isLast = i + 1 == request.size();
        tlp.arrive = [this, isLast, operation = group->operation](std::int64_t arrival) {
          if (isLast) onLastCompletion(operation, arrival);
          return arrival;
        };
        enqueue(down_, std::move(tlp));
      }
    }
  }
  void onLastCompletion(std::size_t operation, std::int64_t arrival) {
    answered_[operation] = std::max(answered_[operation], arrival);
    at(arrival, kAdapter, [this, operation] {
      ++freeTags_;
      if (--outstanding_[operation] == 0 && complete_.count(operation) != 0) done_[operation] = answered_[operation];
      // Tags of the same moment count together.
      at(now_, kAdapter, [this] { requestReads(); });
    });
  }

  // ---- Registers

  void issueRegisterWrite(std::size_t index, const Operation& operation) {
    Tlp tlp;
    tlp.bytes = operation.length + 24;
    tlp.dataCredits = (operation.length + 15) / 16;
    tlp.arrive = [this, index](std::int64_t arrival) { return done_[index] = arrival; };
    enqueue(down_, std::move(tlp));
  }
  void issueRegisterRead(std::size_t index, const Operation& operation) {
    Tlp tlp;
    tlp.tlpClass = kNonPosted;
    tlp.bytes = 24;
    tlp.arrive = [this, index, length = operation.length](std::int64_t arrival) {
      at(arrival, kAdapter, [this, index, length] {
        Tlp completion;
        completion.tlpClass = kCompletion;
        completion.bytes = length + 20;
        completion.dataCredits = (length + 15) / 16;
        // The processor goes on when the DMA writes before the completion are visible.
        completion.arrive = [this, index](std::int64_t back) {
          done_[index] = std::max(back, lastVisible_);
          return back;
        };
        enqueue(up_, std::move(completion));
      });
      return arrival;
    };
    enqueue(down_, std::move(tlp));
  }

  PcieConfig config_;
  std::int64_t rate_;
  std::size_t burstReads_;
  std::int64_t freeTags_;
  std::map<std::tuple<std::int64_t, int, std::uint64_t>, std::function<void()>> events_;
  std::uint64_t sequence_ = 0, orders_ = 0, bursts_ = 0;
  std::int64_t now_ = 0, lastVisible_ = 0, memoryFreeAt_ = 0;
  Lanes up_, down_;
  std::deque<PendingRead> pending_;
  std::map<std::size_t, std::size_t> outstanding_;
  std::map<std::size_t, std::int64_t> answered_;
  std::set<std::size_t> complete_;
  std::vector<std::int64_t> done_;
};

}  // namespace hca::pcie::test
