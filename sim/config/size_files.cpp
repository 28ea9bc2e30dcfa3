#include "sim/config/size_files.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "sim/config/text_file.h"
#include "sim/config/value_text.h"

namespace hca::config {

namespace fs = std::filesystem;

namespace {

constexpr const char* kKey = "size_distribution";

void readSizeFile(NamedFlow& named, const Origin& origin, Problems& problems) {
  const fs::path folder = origin.line == 0 ? fs::path() : fs::path(origin.source).parent_path();
  const fs::path path = (folder / named.flow.size_distribution.file).lexically_normal();
  std::string reason;
  const std::optional<std::string> text = readTextFile(path, reason);
  if (!text) {
    problems.push_back({origin, kKey, "'" + path.string() + "' " + reason, nearestFile(path, ".csv")});
    return;
  }
  sim::SizeTable table = sim::parseSizeTable(*text);
  for (sim::SizeTable::Problem& problem : table.problems) {
    problems.push_back({{path.string(), problem.line}, problem.column, std::move(problem.what), {}});
  }
  if (!table.problems.empty()) return;
  for (const sim::SizeTable::Row& row : table.rows) {
    if (Bytes(row.most) <= named.flow.size) continue;
    const std::string limit = formatValue(named.flow.size) + ')';
    problems.push_back({{path.string(), row.line},
                        "size",
                        formatValue(Bytes(row.most)) + " is more than size of [flow." + named.name + "] (" + limit,
                        {}});
  }
  named.flow.size_table = std::move(table);
}

}  // namespace

void readSizeFiles(Config& config, const ConfigValues& values, Problems& problems) {
  for (NamedFlow& named : config.flows) {
    if (named.flow.size_distribution != sim::SizeDistribution::kFile) continue;
    const auto given = values.find(std::string(kFlowSection) + '.' + named.name, kKey);
    if (given) readSizeFile(named, given->origin, problems);
  }
}

}  // namespace hca::config
