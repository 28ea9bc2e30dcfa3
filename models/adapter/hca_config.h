// The sections [adapter.BLOCK] of one adapter.
#pragma once

#include "models/adapter/command/command_config.h"
#include "models/adapter/completion/completion_config.h"
#include "models/adapter/device_config.h"
#include "models/adapter/event/event_config.h"
#include "models/adapter/memory/cache_config.h"
#include "models/adapter/memory/memory_config.h"
#include "models/adapter/transport/datapath_config.h"

namespace hca::adapter {

struct HcaConfig {
  CommandConfig command;
  CompletionConfig completion;
  EventConfig event;
  MemoryConfig memory;
  CacheConfig cache;
  DatapathConfig transport;
  DeviceConfig device;
};

}  // namespace hca::adapter
