// How QEMU is called.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/options/vm_request.h"

namespace hca::vm {

/// A guest as QEMU sees it.
struct QemuGuest {
  std::uint32_t host = 0;
  std::string kernel, initrd;
  bool usesKvm = false;
  struct Port {
    std::string path;
    bool isServer = false;  ///< QEMU waits for somebody to connect, instead of connecting
  };
  std::array<Port, 4> ports;  ///< ttyS0, ... as Unix sockets
  std::string networkLocal, networkRemote;
  std::vector<std::string> functions;  ///< folders of the adapters' PCI functions
};

/// The words of its command line.
[[nodiscard]] std::vector<std::string> qemuCommand(const options::VmRequest& request, const QemuGuest& guest);

/// Throws std::runtime_error, which names the package, if there is no such program.
void requireQemu(const std::string& program);
/// Whether QEMU can run a guest's instructions by KVM here: it is tried with an empty machine.
[[nodiscard]] bool canUseKvm(const std::string& program);

}  // namespace hca::vm
