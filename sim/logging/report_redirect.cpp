#include "sim/logging/report_redirect.h"

#include <string>
#include <systemc>

#include "sim/logging/logging.h"

namespace hca::logging {

namespace {

spdlog::level::level_enum levelOf(sc_core::sc_severity severity) {
  switch (severity) {
    case sc_core::SC_INFO:
      return spdlog::level::info;
    case sc_core::SC_WARNING:
      return spdlog::level::warn;
    case sc_core::SC_ERROR:
      return spdlog::level::err;
    default:
      return spdlog::level::critical;
  }
}

void handle(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  const bool shown = (actions & (sc_core::SC_DISPLAY | sc_core::SC_LOG)) != 0;
  if (shown) logger("systemc")->log(levelOf(report.get_severity()), "{}: {}", report.get_msg_type(), report.get_msg());
  const sc_core::sc_actions rest = actions & ~static_cast<sc_core::sc_actions>(sc_core::SC_DISPLAY | sc_core::SC_LOG);
  sc_core::sc_report_handler::default_handler(report, rest);
}

}  // namespace

void redirectSystemcReports() { sc_core::sc_report_handler::set_handler(handle); }

}  // namespace hca::logging
