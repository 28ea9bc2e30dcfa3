#include "sim/logging/report_redirect.h"

#include <gtest/gtest.h>

#include <sstream>
#include <systemc>

#include "sim/logging/logging.h"

namespace hca::logging {
namespace {

TEST(ReportRedirect, SendsSystemcReportsToTheLog) {
  std::ostringstream stream;
  configure(stream, spdlog::level::info);
  redirectSystemcReports();
  SC_REPORT_INFO("test", "some news");
  SC_REPORT_WARNING("test", "take care");
  EXPECT_THROW(SC_REPORT_ERROR("test", "too bad"), sc_core::sc_report);
  EXPECT_EQ(stream.str(),
            "- [systemc] info: test: some news\n- [systemc] warning: test: take care\n"
            "- [systemc] error: test: too bad\n");
}

}  // namespace
}  // namespace hca::logging
