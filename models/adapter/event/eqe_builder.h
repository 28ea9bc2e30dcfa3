// The bytes of an event queue entry.
#pragma once

#include "models/adapter/event/event_port.h"
#include "models/wire/eqe.h"

namespace hca::adapter {

/// The entry of `event` with the owner bit `owner`. A completion event has the CQ number in `object`.
[[nodiscard]] wire::Eqe buildEqe(const EventRecord& event, bool owner);

}  // namespace hca::adapter
