// The DMA half of the endpoint.
#include <algorithm>

#include "models/pcie/endpoint.h"
#include "models/pcie/pcie_extension.h"
#include "models/pcie/response_status.h"

namespace hca::pcie {

namespace {

std::uint32_t toPageEnd(std::uint64_t address) {
  return LinkTiming::kPage - static_cast<std::uint32_t>(address % LinkTiming::kPage);
}

std::uint32_t bytesOf(std::uint32_t tlps, std::uint32_t pieceSize) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{tlps} * pieceSize, LinkTiming::kPage));
}

}  // namespace

// ---- Reads

void Endpoint::read(const DmaRead& request) {
  const std::uint32_t index = newRead(request);
  if (!mastersBus()) {
    ++counters_.readsWithoutMastering;
    reads_[index].status = host::DmaStatus::kUnmapped;
    reads_[index].isIssuing = false;
    deliver(index, calendar_.now());
    wakeCalendar();
    return;
  }
  if (!waiting_.empty() || !issueRead(index)) {
    reads_[index].isWaiting = true;
    waiting_.push(index);
    issueWaiting();
  }
}

std::uint32_t Endpoint::newRead(const DmaRead& request) {
  if (freeReads_.empty()) {
    freeReads_.push_back(static_cast<std::uint32_t>(reads_.size()));
    reads_.emplace_back();
  }
  const std::uint32_t index = freeReads_.back();
  freeReads_.pop_back();
  Read& read = reads_[index];
  read.request = request;
  read.issued = 0;
  read.outstanding = 0;
  read.isIssuing = true;
  read.isDelivering = false;
  read.resets = resets_;
  read.status = host::DmaStatus::kOk;
  read.last = Time();
  if (!request.timingOnly && read.data.size() < request.length) read.data.resize(request.length);
  return index;
}

// Sends as much as there are tags for; true if that was all.
bool Endpoint::issueRead(std::uint32_t index) {
  const std::uint32_t pieceSize = configuration_.maxReadRequest();
  for (;;) {
    const std::uint32_t tags = std::min(tags_.available(calendar_.now()), burstReads_);
    if (tags == 0) return false;
    Read& read = reads_[index];
    const std::uint64_t address = read.request.address.value() + read.issued;
    const std::uint32_t left = read.request.length - read.issued;
    const std::uint32_t length = std::min({left, toPageEnd(address), bytesOf(tags, pieceSize)});
    std::uint8_t* buffer = read.request.timingOnly ? nullptr : read.data.data() + read.issued;
    const auto transaction = pool_.acquireRead(address, buffer, length);
    transaction.extension->cookie = index;
    transaction.extension->tag = tags_.take(LinkTiming::pieces(address, length, pieceSize));
    read.issued += length;
    ++read.outstanding;
    read.isIssuing = read.issued < read.request.length;
    send(transaction, read.request.traffic, pieceSize);
    if (!reads_[index].isIssuing) return true;
  }
}

void Endpoint::issueWaiting() {
  while (!waiting_.empty()) {
    const std::uint32_t index = waiting_.front();
    if (reads_[index].isIssuing && !issueRead(index)) {
      const Time next = tags_.nextReturn();
      if (next != kForever) tagTimer_.set(later(next, calendar_.now()));
      return;
    }
    waiting_.pop();
    reads_[index].isWaiting = false;
    releaseIfDone(index);  // a failed one gave up waiting
  }
}

void Endpoint::onReadCompletion(tlm::tlm_generic_payload& payload, Time when) {
  const PcieExtension& extension = *payload.get_extension<PcieExtension>();
  const auto index = static_cast<std::uint32_t>(extension.cookie);
  const host::DmaStatus status = toDmaStatus(payload.get_response_status());
  giveTagsBack(payload, extension.pieceSize, when);
  Read& read = reads_[index];
  --read.outstanding;
  read.last = later(read.last, when);
  const bool failsNow = status != host::DmaStatus::kOk && read.status == host::DmaStatus::kOk;
  payload.release();
  if (failsNow) {
    ++counters_.failedReads;
    read.status = status;
    read.isIssuing = false;
    deliver(index, when);
  } else if (read.status == host::DmaStatus::kOk && read.outstanding == 0 && !read.isIssuing) {
    deliver(index, read.last);
  }
  releaseIfDone(index);
  if (!waiting_.empty()) tagTimer_.set(later(tags_.nextReturn(), calendar_.now()));
}

// The completions of a burst come back to back: each request's tag is free when its own last one is in.
void Endpoint::giveTagsBack(const tlm::tlm_generic_payload& payload, std::uint32_t pieceSize, Time when) {
  std::uint64_t address = payload.get_address();
  std::uint32_t left = payload.get_data_length();
  std::uint32_t piece = LinkTiming::firstPiece(address, left, pieceSize);
  if (piece == left) return tags_.giveBack(when);
  const bool failed = payload.is_response_error();
  const std::uint32_t pieces = LinkTiming::pieces(address, left, pieceSize);
  Time in = when - (failed ? timing_.completionsWithoutData(pieces).duration
                           : timing_.completions(address, left, pieceSize).duration);
  for (;;) {
    in += failed ? timing_.completionsWithoutData(1).duration : timing_.completions(address, piece).duration;
    tags_.giveBack(in);
    address += piece;
    left -= piece;
    if (left == 0) return;
    piece = LinkTiming::firstPiece(address, left, pieceSize);
  }
}

void Endpoint::deliver(std::uint32_t index, Time when) {
  Read& read = reads_[index];
  read.isDelivering = true;
  deliveries_.send(when + read.request.deliverAfter, {index});
}

void Endpoint::onDelivery(Delivery& delivery) {
  const DmaRead request = reads_[delivery.read].request;
  const bool isCurrent = reads_[delivery.read].resets == resets_;
  const host::DmaStatus status = reads_[delivery.read].status;
  if (isCurrent && request.client != nullptr) {
    const bool hasData = status == host::DmaStatus::kOk && !request.timingOnly;
    // The buffer stays where it is while the client issues further reads.
    const ByteView data(reads_[delivery.read].data.data(), hasData ? request.length : 0);
    request.client->onDmaRead(request.token, status, data);
  }
  reads_[delivery.read].isDelivering = false;
  releaseIfDone(delivery.read);
}

void Endpoint::releaseIfDone(std::uint32_t index) {
  Read& read = reads_[index];
  if (read.outstanding > 0 || read.isIssuing || read.isWaiting || read.isDelivering) return;
  freeReads_.push_back(index);
}

// ---- Writes

void Endpoint::write(const DmaWrite& request) {
  if (!mastersBus()) return refuseWrite(request);
  const std::uint32_t most = bytesOf(burstWrites_, configuration_.maxPayload());
  if (request.length > std::min(most, toPageEnd(request.address.value()))) return sendSplitWrite(request);
  const auto transaction = writeBurst(request, 0, request.length);
  transaction.extension->sender = request.client;
  transaction.extension->cookie = request.token;
  transaction.extension->notify = request.notify && request.client != nullptr;
  send(transaction, request.traffic, configuration_.maxPayload());
  transaction.payload->release();
}

TransactionPool::Transaction Endpoint::writeBurst(const DmaWrite& request, std::uint32_t offset, std::uint32_t length) {
  const ByteView data = request.data.empty() ? ByteView() : request.data.subview(offset, length);
  const auto transaction = pool_.acquireWrite(request.address.value() + offset, data, length);
  transaction.extension->relaxedOrdering = request.relaxedOrdering && configuration_.relaxedOrderingEnabled();
  return transaction;
}

void Endpoint::sendSplitWrite(const DmaWrite& request) {
  const std::uint32_t pieceSize = configuration_.maxPayload();
  const std::uint32_t most = bytesOf(burstWrites_, pieceSize);
  std::uint32_t index = 0;
  if (request.client != nullptr) {
    if (freeSplitWrites_.empty()) {
      freeSplitWrites_.push_back(static_cast<std::uint32_t>(splitWrites_.size()));
      splitWrites_.emplace_back();
    }
    index = freeSplitWrites_.back();
    freeSplitWrites_.pop_back();
    // One more than are under way, so that it can't end before all are issued.
    splitWrites_[index] = {request.client, request.token, request.notify, 1, host::DmaStatus::kOk};
  }
  for (std::uint32_t offset = 0; offset < request.length;) {
    const std::uint64_t address = request.address.value() + offset;
    const std::uint32_t length = std::min({request.length - offset, most, toPageEnd(address)});
    const auto transaction = writeBurst(request, offset, length);
    offset += length;
    if (request.client != nullptr) {
      transaction.extension->sender = this;
      transaction.extension->cookie = index;
      transaction.extension->notify = true;
      if (offset < request.length) ++splitWrites_[index].outstanding;
    }
    send(transaction, request.traffic, pieceSize);
    transaction.payload->release();
  }
}

void Endpoint::onWriteResponse(tlm::tlm_generic_payload& payload) {
  const PcieExtension& extension = *payload.get_extension<PcieExtension>();
  const host::DmaStatus status = toDmaStatus(payload.get_response_status());
  const bool isCurrent = !extension.isDropped();
  if (isCurrent && status != host::DmaStatus::kOk) ++counters_.failedWrites;
  if (extension.sender != this) {
    if (isCurrent && extension.sender != nullptr) {
      static_cast<DmaClient*>(extension.sender)->onDmaWritten(extension.cookie, status);
    }
    return;
  }
  const auto index = static_cast<std::uint32_t>(extension.cookie);
  SplitWrite& split = splitWrites_[index];
  if (split.status == host::DmaStatus::kOk) split.status = status;
  if (--split.outstanding > 0) return;
  const SplitWrite done = split;
  freeSplitWrites_.push_back(index);
  const bool tells = done.notify || done.status != host::DmaStatus::kOk;
  if (isCurrent && tells) done.client->onDmaWritten(done.token, done.status);
}

void Endpoint::refuseWrite(const DmaWrite& request) {
  ++counters_.writesWithoutMastering;
  if (request.client == nullptr) return;
  refusals_.send(calendar_.now(), {request.client, request.token, resets_});
  wakeCalendar();
}

// NOLINTNEXTLINE(readability-make-member-function-const): an inbox calls no const members.
void Endpoint::onRefusedWrite(RefusedWrite& refused) {
  if (refused.resets == resets_) refused.client->onDmaWritten(refused.token, host::DmaStatus::kUnmapped);
}

void Endpoint::message(BusAddress address, std::uint32_t data) {
  if (!mastersBus()) {
    ++counters_.messagesWithoutMastering;
    return;
  }
  const std::uint8_t word[4] = {static_cast<std::uint8_t>(data), static_cast<std::uint8_t>(data >> 8),
                                static_cast<std::uint8_t>(data >> 16), static_cast<std::uint8_t>(data >> 24)};
  const auto transaction = pool_.acquireWrite(address.value(), {word, sizeof word}, sizeof word);
  send(transaction, Traffic::kInterrupt, configuration_.maxPayload());
  transaction.payload->release();
}

}  // namespace hca::pcie
