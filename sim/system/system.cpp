#include "sim/system/system.h"

#include <sstream>

#include "sim/system/module_group.h"

namespace hca::sim {

System::System(const config::Config& config, Time quantum)
    : calendarModule_("calendar", quantum), cabling_(calendarModule_.calendar(), probes_, config) {
  group_ = std::make_unique<ModuleGroup>("host", [&] {
    for (std::uint32_t i = 0; i < config.host.count; ++i) {
      hosts_.push_back(std::make_unique<HostNode>(std::to_string(i).c_str(), config, HostIndex(i),
                                                  HostNode::Surroundings{calendarModule_, probes_, pool_, cabling_}));
    }
  });
  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // elaborates
}

std::string System::bringUp() {
  std::size_t ready = 0;
  std::size_t wanted = 0;
  std::ostringstream problem;
  for (auto& host : hosts_) wanted += host->adapters();
  for (auto& host : hosts_) {
    for (std::uint32_t number = 0; number < host->adapters(); ++number) {
      host->adapter(number).driver().start([&, index = host->index(), number](adapter::CommandResult result) {
        if (!result.ok()) {
          problem << "host " << index.value() << ": the driver could not bring adapter " << number << " up: status "
                  << static_cast<unsigned>(result.status) << ", syndrome " << static_cast<unsigned>(result.syndrome);
        }
        if (++ready == wanted) stop();
      });
    }
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
