// Stages as words.
#pragma once

#include "models/observe/events.h"

namespace hca::observers {

/// "posted", "doorbell_arrived", ...
[[nodiscard]] const char* name(observe::Stage stage);

}  // namespace hca::observers
