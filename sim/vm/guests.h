// All guests of a run.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/cosim/output_prefixer.h"
#include "sim/options/vm_request.h"
#include "sim/vfio/function_simulation.h"
#include "sim/vm/ethernet_hub.h"
#include "sim/vm/guest.h"
#include "sim/vm/guest_image.h"
#include "sim/vm/terminal.h"

namespace hca::vm {

/// Boots them together, starts the commands when all are up, and ends them when the commands have ended. What still
/// runs is ended with this object.
class Guests final : public vfio::FunctionSimulation::Programs {
 public:
  using Clock = Guest::Clock;
  /// A guest that says nothing for so long before it is up has hung. Longer than the driver waits for a command.
  static constexpr std::chrono::seconds kSilence{150};

  /// Throws std::runtime_error if one can't be started.
  Guests(const options::VmRequest& request, const std::string& folder, vfio::FunctionSimulation& simulation);
  ~Guests();
  Guests(const Guests&) = delete;
  Guests& operator=(const Guests&) = delete;

  bool areOver() override;
  /// With which hcasim ends.
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Guest>>& all() const { return guests_; }

 private:
  void make(std::uint32_t host);
  void start(std::uint32_t host, vfio::FunctionSimulation& simulation, const GuestImage& image, bool usesKvm);
  [[nodiscard]] std::function<void(const std::string&)> outputOf(std::uint32_t host);
  void showKernelLine(std::uint32_t host, const KernelLine& line);

  bool isFailed();
  bool fail(Guest& guest, int status, const std::string& what);
  [[nodiscard]] bool isTimedOut();
  void stepTerminal();
  void startCommands();
  [[nodiscard]] bool mayStartNext();
  [[nodiscard]] bool areCommandsOver() const;
  void halt();
  bool areHalted();
  void endAll();

  const options::VmRequest& request_;
  std::string folder_;
  sim::DrillBench& drills_;
  std::function<Time()> simulated_;
  std::unique_ptr<Terminal> terminal_;
  std::unique_ptr<cosim::OutputPrefixer> prefixer_;
  std::vector<int> outputs_;  // of commands, into the prefixer
  EthernetHub hub_;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::size_t started_ = 0;  // commands
  Clock::time_point begin_ = Clock::now(), lastStart_{}, haltedAt_{};
  bool hasServer_ = false;  // one of the commands listened
  bool isHalting_ = false;
  int status_ = 0;
};

}  // namespace hca::vm
