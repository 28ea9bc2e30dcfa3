#include "sim/report/result.h"

#include "sim/report/latency_histogram.h"

namespace hca::report {

LatencySummary summarise(const LatencyHistogram& histogram) {
  if (histogram.empty()) return {};
  return {histogram.count(),         histogram.minimum(), histogram.percentile(500), histogram.percentile(990),
          histogram.percentile(999), histogram.maximum(), histogram.mean()};
}

void computeRates(FlowResult& flow) {
  flow.messageRate = 0;
  flow.throughput = 0;
  if (flow.measured <= Time()) return;
  const auto span = static_cast<double>(flow.measured.count());
  flow.messageRate = static_cast<double>(flow.iterations) * 1e12 / span;
  flow.throughput = static_cast<double>(flow.bytes) * 8.0 * 1000.0 / span;  // bits a picosecond are terabits a second
}

}  // namespace hca::report
