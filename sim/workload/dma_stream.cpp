#include "sim/workload/dma_stream.h"

#include <algorithm>
#include <utility>

#include "models/base/mixed_bits.h"

namespace hca::sim {

namespace {

// So that a buffer of a page of the IOMMU lies in one such page.
std::uint64_t alignmentOf(std::uint64_t window) {
  constexpr std::uint64_t kLeast = host::BusAddressSpace::kPageSize;
  constexpr std::uint64_t kMost = std::uint64_t{2} << 20;
  std::uint64_t alignment = kLeast;
  while (alignment < window && alignment < kMost) alignment *= 2;
  return alignment;
}

}  // namespace

DmaStream::DmaStream(std::string name, const DmaConfig& config, const Surroundings& surroundings, std::uint64_t seed)
    : name_(std::move(name)),
      config_(config),
      surroundings_(surroundings),
      seed_(mixedBits(seed)),
      places_(placesOf(config)),
      stride_(strideOf(config)),
      memory_(surroundings.space, name_),
      issueTimer_(surroundings.calendar, kernel::Priority::kAdapter, *this, &DmaStream::issueMore),
      accesses_(config.inFlight) {
  for (std::uint32_t slot = config.inFlight; slot > 0; --slot) freeSlots_.push_back(slot - 1);
}

void DmaStream::start(std::function<void()> finished) {
  onFinished_ = std::move(finished);
  const auto window = static_cast<std::uint64_t>(config_.window.count());
  const std::uint64_t alignment = alignmentOf(window);
  const std::uint64_t bus = memory_.allocate(window + alignment).bus.value();
  buffer_ = BusAddress((bus + alignment - 1) / alignment * alignment);
  if (surroundings_.timing != nullptr) {
    surroundings_.timing->setNode(buffer_, window, config_.node);
    if (config_.cache == CacheState::kWarm) surroundings_.timing->warm(buffer_, window);
    if (config_.cache == CacheState::kCold) surroundings_.timing->chill(buffer_, window);
  }
  issueTimer_.set(surroundings_.calendar.now());
}

void DmaStream::issueMore() {
  const Time now = surroundings_.calendar.now();
  while (issued_ < total() && !freeSlots_.empty()) {
    if (now < nextIssue_) return issueTimer_.set(nextIssue_);
    nextIssue_ = now + config_.issueInterval;
    const std::uint32_t slot = freeSlots_.back();
    freeSlots_.pop_back();
    issue(slot);
  }
}

void DmaStream::issue(std::uint32_t slot) {
  const Time now = surroundings_.calendar.now();
  if (issued_ == 0) begin_ = now;
  accesses_[slot] = {now, issued_};
  const BusAddress address = nextAddress();
  ++issued_;
  if (config_.operation != DmaOperation::kRead) write(address, slot, config_.operation == DmaOperation::kWrite);
  if (config_.operation != DmaOperation::kWrite) read(address, slot);
}

BusAddress DmaStream::nextAddress() {
  const std::uint64_t number = config_.pattern == DmaPattern::kRandom ? mixedBits(seed_ ^ issued_) : issued_;
  return advance(buffer_, static_cast<std::uint64_t>(config_.offset.count()) + number % places_ * stride_);
}

void DmaStream::write(BusAddress address, std::uint32_t slot, bool notify) {
  pcie::DmaWrite request;
  request.address = address;
  request.length = static_cast<std::uint32_t>(config_.size.count());
  request.traffic = pcie::Traffic::kDevice;
  request.notify = notify;
  request.client = notify ? this : nullptr;
  request.token = slot;
  surroundings_.port.write(request);
}

void DmaStream::read(BusAddress address, std::uint32_t slot) {
  pcie::DmaRead request;
  request.address = address;
  request.length = static_cast<std::uint32_t>(config_.size.count());
  request.traffic = pcie::Traffic::kDevice;
  request.timingOnly = true;
  if (config_.deviceBandwidth.count() > 0) request.deliverAfter = transferTime(config_.size, config_.deviceBandwidth);
  request.client = this;
  request.token = slot;
  surroundings_.port.read(request);
}

void DmaStream::onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView) { onDone(token, status); }
void DmaStream::onDmaWritten(std::uint64_t token, host::DmaStatus status) { onDone(token, status); }

void DmaStream::onDone(std::uint64_t slot, host::DmaStatus status) {
  const Access access = accesses_[slot];
  end_ = surroundings_.calendar.now();
  if (status != host::DmaStatus::kOk) ++errors_;
  if (access.number >= config_.warmup && status == host::DmaStatus::kOk) latency_.add(end_ - access.start);
  freeSlots_.push_back(static_cast<std::uint32_t>(slot));
  ++done_;
  if (done_ == config_.warmup) begin_ = end_;
  if (finished()) return onFinished_();
  issueMore();
}

report::DmaResult DmaStream::result() const {
  report::DmaResult result;
  result.name = name_;
  result.host = HostIndex(config_.host);
  result.iterations = latency_.count();
  result.bytes = result.iterations * static_cast<std::uint64_t>(config_.size.count());
  result.errors = errors_;
  result.latency = report::summarise(latency_);
  result.measured = finished() ? end_ - begin_ : Time();
  if (config_.publishedLatency > Time()) result.published = config_.publishedLatency;
  report::computeRates(result);
  return result;
}

}  // namespace hca::sim
