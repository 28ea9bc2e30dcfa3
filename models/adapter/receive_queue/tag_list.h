// The tags of one tag-matching receive queue.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/adapter/send_queue/send_request.h"

namespace hca::adapter {

/// Buffers with tags, searched in the order in which software appended them.
///
/// Software names the place of the tag that it will append next, so that places are its own to recycle: the first tag
/// takes place 0, each further one the place that its predecessor named (rdma-core providers/mlx5/qp.c,
/// mlx5_post_srq_ops).
///
/// A message that matches nothing is unexpected. Until software has said that it handled as many of them as there were,
/// tags that it appends match nothing, because the message that one is for may be among those (rdma-core
/// Documentation/tag_matching.md). Tags appended before go on matching. Both counts have 16 bits.
class TagList {
 public:
  struct Tag {
    std::uint64_t tag = 0;  ///< matches a message whose tag, masked, is this
    std::uint64_t mask = 0;
    DataSegment buffer;  ///< length 0: for messages without data
  };
  struct Match {
    std::uint16_t place = 0;
    std::uint64_t serial = 0;  ///< free-running number of the append
    DataSegment buffer;
  };
  enum class Append : std::uint8_t { kDone, kNoSuchPlace, kOccupied };

  explicit TagList(unsigned logSize) : places_(std::size_t{1} << logSize) {}

  /// Appends at the place named before; `next` is that of the tag after this one.
  [[nodiscard]] Append append(const Tag& tag, std::uint16_t next);
  /// False if there is no tag at `place`: a message may have taken it.
  [[nodiscard]] bool remove(std::uint16_t place);
  [[nodiscard]] bool isPlace(std::uint16_t place) const { return place < places_.size(); }
  /// Software has handled `count` unexpected messages.
  void synchronize(std::uint16_t count);

  /// Takes out the oldest tag that `tag` matches; nothing if there is none.
  [[nodiscard]] std::optional<Match> take(std::uint64_t tag);
  void countUnexpected() { ++hardwareCount_; }

  [[nodiscard]] std::uint16_t hardwareCount() const { return hardwareCount_; }
  [[nodiscard]] std::uint16_t softwareCount() const { return softwareCount_; }
  [[nodiscard]] std::uint16_t next() const { return next_; }
  [[nodiscard]] std::size_t size() const { return order_.size(); }

 private:
  struct Place {
    bool used = false;
    bool active = false;  ///< may match
    std::uint64_t serial = 0;
    Tag tag;
  };
  [[nodiscard]] bool inStep() const { return hardwareCount_ == softwareCount_; }

  std::vector<Place> places_;
  std::vector<std::uint16_t> order_;  // places in use, oldest first
  std::uint64_t appended_ = 0;
  std::uint16_t next_ = 0;
  std::uint16_t hardwareCount_ = 0;  // unexpected messages
  std::uint16_t softwareCount_ = 0;  // those that software has handled
};

}  // namespace hca::adapter
