#include "sim/report/result.h"

#include "sim/report/latency_histogram.h"

namespace hca::report {

LatencySummary summarise(const LatencyHistogram& histogram) {
  if (histogram.empty()) return {};
  return {histogram.count(),         histogram.minimum(), histogram.percentile(500), histogram.percentile(990),
          histogram.percentile(999), histogram.maximum(), histogram.mean()};
}

namespace {

template <class Measured>
void computeRatesOf(Measured& result) {
  result.messageRate = 0;
  result.throughput = 0;
  if (result.measured <= Time()) return;
  const auto span = static_cast<double>(result.measured.count());
  result.messageRate = static_cast<double>(result.iterations) * 1e12 / span;
  // Bits a picosecond are terabits a second.
  result.throughput = static_cast<double>(result.bytes) * 8.0 * 1000.0 / span;
}

}  // namespace

void computeRates(FlowResult& flow) { computeRatesOf(flow); }
void computeRates(DmaResult& dma) { computeRatesOf(dma); }

}  // namespace hca::report
