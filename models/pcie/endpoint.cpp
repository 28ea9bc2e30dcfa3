#include "models/pcie/endpoint.h"

#include <algorithm>
#include <cstring>

#include "models/pcie/pcie_extension.h"

namespace hca::pcie {

namespace {

constexpr std::uint32_t kUnlimited = ~0U;

// A burst takes its credits as a whole: one that needs most of them would wait for all before it to be processed.
std::uint32_t partOf(std::int64_t credits, std::int64_t each) {
  if (credits == 0) return kUnlimited;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(1, credits / (4 * each)));
}

std::uint32_t writesPerBurst(const PcieConfig& config) {
  const std::int64_t creditsEach = config.maxPayload.count() / LinkTiming::kCreditUnit;
  return std::min(partOf(config.upstreamCredits.postedHeaders, 1),
                  partOf(config.upstreamCredits.postedData, creditsEach));
}

// Their completions are one burst too.
std::uint32_t readsPerBurst(const PcieConfig& config) {
  const std::int64_t unit = std::min(config.maxPayload.count(), config.readCompletionBoundary.count());
  const std::int64_t completionsEach = config.maxReadRequest.count() / unit + 1;
  const std::int64_t creditsEach = config.maxReadRequest.count() / LinkTiming::kCreditUnit;
  return std::min({partOf(config.upstreamCredits.nonPostedHeaders, 1),
                   partOf(config.downstreamCredits.completionHeaders, completionsEach),
                   partOf(config.downstreamCredits.completionData, creditsEach)});
}

}  // namespace

Endpoint::Endpoint(const sc_core::sc_module_name& name, kernel::CalendarModule& calendar, const PcieConfig& config,
                   const FunctionDescription& description)
    : sc_core::sc_module(name),
      module_(calendar),
      calendar_(calendar.calendar()),
      configuration_(description, config),
      timing_(config),
      tags_(static_cast<std::uint32_t>(config.tags)),
      burstWrites_(writesPerBurst(config)),
      burstReads_(readsPerBurst(config)),
      accesses_(calendar_, kernel::Priority::kAdapter, *this, &Endpoint::onRegisterAccess),
      deliveries_(calendar_, kernel::Priority::kAdapter, *this, &Endpoint::onDelivery),
      refusals_(calendar_, kernel::Priority::kAdapter, *this, &Endpoint::onRefusedWrite),
      tagTimer_(calendar_, kernel::Priority::kAdapter, *this, &Endpoint::issueWaiting) {
  link_initiator_socket.bind(*this);
  link_target_socket.bind(*this);
}

void Endpoint::wakeCalendar() {
  if (!module_.isDraining()) module_.wake();
}

Time Endpoint::durationOf(const tlm::tlm_generic_payload& payload, std::uint32_t pieceSize) const {
  const std::uint64_t address = payload.get_address();
  const std::uint32_t length = payload.get_data_length();
  if (LinkTiming::pieces(address, length, pieceSize) == 1) return timing_.writeTime(payload.is_write() ? length : 0);
  return payload.is_write() ? timing_.writes(address, length, pieceSize).duration
                            : timing_.readRequests(address, length, pieceSize).duration;
}

Time Endpoint::drainTime(Bytes size) const {
  const std::uint32_t tlp = configuration_.maxPayload();
  return Time(timing_.writes(0, tlp, tlp).duration.count() * size.count() / tlp);
}

void Endpoint::send(const TransactionPool::Transaction& transaction, Traffic traffic, std::uint32_t pieceSize) {
  PcieExtension& extension = *transaction.extension;
  extension.traffic = traffic;
  extension.pieceSize = pieceSize;
  extension.resets = &resets_;
  extension.resetsAtIssue = resets_;
  drainedAt_ = later(drainedAt_, calendar_.now()) + durationOf(*transaction.payload, pieceSize);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = module_.delayUntil(calendar_.now());
  link_initiator_socket->nb_transport_fw(*transaction.payload, phase, delay);
}

// A register access, whole at the adapter at the time of the call.
tlm::tlm_sync_enum Endpoint::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                             sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  payload.acquire();
  const RegisterAccess access{&payload, payload.get_extension<PcieExtension>()->bar};
  std::uint64_t offset = 0;
  if (payload.is_write() && claims(access, offset)) {
    target_->expectBarWrite(0, offset, {payload.get_data_ptr(), payload.get_data_length()});
  }
  accesses_.send(module_.timeOf(delay), access);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

bool Endpoint::claims(const RegisterAccess& access, std::uint64_t& offset) const {
  if (!isPresent_ || !configuration_.decodesMemory() || target_ == nullptr) return false;
  if (access.bar != 0 && access.bar != PcieExtension::kByAddress) return false;
  offset = access.payload->get_address() - (access.bar == 0 ? 0 : configuration_.barAddress());
  return offset < configuration_.barSize() && access.payload->get_data_length() <= configuration_.barSize() - offset;
}

void Endpoint::onRegisterAccess(RegisterAccess& access) {
  tlm::tlm_generic_payload& payload = *access.payload;
  std::uint64_t offset = 0;
  const bool claimed = claims(access, offset);
  const std::size_t length = payload.get_data_length();
  if (payload.is_write()) {
    if (claimed) target_->onBarWrite(0, offset, {payload.get_data_ptr(), length});
    if (!claimed) ++counters_.unclaimedWrites;
    payload.release();
    return;
  }
  std::memset(payload.get_data_ptr(), 0xFF, length);
  if (claimed) target_->onBarRead(0, offset, {payload.get_data_ptr(), length});
  if (!claimed) ++counters_.unclaimedReads;
  payload.set_response_status(claimed ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = module_.delayUntil(calendar_.now());
  link_target_socket->nb_transport_bw(payload, phase, delay);
  payload.release();
}

// Completions of a DMA read, whole at the adapter at the time of the call; or the news of a write.
tlm::tlm_sync_enum Endpoint::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                             sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (payload.is_read()) {
    onReadCompletion(payload, module_.timeOf(delay));
  } else {
    onWriteResponse(payload);
  }
  return tlm::TLM_COMPLETED;
}

// Configuration accesses take no simulated time.
void Endpoint::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  const auto* extension = payload.get_extension<PcieExtension>();
  if (extension == nullptr || extension->kind != TlpKind::kConfiguration || payload.get_data_length() > 4) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  const auto offset = static_cast<std::uint32_t>(payload.get_address());
  const std::uint32_t width = payload.get_data_length();
  std::uint8_t* bytes = payload.get_data_ptr();
  if (!isPresent_) {
    if (payload.is_read()) std::memset(bytes, 0xFF, width);
  } else if (payload.is_write()) {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < width; ++i) value |= std::uint32_t{bytes[i]} << (8 * i);
    configurationWrite(offset, width, value);
  } else {
    const std::uint32_t value = configurationRead(offset, width);
    for (std::uint32_t i = 0; i < width; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

// A whole register behind the header of the vendor-specific capability.
bool Endpoint::isVendors(std::uint32_t offset, std::uint32_t width) const {
  constexpr std::uint32_t kFirst = ConfigurationSpace::kVendor + 4;
  return vendor_ != nullptr && width == 4 && offset % 4 == 0 && offset >= kFirst &&
         offset < ConfigurationSpace::kVendor + VendorRegisters::kSize;
}

std::uint32_t Endpoint::configurationRead(std::uint32_t offset, std::uint32_t width) {
  return isVendors(offset, width) ? vendor_->readVendorRegister(offset - ConfigurationSpace::kVendor)
                                  : configuration_.read(offset, width);
}

void Endpoint::configurationWrite(std::uint32_t offset, std::uint32_t width, std::uint32_t value) {
  if (isVendors(offset, width)) vendor_->writeVendorRegister(offset - ConfigurationSpace::kVendor, value);
  const ConfigurationSpace::Effect effect = configuration_.write(offset, width, value);
  if (effect == ConfigurationSpace::Effect::kReset) reset();
  if (effect == ConfigurationSpace::Effect::kMsixControl && target_ != nullptr) {
    target_->onMsixControl(configuration_.msixEnabled(), configuration_.msixFunctionMasked());
  }
}

// What is under way belongs to the former life: completers leave memory alone, results are thrown away as they come.
void Endpoint::reset() {
  ++counters_.resets;
  dropDma();
  configuration_.reset();
  if (target_ != nullptr) target_->onReset();
}

void Endpoint::setPresent(bool present) {
  if (present == isPresent_) return;
  isPresent_ = present;
  dropDma();
  if (target_ == nullptr) return;
  target_->onReset();
  if (present) target_->onMsixControl(configuration_.msixEnabled(), configuration_.msixFunctionMasked());
}

void Endpoint::dropDma() {
  ++resets_;
  tagTimer_.cancel();
  while (!waiting_.empty()) {
    const std::uint32_t index = waiting_.pop();
    reads_[index].isIssuing = false;
    reads_[index].isWaiting = false;
    releaseIfDone(index);
  }
}

unsigned Endpoint::transport_dbg(tlm::tlm_generic_payload&) { return 0; }
bool Endpoint::get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) { return false; }
void Endpoint::invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) {}

}  // namespace hca::pcie
