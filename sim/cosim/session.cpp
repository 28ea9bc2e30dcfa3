#include "sim/cosim/session.h"

#include <algorithm>
#include <utility>

namespace hca::cosim {

Session::Session(sim::HostNode& host, const config::HostSections& config, const std::vector<DeviceDescription>& devices,
                 int processId, std::unique_ptr<ProgramMemory> memory, HostShares& shares, SessionListener& listener)
    : host_(host),
      config_(config),
      devices_(devices),
      processId_(processId),
      memory_(std::move(memory)),
      shares_(shares),
      listener_(listener),
      memoryOwner_(host.memory().addOwner("program " + std::to_string(processId), *memory_)) {
  memory_->setListener(this);
}

Session::~Session() {
  files_.clear();
  host_.memory().removeOwner(memoryOwner_);
}

std::uint32_t Session::openDevice(std::uint64_t number) {
  const auto index = static_cast<std::uint32_t>(number);
  sim::AdapterNode& adapter = host_.adapter(index);
  const UverbsFile::Surroundings surroundings{adapter.environment(),
                                              adapter.driver(),
                                              config_.adapterSections(index).driver,
                                              devices_[index],
                                              *memory_,
                                              memoryOwner_,
                                              regions_,
                                              *this,
                                              shares_,
                                              processId_,
                                              *this,
                                              index};
  files_.emplace(nextFile_, std::make_unique<UverbsFile>(surroundings));
  return nextFile_++;
}

UverbsFile* Session::file(std::uint32_t number) {
  const auto at = files_.find(number);
  return at == files_.end() ? nullptr : at->second.get();
}

bool Session::mayAccess(const RegisterPage& page) const {
  return std::any_of(files_.begin(), files_.end(), [&page](const auto& file) { return file.second->mayAccess(page); });
}

std::vector<QueueView> Session::queues() {
  std::vector<QueueView> found;
  for (const auto& file : files_) {
    const auto summaries = host_.adapter(file.second->device()).hca().completion().summaries();
    file.second->forEachQueue([&](const UserCq& cq) {
      const auto at = std::find_if(summaries.begin(), summaries.end(),
                                   [&cq](const auto& summary) { return summary.number == cq.number; });
      if (cq.channel == nullptr || at == summaries.end()) return;
      if (const auto queue = view(AdapterIndex(file.second->device()), cq, at->counters)) found.push_back(*queue);
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
  at->second->close([this, number, done = std::move(done)] {
    files_.erase(number);
    done();
  });
}

void Session::closeAll(std::function<void()> done) {
  if (files_.empty()) return done();
  closeDevice(files_.begin()->first, [this, done = std::move(done)] { closeAll(done); });
}

std::shared_ptr<EventFile> Session::openEventFile(int writeEnd, int readEnd, std::size_t recordSize) {
  auto file = EventFile::open(processId_, writeEnd, readEnd, recordSize);
  if (file != nullptr) eventFiles_[readEnd] = file;
  return file;
}

std::shared_ptr<EventFile> Session::eventFile(int readEnd) const {
  const auto at = eventFiles_.find(readEnd);
  return at == eventFiles_.end() ? nullptr : at->second;
}

}  // namespace hca::cosim
