// A result with something in every field.
#pragma once

#include "sim/report/result.h"

namespace hca::report {

inline FlowResult exampleFlow() {
  FlowResult flow;
  flow.name = "write_64B";
  flow.iterations = 1000;
  flow.bytes = 64'000;
  flow.latencyKind = LatencyKind::kHalfRoundTrip;
  flow.latency = {1000, Time(901'125), Time(970'000), Time(980'000), Time(990'500), Time(1'000'001), Time(971'234)};
  flow.measured = Time(1'940'000'000);
  computeRates(flow);
  flow.stages = {{"doorbell_arrived", 1000, Time(150'000), Time(140'000), Time(150'000), Time(160'000)},
                 {"cqe_visible", 1000, Time(900'500), Time(700'000), Time(750'500), Time(800'000)}};
  flow.bottleneck = "cqe_visible";
  flow.published = Time(970'000);
  return flow;
}

inline Result exampleResult() {
  Result result;
  result.name = "example";
  result.config = {{"run", {{"name", "example"}, {"seed", "1"}}}, {"cpu", {{"arm", "20ns"}}}};
  result.flows = {exampleFlow()};
  CqResult cq;
  cq.host = HostIndex(1);
  cq.cq = CqNumber(0x81);
  cq.cqe = 127;
  cq.cqesWritten = 1000;
  cq.highWater = 3;
  cq.arms = 2;
  cq.events = 1;
  result.cqs = {cq};
  result.vectors = {{HostIndex(1), AdapterIndex(0), std::nullopt, InterruptVector(0), 4},
                    {HostIndex(1), AdapterIndex(0), 0, InterruptVector(1), 7}};
  result.pcie = {{HostIndex(0), AdapterIndex(0), PcieResult::Direction::kUpstream, 10, 880, 0.123456789}};
  result.drops = {{HostIndex(0), AdapterIndex(0), {}, "unknown destination", 2}};
  AdapterResult adapter;
  adapter.host = HostIndex(1);
  adapter.adapter = AdapterIndex(0);
  adapter.state = "disabled";
  adapter.generations = 3;
  adapter.objects = {{"XRC SRQ", 0, 7, 7, 2}};
  adapter.pages = {12, 320, 960, 948, 320};
  adapter.left = {{2, "TEARDOWN_HCA", true, {{"CQ", 2}, {"PD", 1}}, 0}};
  adapter.commands = {{"CREATE_CQ", 5}};
  adapter.statuses = {{"OK", 4}, {"BAD_PARAM_ERR", 1}};
  adapter.rejections = {{"slot busy", 1}};
  result.adapters = {adapter};
  result.asyncEvents = {{HostIndex(1), AdapterIndex(0), Time(5'000'500), "CQ_ERR", 0x81, 1}};
  result.hazards = {
      {"arm_after_entry", HostIndex(1), AdapterIndex(0), CqNumber(0x81), 3, 4, Time(1'000'000), Time(2'000'000)}};
  result.failures = {{"lost_wakeup", HostIndex(1), AdapterIndex(0), CqNumber(0x81), 1, Time(12'345'678),
                      "armed at 12.1 us", "wrote an entry at 12 us", "the thread sleeps for ever"}};
  result.simulated = Time(2'000'000'500);
  return result;
}

}  // namespace hca::report
