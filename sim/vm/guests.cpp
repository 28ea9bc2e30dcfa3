#include "sim/vm/guests.h"

#include <signal.h>  // NOLINT: kill is POSIX
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <stdexcept>
#include <thread>

#include "sim/cosim/termination.h"
#include "sim/options/exit_code.h"
#include "sim/vm/qemu_command.h"

namespace hca::vm {
namespace {

bool wantsKvm(const options::VmRequest& request) {
  if (request.accelerator == options::Accelerator::kTcg) return false;
  if (canUseKvm(request.qemu)) return true;
  if (request.accelerator == options::Accelerator::kAuto) return false;
  throw std::runtime_error("--accel kvm: " + request.qemu +
                           " can't use KVM here (/dev/kvm is missing, not this user's, or "
                           "can't set up a processor); without it instructions are translated, which is slower");
}

}  // namespace

Guests::Guests(const options::VmRequest& request, const std::string& folder, vfio::FunctionSimulation& simulation)
    : request_(request),
      folder_(folder),
      drills_(simulation.drills()),
      simulated_([&simulation] { return simulation.system().calendar().now(); }),
      hub_(folder, request.config.host.count) {
  const GuestImage image = findImage(request);
  requireQemu(request.qemu);
  const bool usesKvm = wantsKvm(request);
  if (request.commands.size() > 1) prefixer_ = std::make_unique<cosim::OutputPrefixer>(request.out);
  for (std::uint32_t host = 0; host < request.config.host.count; ++host) make(host);
  if (prefixer_) prefixer_->start();
  for (std::uint32_t host = 0; host < request.config.host.count; ++host) start(host, simulation, image, usesKvm);
  if (request.shellHost) {
    request.err << "hcasim: the shell of host" << *request.shellHost << " is on this terminal; Ctrl-A x ends all\n";
    for (const auto& guest : guests_) {
      if (guest->host() == *request.shellHost) continue;
      request.err << "hcasim: that of " << guest->name() << ": socat -,raw,echo=0 UNIX-CONNECT:" << guest->portPath(1)
                  << '\n';
    }
    terminal_ = std::make_unique<Terminal>();
  }
}

Guests::~Guests() {
  endAll();
  for (const int fd : outputs_) {
    if (fd >= 0) ::close(fd);
  }
}

std::function<void(const std::string&)> Guests::outputOf(std::uint32_t host) {
  if (request_.shellHost) {
    if (*request_.shellHost != host) return {};
    return [](const std::string& bytes) { Terminal::write(bytes); };
  }
  const auto isItsOwn = [host](const options::CosimCommand& command) { return command.host == host; };
  if (std::none_of(request_.commands.begin(), request_.commands.end(), isItsOwn)) return {};
  if (!prefixer_) return [this](const std::string& bytes) { request_.out << bytes << std::flush; };
  outputs_.push_back(prefixer_->add("host" + std::to_string(host) + ": "));
  return [fd = outputs_.back()](const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t length = ::write(fd, bytes.data() + done, bytes.size() - done);
      if (length <= 0) return;
      done += static_cast<std::size_t>(length);
    }
  };
}

void Guests::showKernelLine(std::uint32_t host, const KernelLine& line) {
  constexpr double kMicrosecond = 1e-6;
  char time[32];
  std::snprintf(time, sizeof time, "[%12.6f] ", static_cast<double>(line.guestTime.count()) * kMicrosecond);
  request_.err << "host." << host << " kernel| " << time << line.text << (terminal_ ? "\r\n" : "\n") << std::flush;
}

void Guests::make(std::uint32_t host) {
  Guest::Setting setting;
  setting.host = host;
  setting.folder = folder_ + "/guest" + std::to_string(host);
  setting.isOurs = request_.initrd.empty();
  setting.hasOutput = !request_.shellHost || (*request_.shellHost == host && setting.isOurs);
  setting.simulated = simulated_;
  setting.output = outputOf(host);
  std::filesystem::create_directory(setting.folder);
  guests_.push_back(std::make_unique<Guest>(std::move(setting)));
  guests_.back()->kernelLog().addListener([this, host](const KernelLine& line) {
    if (line.isKernels) drills_.onKernelLine(HostIndex(host), line.text);
  });
  if (!request_.showsKernelLog) return;
  guests_.back()->kernelLog().addListener([this, host](const KernelLine& line) { showKernelLine(host, line); });
}

void Guests::start(std::uint32_t host, vfio::FunctionSimulation& simulation, const GuestImage& image, bool usesKvm) {
  Guest& guest = *guests_[host];
  QemuGuest machine;
  machine.host = host;
  machine.kernel = image.kernel;
  machine.initrd = folder_ + "/guest" + std::to_string(host) + "/initrd";
  writeInitrd(image, guestFiles(request_, host, Terminal::size()), machine.initrd);
  machine.usesKvm = usesKvm;
  const bool hasShellElsewhere = request_.shellHost && *request_.shellHost != host;
  for (unsigned port = 0; port < machine.ports.size(); ++port) {
    machine.ports[port] = {guest.portPath(port), port == 1 && (hasShellElsewhere || !image.isOurs)};
  }
  machine.networkLocal = hub_.guestEnd(host);
  machine.networkRemote = hub_.hubEnd(host);
  for (std::uint32_t adapter = 0; adapter < simulation.system().host(host).adapters(); ++adapter) {
    machine.functions.push_back(vfio::functionFolder(folder_, HostIndex(host), AdapterIndex(adapter)));
  }
  guest.start(qemuCommand(request_, machine), simulation.environment(HostIndex(host)));
}

bool Guests::areOver() {
  for (const auto& guest : guests_) guest->step();
  if (const int signal = cosim::Termination::signal(); signal != 0) {
    constexpr int kSignalled = 128;  // as a shell reports it
    status_ = kSignalled + signal;
    return true;
  }
  if (terminal_) stepTerminal();
  if ((terminal_ && terminal_->wantsEnd()) || isFailed()) return true;
  if (isHalting_) return areHalted();
  if (std::all_of(guests_.begin(), guests_.end(), [](const auto& guest) { return guest->isReady(); })) startCommands();
  if (areCommandsOver()) halt();
  return false;
}

void Guests::stepTerminal() { guests_[*request_.shellHost]->type(terminal_->read()); }

bool Guests::fail(Guest& guest, int status, const std::string& what) {
  terminal_.reset();  // back to what the user's shell set
  request_.err << "hcasim: " << guest.name() << ' ' << what << '\n' << guest.lastLines() << std::flush;
  status_ = status;
  return true;
}

bool Guests::isFailed() {
  for (const auto& guest : guests_) {
    const auto ended = guest->qemuStatus();
    if (ended) guest->step();  // its last words
    if (!guest->panic().empty() && ended) return fail(*guest, options::kRunFailed, "has gone: " + guest->panic());
    const bool isAllowed = guest->hasHalted() || request_.shellHost;
    if (ended && *ended != 0) {
      return fail(*guest, options::kCosimFault, "has gone: QEMU ended with status " + std::to_string(*ended));
    }
    if (ended && !isAllowed) return fail(*guest, options::kRunFailed, "has switched itself off before its time");
    if (ended && request_.shellHost && guest->host() == *request_.shellHost) return true;
    const bool isSilent = !guest->isReady() && guest->hasSpoken() && Clock::now() - guest->lastWord() > kSilence;
    if (isSilent) return fail(*guest, options::kCosimStuck, "hangs: it has said nothing for 150 s and isn't up");
  }
  return isTimedOut();
}

bool Guests::isTimedOut() {
  if (request_.timeout.count() == 0 || Clock::now() - begin_ < request_.timeout) return false;
  for (const auto& guest : guests_) {
    const bool hasCommand = guest->isRunning();
    if (hasCommand && guest->exitStatus()) continue;
    fail(*guest, options::kCosimStuck,
         !guest->isReady() ? "was not up within --timeout"
         : hasCommand      ? "had not ended its command within --timeout"
                           : "was up, and idle, when --timeout came");
  }
  status_ = options::kCosimStuck;
  return true;
}

bool Guests::mayStartNext() {
  if (started_ == 0) return true;
  const Guest& before = *guests_[request_.commands[started_ - 1].host];
  if (before.exitStatus()) return true;
  const auto now = Clock::now();
  if (request_.startDelay.count() != 0) return now - lastStart_ >= request_.startDelay;
  hasServer_ = hasServer_ || before.isListening();
  // One client of several: the next needn't wait for it to listen. A guest takes a while to tell.
  constexpr auto kPatience = std::chrono::seconds(3);
  return before.isListening() || (hasServer_ && now - lastStart_ >= kPatience);
}

void Guests::startCommands() {
  if (request_.shellHost) {
    for (const auto& guest : guests_) {
      if (!guest->isRunning()) guest->run();
    }
    return;
  }
  if (started_ == request_.commands.size() || !mayStartNext()) return;
  guests_[request_.commands[started_].host]->run();
  ++started_;
  lastStart_ = Clock::now();
}

bool Guests::areCommandsOver() const {
  if (request_.shellHost) return guests_[*request_.shellHost]->exitStatus().has_value();
  if (started_ < request_.commands.size()) return false;
  return std::all_of(request_.commands.begin(), request_.commands.end(), [this](const options::CosimCommand& command) {
    return guests_[command.host]->exitStatus().has_value();
  });
}

// The guests stay until all commands have ended: what they say to each other is still under way.
void Guests::halt() {
  isHalting_ = true;
  haltedAt_ = Clock::now();
  for (const auto& command : request_.commands) {
    if (status_ == 0) status_ = *guests_[command.host]->exitStatus();
  }
  if (request_.shellHost) status_ = *guests_[*request_.shellHost]->exitStatus();
  for (const auto& guest : guests_) guest->halt();
}

bool Guests::areHalted() {
  bool areAll = true;
  for (const auto& guest : guests_) areAll = guest->qemuStatus().has_value() && areAll;
  constexpr auto kPatience = std::chrono::seconds(90);  // the driver waits up to a minute for a command
  if (!areAll && Clock::now() - haltedAt_ >= kPatience) {
    for (const auto& guest : guests_) {
      if (!guest->qemuStatus()) fail(*guest, options::kCosimStuck, "hangs while it unloads its driver");
    }
    return true;
  }
  return areAll;
}

void Guests::endAll() {
  constexpr auto kPatience = std::chrono::milliseconds(500);
  for (const auto& guest : guests_) guest->kill(SIGTERM);
  const auto end = Clock::now() + kPatience;
  const auto isGone = [](const auto& guest) { return guest->isGone(); };
  while (!std::all_of(guests_.begin(), guests_.end(), isGone) && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const auto& guest : guests_) guest->kill(SIGKILL);
  while (!std::all_of(guests_.begin(), guests_.end(), isGone))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace hca::vm
