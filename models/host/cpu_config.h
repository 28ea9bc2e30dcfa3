// Section [cpu]: what software costs.
#pragma once

#include <cstdint>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::host {

/// Costs of the data path's calls and of the kernel's part, in time of one core. The defaults are of the order that
/// user-level drivers need on a server core of about 3 GHz; profiles fit them.
struct CpuConfig {
  std::int64_t cores = 8;
  Hertz clock{3'000'000'000};

  // Posting: building a WQE in cached memory.
  Time postCall = nanoseconds(20);
  Time postPerWqe = nanoseconds(30);
  Time postPerSge = nanoseconds(4);
  Time postPerInlineByte = picoseconds(60);  // a copy within the first-level cache, about 16 B/ns

  // Register writes.
  Time doorbell = nanoseconds(40);
  Time writeCombining = nanoseconds(25);

  // Completion queues.
  Time pollCompletion = nanoseconds(25);
  Time pollEmpty = nanoseconds(10);
  Time arm = nanoseconds(20);
  Time getEvent = nanoseconds(300);
  Time ackEvent = nanoseconds(10);

  // The kernel's part.
  Time interruptDelivery = nanoseconds(200);
  Time interruptEntry = nanoseconds(1000);
  Time eqeHandling = nanoseconds(100);
  Time wakeUpSameCore = microseconds(4);
  Time wakeUpOtherCore = microseconds(6);
  Time command = microseconds(5);

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    constexpr auto kCost = range(Time(0), milliseconds(1));
    key("cores", self.cores, range<std::int64_t>(1, 1024), "Cores of the host; threads are dealt to them in turn");
    key("clock", self.clock, range(Hertz(1'000'000), Hertz(100'000'000'000)),
        "Core clock, for figures given in CPU cycles; costs are times and don't follow it");
    key("post_call", self.postCall, kCost, "One post call, whatever the length of its list");
    key("post_per_wqe", self.postPerWqe, kCost, "Building one work queue entry, without its scatter/gather entries");
    key("post_per_sge", self.postPerSge, kCost, "Each scatter/gather entry of a work queue entry");
    key("post_per_inline_byte", self.postPerInlineByte, kCost, "Each byte that is copied inline into the entry");
    key("doorbell", self.doorbell, kCost, "An 8-byte register write, its store barrier included");
    key("write_combining", self.writeCombining, kCost,
        "Each 64 bytes copied to a write-combining register (BlueFlame)");
    key("poll_completion", self.pollCompletion, kCost, "Each completion that a poll finds");
    key("poll_empty", self.pollEmpty, range(picoseconds(1), milliseconds(1)), "A poll that finds nothing");
    key("arm", self.arm, kCost, "An arm call without its register write");
    key("get_event", self.getEvent, kCost, "Taking one event from a completion channel, the system call included");
    key("ack_event", self.ackEvent, kCost, "Acknowledging events of one completion queue");
    key("interrupt_delivery", self.interruptDelivery, kCost, "From the message at the root complex to the core");
    key("interrupt_entry", self.interruptEntry, kCost, "Interrupt entry and exit around the handler");
    key("eqe_handling", self.eqeHandling, kCost, "Each event queue entry that the handler takes");
    key("wake_up_same_core", self.wakeUpSameCore, range(Time(0), milliseconds(100)),
        "From the handler to the running thread, if it slept on the core that took the interrupt");
    key("wake_up_other_core", self.wakeUpOtherCore, range(Time(0), milliseconds(100)),
        "The same for a thread of another core: an inter-processor interrupt more");
    key("command", self.command, range(Time(0), milliseconds(100)),
        "The driver's own work around one command of the command interface");
  }
};

}  // namespace hca::host
