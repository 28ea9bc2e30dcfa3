// The texts that were given for keys, each with its origin; the strongest one wins.
#pragma once

#include <boost/program_options.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/ini_scanner.h"
#include "sim/config/problem.h"

namespace hca::config {

struct GivenValue {
  std::string text;
  Origin origin;
};

/// Holds values as strings in a Boost.Program_options variables map, under "section.key".
class ConfigValues {
 public:
  /// Takes one layer of assignments. Layers come from the strongest to the weakest: what is there stays.
  void store(const std::vector<Assignment>& layer);

  [[nodiscard]] std::optional<GivenValue> find(const std::string& section, const std::string& key) const;

 private:
  boost::program_options::variables_map values_;
  std::map<std::string, Origin> origins_;
};

}  // namespace hca::config
