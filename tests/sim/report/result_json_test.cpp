#include "sim/report/result_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/sim/report/result_examples.h"

namespace hca::report {
namespace {

// Written out by hand: field names, their order and the form of the numbers are a contract with users' scripts.
constexpr const char* kExample = R"({
  "schema_version": 5,
  "name": "example",
  "config": {
    "run": {
      "name": "example",
      "seed": "1"
    },
    "cpu": {
      "arm": "20ns"
    }
  },
  "flows": [
    {
      "name": "write_64B",
      "iters": 1000,
      "bytes": 64000,
      "errors": 0,
      "latency_kind": "half_round_trip",
      "latency_ns": {
        "min": 901.125,
        "p50": 970,
        "p99": 980,
        "p999": 990.5,
        "max": 1000.001,
        "mean": 971.234
      },
      "message_rate": 515463.917526,
      "throughput_gbps": 0.263918,
      "stages": [
        {
          "stage": "doorbell_arrived",
          "samples": 1000,
          "since_posted_ns": 150,
          "step_ns": {
            "min": 140,
            "mean": 150,
            "max": 160
          }
        },
        {
          "stage": "cqe_visible",
          "samples": 1000,
          "since_posted_ns": 900.5,
          "step_ns": {
            "min": 700,
            "mean": 750.5,
            "max": 800
          }
        }
      ],
      "bottleneck": "cqe_visible",
      "published_latency_ns": 970
    }
  ],
  "cqs": [
    {
      "host": 1,
      "adapter": 0,
      "cqn": 129,
      "cqe": 127,
      "cqe_size": 64,
      "cqes_written": 1000,
      "compressed_sessions": 0,
      "overruns": 0,
      "lost": 0,
      "high_water": 3,
      "arms": 2,
      "events": 1
    }
  ],
  "vectors": [
    {
      "host": 1,
      "adapter": 0,
      "comp_vector": null,
      "msix": 0,
      "interrupts": 4
    },
    {
      "host": 1,
      "adapter": 0,
      "comp_vector": 0,
      "msix": 1,
      "interrupts": 7
    }
  ],
  "pcie": [
    {
      "host": 0,
      "adapter": 0,
      "direction": "upstream",
      "tlps": 10,
      "bytes": 880,
      "utilisation": 0.123457
    }
  ],
  "drops": [
    {
      "host": 0,
      "adapter": 0,
      "reason": "unknown destination",
      "count": 2
    }
  ],
  "adapters": [
    {
      "host": 1,
      "adapter": 0,
      "state": "disabled",
      "generations": 3,
      "objects": {
        "xrc_srq": {
          "live": 0,
          "created": 7,
          "destroyed": 7,
          "most": 2
        }
      },
      "pages": {
        "held": 12,
        "most": 320,
        "given": 960,
        "taken": 948,
        "needed": 320
      },
      "left": [
        {
          "generation": 2,
          "end": "TEARDOWN_HCA",
          "objects": {
            "cq": 2,
            "pd": 1
          },
          "pages": 0
        }
      ],
      "commands": {
        "CREATE_CQ": 5
      },
      "statuses": {
        "OK": 4,
        "BAD_PARAM_ERR": 1
      },
      "rejections": {
        "slot busy": 1
      }
    }
  ],
  "async_events": [
    {
      "host": 1,
      "adapter": 0,
      "time_ns": 5000.5,
      "type": "CQ_ERR",
      "object": 129,
      "syndrome": 1
    }
  ],
  "hazards": [
    {
      "kind": "arm_after_entry",
      "host": 1,
      "adapter": 0,
      "cqn": 129,
      "count": 3,
      "entries": 4,
      "first_ns": 1000,
      "last_ns": 2000
    }
  ],
  "failures": [
    {
      "kind": "lost_wakeup",
      "host": 1,
      "adapter": 0,
      "cqn": 129,
      "entries": 1,
      "since_ns": 12345.678,
      "software": "armed at 12.1 us",
      "hardware": "wrote an entry at 12 us",
      "message": "the thread sleeps for ever"
    }
  ],
  "simulated_ns": 2000000.5
}
)";

TEST(ResultJson, HasTheDocumentedForm) { EXPECT_EQ(toJson(exampleResult()), kExample); }

TEST(ResultJson, AnEmptyResultHasAllLists) {
  const auto json = nlohmann::json::parse(toJson(Result()));
  for (const char* list :
       {"flows", "cqs", "vectors", "pcie", "drops", "adapters", "async_events", "hazards", "failures"}) {
    EXPECT_TRUE(json.at(list).is_array()) << list;
  }
  EXPECT_EQ(json.at("simulated_ns"), 0);
  EXPECT_FALSE(json.contains("timing"));
}

TEST(ResultJson, AccessesOfADeviceAndCachesAreThereIfThereAreAny) {
  Result result;
  EXPECT_FALSE(nlohmann::json::parse(toJson(result)).contains("dma"));
  EXPECT_FALSE(nlohmann::json::parse(toJson(result)).contains("caches"));
  DmaResult& dma = result.dma.emplace_back();
  dma.name = "read";
  dma.iterations = 1000;
  dma.bytes = 64'000;
  dma.measured = microseconds(100);
  dma.latency.samples = 1000;
  dma.latency.p50 = nanoseconds(560);
  computeRates(dma);
  result.caches.push_back({HostIndex(1), {}, "iotlb", 7, 3, 2});
  const auto json = nlohmann::json::parse(toJson(result));
  EXPECT_EQ(json.at("dma").at(0).at("rate"), 10e6);
  EXPECT_EQ(json.at("dma").at(0).at("throughput_gbps"), 5.12);
  EXPECT_EQ(json.at("dma").at(0).at("latency_ns").at("p50"), 560);
  EXPECT_EQ(json.at("caches"), nlohmann::json::parse(R"([
    {"host": 1, "name": "iotlb", "hits": 7, "misses": 3, "evictions": 2}])"));
}

TEST(ResultJson, FaultsPortsAndResizesAreThereIfThereAreAny) {
  Result result;
  result.cqs.emplace_back();
  auto json = nlohmann::json::parse(toJson(result));
  EXPECT_FALSE(json.contains("faults") || json.contains("switch_ports") || json["cqs"][0].contains("resizes"));
  result.cqs[0].resizes = 2;
  result.faults.push_back({HostIndex(1), {}, {}, true, 1, 2, 3, 4});
  result.switchPorts.push_back({HostIndex(1), {}, {}, 100, 4096, 5});
  json = nlohmann::json::parse(toJson(result));
  EXPECT_EQ(json["cqs"][0]["resizes"], 2);
  EXPECT_EQ(json.at("faults"), nlohmann::json::parse(R"([
    {"host": 1, "direction": "from_switch", "lost": 1, "corrupted": 2, "duplicated": 3, "held": 4}])"));
  EXPECT_EQ(json.at("switch_ports"), nlohmann::json::parse(R"([
    {"host": 1, "forwarded": 100, "high_water_bytes": 4096, "dropped": 5}])"));
}

TEST(ResultJson, AdaptersAndPortsAreNamedWhereThereAreSeveral) {
  Result result;
  result.dma.emplace_back().adapter = AdapterIndex(1);
  result.caches.push_back({HostIndex(1), AdapterIndex(2), "qp_context", 7, 3, 2});
  result.drops.push_back({HostIndex(1), AdapterIndex(0), 2, "packet_lost", 3});
  result.faults.push_back({HostIndex(1), AdapterIndex(1), 2, false, 1, 2, 3, 4});
  result.switchPorts.push_back({HostIndex(1), {}, 2, 100, 4096, 5});
  const auto json = nlohmann::json::parse(toJson(result));
  EXPECT_EQ(json["dma"][0]["adapter"], 1);
  EXPECT_EQ(json["caches"][0]["adapter"], 2);
  EXPECT_EQ(json["drops"], nlohmann::json::parse(R"([
    {"host": 1, "adapter": 0, "port": 2, "reason": "packet_lost", "count": 3}])"));
  EXPECT_EQ(json["faults"][0]["adapter"], 1);
  EXPECT_EQ(json["faults"][0]["port"], 2);
  EXPECT_EQ(json["switch_ports"][0]["port"], 2);
  EXPECT_FALSE(json["switch_ports"][0].contains("adapter"));
}

TEST(ResultJson, AFlowWithoutSamplesHasNoLatency) {
  Result result;
  result.flows.emplace_back();
  const auto json = nlohmann::json::parse(toJson(result));
  EXPECT_TRUE(json["flows"][0]["latency_ns"].is_null());
  EXPECT_FALSE(json["flows"][0].contains("published_latency_ns"));
}

TEST(ResultJson, TimingIsThereOnlyWhenAskedFor) {
  Result result;
  result.timing = TimingResult{1.5, 10, 20};
  const auto json = nlohmann::json::parse(toJson(result));
  EXPECT_EQ(json["timing"]["wall_seconds"], 1.5);
  EXPECT_EQ(json["timing"]["kernel_activations"], 10);
  EXPECT_EQ(json["timing"]["calendar_entries"], 20);
}

TEST(ResultJson, TimesKeepEveryPicosecond) {
  for (const std::int64_t ps : {std::int64_t{1}, std::int64_t{999}, std::int64_t{123'456'789'012'345}}) {
    Result result;
    result.simulated = Time(ps);
    const double nanoseconds = nlohmann::json::parse(toJson(result))["simulated_ns"];
    EXPECT_EQ(std::llround(nanoseconds * 1000), ps);
  }
}

TEST(ResultJson, TakesTextThatIsNoUtf8) {
  Result result;
  result.name = "\xFF";
  EXPECT_NO_THROW((void)toJson(result));
}

TEST(ComputeRates, FollowsFromIterationsBytesAndTime) {
  FlowResult flow;
  flow.iterations = 1'000'000;
  flow.bytes = 4'096'000'000;
  flow.measured = milliseconds(1000);
  computeRates(flow);
  EXPECT_DOUBLE_EQ(flow.messageRate, 1e6);
  EXPECT_DOUBLE_EQ(flow.throughput, 32.768);
  flow.measured = Time();
  computeRates(flow);
  EXPECT_EQ(flow.messageRate, 0);
  EXPECT_EQ(flow.throughput, 0);
}

TEST(ResultJson, ClientsOfAFlowStandInIt) {
  Result result = exampleResult();
  FlowResult client = exampleFlow();
  client.client = HostIndex(3);
  client.errors = 2;
  result.flows[0].clients = {exampleFlow(), client};
  const auto json = nlohmann::ordered_json::parse(toJson(result));
  const auto& clients = json.at("flows")[0].at("clients");
  ASSERT_EQ(clients.size(), 2U);
  EXPECT_EQ(clients[1].dump(),
            R"({"host":3,"iters":1000,"bytes":64000,"errors":2,)"
            R"("latency_ns":{"min":901.125,"p50":970,"p99":980,"p999":990.5,"max":1000.001,"mean":971.234},)"
            R"("message_rate":515463.917526,"throughput_gbps":0.263918})");
  EXPECT_FALSE(nlohmann::ordered_json::parse(toJson(exampleResult())).at("flows")[0].contains("clients"));
}

}  // namespace
}  // namespace hca::report
