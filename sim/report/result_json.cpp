#include "sim/report/result_json.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/report/json_time.h"

namespace hca::report {

namespace {

using Json = nlohmann::ordered_json;

Json nanoseconds(Time time) { return nanosecondsJson(time); }

double rounded(double value) {
  constexpr double kSixDecimals = 1e6;
  return std::round(value * kSixDecimals) / kSixDecimals;
}

template <class Item, class Convert>
Json arrayOf(const std::vector<Item>& items, Convert&& convert) {
  Json array = Json::array();
  for (const Item& item : items) array.push_back(convert(item));
  return array;
}

Json configJson(const ConfigText& config) {
  Json json = Json::object();
  for (const auto& [section, keys] : config) {
    Json& object = json[section] = Json::object();
    for (const auto& [key, value] : keys) object[key] = value;
  }
  return json;
}

Json latencyJson(const LatencySummary& latency) {
  if (latency.samples == 0) return nullptr;
  return {{"min", nanoseconds(latency.minimum)}, {"p50", nanoseconds(latency.p50)},
          {"p99", nanoseconds(latency.p99)},     {"p999", nanoseconds(latency.p999)},
          {"max", nanoseconds(latency.maximum)}, {"mean", nanoseconds(latency.mean)}};
}

Json stageJson(const StageResult& stage) {
  return {
      {"stage", stage.name},
      {"samples", stage.samples},
      {"since_posted_ns", nanoseconds(stage.sincePosted)},
      {"step_ns",
       {{"min", nanoseconds(stage.minimum)}, {"mean", nanoseconds(stage.mean)}, {"max", nanoseconds(stage.maximum)}}}};
}

Json clientJson(const FlowResult& client) {
  return {{"host", client.client.value()},
          {"iters", client.iterations},
          {"bytes", client.bytes},
          {"errors", client.errors},
          {"latency_ns", latencyJson(client.latency)},
          {"message_rate", rounded(client.messageRate)},
          {"throughput_gbps", rounded(client.throughput)}};
}

Json flowJson(const FlowResult& flow) {
  Json json{{"name", flow.name},
            {"iters", flow.iterations},
            {"bytes", flow.bytes},
            {"errors", flow.errors},
            {"latency_kind", name(flow.latencyKind)},
            {"latency_ns", latencyJson(flow.latency)},
            {"message_rate", rounded(flow.messageRate)},
            {"throughput_gbps", rounded(flow.throughput)},
            {"stages", arrayOf(flow.stages, stageJson)},
            {"bottleneck", flow.bottleneck}};
  if (flow.published) json["published_latency_ns"] = nanoseconds(*flow.published);
  if (!flow.clients.empty()) json["clients"] = arrayOf(flow.clients, clientJson);
  return json;
}

/// Names adapter and port where there is more than one.
void addPlace(Json& json, const std::optional<AdapterIndex>& adapter, const std::optional<std::uint32_t>& port = {}) {
  if (adapter) json["adapter"] = adapter->value();
  if (port) json["port"] = *port;
}

Json dmaJson(const DmaResult& dma) {
  Json json{{"name", dma.name}, {"host", dma.host.value()}};
  addPlace(json, dma.adapter);
  json["iters"] = dma.iterations;
  json["bytes"] = dma.bytes;
  json["errors"] = dma.errors;
  json["latency_ns"] = latencyJson(dma.latency);
  json["rate"] = rounded(dma.messageRate);
  json["throughput_gbps"] = rounded(dma.throughput);
  if (dma.published) json["published_latency_ns"] = nanoseconds(*dma.published);
  return json;
}

Json cacheJson(const CacheResult& cache) {
  Json json{{"host", cache.host.value()}};
  addPlace(json, cache.adapter);
  json["name"] = cache.name;
  json["hits"] = cache.hits;
  json["misses"] = cache.misses;
  json["evictions"] = cache.evictions;
  return json;
}

Json cqJson(const CqResult& cq) {
  Json json{{"host", cq.host.value()},
            {"adapter", cq.adapter.value()},
            {"cqn", cq.cq.value()},
            {"cqe", cq.cqe},
            {"cqe_size", cq.cqeSize},
            {"cqes_written", cq.cqesWritten},
            {"compressed_sessions", cq.compressedSessions},
            {"overruns", cq.overruns},
            {"lost", cq.lost},
            {"high_water", cq.highWater},
            {"arms", cq.arms},
            {"events", cq.events}};
  if (cq.resizes != 0) json["resizes"] = cq.resizes;
  return json;
}

Json vectorJson(const VectorResult& vector) {
  return {{"host", vector.host.value()},
          {"adapter", vector.adapter.value()},
          {"comp_vector", vector.completionVector ? Json(*vector.completionVector) : Json(nullptr)},
          {"msix", vector.vector.value()},
          {"interrupts", vector.interrupts}};
}

Json pcieJson(const PcieResult& link) {
  return {{"host", link.host.value()},
          {"adapter", link.adapter.value()},
          {"direction", name(link.direction)},
          {"tlps", link.tlps},
          {"bytes", link.bytes},
          {"utilisation", rounded(link.utilisation)}};
}

Json dropJson(const DropResult& drop) {
  Json json{{"host", drop.host.value()}};
  addPlace(json, drop.adapter, drop.port);
  json["reason"] = drop.reason;
  json["count"] = drop.count;
  return json;
}

Json faultJson(const FaultResult& fault) {
  Json json{{"host", fault.host.value()}};
  addPlace(json, fault.adapter, fault.port);
  json["direction"] = fault.fromSwitch ? "from_switch" : "from_host";
  json["lost"] = fault.lost;
  json["corrupted"] = fault.corrupted;
  json["duplicated"] = fault.duplicated;
  json["held"] = fault.held;
  return json;
}

Json switchPortJson(const SwitchPortResult& port) {
  Json json{{"host", port.host.value()}};
  addPlace(json, port.adapter, port.port);
  json["forwarded"] = port.forwarded;
  json["high_water_bytes"] = port.highWater;
  json["dropped"] = port.dropped;
  return json;
}

Json asyncJson(const AsyncEventResult& event) {
  return {{"host", event.host.value()}, {"adapter", event.adapter.value()}, {"time_ns", nanoseconds(event.time)},
          {"type", event.type},         {"object", event.object},           {"syndrome", event.syndrome}};
}

Json hazardJson(const HazardResult& hazard) {
  return {{"kind", hazard.kind},
          {"host", hazard.host.value()},
          {"adapter", hazard.adapter.value()},
          {"cqn", hazard.cq.value()},
          {"count", hazard.count},
          {"entries", hazard.entries},
          {"first_ns", nanoseconds(hazard.first)},
          {"last_ns", nanoseconds(hazard.last)}};
}

Json failureJson(const FailureResult& failure) {
  return {{"kind", failure.kind},
          {"host", failure.host.value()},
          {"adapter", failure.adapter.value()},
          {"cqn", failure.cq ? Json(failure.cq->value()) : Json(nullptr)},
          {"entries", failure.entries},
          {"since_ns", nanoseconds(failure.since)},
          {"software", failure.software},
          {"hardware", failure.hardware},
          {"message", failure.message}};
}

// "XRC SRQ" is xrc_srq.
std::string keyOf(const std::string& words) {
  std::string key = words;
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return c == ' ' ? '_' : static_cast<char>(std::tolower(c)); });
  return key;
}

Json countsJson(const NamedCounts& counts) {
  Json json = Json::object();
  for (const auto& [name, count] : counts) json[name] = count;
  return json;
}

Json leftJson(const LeftResult& left) {
  Json objects = Json::object();
  for (const auto& [name, count] : left.objects) objects[keyOf(name)] = count;
  return {{"generation", left.generation}, {"end", left.end}, {"objects", objects}, {"pages", left.pages}};
}

Json adapterJson(const AdapterResult& adapter) {
  Json objects = Json::object();
  for (const ObjectsResult& kind : adapter.objects) {
    objects[keyOf(kind.name)] = {
        {"live", kind.live}, {"created", kind.created}, {"destroyed", kind.destroyed}, {"most", kind.most}};
  }
  return {{"host", adapter.host.value()},
          {"adapter", adapter.adapter.value()},
          {"state", adapter.state},
          {"generations", adapter.generations},
          {"objects", objects},
          {"pages",
           {{"held", adapter.pages.held},
            {"most", adapter.pages.most},
            {"given", adapter.pages.given},
            {"taken", adapter.pages.taken},
            {"needed", adapter.pages.needed}}},
          {"left", arrayOf(adapter.left, leftJson)},
          {"commands", countsJson(adapter.commands)},
          {"statuses", countsJson(adapter.statuses)},
          {"rejections", countsJson(adapter.rejections)}};
}

Json drillJson(const DrillResult& drill) {
  return {{"name", drill.name},
          {"kind", drill.kind},
          {"host", drill.host.value()},
          {"adapter", drill.adapter.value()},
          {"at_ns", nanoseconds(drill.at)},
          {"done", drill.done},
          {"times", drill.times},
          {"effect", drill.effect},
          {"kernel_log", drill.kernelLog}};
}

Json warningJson(const GuestResult::Warning& warning) {
  return {{"level", warning.level},
          {"text", warning.text},
          {"driver_loaded", warning.isDrivers},
          {"simulated_ns", nanoseconds(warning.simulated)},
          {"guest_us", warning.guestMicroseconds}};
}

Json guestJson(const GuestResult& guest) {
  return {{"host", guest.host.value()},
          {"was_up", guest.wasUp},
          {"exit_status", guest.exitStatus ? Json(*guest.exitStatus) : Json(nullptr)},
          {"troubles", guest.troubles},
          {"kernel_warnings", arrayOf(guest.kernelWarnings, warningJson)}};
}

Json timingJson(const TimingResult& timing) {
  return {{"wall_seconds", rounded(timing.wallSeconds)},
          {"kernel_activations", timing.kernelActivations},
          {"calendar_entries", timing.calendarEntries}};
}

}  // namespace

const char* name(LatencyKind kind) {
  return kind == LatencyKind::kHalfRoundTrip ? "half_round_trip" : "post_to_completion";
}

const char* name(PcieResult::Direction direction) {
  return direction == PcieResult::Direction::kUpstream ? "upstream" : "downstream";
}

std::string toJson(const Result& result) {
  Json json{{"schema_version", Result::kSchemaVersion},
            {"name", result.name},
            {"config", configJson(result.config)},
            {"flows", arrayOf(result.flows, flowJson)},
            {"cqs", arrayOf(result.cqs, cqJson)},
            {"vectors", arrayOf(result.vectors, vectorJson)},
            {"pcie", arrayOf(result.pcie, pcieJson)},
            {"drops", arrayOf(result.drops, dropJson)},
            {"adapters", arrayOf(result.adapters, adapterJson)},
            {"async_events", arrayOf(result.asyncEvents, asyncJson)},
            {"hazards", arrayOf(result.hazards, hazardJson)},
            {"failures", arrayOf(result.failures, failureJson)},
            {"simulated_ns", nanoseconds(result.simulated)}};
  if (!result.faults.empty()) json["faults"] = arrayOf(result.faults, faultJson);
  if (!result.switchPorts.empty()) json["switch_ports"] = arrayOf(result.switchPorts, switchPortJson);
  if (!result.drills.empty()) json["drills"] = arrayOf(result.drills, drillJson);
  if (!result.dma.empty()) json["dma"] = arrayOf(result.dma, dmaJson);
  if (!result.caches.empty()) json["caches"] = arrayOf(result.caches, cacheJson);
  if (result.forcedAdvances) json["forced_advances"] = *result.forcedAdvances;
  if (!result.guests.empty()) json["guests"] = arrayOf(result.guests, guestJson);
  if (result.timing) json["timing"] = timingJson(*result.timing);
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace hca::report
