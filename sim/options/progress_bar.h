// A bar that shows how much is done.
#pragma once

#include <ostream>

namespace hca::options {

/// Draws over the same line of a terminal; draws nothing if it is disabled. Redraws only when a further percent is
/// done, so that it may be called often.
class ProgressBar {
 public:
  ProgressBar(std::ostream& stream, bool enabled) : stream_(stream), enabled_(enabled) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `done` from 0 to 1.
  void update(double done);
  /// Wipes the line.
  void clear();

 private:
  std::ostream& stream_;
  bool enabled_;
  int shownPercent_ = -1;
};

}  // namespace hca::options
