// How a config section declares its keys, once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace hca::config {

/// Inclusive bounds of a key, in the unit of its type.
template <class Value>
struct Range {
  Value low;
  Value high;
};
template <class Value>
constexpr Range<Value> range(Value low, Value high) {
  return {low, high};
}

/// The names of an enumeration's values, in a config file: specialise with
/// `static constexpr std::pair<const char*, Enum> kNames[] = {{"ib_spec", ArmRule::kIbSpec}, ...};`
template <class Enum>
struct EnumNames;

/// A word of an enumeration, one of which stands for a file and is named like "file:NAME.csv": then `file` is its path,
/// relative to the file that names it.
template <class Enum>
struct WordOrFile {
  Enum word{};
  std::string file;
  // NOLINTNEXTLINE(google-explicit-constructor): used like the enumeration itself
  WordOrFile(Enum value = Enum{}) : word(value) {}
  operator Enum() const { return word; }  // NOLINT(google-explicit-constructor)
};

// A section is one plain struct whose members have their defaults as initialisers, and one static template
//
//   template <class Self, class Key>
//   static void describe(Self& self, Key&& key) {
//     key("cqe_write_latency", self.cqeWriteLatency, range(Cycles(0), Cycles(100'000)), "From ... to ...");
//     key("arm_rule", self.armRule, "When a CQE written before the arm raises an event");
//   }
//
// `Self` is the struct or the const struct. `key(name, member, range, doc)` for numbers, `key(name, member, doc)` for
// bool, enumerations and std::string. The unit follows from the member's type: Time, Bytes, BitsPerSecond, Hertz,
// Cycles, Entries; bare integers are counts, double is a ratio. The same declaration parses, checks, prints help,
// writes the reference and dumps the effective config.

}  // namespace hca::config
