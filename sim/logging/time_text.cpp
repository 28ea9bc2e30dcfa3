#include "sim/logging/time_text.h"

#include <cstdint>
#include <utility>

namespace hca {

namespace {

constexpr std::int64_t kPerMicrosecond = 1'000'000;

std::int64_t inThousandths(Time time, std::int64_t factor) {
  const std::int64_t thousandth = factor / 1000;
  return time.count() / thousandth + (time.count() % thousandth * 2 >= thousandth ? 1 : 0);
}

std::string withDecimals(std::int64_t thousandths) {
  const std::string text = std::to_string(thousandths / 1000);
  if (thousandths % 1000 == 0) return text;
  std::string decimals = std::to_string(1000 + thousandths % 1000).substr(1);
  while (decimals.back() == '0') decimals.pop_back();
  return text + '.' + decimals;
}

}  // namespace

std::string timeText(Time time) {
  if (time == kForever) return "for ever";
  if (time < Time()) return '-' + timeText(Time() - time);
  if (time.count() < 1000) return std::to_string(time.count()) + " ps";
  constexpr std::pair<const char*, std::int64_t> kUnits[] = {
      {"ns", 1000}, {"us", kPerMicrosecond}, {"ms", kPerMicrosecond * 1000}};
  for (const auto& [name, factor] : kUnits) {
    // What rounds to a thousand of this unit is one of the next.
    const std::int64_t rounded = inThousandths(time, factor);
    if (rounded < 1'000'000) return withDecimals(rounded) + ' ' + name;
  }
  return withDecimals(inThousandths(time, kPerMicrosecond * kPerMicrosecond)) + " s";
}

std::string microsecondsText(Time time) {
  if (time < Time()) return '-' + microsecondsText(Time() - time);
  const std::string decimals = std::to_string(kPerMicrosecond + time.count() % kPerMicrosecond).substr(1);
  return std::to_string(time.count() / kPerMicrosecond) + '.' + decimals;
}

}  // namespace hca
