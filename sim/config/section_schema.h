// What is known of a section without a value at hand: names, units, defaults, ranges, explanations.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/base/config_key.h"
#include "sim/config/value_text.h"

namespace hca::config {

struct KeySchema {
  std::string name;
  std::string kind;      ///< "time", "size", "count", "yes or no", ...
  std::string fallback;  ///< the default's text
  std::string range;     ///< "1 to 64", or the names of an enumeration; empty: any
  std::string doc;
};

/// Where a section may stand.
enum class Scope {
  kGlobal,      ///< [run]
  kOneHost,     ///< [host.N], where [host] is global
  kPerHost,     ///< [cpu] for all hosts, [host.N.cpu] for one
  kPerAdapter,  ///< [pcie], [host.N.pcie] for its adapters, [host.N.adapter.A.pcie] for one
  kPerPort,     ///< as for adapters, and [host.N.adapter.A.port.P.link.faults] for one port
  kNamed,       ///< [flow.NAME], any number of times
};

/// Whether sections of this scope may stand for one host.
[[nodiscard]] constexpr bool isOfHost(Scope scope) {
  return scope == Scope::kPerHost || scope == Scope::kPerAdapter || scope == Scope::kPerPort;
}
/// Whether they may stand for one adapter.
[[nodiscard]] constexpr bool isOfAdapter(Scope scope) {
  return scope == Scope::kPerAdapter || scope == Scope::kPerPort;
}

struct SectionSchema {
  std::string name;  ///< without host number or flow name
  Scope scope = Scope::kGlobal;
  std::string doc;
  std::vector<KeySchema> keys;
};

template <class Value>
[[nodiscard]] std::string kindOf() {
  if constexpr (std::is_same_v<Value, Time>) return "time";
  if constexpr (std::is_same_v<Value, Bytes>) return "size";
  if constexpr (std::is_same_v<Value, BitsPerSecond>) return "rate";
  if constexpr (std::is_same_v<Value, Hertz>) return "frequency";
  if constexpr (std::is_same_v<Value, Cycles>) return "clock cycles";
  if constexpr (std::is_same_v<Value, Entries>) return "entries";
  if constexpr (std::is_same_v<Value, bool>) return "yes or no";
  if constexpr (std::is_enum_v<Value> || IsWordOrFile<Value>::value) return "word";
  if constexpr (std::is_floating_point_v<Value>) return "ratio";
  if constexpr (std::is_same_v<Value, std::string>) return "text";
  return "count";
}

/// Visitor for `describe` (models/base/config_key.h): lists the keys with the values of the object as defaults.
class SchemaCollector {
 public:
  explicit SchemaCollector(std::vector<KeySchema>& keys) : keys_(keys) {}

  template <class Value>
  void operator()(const char* name, const Value& value, const char* doc) {
    std::string range;
    const auto list = [&range](const std::vector<std::string>& words) {
      for (const std::string& word : words) range += (range.empty() ? "" : ", ") + word;
    };
    if constexpr (std::is_enum_v<Value>) list(enumNames<Value>());
    if constexpr (IsWordOrFile<Value>::value) list(enumNames<typename IsWordOrFile<Value>::Word>());
    keys_.push_back({name, kindOf<Value>(), formatValue(value), range, doc});
  }
  template <class Value, class Bound>
  void operator()(const char* name, const Value& value, Range<Bound> range, const char* doc) {
    const auto low = formatValue(static_cast<Value>(range.low));
    const auto high = formatValue(static_cast<Value>(range.high));
    keys_.push_back({name, kindOf<Value>(), formatValue(value), low + " to " + high, doc});
  }

 private:
  std::vector<KeySchema>& keys_;
};

template <class Section>
[[nodiscard]] SectionSchema schemaOf(const char* name, Scope scope, const char* doc) {
  SectionSchema schema{name, scope, doc, {}};
  const Section section;
  Section::describe(section, SchemaCollector(schema.keys));
  return schema;
}

/// Name and text of every key of `section`.
template <class Section>
[[nodiscard]] std::vector<std::pair<std::string, std::string>> keyTexts(const Section& section) {
  std::vector<KeySchema> keys;
  Section::describe(section, SchemaCollector(keys));
  std::vector<std::pair<std::string, std::string>> texts;
  texts.reserve(keys.size());
  for (KeySchema& key : keys) texts.emplace_back(std::move(key.name), std::move(key.fallback));
  return texts;
}

}  // namespace hca::config
