#include "sim/config/config_values.h"

namespace hca::config {

namespace po = boost::program_options;

void ConfigValues::store(const std::vector<Assignment>& layer) {
  po::options_description description;
  po::parsed_options parsed(&description);
  for (const Assignment& assignment : layer) {
    const std::string name = assignment.section + '.' + assignment.key;
    // Everything is a string here: Boost would take "-1" for an unsigned number and refuse units.
    description.add_options()(name.c_str(), po::value<std::string>());
    parsed.options.emplace_back(name, std::vector<std::string>{assignment.value});
    origins_.insert({name, assignment.origin});
  }
  po::store(parsed, values_);
}

std::optional<GivenValue> ConfigValues::find(const std::string& section, const std::string& key) const {
  const std::string name = section + '.' + key;
  if (values_.count(name) == 0) return std::nullopt;
  return GivenValue{values_[name].as<std::string>(), origins_.at(name)};
}

}  // namespace hca::config
