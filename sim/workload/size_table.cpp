#include "sim/workload/size_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <system_error>
#include <utility>

#include "sim/workload/weighted_mix.h"

namespace hca::sim {
namespace {

/// A decimal number that isn't negative.
bool parseNumber(const std::string& text, double& number) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end && std::isfinite(number);
}

std::string plain(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  return trimmed(text);
}

class TableReader {
 public:
  SizeTable read(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      const std::string content = plain(line);
      if (!content.empty() && content.front() != '#') readLine(content);
    }
    if (table_.rows.empty() && table_.problems.empty()) complain("file", "has no sizes");
    if (table_.problems.empty()) normalise();
    return std::move(table_);
  }

 private:
  void readLine(const std::string& content) {
    const std::size_t comma = content.find(',');
    const std::string size = plain(content.substr(0, comma));
    const std::string value = comma == std::string::npos ? "" : plain(content.substr(comma + 1));
    if (std::exchange(isFirst_, false) && size == "size" && (value == "weight" || value == "cdf")) {
      column_ = value == "cdf" ? "cdf" : "weight";
      return;
    }
    SizeTable::Row row;
    row.line = line_;
    if (!parseSize(size, false, row.most)) {
      return complain("size", '\'' + size + "' is no size of at most 1GiB, such as 64, 64B or 4KiB");
    }
    if (!parseNumber(value, row.share)) return complain(column_, '\'' + value + "' is no number, such as 12.5");
    if (isCdf()) {
      addCdf(row, value);
    } else {
      row.least = row.most;
      sum_ += row.share;
      row.share = sum_;
      table_.rows.push_back(row);
    }
  }

  void addCdf(SizeTable::Row row, const std::string& value) {
    row.least = row.most;
    if (!table_.rows.empty()) {
      const SizeTable::Row& before = table_.rows.back();
      if (row.most <= before.most) return complain("size", "is not more than in the line before");
      if (row.share < before.share) return complain("cdf", value + " is less than in the line before");
      row.least = before.most + 1;
    }
    table_.rows.push_back(row);
  }

  void normalise() {
    const double last = table_.rows.back().share;
    line_ = table_.rows.back().line;
    if (isCdf() && last != 1 && last != 100) return complain("cdf", "must end at 1, or at 100 if it counts percents");
    if (last <= 0) return complain(column_, "is 0 in every line");
    for (SizeTable::Row& row : table_.rows) row.share /= last;
  }

  [[nodiscard]] bool isCdf() const { return column_[0] == 'c'; }
  void complain(const char* column, std::string what) {
    table_.problems.push_back({std::max(line_, 1), column, std::move(what)});
  }

  SizeTable table_;
  const char* column_ = "weight";
  double sum_ = 0;
  int line_ = 0;
  bool isFirst_ = true;
};

}  // namespace

std::uint32_t SizeTable::draw(double uniform, std::uint64_t bits) const {
  auto row = std::lower_bound(rows.begin(), rows.end(), uniform,
                              [](const Row& each, double share) { return each.share < share; });
  if (row == rows.end()) --row;
  return row->least + static_cast<std::uint32_t>(bits % (std::uint64_t{row->most} - row->least + 1));
}

std::uint32_t SizeTable::least() const {
  double before = 0;
  std::uint32_t least = UINT32_MAX;
  for (const Row& row : rows) {
    if (row.share > before) least = std::min(least, row.least);
    before = row.share;
  }
  return least;
}

SizeTable parseSizeTable(const std::string& text) { return TableReader().read(text); }

bool parseSize(const std::string& text, bool needsUnit, std::uint32_t& bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string unit = text.substr(digits);
  if (unit.empty() && !needsUnit) unit = "B";
  const std::pair<const char*, std::uint64_t> units[] = {{"B", 1}, {"KiB", 1024}, {"MiB", std::uint64_t{1} << 20}};
  const auto* known = std::find_if(std::begin(units), std::end(units), [&](const auto& u) { return unit == u.first; });
  std::uint64_t count = 0;
  if (known == std::end(units) || !parseWeight(text.substr(0, digits), count)) return false;
  count *= known->second;
  bytes = static_cast<std::uint32_t>(std::min(count, kMost));
  return count <= kMost;
}

}  // namespace hca::sim
