// All [dma.NAME] sections of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/dma_stream.h"

namespace hca::sim {

/// Runs streams at the same time, or one after the other where `after` says so.
class DmaWorkload {
 public:
  /// Names are unique; `after` names a stream of this workload, without a cycle (the configuration's checks see to it).
  void add(const std::string& name, const DmaConfig& config, const DmaStream::Surroundings& surroundings,
           std::uint64_t seed) {
    streams_.push_back(std::make_unique<DmaStream>(name, config, surroundings, seed + streams_.size()));
  }

  /// Starts every stream that need not wait. `finished` runs when all have finished; not if there is none.
  void start(std::function<void()> finished) {
    onAllFinished_ = std::move(finished);
    unfinished_ = streams_.size();
    startAfter({});
  }
  [[nodiscard]] bool finished() const { return unfinished_ == 0; }

  /// In the order in which they were added.
  [[nodiscard]] const std::vector<std::unique_ptr<DmaStream>>& streams() const { return streams_; }

 private:
  void startAfter(const std::string& name) {
    for (const auto& stream : streams_) {
      if (stream->config().after == name) stream->start([this, &name = stream->name()] { onFinished(name); });
    }
  }
  void onFinished(const std::string& name) {
    --unfinished_;
    startAfter(name);
    if (unfinished_ == 0) onAllFinished_();
  }

  std::vector<std::unique_ptr<DmaStream>> streams_;
  std::size_t unfinished_ = 0;
  std::function<void()> onAllFinished_;
};

}  // namespace hca::sim
