#include "sim/cosim/session.h"

#include <algorithm>
#include <utility>

namespace hca::cosim {

Session::Session(sim::HostNode& host, const config::HostSections& config, const std::vector<DeviceDescription>& devices,
                 HostShares& shares, SessionListener& listener)
    : host_(host), config_(config), devices_(devices), shares_(shares), listener_(listener) {}

Session::~Session() {
  for (const auto& [number, device] : files_) device->leave(*this);
  if (process_ != nullptr) process_->end();
}

void Session::inherit(const Session& parent) {
  files_ = parent.files_;
  nextFile_ = parent.nextFile_;
  for (const auto& [number, device] : files_) device->join(*this);
  inherited_ = parent.hasBegun() ? parent.process_->eventFiles() : parent.inherited_;
}

void Session::begin(int processId, std::unique_ptr<ProgramMemory> memory) {
  memory->setListener(this);
  process_ = std::make_shared<CallingProcess>(processId, std::move(memory), host_.memory());
  process_->setEventFiles(std::exchange(inherited_, {}));
}

std::uint32_t Session::openDevice(std::uint64_t number) {
  const auto index = static_cast<std::uint32_t>(number);
  sim::AdapterNode& adapter = host_.adapter(index);
  const UverbsFile::Surroundings surroundings{
      adapter.environment(), adapter.driver(), config_.adapterSections(index).driver, devices_[index], shares_, index};
  const auto device = std::make_shared<OpenDevice>(surroundings);
  device->join(*this);
  files_.emplace(nextFile_, device);
  return nextFile_++;
}

UverbsFile* Session::file(std::uint32_t number) {
  const auto at = files_.find(number);
  return at == files_.end() ? nullptr : &at->second->file();
}

bool Session::mayAccess(const RegisterPage& page) const {
  return std::any_of(files_.begin(), files_.end(),
                     [&page](const auto& file) { return file.second->file().mayAccess(page); });
}

std::vector<QueueView> Session::queues() {
  std::vector<QueueView> found;
  for (const auto& each : files_) {
    UverbsFile& file = each.second->file();
    const auto summaries = host_.adapter(file.device()).hca().completion().summaries();
    file.forEachQueue([&](const UserCq& cq) {
      const auto at = std::find_if(summaries.begin(), summaries.end(),
                                   [&cq](const auto& summary) { return summary.number == cq.number; });
      if (cq.channel == nullptr || at == summaries.end() || &cq.record->process() != process_.get()) return;
      if (const auto queue = view(AdapterIndex(file.device()), cq, at->counters)) found.push_back(*queue);
    });
  }
  return found;
}

std::optional<QueueView> Session::view(AdapterIndex adapter, const UserCq& cq,
                                       const adapter::CqCounters& counters) const {
  // The consumer index, big-endian, 24 bits.
  std::uint8_t record[4] = {};
  if (host_.memory().read(cq.record->bus(), {record, sizeof record}) != host::DmaStatus::kOk) return {};
  const std::uint32_t taken = std::uint32_t{record[1]} << 16 | std::uint32_t{record[2]} << 8 | record[3];
  const auto waiting = (static_cast<std::uint32_t>(counters.cqes) - taken) & 0xFFFFFF;
  return QueueView{adapter, &cq, taken, waiting, counters};
}

std::string Session::describeQueues() {
  std::string text;
  for (const QueueView& queue : queues()) {
    text += "hcasim:     completion queue " + std::to_string(queue.cq->number.value()) + ": " +
            std::to_string(queue.waiting) + " entries not polled, " + std::to_string(queue.counters.arms) +
            " times armed, " + std::to_string(queue.counters.events) + " events raised, " +
            (queue.cq->channel->isReadable() ? "one" : "none") + " of them to be read\n";
  }
  return text;
}

void Session::closeDevice(std::uint32_t number, std::function<void()> done) {
  const auto at = files_.find(number);
  if (at == files_.end()) return done();
  const std::shared_ptr<OpenDevice> device = at->second;
  files_.erase(at);
  device->leave(*this);
  if (device->isHeld()) return done();
  const auto place = closing_.insert(closing_.end(), device);
  device->file().close([this, place, done = std::move(done)] {
    closing_.erase(place);
    done();
    endIfClosed();
  });
}

void Session::closeAll(std::function<void()> done) {
  if (process_ != nullptr) process_->end();
  while (!files_.empty()) closeDevice(files_.begin()->first, [] {});
  ended_ = std::move(done);
  endIfClosed();
}

// Afterwards this object may be gone.
void Session::endIfClosed() {
  if (ended_ && closing_.empty()) std::exchange(ended_, nullptr)();
}

}  // namespace hca::cosim
