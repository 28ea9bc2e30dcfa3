// Message sizes as a file lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hca::sim {

/// Lines of "SIZE,WEIGHT", or, below the heading "size,cdf", of "SIZE,SHARE" where a share of all messages is no longer
/// than the size; sizes between two of these lines are equally likely. Empty lines and those that begin with # are
/// skipped.
struct SizeTable {
  struct Row {
    std::uint32_t least = 0, most = 0;  ///< bytes; every size between them alike
    double share = 0;                   ///< of all messages, up to and including this row: 0 to 1
    int line = 0;                       ///< where it stands
  };
  struct Problem {
    int line = 0;  ///< from 1
    std::string column;
    std::string what;
  };

  std::vector<Row> rows;
  std::vector<Problem> problems;  ///< if there are any, the rows don't count

  /// The size that `uniform`, between 0 and 1, and random `bits` stand for. Precondition: there are rows.
  [[nodiscard]] std::uint32_t draw(double uniform, std::uint64_t bits) const;
  /// The shortest that may come.
  [[nodiscard]] std::uint32_t least() const;
};

[[nodiscard]] SizeTable parseSizeTable(const std::string& text);
/// "64", "64B" or "4KiB", at most 1 GiB. `needsUnit`: bare digits are no size.
[[nodiscard]] bool parseSize(const std::string& text, bool needsUnit, std::uint32_t& bytes);

}  // namespace hca::sim
