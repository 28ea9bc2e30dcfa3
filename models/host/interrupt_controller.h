// Turns MSI-X messages into calls of whoever handles the interrupt.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/host/interrupt_port.h"
#include "models/kernel/calendar.h"
#include "models/kernel/inbox.h"
#include "models/observe/probes.h"
#include "models/pcie/pci_function.h"

namespace hca::host {

/// What software writes into an MSI-X table entry.
struct MsiMessage {
  BusAddress address;
  std::uint32_t data = 0;
};

/// The interrupt controller of one host. Software allocates a message for each vector it uses and programs the
/// adapter's MSI-X table with it; a message that arrives is delivered to its sink after the delivery latency.
///
/// As in an x86 local APIC each vector has one request bit: a message that arrives while the previous one of the same
/// vector is on its way to the core merges with it, since the handler will run after both.
class InterruptController final : public InterruptPort {
 public:
  /// Messages go to this page of the local APIC's address range; the data word tells them apart.
  static constexpr std::uint64_t kMessageAddress = 0xFEE0'0000;

  InterruptController(kernel::Calendar& calendar, observe::Probes& probes, HostIndex host, Time deliveryLatency);

  /// A message that delivers `vector` of `adapter` to `sink`. The pair of address and data is unique on this host.
  MsiMessage allocate(pcie::InterruptSink& sink, InterruptVector vector, AdapterIndex adapter = AdapterIndex(0));
  /// Forgets every message of `sink`; those under way are dropped and counted as unknown.
  void release(const pcie::InterruptSink& sink);

  void onMessage(BusAddress address, std::uint32_t data) override;

  /// Interrupts delivered for `message` so far; 0 for an unknown one.
  [[nodiscard]] std::uint64_t delivered(const MsiMessage& message) const;
  /// Messages that merged with an earlier one that was not delivered yet.
  [[nodiscard]] std::uint64_t merged() const { return merged_; }
  /// Messages that nobody allocated; dropped.
  [[nodiscard]] std::uint64_t unknown() const { return unknown_; }

 private:
  struct Entry {
    pcie::InterruptSink* sink = nullptr;  // nullptr: free
    InterruptVector vector;
    AdapterIndex adapter;
    bool requested = false;  // on its way to the core
    std::uint64_t delivered = 0;
  };
  struct Request {
    std::uint32_t entry = 0;
  };
  void deliver(Request& request);
  [[nodiscard]] const Entry* find(BusAddress address, std::uint32_t data) const;

  kernel::Calendar& calendar_;
  observe::Probes& probes_;
  HostIndex host_;
  Time deliveryLatency_;
  std::vector<Entry> entries_;  // by data word; freed ones are not reused, so that a late message finds nobody
  kernel::Inbox<InterruptController, Request> requests_;
  std::uint64_t merged_ = 0;
  std::uint64_t unknown_ = 0;
};

}  // namespace hca::host
