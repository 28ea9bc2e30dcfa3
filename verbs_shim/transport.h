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
};

extern const Transport inprocTransport;
extern const Transport sharedTransport;

}  // namespace hca::shim
