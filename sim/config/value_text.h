// Values as text: "1.5us", "4KiB", "100Gbps", "yes".
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::config {

/// A value, or what is wrong with the text.
template <class Value>
struct Parsed {
  Value value{};
  std::string error;    ///< empty: `value` counts
  std::string nearest;  ///< nearest known name, where the text is a name
  [[nodiscard]] bool ok() const { return error.empty(); }
};

/// A scale of units. A quantity's text is a decimal number and one of them; without units it is a bare count.
struct UnitScale {
  struct Unit {
    const char* name;
    std::int64_t factor;  ///< base units in one of these
  };
  const char* noun;  ///< "a time"
  std::vector<Unit> units;
  bool fractions = true;       ///< printed with up to three decimals ("1.5us"), or in a unit that divides ("1500B")
  bool foreverIsWord = false;  ///< "unlimited" is the largest value
};

/// The scale of a quantity, by its type. Cycles and Entries are counts.
template <class Quantity>
[[nodiscard]] const UnitScale& unitScale();
template <>
const UnitScale& unitScale<Time>();
template <>
const UnitScale& unitScale<Bytes>();
template <>
const UnitScale& unitScale<BitsPerSecond>();
template <>
const UnitScale& unitScale<Hertz>();
template <>
const UnitScale& unitScale<Cycles>();
template <>
const UnitScale& unitScale<Entries>();

/// Exact: a fraction finer than the base unit, an overflow, a sign, hexadecimal and any further text are errors.
[[nodiscard]] Parsed<std::int64_t> parseScaled(std::string_view text, const UnitScale& scale);
[[nodiscard]] Parsed<std::uint64_t> parseCount(std::string_view text);
[[nodiscard]] Parsed<double> parseRatio(std::string_view text);
[[nodiscard]] Parsed<bool> parseBool(std::string_view text);
/// Anything that a line of a configuration file can hold: no double quote, no control characters.
[[nodiscard]] Parsed<std::string> parseText(std::string_view text);
/// Finds `text` among `names`.
[[nodiscard]] Parsed<std::size_t> parseName(std::string_view text, const std::vector<std::string>& names);

/// Text that parses back to the same amount, in the largest unit that needs no long fraction.
[[nodiscard]] std::string formatScaled(std::int64_t amount, const UnitScale& scale);
[[nodiscard]] std::string formatRatio(double ratio);

template <class Value>
struct IsQuantity : std::false_type {};
template <class Tag>
struct IsQuantity<Quantity<Tag>> : std::true_type {};

/// Names of an enumeration, in the order of EnumNames.
template <class Enum>
[[nodiscard]] std::vector<std::string> enumNames() {
  std::vector<std::string> names;
  for (const auto& entry : EnumNames<Enum>::kNames) names.emplace_back(entry.first);
  return names;
}

template <class Value>
struct IsWordOrFile : std::false_type {};
template <class Enum>
struct IsWordOrFile<WordOrFile<Enum>> : std::true_type {
  using Word = Enum;
};

constexpr std::string_view kFilePrefix = "file:";

/// "file:PATH", or else a name of the enumeration.
template <class Enum>
[[nodiscard]] Parsed<WordOrFile<Enum>> parseWordOrFile(std::string_view text) {
  const std::vector<std::string> names = enumNames<Enum>();
  Parsed<WordOrFile<Enum>> parsed;
  if (text.substr(0, kFilePrefix.size()) == kFilePrefix) {
    if (text.size() == kFilePrefix.size()) parsed.error = "names no file";
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].compare(0, kFilePrefix.size(), kFilePrefix) == 0) parsed.value = EnumNames<Enum>::kNames[i].second;
    }
    parsed.value.file = std::string(text.substr(kFilePrefix.size()));
    return parsed;
  }
  const Parsed<std::size_t> name = parseName(text, names);
  parsed.error = name.error;
  parsed.nearest = name.nearest;
  if (name.ok()) parsed.value = EnumNames<Enum>::kNames[name.value].second;
  return parsed;
}

/// Any type that a config key may have.
template <class Value>
[[nodiscard]] Parsed<Value> parseValue(std::string_view text) {
  if constexpr (IsQuantity<Value>::value) {
    const auto parsed = parseScaled(text, unitScale<Value>());
    return {Value(parsed.value), parsed.error, parsed.nearest};
  } else if constexpr (IsWordOrFile<Value>::value) {
    return parseWordOrFile<typename IsWordOrFile<Value>::Word>(text);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return parseBool(text);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return parseText(text);
  } else if constexpr (std::is_enum_v<Value>) {
    const auto parsed = parseName(text, enumNames<Value>());
    if (!parsed.ok()) return {Value{}, parsed.error, parsed.nearest};
    return {EnumNames<Value>::kNames[parsed.value].second, {}, {}};
  } else if constexpr (std::is_floating_point_v<Value>) {
    return parseRatio(text);
  } else {
    static_assert(std::is_integral_v<Value>, "not a type that a config key may have");
    const auto parsed = parseCount(text);
    if (!parsed.ok()) return {Value{}, parsed.error, {}};
    if (parsed.value > static_cast<std::uint64_t>(std::numeric_limits<Value>::max())) return {{}, "is too large", {}};
    return {static_cast<Value>(parsed.value), {}, {}};
  }
}

template <class Value>
[[nodiscard]] std::string formatName(Value value) {
  for (const auto& entry : EnumNames<Value>::kNames) {
    if (entry.second == value) return entry.first;
  }
  return std::to_string(static_cast<std::int64_t>(value));
}

template <class Value>
[[nodiscard]] std::string formatValue(const Value& value) {
  if constexpr (IsQuantity<Value>::value) {
    return formatScaled(value.count(), unitScale<Value>());
  } else if constexpr (IsWordOrFile<Value>::value) {
    return value.file.empty() ? formatValue(value.word) : std::string(kFilePrefix) + value.file;
  } else if constexpr (std::is_same_v<Value, bool>) {
    return value ? "yes" : "no";
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return value;
  } else if constexpr (std::is_enum_v<Value>) {
    return formatName(value);
  } else if constexpr (std::is_floating_point_v<Value>) {
    return formatRatio(value);
  } else {
    return std::to_string(value);
  }
}

}  // namespace hca::config
