// Asynchronous steps, one behind the other.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "models/adapter/command/command_result.h"

namespace hca::driver {

/// Runs steps in order until one fails. The sequence keeps itself alive until it has called `done`.
class Sequence : public std::enable_shared_from_this<Sequence> {
 public:
  using Next = std::function<void(adapter::CommandResult)>;
  using Step = std::function<void(Next)>;

  /// `done` gets the first failure, or success.
  static void run(std::vector<Step> steps, Next done) {
    std::shared_ptr<Sequence>(new Sequence(std::move(steps), std::move(done)))->advance();
  }

 private:
  Sequence(std::vector<Step> steps, Next done) : steps_(std::move(steps)), done_(std::move(done)) {}

  void advance() {
    if (at_ == steps_.size()) return done_({});
    const std::size_t current = at_++;
    steps_[current]([self = shared_from_this()](adapter::CommandResult result) {
      if (result.ok()) {
        self->advance();
      } else {
        self->done_(result);
      }
    });
  }

  std::vector<Step> steps_;
  Next done_;
  std::size_t at_ = 0;
};

}  // namespace hca::driver
