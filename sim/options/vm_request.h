// What the command line asks of guests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.h"
#include "sim/options/cosim_request.h"
#include "sim/time/sync.h"

namespace hca::options {

/// How QEMU executes a guest's instructions.
enum class Accelerator : std::uint8_t { kTcg, kKvm, kAuto };

/// The guests, one a host.
struct VmRequest {
  const config::Config& config;
  std::vector<CosimCommand> commands;      ///< at most one a host; none: a shell
  std::optional<std::uint32_t> shellHost;  ///< whose shell is on the terminal
  std::ostream& out;
  std::ostream& err;
  std::string image;                         ///< folder that tools/guest_image made; empty: the usual one
  std::string kernel{};                      ///< a file instead of the image's
  std::string initrd{};                      ///< likewise
  std::string append{};                      ///< to the kernel's command line
  std::string qemu = "qemu-system-x86_64";   ///< program
  std::vector<std::string> qemuArguments{};  ///< behind our own
  std::vector<std::pair<std::string, std::string>> files{};  ///< added to each guest: here, there
  std::string memory = "512M";                               ///< of each guest, as QEMU wants it
  std::uint32_t processors = 2;                              ///< likewise
  Accelerator accelerator = Accelerator::kTcg;
  sim::Sync sync{sim::Sync::Kind::kPaced, 1};
  std::chrono::milliseconds startDelay{};  ///< between commands; 0: until the one before listens
  std::chrono::milliseconds timeout{};     ///< for everything; 0: none
  bool showsKernelLog = false;
  std::string resultFile{};  ///< absolute; empty: none
  observers::ObserverFiles observerFiles{};
  std::string name{};  ///< by which hcasim drill finds the simulation; empty: not at all
};

using VmFunction = std::function<int(const VmRequest&)>;

}  // namespace hca::options
