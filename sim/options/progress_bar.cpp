#include "sim/options/progress_bar.h"

#include <algorithm>
#include <string>

namespace hca::options {

void ProgressBar::update(double done) {
  if (!enabled_) return;
  constexpr int kAll = 100;
  constexpr int kPercentACell = 2;
  const int percent = std::clamp(static_cast<int>(done * kAll), 0, kAll);
  if (percent == shownPercent_) return;
  shownPercent_ = percent;
  const auto filled = static_cast<std::size_t>(percent / kPercentACell);
  const std::string bar = std::string(filled, '#') + std::string(kAll / kPercentACell - filled, '.');
  stream_ << "\r[" << bar << "] " << percent << " %" << std::flush;
}

void ProgressBar::clear() {
  if (shownPercent_ < 0) return;
  shownPercent_ = -1;
  stream_ << "\r\x1B[K" << std::flush;
}

}  // namespace hca::options
