// SystemC's own messages go to the log.
#pragma once

namespace hca::logging {

/// Sends every SC_REPORT to the logger "systemc", as information, warning or error. What SystemC does besides (an
/// error throws, a fatal one aborts) stays.
void redirectSystemcReports();

}  // namespace hca::logging
