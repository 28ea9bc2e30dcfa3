#include "sim/report/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/logging/time_text.h"
#include "sim/report/result_json.h"
#include "sim/report/text_table.h"

namespace hca::report {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kNameWidth = 18;

// Three decimals where they matter, never more than six characters below a second.
std::string microseconds(Time time) {
  const double value = static_cast<double>(time.count()) / 1e6;
  const int decimals = value < 99.9995 ? 3 : value < 999.995 ? 2 : value < 9999.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string sizeText(double bytes) {
  if (bytes < 10e3) return fmt::format("{:.4g} B", bytes);
  if (bytes < 10e6) return fmt::format("{:.4g} kB", bytes / 1e3);
  if (bytes < 10e9) return fmt::format("{:.4g} MB", bytes / 1e6);
  return fmt::format("{:.4g} GB", bytes / 1e9);
}

// Whether a host has more than one adapter: each has two lines of PCIe figures, whatever it did.
bool hasSeveralAdapters(const Result& result) {
  return std::any_of(result.pcie.begin(), result.pcie.end(),
                     [](const PcieResult& link) { return link.adapter.value() > 0; });
}

std::string hostTitle(const Result& result) { return hasSeveralAdapters(result) ? "host.adapter" : "host"; }

// "1", or with several adapters "1.0".
std::string hostCell(const Result& result, HostIndex host, std::optional<AdapterIndex> adapter) {
  const std::string text = std::to_string(host.value());
  return hasSeveralAdapters(result) && adapter ? text + '.' + std::to_string(adapter->value()) : text;
}

// "host 1", or "host 1, adapter 0, port 2" as far as there are several.
std::string placeText(const Result& result, HostIndex host, AdapterIndex adapter,
                      std::optional<std::uint32_t> port = {}) {
  std::string text = fmt::format("host {}", host.value());
  if (hasSeveralAdapters(result)) text += fmt::format(", adapter {}", adapter.value());
  if (port) text += fmt::format(", port {}", *port);
  return text;
}

std::string heading(const Result& result) {
  const std::string name = result.name.empty() ? std::string("Run") : result.name;
  return wrapped(fmt::format("{}: {} simulated", name, result.simulated), 2, kWidth) + '\n';
}

void addFlowRow(TextTable& table, const std::string& name, const FlowResult& flow) {
  const LatencySummary& latency = flow.latency;
  const double size = flow.iterations == 0 ? 0 : static_cast<double>(flow.bytes) / static_cast<double>(flow.iterations);
  const auto cell = [&](Time time) { return latency.samples == 0 ? std::string("-") : microseconds(time); };
  table.add({clipped(name, kNameWidth), std::to_string(flow.iterations), flow.iterations == 0 ? "-" : sizeText(size),
             cell(latency.minimum), cell(latency.p50), cell(latency.p99), cell(latency.p999), cell(latency.maximum),
             fmt::format("{:.3f}", flow.messageRate / 1e6), fmt::format("{:.3f}", flow.throughput)});
}

std::string flowTable(const Result& result) {
  TextTable table({"flow", "iters", "size", "min us", "p50 us", "p99 us", "p99.9 us", "max us", "Mmsg/s", "Gb/s"});
  constexpr std::size_t kMostClients = 16;
  for (const FlowResult& flow : result.flows) {
    addFlowRow(table, flow.name, flow);
    for (std::size_t i = 0; i < std::min(flow.clients.size(), kMostClients); ++i) {
      addFlowRow(table, fmt::format("  from host {}", flow.clients[i].client.value()), flow.clients[i]);
    }
    if (flow.clients.size() > kMostClients) {
      table.add({fmt::format("  {} more", flow.clients.size() - kMostClients), "", "", "", "", "", "", "", "", ""});
    }
  }
  return '\n' + table.text();
}

std::string dmaTable(const Result& result) {
  if (result.dma.empty()) return {};
  TextTable table({"dma", "accesses", "size", "min ns", "p50 ns", "p99 ns", "max ns", "M/s", "Gb/s"});
  const auto cell = [](Time time) { return fmt::format("{:.1f}", static_cast<double>(time.count()) / 1e3); };
  for (const DmaResult& dma : result.dma) {
    const auto size = dma.iterations == 0 ? 0 : dma.bytes / dma.iterations;
    table.add({clipped(dma.name, kNameWidth), std::to_string(dma.iterations), sizeText(static_cast<double>(size)),
               cell(dma.latency.minimum), cell(dma.latency.p50), cell(dma.latency.p99), cell(dma.latency.maximum),
               fmt::format("{:.3f}", dma.messageRate / 1e6), fmt::format("{:.3f}", dma.throughput)});
  }
  return '\n' + table.text();
}

std::string cacheTable(const Result& result) {
  if (result.caches.empty()) return {};
  TextTable table({hostTitle(result), "cache", "hits", "misses", "evictions", "miss rate"});
  for (const CacheResult& cache : result.caches) {
    const std::uint64_t accesses = cache.hits + cache.misses;
    const double share = accesses == 0 ? 0 : static_cast<double>(cache.misses) / static_cast<double>(accesses);
    table.add({hostCell(result, cache.host, cache.adapter), cache.name, std::to_string(cache.hits),
               std::to_string(cache.misses), std::to_string(cache.evictions), fmt::format("{:.1f} %", share * 100)});
  }
  return '\n' + table.text();
}

std::string latencyNote(const Result& result) {
  const auto isHalf = [](const FlowResult& flow) { return flow.latencyKind == LatencyKind::kHalfRoundTrip; };
  const auto halves = std::count_if(result.flows.begin(), result.flows.end(), isHalf);
  if (halves == 0) return "latency: from the post call to the completion seen by software\n";
  if (halves == static_cast<std::ptrdiff_t>(result.flows.size())) return "latency: half of the round trip\n";
  return "latency: half of the round trip for ping-pong flows, else from the post call to the completion seen\n";
}

std::string bottleneckTable(const Result& result) {
  TextTable table({"flow", "errors", "bottleneck", "its mean step", "of the mean life"});
  for (const FlowResult& flow : result.flows) {
    const auto isIt = [&](const StageResult& stage) { return stage.name == flow.bottleneck; };
    const auto stage = std::find_if(flow.stages.begin(), flow.stages.end(), isIt);
    const bool known = stage != flow.stages.end();
    const auto longest = [](const StageResult& a, const StageResult& b) { return a.sincePosted < b.sincePosted; };
    const auto last = std::max_element(flow.stages.begin(), flow.stages.end(), longest);
    table.add({clipped(flow.name, kNameWidth), std::to_string(flow.errors),
               flow.bottleneck.empty() ? std::string("-") : flow.bottleneck, known ? timeText(stage->mean) : "-",
               known ? timeText(last->sincePosted) : "-"});
  }
  return '\n' + table.text();
}

std::string publishedTable(const Result& result) {
  TextTable table({"flow", "simulated us", "published us", "difference"});
  bool any = false;
  const auto addRow = [&](const auto& measured) {
    if (!measured.published || measured.latency.samples == 0) return;
    any = true;
    const auto published = static_cast<double>(measured.published->count());
    const double off = (static_cast<double>(measured.latency.p50.count()) - published) / published * 100;
    table.add({clipped(measured.name, kNameWidth), microseconds(measured.latency.p50),
               microseconds(*measured.published), fmt::format("{:+.1f} %", off)});
  };
  for (const FlowResult& flow : result.flows) addRow(flow);
  for (const DmaResult& dma : result.dma) addRow(dma);
  return any ? "\nMedian beside the figure that was measured on real hardware:\n" + table.text() : std::string();
}

std::string cqTable(const Result& result) {
  constexpr std::size_t kMostRows = 12;
  TextTable table({hostTitle(result), "CQ", "depth", "CQEs", "high water", "arms", "events", "overruns", "lost"});
  std::size_t rows = 0;
  for (const CqResult& cq : result.cqs) {
    if (cq.arms + cq.events + cq.overruns + cq.lost == 0 || ++rows > kMostRows) continue;
    table.add({hostCell(result, cq.host, cq.adapter), fmt::format("{:#x}", cq.cq.value()), std::to_string(cq.cqe),
               std::to_string(cq.cqesWritten), std::to_string(cq.highWater), std::to_string(cq.arms),
               std::to_string(cq.events), std::to_string(cq.overruns), std::to_string(cq.lost)});
  }
  if (rows == 0) return {};
  std::string text = "\n" + table.text();
  if (rows > kMostRows) text += fmt::format("... and {} more (--json has all)\n", rows - kMostRows);
  return text;
}

std::string pcieTable(const Result& result) {
  if (result.pcie.empty()) return {};
  TextTable table({hostTitle(result), "PCIe", "TLPs", "bytes", "utilisation"});
  for (const PcieResult& link : result.pcie) {
    table.add({hostCell(result, link.host, link.adapter), name(link.direction), std::to_string(link.tlps),
               sizeText(static_cast<double>(link.bytes)), fmt::format("{:.1f} %", link.utilisation * 100)});
  }
  return '\n' + table.text();
}

std::string paragraph(const std::string& text) { return wrapped(text, 2, kWidth) + '\n'; }

std::string dropLines(const Result& result) {
  std::string text;
  for (const DropResult& drop : result.drops) {
    if (drop.count == 0) continue;
    text += paragraph(fmt::format("dropped: {}: {} x {}", placeText(result, drop.host, drop.adapter, drop.port),
                                  drop.count, drop.reason));
  }
  for (const AsyncEventResult& event : result.asyncEvents) {
    text += paragraph(fmt::format("asynchronous event: {}: {} of object {:#x} at {} us",
                                  placeText(result, event.host, event.adapter), event.type, event.object,
                                  microsecondsText(event.time)));
  }
  return text.empty() ? text : '\n' + text;
}

}  // namespace

std::string drillText(const DrillResult& drill) {
  std::string text =
      fmt::format("drill {} ({}), host {}: {}", drill.name, drill.kind, drill.host.value(), drill.effect);
  if (drill.done) text += fmt::format(", at {} us", microsecondsText(drill.at));
  if (drill.times > 1) text += fmt::format(", and {} times more", drill.times - 1);
  text = paragraph(text);
  for (const std::string& line : drill.kernelLog) text += "  driver: " + wrapped(line, 10, kWidth - 10) + '\n';
  return text;
}

std::string hazardLines(const Result& result) {
  std::string text;
  for (const HazardResult& hazard : result.hazards) {
    if (hazard.kind != "arm_after_entry") continue;  // a lost wake-up is told as a failure
    text += paragraph(fmt::format(
        "notification hazard: {}, CQ {:#x}: {} times an event came for entries ({} in all) that were visible "
        "before the arm reached the adapter, first at {} us, last at {} us. The adapter's arm rule allows that, the "
        "InfiniBand specification doesn't promise it. Poll once more after arming; --strict-notify makes the loss "
        "real.",
        placeText(result, hazard.host, hazard.adapter), hazard.cq.value(), hazard.count, hazard.entries,
        microsecondsText(hazard.first), microsecondsText(hazard.last)));
  }
  return text.empty() ? text : '\n' + text;
}

std::string leftLines(const Result& result) {
  std::string text;
  const auto add = [&](const AdapterResult& adapter, const NamedCounts& objects, std::uint64_t pages,
                       const std::string& when) {
    std::string what;
    for (const auto& [name, count] : objects) what += fmt::format("{}{} {}", what.empty() ? "" : ", ", count, name);
    if (pages != 0) what += fmt::format("{}{} pages", what.empty() ? "" : "; ", pages);
    text += paragraph(
        fmt::format("left in the adapter: {} ({}, {})", what, placeText(result, adapter.host, adapter.adapter), when));
  };
  for (const AdapterResult& adapter : result.adapters) {
    for (const LeftResult& left : adapter.left) {
      if (!left.isTeardown) continue;
      add(adapter, left.objects, left.pages, fmt::format("at {} of bring-up {}", left.end, left.generation));
    }
    const bool isInUse = adapter.state == "initialized";
    if (!isInUse && adapter.pages.held != 0) add(adapter, {}, adapter.pages.held, "at the end");
  }
  return text.empty() ? text : '\n' + text;
}

namespace {

std::string drillLines(const Result& result) {
  std::string text;
  for (const DrillResult& drill : result.drills) text += drillText(drill);
  return text.empty() ? text : '\n' + text;
}

std::string failureLines(const Result& result) {
  std::string text;
  for (const FailureResult& failure : result.failures) {
    text += '\n' + paragraph(fmt::format("FAILED, {}: {}", failure.kind, failure.message));
    if (!failure.software.empty()) text += "  software last: " + wrapped(failure.software, 17, kWidth - 17) + '\n';
    if (!failure.hardware.empty()) text += "  adapter last:  " + wrapped(failure.hardware, 17, kWidth - 17) + '\n';
  }
  return text;
}

std::string timingLine(const Result& result) {
  if (!result.timing) return {};
  return fmt::format("\n{:.3f} s of wall time, {} kernel activations, {} calendar entries\n",
                     result.timing->wallSeconds, result.timing->kernelActivations, result.timing->calendarEntries);
}

}  // namespace

std::string toTable(const Result& result) {
  std::string text = heading(result);
  if (!result.flows.empty()) text += flowTable(result) + latencyNote(result) + bottleneckTable(result);
  return text + dmaTable(result) + publishedTable(result) + cacheTable(result) + cqTable(result) + pcieTable(result) +
         dropLines(result) + drillLines(result) + leftLines(result) + hazardLines(result) + failureLines(result) +
         timingLine(result);
}

}  // namespace hca::report
