#include "sim/vfio/function_simulation.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "models/kernel/calendar.h"
#include "sim/cosim/program_environment.h"
#include "sim/cosim/program_listener.h"
#include "sim/drills/drill_desk.h"
#include "sim/observers/file_observers.h"
#include "sim/report/result_table.h"
#include "sim/time/free_time_source.h"
#include "sim/time/paced_time_source.h"
#include "sim/vfio/function_client.h"
#include "sim/vfio/function_tree.h"
#include "verbs_shim/channel/environment.h"
#include "verbs_shim/channel/futex.h"
#include "verbs_shim/channel/short_slices.h"

namespace hca::vfio {
namespace {

using namespace std::chrono_literals;
using WallClock = std::chrono::steady_clock;

// How often the simulation looks for processes that come and go.
constexpr auto kHousekeeping = 2ms;
// New requests are looked for at least this often while there is much to simulate.
constexpr Time kSlice = microseconds(20);

std::string hostFolder(const std::string& runFolder, HostIndex host) {
  return runFolder + "/host" + std::to_string(host.value());
}

std::unique_ptr<sim::TimeSource> timeSourceOf(const sim::Sync& sync) {
  if (sync.kind == sim::Sync::Kind::kFree) return std::make_unique<sim::FreeTimeSource>();
  if (sync.kind == sim::Sync::Kind::kPaced) return std::make_unique<sim::PacedTimeSource>(sync.scale);
  throw std::runtime_error(
      "simulated time can't go in lockstep with programs that bring their own driver: choose "
      "--sync paced or --sync free");
}

}  // namespace

std::string functionAddress(AdapterIndex adapter) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:aa:%02x.0", adapter.value() & 0x1FU);
  return text;
}

std::string functionFolder(const std::string& runFolder, HostIndex host, AdapterIndex adapter) {
  return hostFolder(runFolder, host) + "/sys/bus/pci/devices/" + functionAddress(adapter);
}

struct FunctionSimulation::Implementation final : kernel::CalendarClient {
  Implementation(const config::Config& configuration, const std::string& runFolder, const Options& options)
      : config(configuration),
        folder(runFolder),
        sync(options.sync),
        time(timeSourceOf(options.sync)),
        system(config),
        drills(system, config),
        files(system.probes(), options.files),
        desk(drills, config, folder, [this] { return presentUpTo(time->limit(system.calendar().now())); }),
        listener(folder + "/socket"),
        doorbell("hcasim-doorbell"),
        looks(channel::looksBeforeSleep()) {
    for (std::size_t host = 0; host < system.hosts(); ++host) {
      writeFunctionTree(hostFolder(folder, HostIndex(static_cast<std::uint32_t>(host))), system.host(host));
      functions.push_back(std::make_unique<HostFunctions>(system.host(host)));
    }
  }

  void welcome();
  void partWithTheGone();
  bool takeRequests();
  void onCalendar(std::uint64_t) override;
  [[nodiscard]] Time presentUpTo(Time limit);
  void simulate(Time limit);
  [[nodiscard]] std::chrono::nanoseconds untilNext(Time limit);
  void sleep(std::uint32_t rings, std::chrono::nanoseconds span);

  struct Call {
    FunctionClient* client = nullptr;
    std::uint32_t slot = 0;
  };

  const config::Config config;
  std::string folder;
  sim::Sync sync;
  std::unique_ptr<sim::TimeSource> time;
  sim::System system;
  sim::DrillBench drills;
  observers::FileObservers files;
  sim::DrillDesk desk;
  cosim::ProgramListener listener;
  cosim::SharedMapping<channel::Doorbell> doorbell;
  unsigned looks;
  std::vector<std::unique_ptr<HostFunctions>> functions;  // by host
  std::vector<std::unique_ptr<FunctionClient>> clients;
  std::vector<Call> calls;  // taken, to be carried out next
  std::vector<std::uint32_t> slots;
};

FunctionSimulation::FunctionSimulation(const config::Config& config, const std::string& folder, const Options& options,
                                       std::ostream& err)
    : implementation_(std::make_unique<Implementation>(config, folder, options)) {
  drills().setListener([&err](const report::DrillResult& drill) { err << "hcasim: " << report::drillText(drill); });
}

FunctionSimulation::~FunctionSimulation() = default;

sim::DrillBench& FunctionSimulation::drills() { return implementation_->drills; }

sim::System& FunctionSimulation::system() { return implementation_->system; }

Variables FunctionSimulation::environment(HostIndex host) const {
  return {{"LD_PRELOAD", cosim::preloadList("libhcasim_vfio.so")},
          {channel::kRunVariable, implementation_->folder},
          {channel::kHostVariable, std::to_string(host.value())},
          {channel::kSocketVariable, implementation_->listener.path()}};
}

void FunctionSimulation::Implementation::welcome() {
  while (const auto applicant = listener.accept()) {
    const bool isRight = applicant->hello.version == channel::kFunctionProtocolVersion &&
                         applicant->hello.host < functions.size() && applicant->hello.isForChild == 0;
    if (!isRight) {
      cosim::ProgramListener::refuse(*applicant);
      continue;
    }
    auto client =
        std::make_unique<FunctionClient>(applicant->connection, applicant->process, *functions[applicant->hello.host]);
    if (cosim::ProgramListener::admit(*applicant, client->area(), doorbell.descriptor())) {
      clients.push_back(std::move(client));
    }
  }
}

void FunctionSimulation::Implementation::partWithTheGone() {
  const auto isGone = [](const std::unique_ptr<FunctionClient>& client) { return client->isGone(); };
  clients.erase(std::remove_if(clients.begin(), clients.end(), isGone), clients.end());
}

bool FunctionSimulation::Implementation::takeRequests() {
  for (const auto& client : clients) {
    slots.clear();
    client->collect(slots);
    for (const std::uint32_t slot : slots) calls.push_back({client.get(), slot});
  }
  return !calls.empty();
}

void FunctionSimulation::Implementation::onCalendar(std::uint64_t) {
  for (const Call& call : calls) call.client->serve(call.slot);
  calls.clear();
}

// Where the simulation is: at `limit`, unless something is left to do before.
Time FunctionSimulation::Implementation::presentUpTo(Time limit) {
  kernel::Calendar& calendar = system.calendar();
  if (limit == kForever || calendar.next() <= limit) return calendar.now();
  return later(calendar.now(), limit);
}

void FunctionSimulation::Implementation::simulate(Time limit) {
  for (const auto& client : clients) client->beginSlice();
  system.run(limit);
  for (const auto& client : clients) client->endSlice();
}

std::chrono::nanoseconds FunctionSimulation::Implementation::untilNext(Time limit) {
  const Time next = system.calendar().next();
  if (next == kForever) return kHousekeeping;
  constexpr double kPicosecondsPerNanosecond = 1000;
  const double wall = static_cast<double>((next - limit).count()) / kPicosecondsPerNanosecond / sync.scale;
  const auto longest = static_cast<double>(std::chrono::nanoseconds(kHousekeeping).count());
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(wall, 0.0, longest)));
}

void FunctionSimulation::Implementation::sleep(std::uint32_t rings, std::chrono::nanoseconds span) {
  if (channel::hasChangedSoon(&doorbell->rings, rings, looks)) return;
  const timespec wait{0, span.count()};
  __atomic_store_n(&doorbell->isSleeping, 1U, __ATOMIC_SEQ_CST);
  channel::futexWait(&doorbell->rings, rings, &wait);
  __atomic_store_n(&doorbell->isSleeping, 0U, __ATOMIC_SEQ_CST);
}

void FunctionSimulation::serve(Programs& programs) {
  Implementation& self = *implementation_;
  kernel::Calendar& calendar = self.system.calendar();
  prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds: short sleeps are to be short
  channel::wantShortSlices();
  auto kept = WallClock::time_point{};
  for (;;) {
    if (const auto now = WallClock::now(); now - kept >= kHousekeeping) {
      kept = now;
      self.welcome();
      self.partWithTheGone();
      self.desk.look();
      if (programs.areOver()) return;
    }
    const std::uint32_t rings = __atomic_load_n(&self.doorbell->rings, __ATOMIC_SEQ_CST);
    const Time limit = self.time->limit(calendar.now());
    if (self.takeRequests()) {
      calendar.schedule(self.presentUpTo(limit), kernel::Priority::kSoftware, self, 0);
    }
    if (calendar.next() <= limit && calendar.next() != kForever) {
      self.simulate(earlier(limit, calendar.next() + kSlice));
      continue;
    }
    self.sleep(rings, self.untilNext(limit));
  }
}

}  // namespace hca::vfio
