#include "models/host/root_complex.h"

#include <utility>

#include "models/pcie/pcie_extension.h"
#include "models/pcie/response_status.h"

namespace hca::host {

namespace {

pcie::PcieExtension& extensionOf(tlm::tlm_generic_payload& payload) {
  return *payload.get_extension<pcie::PcieExtension>();
}

MemoryTiming::Source sourceOf(pcie::Traffic traffic) {
  if (traffic == pcie::Traffic::kPayload) return MemoryTiming::Source::kPayload;
  const bool isAdapters = traffic == pcie::Traffic::kContext || traffic == pcie::Traffic::kDevice;
  return isAdapters ? MemoryTiming::Source::kUnknown : MemoryTiming::Source::kSoftware;
}

ByteView dataOf(const tlm::tlm_generic_payload& payload) {
  return {payload.get_data_ptr(), payload.get_data_ptr() == nullptr ? 0 : payload.get_data_length()};
}

}  // namespace

RootComplex::RootComplex(const sc_core::sc_module_name& name, kernel::CalendarModule& calendar,
                         const pcie::PcieConfig& config, BusAddressSpace& space, InterruptPort& interrupts)
    : sc_core::sc_module(name),
      module_(calendar),
      calendar_(calendar.calendar()),
      ownSpace_(space),
      space_(&space),
      interrupts_(interrupts),
      timing_(config),
      readLatency_(config.readLatency),
      writeLatency_(config.writeLatency),
      readBandwidth_(config.hostReadBandwidth),
      maxReadRequest_(static_cast<std::uint32_t>(config.maxReadRequest.count())),
      requests_(calendar_, kernel::Priority::kLink, *this, &RootComplex::onRequestArrived),
      completions_(calendar_, kernel::Priority::kLink, *this, &RootComplex::onCompletionArrived),
      writes_(calendar_, kernel::Priority::kHostMemory, *this, &RootComplex::onWriteVisible),
      reads_(calendar_, kernel::Priority::kHostMemory, *this, &RootComplex::onReadReady),
      registerReads_(calendar_, kernel::Priority::kSoftware, *this, &RootComplex::onRegisterReadDone) {
  link_initiator_socket.bind(*this);
  link_target_socket.bind(*this);
}

// ---- DMA

tlm::tlm_sync_enum RootComplex::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  payload.acquire();
  const Time arrival = module_.timeOf(delay);
  if (waitsForArrival_) {
    requests_.send(arrival, {&payload});
    return tlm::TLM_ACCEPTED;
  }
  phase = tlm::END_REQ;
  delay = module_.delayUntil(accept(payload, arrival));
  return tlm::TLM_UPDATED;
}

void RootComplex::onRequestArrived(Arrival& arrival) {
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = module_.delayUntil(accept(*arrival.payload, calendar_.now()));
  link_target_socket->nb_transport_bw(*arrival.payload, phase, delay);
}

Time RootComplex::accept(Payload& payload, Time arrival) {
  return payload.is_write() ? acceptWrite(payload, arrival) : acceptRead(payload, arrival);
}

Time RootComplex::acceptWrite(Payload& payload, Time arrival) {
  Time visible = arrival + writeLatency_;
  if (memoryTiming_ != nullptr) visible += writeDelay(payload, arrival);
  if (!extensionOf(payload).relaxedOrdering) visible = later(visible, lastVisible_);
  lastVisible_ = later(lastVisible_, visible);
  writes_.send(visible, {&payload});
  return visible;
}

Time RootComplex::writeDelay(const Payload& payload, Time arrival) {
  if (isMessage(payload)) return {};
  return memoryTiming_->writeDelay(BusAddress(payload.get_address()), payload.get_data_length(), arrival);
}

// Request by request: when it starts, when its data is there, and how long the completions of those before take. The
// completions go when none of them will have to wait for data.
Time RootComplex::acceptRead(Payload& payload, Time lastArrival) {
  std::uint32_t pieceSize = extensionOf(payload).pieceSize;
  if (pieceSize == 0) pieceSize = maxReadRequest_;
  std::uint64_t address = payload.get_address();
  std::uint32_t left = payload.get_data_length();
  const MemoryTiming::Source source = sourceOf(extensionOf(payload).traffic);
  const std::uint32_t pieces = pcie::LinkTiming::pieces(address, left, pieceSize);
  const Time requestTime = timing_.readRequests(address, 0, pieceSize).duration;
  Time arrival = lastArrival - requestTime * (pieces - 1);
  Time before{};
  Time ready{};
  Time start{};
  for (std::uint32_t i = 0; i < pieces; ++i) {
    const std::uint32_t piece = pcie::LinkTiming::firstPiece(address, left, pieceSize);
    start = later(later(arrival, lastVisible_), memoryFreeAt_);
    Time transfer{};
    if (readBandwidth_.count() > 0) transfer = transferTime(Bytes(piece), readBandwidth_);
    memoryFreeAt_ = readBandwidth_.count() > 0 ? start + transfer : Time();
    Time latency = readLatency_;
    if (memoryTiming_ != nullptr) latency += memoryTiming_->readDelay(BusAddress(address), piece, source, arrival);
    ready = later(ready, start + transfer + latency - before);
    if (i + 1 < pieces) before += timing_.completions(address, piece).duration;
    arrival += requestTime;
    address += piece;
    left -= piece;
  }
  reads_.send(later(ready, calendar_.now()), {&payload});
  return start;
}

void RootComplex::onWriteVisible(Arrival& arrival) {
  Payload& payload = *arrival.payload;
  const pcie::PcieExtension& extension = extensionOf(payload);
  const DmaStatus status = extension.isDropped() ? DmaStatus::kOk : writeMemory(payload);
  if (status != DmaStatus::kOk) ++counters_.writeErrors;
  payload.set_response_status(pcie::toResponse(status));
  if (extension.notify || status != DmaStatus::kOk) respond(payload);
  payload.release();
}

DmaStatus RootComplex::writeMemory(Payload& payload) {
  const BusAddress address(payload.get_address());
  if (isMessage(payload)) {
    deliverMessage(payload);
    return DmaStatus::kOk;
  }
  if (!extensionOf(payload).timingOnly) return space_->write(address, dataOf(payload));
  return space_->contains(address, payload.get_data_length()) ? DmaStatus::kOk : DmaStatus::kUnmapped;
}

bool RootComplex::isMessage(const Payload& payload) const {
  return payload.get_address() >= kMessageStart && payload.get_address() < kMessageEnd &&
         payload.get_data_length() == sizeof(std::uint32_t) && payload.get_data_ptr() != nullptr;
}

void RootComplex::deliverMessage(const Payload& payload) {
  const std::uint8_t* bytes = payload.get_data_ptr();
  const std::uint32_t data = std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
                             std::uint32_t{bytes[3]} << 24;
  ++counters_.messages;
  if (sink_ != nullptr) return sink_->onInterrupt(InterruptVector(data));
  interrupts_.onMessage(BusAddress(payload.get_address()), data);
}

void RootComplex::onReadReady(Arrival& arrival) {
  Payload& payload = *arrival.payload;
  const DmaStatus status = extensionOf(payload).isDropped() ? DmaStatus::kOk : readMemory(payload);
  if (status != DmaStatus::kOk) ++counters_.readErrors;
  payload.set_response_status(pcie::toResponse(status));
  respond(payload);
  payload.release();
}

DmaStatus RootComplex::readMemory(Payload& payload) {
  const BusAddress address(payload.get_address());
  const std::uint32_t length = payload.get_data_length();
  if (!extensionOf(payload).timingOnly) return space_->read(address, {payload.get_data_ptr(), length});
  return space_->contains(address, length) ? DmaStatus::kOk : DmaStatus::kUnmapped;
}

void RootComplex::respond(Payload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = module_.delayUntil(calendar_.now());
  link_target_socket->nb_transport_bw(payload, phase, delay);
}

void RootComplex::b_transport(Payload& payload, sc_core::sc_time&) {
  payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
}

unsigned RootComplex::transport_dbg(Payload&) { return 0; }
bool RootComplex::get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) { return false; }
void RootComplex::invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) {}

// ---- Registers of the adapter

void RootComplex::send(Payload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = module_.delayUntil(calendar_.now());
  link_initiator_socket->nb_transport_fw(payload, phase, delay);
}

void RootComplex::barWrite(unsigned bar, std::uint64_t offset, ByteView bytes) {
  if (bytes.empty()) return;
  const auto transaction = pool_.acquireWrite(offset, bytes, static_cast<std::uint32_t>(bytes.size()));
  transaction.extension->traffic = pcie::Traffic::kDoorbell;
  transaction.extension->bar = static_cast<std::uint8_t>(bar);
  send(*transaction.payload);
  transaction.payload->release();
}

void RootComplex::barRead(unsigned bar, std::uint64_t offset, std::uint32_t width, ReadDone done) {
  if (freeWaiting_.empty()) {
    freeWaiting_.push_back(static_cast<std::uint32_t>(waiting_.size()));
    waiting_.emplace_back();
  }
  const std::uint32_t slot = freeWaiting_.back();
  freeWaiting_.pop_back();
  waiting_[slot] = std::move(done);
  const auto transaction = pool_.acquireRead(offset, width);
  transaction.extension->traffic = pcie::Traffic::kMmioRead;
  transaction.extension->bar = static_cast<std::uint8_t>(bar);
  transaction.extension->cookie = slot;
  send(*transaction.payload);
}

// The completion of a register read, whole at the processor at the time of the call. It pushes earlier DMA writes: the
// processor goes on only when they are visible (PCI Express Base Specification, 2.4.1: a completion passes no posted
// write).
tlm::tlm_sync_enum RootComplex::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (!payload.is_read()) return tlm::TLM_COMPLETED;
  const Time arrival = module_.timeOf(delay);
  if (waitsForArrival_) {
    completions_.send(arrival, {&payload});
  } else {
    registerReads_.send(later(arrival, lastVisible_), {&payload});
  }
  return tlm::TLM_COMPLETED;
}

// The writes that came before it have been accepted.
void RootComplex::onCompletionArrived(Arrival& arrival) {
  registerReads_.send(later(calendar_.now(), lastVisible_), {arrival.payload});
}

// A failed read gives all ones, as a processor sees it.
void RootComplex::onRegisterReadDone(Arrival& arrival) {
  Payload& payload = *arrival.payload;
  const auto slot = static_cast<std::uint32_t>(extensionOf(payload).cookie);
  const ReadDone done = std::move(waiting_[slot]);
  waiting_[slot] = nullptr;
  freeWaiting_.push_back(slot);
  if (payload.is_response_error()) {
    for (std::uint32_t i = 0; i < payload.get_data_length(); ++i) payload.get_data_ptr()[i] = 0xFF;
  }
  done(dataOf(payload));
  payload.release();
}

// ---- Configuration

void RootComplex::configuration(tlm::tlm_command command, std::uint32_t offset, std::uint32_t width,
                                std::uint8_t* bytes) {
  pcie::PcieExtension extension;
  extension.kind = pcie::TlpKind::kConfiguration;
  extension.traffic = pcie::Traffic::kConfiguration;
  Payload payload;
  payload.set_command(command);
  payload.set_address(offset);
  payload.set_data_ptr(bytes);
  payload.set_data_length(width);
  payload.set_streaming_width(width);
  payload.set_extension(&extension);
  sc_core::sc_time delay;
  link_initiator_socket->b_transport(payload, delay);
  payload.clear_extension(&extension);
}

std::uint32_t RootComplex::configRead(std::uint32_t offset, std::uint32_t width) {
  if (width != 1 && width != 2 && width != 4) return ~0U;
  std::uint8_t bytes[4] = {0xFF, 0xFF, 0xFF, 0xFF};
  configuration(tlm::TLM_READ_COMMAND, offset, width, bytes);
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < width; ++i) value |= std::uint32_t{bytes[i]} << (8 * i);
  return value;
}

void RootComplex::configWrite(std::uint32_t offset, std::uint32_t width, std::uint32_t value) {
  if (width != 1 && width != 2 && width != 4) return;
  std::uint8_t bytes[4] = {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8),
                           static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 24)};
  configuration(tlm::TLM_WRITE_COMMAND, offset, width, bytes);
}

std::uint64_t RootComplex::barSize(unsigned bar) const { return bar < kBars ? barSizes_[bar] : 0; }

// As firmware does at boot (PCI Local Bus 3.0, 6.2.5.1): all ones read back as the size mask.
std::uint64_t RootComplex::sizeBar(unsigned bar, bool& isWide) {
  constexpr std::uint32_t kFirst = 0x10;
  constexpr std::uint32_t kFlags = 0xF;
  constexpr std::uint32_t kTypeMask = 3U << 1;
  constexpr std::uint32_t kWide = 2U << 1;
  const std::uint32_t offset = kFirst + 4 * bar;
  const std::uint32_t before = configRead(offset, 4);
  isWide = (before & kTypeMask) == kWide;
  configWrite(offset, 4, ~0U);
  std::uint64_t mask = configRead(offset, 4) & ~kFlags;
  configWrite(offset, 4, before);
  if (!isWide) return mask == 0 ? 0 : static_cast<std::uint32_t>(~mask + 1);
  const std::uint32_t high = configRead(offset + 4, 4);
  configWrite(offset + 4, 4, ~0U);
  mask |= std::uint64_t{configRead(offset + 4, 4)} << 32;
  configWrite(offset + 4, 4, high);
  return mask == 0 ? 0 : ~mask + 1;
}

void RootComplex::start_of_simulation() {
  for (unsigned bar = 0; bar < kBars; ++bar) {
    bool isWide = false;
    barSizes_[bar] = sizeBar(bar, isWide);
    if (isWide) ++bar;
  }
}

std::uint32_t RootComplex::findCapability(std::uint8_t id) {
  constexpr std::uint32_t kFirst = 0x34;
  constexpr unsigned kMost = 48;  // as many as fit: a longer list goes in circles
  std::uint32_t at = configRead(kFirst, 1) & ~3U;
  for (unsigned steps = 0; at != 0 && steps < kMost; ++steps) {
    if (configRead(at, 1) == id) return at;
    at = configRead(at + 1, 1) & ~3U;
  }
  return 0;
}

void RootComplex::reset() {
  constexpr std::uint8_t kExpress = 0x10;
  constexpr std::uint32_t kDeviceControl = 8;
  constexpr std::uint32_t kInitiateReset = 1U << 15;
  const std::uint32_t capability = findCapability(kExpress);
  if (capability == 0) return;
  configWrite(capability + kDeviceControl, 2, configRead(capability + kDeviceControl, 2) | kInitiateReset);
}

}  // namespace hca::host
