#include "sim/system/system.h"

#include <sstream>

namespace hca::sim {

namespace {
constexpr std::uint32_t kPortsPerHost = 1;
}

class System::HostGroup final : public sc_core::sc_module {
 public:
  explicit HostGroup(const sc_core::sc_module_name& name, const std::function<void()>& build)
      : sc_core::sc_module(name) {
    build();
  }
};

System::System(const config::Config& config, Time quantum)
    : calendarModule_("calendar", quantum),
      fabric_(config.host.count, kPortsPerHost),
      cabling_(calendarModule_.calendar(), probes_, config, fabric_) {
  group_ = std::make_unique<HostGroup>("host", [&] {
    for (std::uint32_t i = 0; i < config.host.count; ++i) {
      const network::PortIdentity identity = fabric_.port(HostIndex(i), 1);
      const Cabling::Plug plug = cabling_.plug(i);
      hosts_.push_back(
          std::make_unique<HostNode>(std::to_string(i).c_str(), config, identity,
                                     HostNode::Surroundings{calendarModule_, probes_, pool_, plug.link, plug.end}));
    }
  });
  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // elaborates
}

std::string System::bringUp() {
  std::size_t ready = 0;
  std::ostringstream problem;
  for (auto& host : hosts_) {
    host->driver().start([&, index = host->index()](adapter::CommandResult result) {
      if (!result.ok()) {
        problem << "host " << index.value() << ": the driver could not bring the adapter up: status "
                << static_cast<unsigned>(result.status) << ", syndrome " << static_cast<unsigned>(result.syndrome);
      }
      if (++ready == hosts_.size()) stop();
    });
  }
  const bool stopped = run();
  if (!stopped) return "the drivers wait for ever for an adapter";
  return problem.str();
}

bool System::run(Time limit) {
  kernel::Calendar& events = calendar();
  calendarModule_.setLimit(limit);
  events.resume();
  calendarModule_.wake();
  sc_core::sc_start();  // returns when the calendar was stopped, ran dry or reached the limit
  return events.stopped();
}

}  // namespace hca::sim
