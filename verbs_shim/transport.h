// One way to reach a simulation.
#pragma once

#include <stdint.h>

#include "verbs_shim/channel/message.h"

namespace hca::shim {

struct Transport {
  /// 0, or an errno after a complaint to the user.
  int (*connect)();
  uint32_t (*attachThread)(int threadId);
  void (*call)(uint32_t thread, const channel::Request& request, channel::Reply& reply);
  /// The process ends in good order.
  void (*end)();
  /// Before a fork, without signals: makes a place for the child, which then has what this process has open. False if
  /// there is none.
  bool (*prepareFork)();
  /// Behind a fork that was prepared; there may be no child.
  void (*forkedInParent)();
  /// Behind any fork: leaves the parent's place, for one of its own if one was made.
  void (*forkedInChild)();
};

extern const Transport inprocTransport;
extern const Transport sharedTransport;

}  // namespace hca::shim
