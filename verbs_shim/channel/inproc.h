// How a program and a simulation in its own process find each other.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "verbs_shim/channel/message.h"

namespace hca::channel {

/// What the simulation needs of the program.
struct InprocParameters {
  uint32_t version;    ///< kProtocolVersion
  uint32_t host;       ///< which host of the configuration the program runs on
  const char* config;  ///< file with the whole configuration
  /// Copies memory that may not be mapped: 0, or not 0 if any byte could not be accessed.
  int (*guardedCopy)(void* to, const void* from, size_t length);
  /// Tells that the calling thread belongs to the simulation: it sees real time and its calls are its own.
  void (*adoptThread)();
  /// Whether a signal came for the calling thread: its wait for an event is to end.
  int (*isInterrupted)();
};

/// What the program may then call, from any of its threads, with signals blocked.
struct InprocSimulation {
  void* self;
  uint32_t (*attachThread)(void* self, int threadId);
  void (*call)(void* self, uint32_t thread, const Request* request, Reply* reply);
  void (*end)(void* self);
};

/// 0, or not 0 after `problem` was filled.
using InprocStart = int (*)(const InprocParameters* parameters, InprocSimulation* simulation, char* problem,
                            size_t problemSize);
constexpr const char* kInprocStartSymbol = "hcasim_inproc_start";

}  // namespace hca::channel
