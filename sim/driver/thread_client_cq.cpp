// The control path of ThreadClient: completion queues.
#include <memory>
#include <utility>

#include "sim/driver/client_tables.h"
#include "sim/driver/completion_parser.h"
#include "sim/driver/moderation/make_moderation.h"
#include "sim/driver/page_list_of.h"
#include "sim/driver/thread_client.h"

namespace hca::driver {
namespace {

adapter::CqeStride strideOf(const CqRequest& request) {
  if (request.cqe_size == wire::kShortCqeSize) return adapter::CqeStride::k32;
  if (request.cqe_size == sizeof(wire::Cqe)) return adapter::CqeStride::k64;
  return request.padded ? adapter::CqeStride::k128Padded : adapter::CqeStride::k128;
}

bool compressionPossible(const CqRequest& request, const DeviceCapabilities& device) {
  const CqCompression& wanted = request.compression;
  if (wanted.layout == CompressionKind::kNone) return true;
  if (request.cqe_size != sizeof(wire::Cqe) || !device.compression) return false;
  if (wanted.layout == CompressionKind::kEnhanced && !device.enhancedCompression) return false;
  return wanted.miniFormat != adapter::MiniFormat::kChecksumStrideIndex || device.miniStrideIndex;
}

}  // namespace

// The context's field has twelve bits; the stock driver refuses what doesn't fit (MLX5_MAX_CQ_PERIOD).
constexpr std::uint16_t kLongestPeriod = 4095;

VerbsError ThreadClient::checkCq(const CqRequest& request) const {
  const DeviceCapabilities& device = driver_.capabilities();
  if (!completionQueueEntries(request.cqe, device.limits)) return VerbsError::kInvalid;
  if (request.comp_vector >= driver_.completionVectors()) return VerbsError::kInvalid;
  const bool sizeKnown = request.cqe_size == wire::kShortCqeSize || request.cqe_size == sizeof(wire::Cqe) ||
                         request.cqe_size == sizeof(wire::WideCqe);
  if (!sizeKnown) return VerbsError::kInvalid;
  const bool wide = request.cqe_size == sizeof(wire::WideCqe);
  if (request.padded && !wide) return VerbsError::kInvalid;
  if (request.padded && !device.wideEntries) return VerbsError::kNotSupported;
  if (!compressionPossible(request, device)) return wide ? VerbsError::kInvalid : VerbsError::kNotSupported;
  if (request.realTimeStamps && !device.realTimeStamps) return VerbsError::kNotSupported;
  if (request.cq_period > kLongestPeriod) return VerbsError::kInvalid;
  if (request.ignoreOverrun && !device.ignoreOverrun) return VerbsError::kNotSupported;
  const bool fixed = request.cq_count != 0 || request.cq_period != 0;
  const bool moderated =
      request.moderation == ModerationKind::kRdmaDim || (request.moderation == ModerationKind::kFixed && fixed);
  if (moderated && !device.moderation) return VerbsError::kNotSupported;
  return VerbsError::kNone;
}

void ThreadClient::createCq(const CqRequest& request, std::function<void(CqCreated)> done) {
  CqCreated refused;
  refused.error = checkCq(request);
  if (refused.error != VerbsError::kNone) return done(refused);
  const std::uint32_t entries = *completionQueueEntries(request.cqe, driver_.capabilities().limits);
  const std::uint64_t length = std::uint64_t{entries} * request.cqe_size;
  auto cq = std::make_shared<std::unique_ptr<ClientCq>>(
      std::make_unique<ClientCq>(static_cast<EntryWaiter&>(*this), memory_.allocate(length), records_.allocate(),
                                 logOf(entries), strideOf(request), request.compression));
  (*cq)->withChannel = request.withChannel;
  (*cq)->moderation = makeModeration(request);
  (*cq)->ring.initialise();

  adapter::CqAttributes attributes;
  attributes.stride = (*cq)->stride;
  attributes.compression = request.compression.layout != CompressionKind::kNone;
  attributes.compressionLayout = request.compression.layout == CompressionKind::kEnhanced ? 1 : 0;
  if (attributes.compression) attributes.miniFormat = static_cast<std::uint8_t>(request.compression.miniFormat);
  if (request.realTimeStamps) attributes.timestampFormat = adapter::TimestampFormat::kRealTime;
  attributes.ignoreOverrun = request.ignoreOverrun;
  attributes.logSize = static_cast<std::uint8_t>(logOf(entries));
  attributes.uar = uar_;
  attributes.moderationCount = (*cq)->moderation->initial().count;
  attributes.moderationPeriod = (*cq)->moderation->initial().period;
  attributes.ring = pageListOf((*cq)->buffer, length);
  attributes.doorbellRecord = (*cq)->record.bus;
  driver_.createCq(owner_, attributes, request.comp_vector,
                   [this, cq, done = std::move(done)](const Answer<CqNumber>& answer) {
                     finishCreateCq(std::move(*cq), answer, done);
                   });
}

void ThreadClient::finishCreateCq(std::unique_ptr<ClientCq> cq, const Answer<CqNumber>& answer,
                                  const std::function<void(CqCreated)>& done) {
  CqCreated created;
  created.error = errorOf(answer.result);
  if (!answer.ok()) {
    memory_.free(cq->buffer);
    records_.free(cq->record);
    return done(created);
  }
  cq->number = answer.value;
  cq->handle = handOut<ClientCq, CqHandle>(cqs_);
  memory_.space().watch(cq->buffer.bus, cq->buffer.length, *cq);
  if (cq->number.value() >= cqsByNumber_.size()) cqsByNumber_.resize(cq->number.value() + 1);
  cqsByNumber_[cq->number.value()] = cq.get();
  created.handle = cq->handle;
  created.number = cq->number;
  created.cqe = cq->ring.entries() - 1;
  cqs_.back() = std::move(cq);
  done(created);
}

// The kernel destroys the queue first, drops its events that nobody took, and then waits for the acknowledgements of
// those that were taken (ibv_ack_cq_events(3)).
void ThreadClient::destroyCq(CqHandle handle, std::function<void(VerbsError)> done) {
  const ClientCq* cq = find(cqs_, handle);
  if (cq == nullptr || cq->destroyed) return done(VerbsError::kInvalid);
  driver_.destroyCq(owner_, cq->number, [this, handle, done = std::move(done)](const Answer<int>& answer) {
    if (!answer.ok()) return done(errorOf(answer.result));
    ClientCq& gone = cqOf(handle);
    cqsByNumber_[gone.number.value()] = nullptr;
    for (std::size_t left = channel_.size(); left != 0; --left) {
      const CqHandle event = channel_.pop();
      if (event != handle) channel_.push(event);
    }
    gone.destroyed = done;
    if (gone.eventsAcknowledged >= gone.eventsTaken) finishDestroyCq(gone);
  });
}

void ThreadClient::finishDestroyCq(ClientCq& cq) {
  const auto done = std::move(cq.destroyed);
  memory_.space().unwatch(cq.buffer.bus, cq.buffer.length, cq);
  memory_.free(cq.buffer);
  records_.free(cq.record);
  cqs_[cq.handle.value()].reset();
  done(VerbsError::kNone);
}

void ThreadClient::resizeCq(CqHandle handle, std::int32_t cqe, std::function<void(CqResized)> done) {
  const DeviceCapabilities& device = driver_.capabilities();
  const ClientCq* cq = find(cqs_, handle);
  const auto entries = completionQueueEntries(cqe, device.limits);
  if (cq == nullptr || cq->destroyed || !entries) return done({VerbsError::kInvalid});
  if (*entries == cq->ring.entries()) return done({VerbsError::kNone, *entries - 1});
  if (!device.resize) return done({VerbsError::kNotSupported});
  const unsigned logSize = logOf(*entries);
  const std::uint32_t entryBytes = adapter::strideBytes(cq->stride);
  const std::uint64_t length = std::uint64_t{*entries} * entryBytes;
  const DmaBuffer buffer = memory_.allocate(length);
  CompletionRing::invalidate(buffer.bytes, logSize, entryBytes);
  adapter::CqAttributes ring;
  ring.stride = cq->stride;
  ring.logSize = static_cast<std::uint8_t>(logSize);
  ring.ring = pageListOf(buffer, length);
  driver_.resizeCq(owner_, cq->number, ring,
                   [this, handle, buffer, logSize, done = std::move(done)](const Answer<int>& answer) {
                     CqResized resized;
                     resized.error = errorOf(answer.result);
                     if (answer.ok()) {
                       resized.error = finishResizeCq(cqOf(handle), buffer, logSize);
                     } else {
                       memory_.free(buffer);
                     }
                     resized.cqe = cqOf(handle).ring.entries() - 1;
                     done(resized);
                   });
}

// The adapter writes into the new ring already, behind the entries that are copied here.
VerbsError ThreadClient::finishResizeCq(ClientCq& cq, const DmaBuffer& buffer, unsigned logSize) {
  const auto copied = cq.ring.moveTo(buffer.bytes, logSize);
  if (!copied) return VerbsError::kInputOutput;
  thread_.charge(cost().pollCompletion * std::int64_t{*copied});
  memory_.space().unwatch(cq.buffer.bus, cq.buffer.length, cq);
  memory_.free(cq.buffer);
  cq.buffer = buffer;
  memory_.space().watch(cq.buffer.bus, cq.buffer.length, cq);
  return VerbsError::kNone;
}

void ThreadClient::modifyCq(CqHandle handle, std::uint16_t count, std::uint16_t period,
                            std::function<void(VerbsError)> done) {
  const ClientCq* cq = find(cqs_, handle);
  if (cq == nullptr || cq->destroyed) return done(VerbsError::kInvalid);
  if (!driver_.capabilities().moderation) return done(VerbsError::kNotSupported);
  if (period > kLongestPeriod) return done(VerbsError::kInvalid);
  driver_.modifyCqModeration(owner_, cq->number, count, period,
                             [done = std::move(done)](const Answer<int>& answer) { done(errorOf(answer.result)); });
}

// The driver sets what the policy wants beside the thread, as the kernel does in a work item.
void ThreadClient::endRound(ClientCq& cq) {
  if (cq.taken == 0) return;
  const auto wanted = cq.moderation->onRound(thread_.time(), std::exchange(cq.taken, 0));
  if (!wanted) return;
  driver_.modifyCqModeration(owner_, cq.number, wanted->count, wanted->period,
                             [this, handle = cq.handle](const Answer<int>&) {
                               ClientCq* present = find(cqs_, handle);
                               if (present != nullptr) present->moderation->onApplied();
                             });
}

}  // namespace hca::driver
