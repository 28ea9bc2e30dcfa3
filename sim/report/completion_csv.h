// One line a completion, for spreadsheets.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "models/base/ids.h"
#include "models/base/units.h"

namespace hca::report {

struct CompletionRow {
  Time time;  ///< at which software took it out of the CQ
  std::string flow;
  HostIndex host;
  AdapterIndex adapter;
  CqNumber cq;
  QpNumber qp;
  std::uint64_t workRequestId = 0;  ///< wr_id
  const char* opcode = "";          ///< e.g. "WRITE"
  const char* status = "";          ///< e.g. "SUCCESS"
  std::uint32_t bytes = 0;
  Time posted;  ///< of the request; negative: not known (a receive)
};

/// Writes a header line, then rows as they come. Times are nanoseconds with three decimals.
class CompletionCsv {
 public:
  /// `namesAdapters`: with a column for them.
  explicit CompletionCsv(std::ostream& stream, bool namesAdapters = false);
  void add(const CompletionRow& row);

 private:
  std::ostream& stream_;
  bool namesAdapters_;
};

}  // namespace hca::report
