// [adapter.command]
#pragma once

#include <cstdint>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::adapter {

/// The command interface. No figure of real adapters is public; the defaults only keep the order of the classes.
struct CommandConfig {
  Time bootTime = milliseconds(1);
  std::uint32_t bootPages = 64;
  std::uint32_t initPages = 256;
  Bytes maxMessage = Bytes((std::int64_t{4} << 20) + 4096);
  Time queryLatency = microseconds(2);
  Time objectLatency = microseconds(10);
  Time transitionLatency = microseconds(10);
  Time deviceLatency = microseconds(100);
  Time pageLatency = nanoseconds(10);
  Time healthPeriod = milliseconds(10);
  Time commandTimeout{};
  Time healthPoll = milliseconds(2000);

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    constexpr Time kLongest = milliseconds(100'000);
    key("boot_time", self.bootTime, range(Time(), kLongest), "From power-on or reset until commands are accepted");
    key("boot_pages", self.bootPages, range(0U, 1U << 20), "4 KiB host pages that the adapter needs to answer queries");
    key("init_pages", self.initPages, range(0U, 1U << 20), "Further 4 KiB host pages needed before INIT_HCA");
    key("max_message", self.maxMessage, range(Bytes(4096), Bytes(std::int64_t{64} << 20)),
        "Longest input or output of a command");
    key("query_latency", self.queryLatency, range(Time(), kLongest), "Execution of a query");
    key("object_latency", self.objectLatency, range(Time(), kLongest), "Execution of a create, destroy or modify");
    key("transition_latency", self.transitionLatency, range(Time(), kLongest), "Execution of a queue pair transition");
    key("device_latency", self.deviceLatency, range(Time(), kLongest), "Execution of enable, init, teardown, disable");
    key("page_latency", self.pageLatency, range(Time(), milliseconds(1)),
        "Further time for each 8 bytes of page list in a command's input");
    key("health_period", self.healthPeriod, range(microseconds(1), milliseconds(1000)),
        "Simulated time from step to step of the health counter");
    key("command_timeout", self.commandTimeout, range(Time(), milliseconds(600'000)),
        "What the adapter tells drivers to wait for the answer to a command, whole milliseconds; 0s: it tells none, "
        "and "
        "the stock driver waits 60 s");
    key("health_poll", self.healthPoll, range(milliseconds(1), milliseconds(600'000)),
        "What it tells drivers to wait between two looks at its health, if it tells any times (command_timeout)");
  }
};

}  // namespace hca::adapter
