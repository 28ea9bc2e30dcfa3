// Two hosts back to back, with threads of software on them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.h"
#include "sim/driver/thread_client.h"
#include "sim/system/system.h"

namespace hca::test {

/// The default configuration for two hosts, changed by `change` before it is applied to each.
inline config::Config twoHostConfig(const std::function<void(config::Config&)>& change = {}) {
  config::Config config;
  if (change) change(config);
  config.hosts.assign(config.host.count, config.allHosts);
  return config;
}

/// A system whose drivers are up. One a process.
class TwoHosts {
 public:
  explicit TwoHosts(const std::function<void(config::Config&)>& change = {})
      : config_(twoHostConfig(change)), system_(config_), problem_(system_.bringUp()) {}

  /// Empty if both adapters came up.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] sim::System& system() { return system_; }
  [[nodiscard]] kernel::Calendar& calendar() { return system_.calendar(); }
  [[nodiscard]] driver::KernelDriver& driver(std::size_t host) { return system_.host(host).adapter().driver(); }

  driver::ThreadClient& addThread(std::size_t host, std::size_t core = 0) {
    clients_.push_back(std::make_unique<driver::ThreadClient>(system_.host(host).adapter().environment(), driver(host),
                                                              config_.hosts[host].driver, system_.probes(), core,
                                                              "thread" + std::to_string(clients_.size())));
    return *clients_.back();
  }

  /// Runs until nothing is pending any more, or until `limit`.
  void run(Time limit = kForever) { system_.run(limit); }
  /// Runs for `span` more.
  void runFor(Time span) { system_.run(system_.calendar().now() + span); }

  /// Starts an asynchronous call and runs until it answered.
  template <class Answer, class Start>
  Answer await(Start&& start) {
    auto answer = std::make_shared<std::pair<bool, Answer>>();
    start([this, answer](const Answer& value) {
      *answer = {true, value};
      system_.stop();
    });
    if (!answer->first) system_.run();
    EXPECT_TRUE(answer->first) << "no answer";
    return answer->second;
  }

 private:
  config::Config config_;
  sim::System system_;
  std::string problem_;
  std::vector<std::unique_ptr<driver::ThreadClient>> clients_;
};

}  // namespace hca::test
