// Two hosts, a program on the first, and drills.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "models/adapter/completion/cq_attributes.h"
#include "sim/drills/drill_bench.h"
#include "sim/driver/dma_memory.h"

namespace hca::sim::test {

class DrillTest : public testing::Test, protected driver::DriverClient {
 protected:
  DrillTest() {
    config_.host.count = 2;
    config_.hosts.resize(2);
  }
  DrillConfig& drill(DrillKind kind) {
    config_.drills.push_back({"d" + std::to_string(config_.drills.size()), {}});
    config_.drills.back().drill.kind = kind;
    return config_.drills.back().drill;
  }
  std::string start() {
    system_ = std::make_unique<System>(config_);
    bench_ = std::make_unique<DrillBench>(*system_, config_);
    const std::string problem = system_->bringUp();
    owner_ = role().addClient(*this, "program");
    return problem;
  }
  [[nodiscard]] driver::KernelDriver& role() { return system_->host(0).adapter().driver(); }
  [[nodiscard]] adapter::Hca& hca() { return system_->host(0).adapter().hca(); }
  [[nodiscard]] Time now() { return system_->calendar().now(); }
  void runFor(Time span) { system_->run(now() + span); }
  /// Lets everything happen that is going to.
  void settle() { system_->run(); }

  struct Ended {
    bool is = false;
    adapter::CommandResult result;
  };
  /// A command of the program's; its end goes into `ended_`.
  void allocatePd() {
    ended_ = {};
    role().allocatePd(owner_, [this](const driver::Answer<PdNumber>& answer) { ended_ = {true, answer.result}; });
  }
  std::vector<std::string> log(std::size_t number = 0) { return bench_->result(number).kernelLog; }

  void onCompletionEvent(CqNumber, host::Core&) override {}
  void onAsyncEvent(std::uint8_t type, std::uint8_t subType, std::uint32_t, std::uint8_t) override {
    types_.push_back(type);
    subTypes_.push_back(subType);
  }

  config::Config config_;
  std::unique_ptr<System> system_;
  std::unique_ptr<DrillBench> bench_;
  OwnerId owner_{};
  Ended ended_;
  std::vector<unsigned> types_, subTypes_;
};

}  // namespace hca::sim::test
