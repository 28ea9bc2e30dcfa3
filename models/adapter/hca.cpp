#include "models/adapter/hca.h"

#include "models/wire/endian.h"
#include "models/wire/eqe.h"
#include "models/wire/mmio_map.h"

namespace hca::adapter {

namespace {

constexpr unsigned kRegisterBar = 0;

std::uint32_t log2Of(std::int64_t value) {
  std::uint32_t log = 0;
  while ((std::int64_t{1} << (log + 1)) <= value) ++log;
  return log;
}

// What the adapter offers follows from the sizes of its tables.
AdapterCapabilities capabilitiesOf(const HcaConfig& config) {
  AdapterCapabilities capabilities;
  capabilities.logMaxQp = log2Of(config.transport.maxQps);
  capabilities.logMaxCq = static_cast<std::uint32_t>(config.completion.logMaxCqs);
  capabilities.logMaxCqSize = static_cast<std::uint32_t>(config.completion.logMaxCqSize);
  capabilities.logMaxEqSize = static_cast<std::uint32_t>(config.event.logMaxEqSize);
  capabilities.maxEqs = static_cast<std::uint32_t>(config.event.maxEqs);
  capabilities.logMaxMkey = config.memory.logMaxMkey;
  capabilities.logMaxPd = config.memory.logMaxPd;
  capabilities.registersByRequest = config.memory.registrationByRequest;
  capabilities.logMaxSrq = SrqEngine::kLogMaxQueues;
  capabilities.logMaxSrqSize = SrqEngine::kLogMaxSize;
  capabilities.logTagList = log2Of(config.transport.tagListSize);
  capabilities.logMaxMulticastGroups = MulticastGroups::kLogMaxGroups;
  capabilities.maxMulticastQps = MulticastGroups::kMaxMembers;
  capabilities.moderation = config.completion.moderation;
  capabilities.compressionMax = static_cast<std::uint32_t>(config.completion.compressionMax);
  capabilities.compressionTimeout =
      static_cast<std::uint32_t>(config.completion.compressionTimeout.count() / nanoseconds(1).count());
  capabilities.wideCqe = config.completion.wideEntries;
  capabilities.enhancedCompression = config.completion.enhancedCompression;
  capabilities.realTimeStamps = config.completion.realTimeStamps;
  capabilities.uc = true;
  capabilities.ud = true;
  capabilities.xrc = true;
  capabilities.dynamicConnections = config.transport.dynamicConnections;
  return capabilities;
}

// Different for each adapter of a fabric, so that no two draw the same random numbers.
std::uint64_t numberOf(const AdapterContext& context) {
  constexpr std::uint64_t kMostHosts = 1024;
  return context.host.value() + context.adapter.value() * kMostHosts;
}

AdapterContext withMemory(const AdapterContext& context, pcie::DmaPort& memory) {
  return {context.calendar, context.probes, context.pool, memory, context.clock, context.host, context.adapter};
}

}  // namespace

Hca::Hca(const AdapterContext& context, const HcaConfig& config, const Options& options,
         const std::vector<network::PacketSender*>& wires)
    : config_(config),
      deviceMemory_(config_.memory.deviceMemory),
      deviceMemoryPort_(context, config_.memory, deviceMemory_),
      context_(deviceMemory_.size() == 0 ? context : withMemory(context, deviceMemoryPort_)),
      routes_(options.addresses),
      contextCache_(context_, config_.cache, options.seed + numberOf(context)),
      domains_(1U << config.memory.logMaxPd),
      uars_(UarIndex(wire::kFirstUarIndex), wire::kUarIndexEnd - wire::kFirstUarIndex),
      memoryKeys_(config_.memory, domains_, cache_),
      vectors_(context_, static_cast<std::uint32_t>(config.event.vectors)),
      events_(context_, config_.event, vectors_),
      completion_(context_, config_.completion, events_, events_),
      queuePairs_(config_.transport, completion_, events_, options.addresses.size()),
      egress_(context_, config_.transport, routes_, options.movePayload, cache_),
      memoryOperations_(context_, config_.transport, memoryKeys_, memoryKeys_, queuePairs_),
      requester_(context_, config_.transport,
                 {egress_, memoryKeys_, completion_, queuePairs_, queuePairs_, routes_, memoryOperations_, cache_}),
      sendQueue_(context_, config_.transport, queuePairs_, requester_, cache_),
      sharedQueues_(context_, config_.transport, completion_, events_, queuePairs_),
      tags_(context_, sharedQueues_, completion_, requester_),
      receiveQueue_(context_, config_.transport, queuePairs_, completion_, sharedQueues_),
      responses_(context_, egress_, memoryKeys_, queuePairs_, routes_),
      atomics_(context_),
      responder_(context_, config_.transport,
                 {receiveQueue_, memoryKeys_, completion_, queuePairs_, queuePairs_, responses_, atomics_, memoryKeys_,
                  cache_, routes_, tags_}),
      dispatcher_({queuePairs_, requester_, responder_, cache_, queuePairs_.groups(), queuePairs_.steering(),
                   queuePairs_, context_.pool, routes_, queuePairs_}),
      command_(context_, config_.command, options.identity, capabilitiesOf(config_),
               {domains_, uars_, memoryKeys_, events_, completion_, queuePairs_, sharedQueues_, deviceMemory_}, events_,
               AdapterClock(config_.completion.timestamps())),
      decoder_({command_, vectors_, completion_, events_, sendQueue_, deviceMemory_}) {
  if (ContextCache::isLimited(config_.cache)) cache_.setModel(&contextCache_);
  if (deviceMemory_.size() != 0) memoryKeys_.connect(deviceMemory_);
  contextCache_.setMemory(command_.device().pages);
  completion_.setCache(cache_);
  egress_.connect(queuePairs_.groups(), queuePairs_.steering());
  for (network::PacketSender* wire : wires) connectPort(*wire);
  queuePairs_.connect({sendQueue_, receiveQueue_, requester_, responder_, sharedQueues_});
  completion_.setFailureSink(queuePairs_);
  events_.setHealthSink(*this);
  command_.setViolations([this](std::uint8_t port) { return dispatcher_.violations(port); });
  command_.setTeardownHandler([this] { destroyObjects(); });
}

void Hca::connectPort(network::PacketSender& wire) {
  Port& port = ports_.emplace_back(*this, static_cast<std::uint8_t>(ports_.size() + 1));
  egress_.addPort(wire, port.loopback);
  port.loopback.connect(dispatcher_.port(port.number));
  port.ingress.connect(dispatcher_.port(port.number));
}

void Hca::expectBarWrite(unsigned bar, std::uint64_t offset, ByteView bytes) {
  if (bar == kRegisterBar) decoder_.expectWrite(offset, bytes);
}

void Hca::onBarWrite(unsigned bar, std::uint64_t offset, ByteView bytes) {
  if (bar == kRegisterBar) decoder_.write(offset, bytes);
}

void Hca::onBarRead(unsigned bar, std::uint64_t offset, MutableByteView into) {
  if (bar == kRegisterBar) decoder_.read(offset, into);
}

void Hca::onReset() {
  command_.reset();  // ends every object
  contextCache_.reset();
  deviceMemoryPort_.reset();
  vectors_.reset();
  gateway_.reset();
}

void Hca::onMsixControl(bool enabled, bool functionMasked) { vectors_.setControl(enabled, functionMasked); }

void Hca::destroyObjects() {
  queuePairs_.clear();
  sharedQueues_.clear();
  completion_.reset();
  events_.reset();
}

void Hca::raisePortChange(std::uint8_t port, wire::PortChange change) {
  EventRecord event;
  event.type = EventType::kPortChange;
  event.subType = static_cast<std::uint8_t>(change);
  event.object = port;
  events_.raise(event);
}

void Hca::onLinkState(std::uint8_t port, bool isUp) {
  command_.setPortActive(port, isUp);
  raisePortChange(port, isUp ? wire::PortChange::kActive : wire::PortChange::kDown);
}

void Hca::changeLid(std::uint8_t port, Lid lid) {
  command_.port(port).lid = routes_.port(port).lid = lid;
  raisePortChange(port, wire::PortChange::kLidChanged);
}

void Hca::changePartitionKeys(std::uint8_t port, const std::vector<std::uint16_t>& keys) {
  command_.port(port).pkeys = routes_.port(port).partitionKeys = keys;
  raisePortChange(port, wire::PortChange::kPkeyChanged);
}

void Hca::changeGuid(std::uint8_t port, std::uint64_t guid) {
  PortIdentity& identity = command_.port(port);
  identity.guid = guid;
  wire::storeBigEndian(identity.gids.front().data() + 8, guid);
  routes_.port(port).gid = routes_.port(port).linkLocalGid = identity.gids.front();
  raisePortChange(port, wire::PortChange::kGuidChanged);
}

void Hca::askToReregister(std::uint8_t port) { raisePortChange(port, wire::PortChange::kClientReregister); }

void Hca::restart() {
  onReset();
  command_.restart();
}

bool Hca::fireInterrupt(InterruptVector vector) {
  if (vector.value() >= vectors_.vectors()) return false;
  vectors_.fire(vector);
  return true;
}

void Hca::fail(HealthSyndrome syndrome, bool asksForReset) {
  reportHealth(syndrome, asksForReset);
  queuePairs_.clear();
  EventRecord event;
  event.type = EventType::kInternalError;
  events_.raise(event);
}

void Hca::onHealthProblem(HealthSyndrome syndrome) { command_.setHealthSyndrome(static_cast<std::uint8_t>(syndrome)); }

}  // namespace hca::adapter
