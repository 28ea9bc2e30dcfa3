// What the driver says, as a kernel's log would have it.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace hca::driver {

/// The words are those of the stock driver where it has any (Linux drivers/net/ethernet/mellanox/mlx5/core). Nobody
/// listens at first, and then nothing is put together.
class DriverLog {
 public:
  void setSink(std::function<void(const std::string& line)> sink) { sink_ = std::move(sink); }
  /// `line`: called for the words if somebody listens.
  template <class Line>
  void say(Line&& line) const {
    if (sink_) sink_(line());
  }

 private:
  std::function<void(const std::string&)> sink_;
};

}  // namespace hca::driver
