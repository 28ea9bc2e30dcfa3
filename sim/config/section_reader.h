// Fills a section's struct from the given values.
#pragma once

#include <string>
#include <utility>

#include "models/base/config_key.h"
#include "sim/config/config_values.h"
#include "sim/config/problem.h"
#include "sim/config/value_text.h"

namespace hca::config {

/// Visitor for `describe`: parses and checks each key that was given in `section`; the others keep their value.
class SectionReader {
 public:
  SectionReader(std::string section, const ConfigValues& values, Problems& problems)
      : section_(std::move(section)), values_(values), problems_(problems) {}

  template <class Value>
  void operator()(const char* name, Value& member, const char*) {
    const auto given = values_.find(section_, name);
    if (given) assign(name, *given, member);
  }
  template <class Value, class Bound>
  void operator()(const char* name, Value& member, Range<Bound> range, const char*) {
    const auto given = values_.find(section_, name);
    if (!given) return;
    Value value = member;
    if (!assign(name, *given, value)) return;
    const auto low = static_cast<Value>(range.low);
    const auto high = static_cast<Value>(range.high);
    if (value < low || high < value) {
      complain(name, given->origin, given->text + " is out of range: " + formatValue(low) + " to " + formatValue(high),
               {});
      return;
    }
    member = value;
  }

 private:
  template <class Value>
  bool assign(const char* name, const GivenValue& given, Value& member) {
    Parsed<Value> parsed = parseValue<Value>(given.text);
    if (parsed.ok()) {
      member = std::move(parsed.value);
    } else {
      complain(name, given.origin, parsed.error, parsed.nearest);
    }
    return parsed.ok();
  }
  void complain(const char* name, const Origin& origin, std::string what, std::string nearest) {
    problems_.push_back({origin, name, std::move(what), std::move(nearest)});
  }

  std::string section_;
  const ConfigValues& values_;
  Problems& problems_;
};

template <class Section>
void readSection(const std::string& name, Section& section, const ConfigValues& values, Problems& problems) {
  Section::describe(section, SectionReader(name, values, problems));
}

}  // namespace hca::config
