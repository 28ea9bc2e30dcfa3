#include "sim/observers/async_observer.h"

#include <fmt/format.h>

namespace hca::observers {

AsyncObserver::AsyncObserver(observe::Probes& probes) {
  probes.async.attach([this](const observe::AsyncEvent& event) {
    if (results_.size() == kMost) return;
    results_.push_back(
        {event.host, event.adapter, event.time, eventTypeName(event.type), event.object, event.syndrome});
  });
}

std::string eventTypeName(std::uint8_t type) {
  struct Named {
    std::uint8_t type;
    const char* name;
  };
  constexpr Named kNames[] = {{0x00, "COMPLETION"},       {0x01, "PATH_MIG"},     {0x02, "COMM_EST"},
                              {0x03, "SQ_DRAINED"},       {0x04, "CQ_ERR"},       {0x05, "QP_FATAL"},
                              {0x07, "PATH_MIG_ERR"},     {0x08, "DEVICE_FATAL"}, {0x09, "PORT_CHANGE"},
                              {0x0A, "COMMAND"},          {0x0B, "PAGE_REQUEST"}, {0x10, "QP_REQ_ERR"},
                              {0x11, "QP_ACCESS_ERR"},    {0x12, "SRQ_ERR"},      {0x13, "QP_LAST_WQE_REACHED"},
                              {0x14, "SRQ_LIMIT_REACHED"}};
  for (const Named& named : kNames) {
    if (named.type == type) return named.name;
  }
  return fmt::format("type {:#04x}", type);
}

}  // namespace hca::observers
