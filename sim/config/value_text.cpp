#include "sim/config/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "sim/config/nearest_name.h"
#include "sim/config/text_scan.h"

namespace hca::config {

namespace {

constexpr std::int64_t kKilo = 1000;
constexpr std::int64_t kKibi = 1024;
constexpr const char* kUnlimited = "unlimited";

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string quoted(std::string_view text) { return '\'' + std::string(text) + '\''; }

// "ps, ns, us, ms or s"
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::vector<std::string> unitNames(const UnitScale& scale) {
  std::vector<std::string> names;
  for (const UnitScale::Unit& unit : scale.units) names.emplace_back(unit.name);
  return names;
}

// A decimal number as an integer and the power of ten that divides it.
struct Decimal {
  WideInteger digits = 0;
  unsigned fractionDigits = 0;
  std::size_t length = 0;  // characters taken; 0: no number
  bool tooLarge = false;
};

Decimal scanDecimal(std::string_view text) {
  constexpr std::size_t kMostDigits = 36;  // fits into 127 bits
  Decimal decimal;
  std::size_t digits = 0;
  bool point = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !point && digits > 0 && at + 1 < text.size() && isDigit(text[at + 1])) {
      point = true;
      continue;
    }
    if (!isDigit(text[at])) break;
    if (++digits > kMostDigits) decimal.tooLarge = true;
    if (!decimal.tooLarge) decimal.digits = decimal.digits * 10 + (text[at] - '0');
    if (point) ++decimal.fractionDigits;
  }
  decimal.length = digits == 0 ? 0 : at;
  return decimal;
}

// What is wrong with a number before one looks at its unit.
std::optional<std::string> refusal(std::string_view text) {
  if (text.empty()) return "has no value";
  if (text.front() == '-') return quoted(text) + " is negative";
  if (text.front() == '+') return quoted(text) + ": write the number without a sign";
  if (text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    return quoted(text) + " is hexadecimal: write a decimal number";
  }
  if (!isDigit(text.front())) return quoted(text) + " is not a number";
  return std::nullopt;
}

Parsed<std::int64_t> scaled(const Decimal& decimal, const UnitScale::Unit& unit, const UnitScale& scale) {
  if (decimal.tooLarge) return {0, "is too large", {}};
  WideInteger amount = decimal.digits;
  std::int64_t factor = unit.factor;
  unsigned fraction = decimal.fractionDigits;
  while (fraction > 0 && amount % 10 == 0) {
    amount /= 10;
    --fraction;
  }
  while (fraction > 0 && factor % 10 == 0) {
    factor /= 10;
    --fraction;
  }
  constexpr WideInteger kMost = std::numeric_limits<std::int64_t>::max();
  if (amount > kMost) return {0, fraction > 0 ? "has too many digits" : "is too large", {}};
  amount *= factor;
  for (; fraction > 0; --fraction) {
    if (amount % 10 != 0) return {0, "is finer than 1 " + std::string(scale.units.front().name), {}};
    amount /= 10;
  }
  if (amount > kMost) return {0, "is too large", {}};
  return {static_cast<std::int64_t>(amount), {}, {}};
}

Parsed<std::int64_t> countOf(std::string_view text, const UnitScale& scale) {
  const Parsed<std::uint64_t> count = parseCount(text);
  if (!count.ok()) return {0, count.error + (text.empty() ? "" : std::string(" (") + scale.noun + ")"), {}};
  if (count.value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return {0, "is too large", {}};
  return {static_cast<std::int64_t>(count.value), {}, {}};
}

}  // namespace

template <>
const UnitScale& unitScale<Time>() {
  static const UnitScale scale{"a time",
                               {{"ps", 1},
                                {"ns", kKilo},
                                {"us", kKilo * kKilo},
                                {"ms", kKilo * kKilo * kKilo},
                                {"s", kKilo * kKilo * kKilo * kKilo}},
                               true,
                               true};
  return scale;
}

template <>
const UnitScale& unitScale<Bytes>() {
  static const UnitScale scale{"a size",
                               {{"B", 1},
                                {"kB", kKilo},
                                {"KiB", kKibi},
                                {"MB", kKilo * kKilo},
                                {"MiB", kKibi * kKibi},
                                {"GB", kKilo * kKilo * kKilo},
                                {"GiB", kKibi * kKibi * kKibi},
                                {"TB", kKilo * kKilo * kKilo * kKilo},
                                {"TiB", kKibi * kKibi * kKibi * kKibi}},
                               false};
  return scale;
}

template <>
const UnitScale& unitScale<BitsPerSecond>() {
  static const UnitScale scale{"a rate",
                               {{"bps", 1},
                                {"kbps", kKilo},
                                {"Mbps", kKilo * kKilo},
                                {"Gbps", kKilo * kKilo * kKilo},
                                {"Tbps", kKilo * kKilo * kKilo * kKilo}}};
  return scale;
}

template <>
const UnitScale& unitScale<Hertz>() {
  static const UnitScale scale{"a frequency",
                               {{"Hz", 1}, {"kHz", kKilo}, {"MHz", kKilo * kKilo}, {"GHz", kKilo * kKilo * kKilo}}};
  return scale;
}

template <>
const UnitScale& unitScale<Cycles>() {
  static const UnitScale scale{"a number of clock cycles", {}};
  return scale;
}

template <>
const UnitScale& unitScale<Entries>() {
  static const UnitScale scale{"a number of entries", {}};
  return scale;
}

Parsed<std::int64_t> parseScaled(std::string_view text, const UnitScale& scale) {
  text = trimmed(text);
  if (scale.foreverIsWord && text == kUnlimited) return {std::numeric_limits<std::int64_t>::max(), {}, {}};
  if (scale.units.empty()) return countOf(text, scale);
  const std::vector<std::string> names = unitNames(scale);
  if (const auto problem = refusal(text)) return {0, *problem, {}};
  const Decimal decimal = scanDecimal(text);
  const std::string_view unit = trimmed(text.substr(decimal.length));
  if (unit.empty()) return {0, quoted(text) + " needs a unit: " + listed(names), {}};
  for (const UnitScale::Unit& known : scale.units) {
    if (unit != known.name) continue;
    Parsed<std::int64_t> result = scaled(decimal, known, scale);
    if (!result.ok()) result.error = quoted(text) + ' ' + result.error;
    return result;
  }
  return {0, quoted(text) + ": " + quoted(unit) + " is no unit of " + scale.noun + ": " + listed(names),
          nearestName(unit, names)};
}

Parsed<std::uint64_t> parseCount(std::string_view text) {
  text = trimmed(text);
  if (const auto problem = refusal(text)) return {0, *problem, {}};
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return {0, quoted(text) + " is too large", {}};
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (!rest.empty()) return {0, quoted(text) + " is not a whole number without a unit", {}};
  return {value, {}, {}};
}

Parsed<double> parseRatio(std::string_view text) {
  text = trimmed(text);
  if (const auto problem = refusal(text)) return {0, *problem, {}};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range || !std::isfinite(value)) return {0, quoted(text) + " is too large", {}};
  if (end != text.data() + text.size()) return {0, quoted(text) + " is not a number without a unit", {}};
  return {value, {}, {}};
}

Parsed<bool> parseBool(std::string_view text) {
  text = trimmed(text);
  for (const char* word : {"yes", "true", "on"}) {
    if (text == word) return {true, {}, {}};
  }
  for (const char* word : {"no", "false", "off"}) {
    if (text == word) return {false, {}, {}};
  }
  if (text.empty()) return {false, "has no value", {}};
  return {false, quoted(text) + " is neither yes nor no", {}};
}

Parsed<std::string> parseText(std::string_view text) {
  const auto isBad = [](char c) { return c == '"' || static_cast<unsigned char>(c) < ' '; };
  if (std::any_of(text.begin(), text.end(), isBad)) return {{}, "holds a double quote or a control character", {}};
  return {std::string(text), {}, {}};
}

Parsed<std::size_t> parseName(std::string_view text, const std::vector<std::string>& names) {
  text = trimmed(text);
  if (text.empty()) return {0, "has no value: " + listed(names), {}};
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return {static_cast<std::size_t>(found - names.begin()), {}, {}};
  return {0, quoted(text) + " is none of " + listed(names), nearestName(text, names)};
}

std::string formatScaled(std::int64_t amount, const UnitScale& scale) {
  if (scale.foreverIsWord && amount == std::numeric_limits<std::int64_t>::max()) return kUnlimited;
  if (scale.units.empty()) return std::to_string(amount);
  const UnitScale::Unit* best = &scale.units.front();
  for (const UnitScale::Unit& unit : scale.units) {
    const std::int64_t grain = scale.fractions && unit.factor >= kKilo ? unit.factor / kKilo : unit.factor;
    if (amount >= unit.factor && amount % grain == 0) best = &unit;
  }
  std::string text = std::to_string(amount / best->factor);
  std::int64_t rest = amount % best->factor;
  if (rest > 0) text += '.';
  for (std::int64_t place = best->factor / 10; rest > 0; place /= 10) {
    text += static_cast<char>('0' + rest / place);
    rest %= place;
  }
  return text + best->name;
}

std::string formatRatio(double ratio) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), ratio);
  return error == std::errc() ? std::string(text, end) : std::to_string(ratio);
}

}  // namespace hca::config
