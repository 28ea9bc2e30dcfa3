// The life of the random driver's objects.
#include <algorithm>

#include "tests/sim/driver/random/random_driver_state.h"

namespace hca::test {
namespace {

using driver::VerbsError;

constexpr std::uint32_t kQueuesPerHost = 4;
constexpr std::uint32_t kConnections = 7;

config::Config randomConfig(std::uint64_t seed) {
  RandomNumbers random(seed ^ 0xC0FF33);
  return twoHostConfig([&](config::Config& config) {
    config.run.seed = seed & 0xFFFF;
    config.host.count = random.percent(70) ? 2 : 3;
    constexpr adapter::ArmRule kRules[] = {adapter::ArmRule::kIbSpec, adapter::ArmRule::kCiCompare,
                                           adapter::ArmRule::kCiCompareOnce};
    const adapter::ArmRule rule = kRules[random.below(3)];
    config.allHosts.adapter.completion.armRule = rule;
    config.allHosts.driver.confirm_arm = rule == adapter::ArmRule::kIbSpec || random.percent(50);
    config.allHosts.driver.prefer_blueflame = random.percent(50);
    config.allHosts.adapter.transport.processingUnits = random.between(1, 4);
    if (random.percent(50)) return;
    network::FaultConfig& faults = config.allHosts.faults;
    constexpr double kOften = 0.01;
    if (random.percent(50)) faults.loss = kOften;
    if (random.percent(30)) faults.lossBurst = random.between(1, 4);
    if (random.percent(30)) faults.corruption = kOften;
    if (random.percent(40)) faults.duplication = kOften;
    if (random.percent(40)) faults.delay = kOften;
    faults.delayTime = microseconds(random.between(0, 5));
  });
}

}  // namespace

RandomDriver::RandomDriver(const RandomWorld& world)
    : world_(world), config_(randomConfig(world.seed)), armRule_(config_.allHosts.adapter.completion.armRule) {
  const network::FaultConfig& faults = config_.allHosts.faults;
  unordered_ = faults.duplication > 0 || faults.delay > 0;
  faults_ = unordered_ || faults.loss > 0 || faults.corruption > 0;
  system_ = std::make_unique<TwoHosts>([&](config::Config& config) { config = config_; });
  system_->system().probes().cq.attach([this](const observe::CqEvent& event) {
    for (const auto& queue : queues_) {
      if (!queue->alive || queue->created.number != event.cq || queue->host->index != event.host.value()) continue;
      queue->events->on(event);
      if (event.action == observe::CqAction::kEventDelivered) ++queue->pending;
    }
  });
  RandomNumbers random(world.seed);
  for (std::uint32_t index = 0; index < config_.host.count; ++index) {
    Host& host = *hosts_.emplace_back(std::make_unique<Host>());
    host.index = index;
    openThread(host);
    for (std::uint32_t i = 0; i < kQueuesPerHost; ++i) {
      Queue& queue = *queues_.emplace_back(std::make_unique<Queue>());
      queue.host = &host;
      queue.eventDriven = i == 1;
      queue.tight = i == 2 && random.percent(50);
      createQueue(queue, static_cast<std::uint32_t>(random.next()));
    }
    createKick(host);
    const std::size_t firstQueue = queues_.size() - kQueuesPerHost - 1;
    for (Queue* queue : {static_cast<Queue*>(nullptr), queues_[firstQueue + 3].get(), queues_[firstQueue + 1].get()}) {
      Shared& shared = *shared_.emplace_back(std::make_unique<Shared>());
      shared.host = &host;
      shared.queue = queue;
      createShared(shared, random);
    }
  }
  for (std::uint32_t i = 0; i < kConnections; ++i) {
    Connection& connection = *connections_.emplace_back(std::make_unique<Connection>());
    const std::uint32_t first = random.below(config_.host.count);
    const std::uint32_t second = (first + random.between(1, config_.host.count - 1)) % config_.host.count;
    for (std::uint32_t side = 0; side < 2; ++side) {
      connection.sides[side].connection = &connection;
      connection.sides[side].host = hosts_[side == 0 ? first : second].get();
    }
    build(connection, static_cast<std::uint32_t>(random.next()));
  }
  waitForControl();
}

RandomDriver::~RandomDriver() = default;

void RandomDriver::openThread(Host& host) {
  driver::ThreadClient& client = system_->addThread(host.index, host.index);
  host.client = &client;
  if (await<VerbsError>([&](auto done) { client.open(done); }) != VerbsError::kNone) fail("open");
  const std::uint64_t address = client.allocate(SlotPool::kBytes, 4096);
  host.pool.start(address);
  constexpr std::uint32_t kAll = 15;
  const auto registered = [&](std::uint32_t access) {
    const auto region =
        await<driver::MrRegistered>([&](auto done) { client.registerMemory(address, SlotPool::kBytes, access, done); });
    if (region.error != VerbsError::kNone) fail("a memory region was refused");
    return region;
  };
  host.memory = registered(kAll | static_cast<std::uint32_t>(driver::MemoryAccess::kWindowBind));
  host.closed = registered(0);
  host.domain = await<driver::XrcdOpened>([&](auto done) { client.openXrcd(0, done); });
  if (host.domain.error != VerbsError::kNone) fail("an XRC domain was refused");
  client.onAsyncEvent([this, &host](std::uint8_t type, std::uint32_t object) { onAsyncEvent(host, type, object); });
}

void RandomDriver::onAsyncEvent(Host& host, std::uint8_t type, std::uint32_t object) {
  constexpr std::uint8_t kCqError = 0x04, kQpFatal = 0x05, kQpInvalidRequest = 0x10, kQpAccess = 0x11;
  constexpr std::uint8_t kSrqError = 0x12;
  if (type == kCqError) {
    for (const auto& queue : queues_) {
      if (!queue->alive || queue->host != &host || queue->created.number.value() != object) continue;
      if (!queue->tight || queue->ignoreOverrun || queue->dead) fail("a completion queue reports an error");
      queue->dead = true;
    }
    return;
  }
  if (type == kSrqError) return fail("a shared receive queue reports an error");
  if (type != kQpFatal && type != kQpInvalidRequest && type != kQpAccess) return;
  const Side* side = sideOf(host, QpNumber(object));
  if (side != nullptr && !circumstances(*side, *side->sendQueue).mayFail) fail("a queue pair reports an error");
}

void RandomDriver::chooseCompression(driver::CqRequest& request, RandomNumbers& random) {
  if (request.cqe_size != 64 || random.percent(50)) return;
  request.compression.layout =
      random.percent(50) ? driver::CompressionKind::kBasic : driver::CompressionKind::kEnhanced;
  constexpr adapter::MiniFormat kFormats[] = {adapter::MiniFormat::kHash, adapter::MiniFormat::kChecksum,
                                              adapter::MiniFormat::kChecksumStrideIndex};
  request.compression.miniFormat = kFormats[random.below(3)];
}

void RandomDriver::createQueue(Queue& queue, std::uint32_t seed) {
  RandomNumbers random(seed);
  driver::CqRequest request;
  request.cqe = static_cast<std::int32_t>(queue.tight ? random.between(3, 40) : random.between(40, 300));
  request.withChannel = true;
  request.comp_vector = random.below(4);
  request.cqe_size = random.percent(70) ? 64 : 128;
  request.padded = request.cqe_size == 128 && random.percent(50);
  request.ignoreOverrun = random.percent(50);
  // Where blocks are overwritten unread, what is read is no completion of anybody.
  if (!queue.tight || !request.ignoreOverrun) chooseCompression(request, random);
  queue.ignoreOverrun = request.ignoreOverrun;
  queue.dead = queue.locked = queue.serveLater = queue.holdsEvents = false;
  queue.pending = 0;
  queue.events = std::make_unique<EventReference>(armRule_);
  driver::ThreadClient& client = *queue.host->client;
  queue.created = await<driver::CqCreated>([&](auto done) { client.createCq(request, done); });
  if (queue.created.error != VerbsError::kNone || queue.created.cqe < static_cast<std::uint32_t>(request.cqe)) {
    return fail("a completion queue was refused or is too small");
  }
  queue.alive = true;
  if (!queue.eventDriven) return;
  becomeIdle(*queue.host);
  client.arm(queue.handle(), false);
  passCost(*queue.host);
}

void RandomDriver::createKick(Host& host) {
  Queue& queue = *queues_.emplace_back(std::make_unique<Queue>());
  queue.host = &host;
  queue.eventDriven = true;
  host.kickQueue = &queue;
  createQueue(queue, 0);
  driver::QpRequest request;
  request.maxSendWr = 4;
  driver::ThreadClient& client = *host.client;
  host.kick =
      await<driver::QpCreated>([&](auto done) { client.createQp(request, queue.handle(), queue.handle(), done); });
  const auto connected = await<VerbsError>([&](auto done) {
    client.connect(host.kick.handle, {client.lid(), {}, QpNumber(1), 0, 0}, {}, done);
  });
  const auto failed = await<VerbsError>([&](auto done) { client.modifyToError(host.kick.handle, done); });
  if (connected != VerbsError::kNone || failed != VerbsError::kNone) fail("a queue pair can't be taken to error");
}

// ---- connections

void RandomDriver::chooseQueues(Connection& connection, RandomNumbers& random) {
  for (Side& side : connection.sides) {
    for (Queue** role : {&side.sendQueue, &side.receiveQueue}) {
      do {
        *role = queues_[random.below(static_cast<std::uint32_t>(queues_.size()))].get();
      } while ((*role)->host != side.host || (*role)->locked || !(*role)->alive || *role == side.host->kickQueue);
    }
  }
}

void RandomDriver::build(Connection& connection, std::uint32_t seed) {
  RandomNumbers random(seed);
  chooseQueues(connection, random);
  constexpr driver::QpType kTypes[] = {driver::QpType::kRc, driver::QpType::kRc, driver::QpType::kRc,
                                       driver::QpType::kUc, driver::QpType::kUd, driver::QpType::kXrcInitiator};
  connection.type = kTypes[random.below(6)];
  for (Side& side : connection.sides) chooseShared(side, random);
  connection.wild = random.percent(40);
  connection.scatterToCqe = random.percent(40);
  connection.depth = random.between(2, 40);
  connection.longest = random.percent(70) ? 400 : 20'000;
  constexpr std::uint32_t kMtus[] = {256, 512, 1024, 2048, 4096};
  driver::ConnectionAttributes& attributes = connection.attributes;
  attributes.mtu = connection.type == driver::QpType::kUd ? 4096 : kMtus[random.below(5)];
  attributes.ackTimeout = 8;
  attributes.retryCount = 7;
  attributes.rnrRetry = static_cast<std::uint8_t>(random.percent(60) ? 7 : random.below(3));
  attributes.minRnrTimer = static_cast<std::uint8_t>(random.between(1, 4));
  attributes.maxReads = static_cast<std::uint8_t>(1U << random.below(5));
  // Without this a lost or late packet of one pair could fit into the life of the next one.
  for (Side& side : connection.sides) side.firstPsn = random.below(1U << 24);
  connection.mayFail = false;
  connection.building = true;
  ++controlCalls_;
  createQp(connection, 0);
}

void RandomDriver::createQp(Connection& connection, std::uint32_t index) {
  Side& side = connection.sides[index];
  driver::QpRequest request;
  request.type = connection.type;
  request.maxSendWr = request.maxReceiveWr = connection.depth;
  request.maxSendSge = request.maxReceiveSge = 2;
  request.maxInline = 60;
  request.scatterToCqe = connection.scatterToCqe;
  if (side.shared != nullptr) request.srq = side.shared->created.handle;
  side.host->client->createQp(request, side.sendQueue->handle(), side.receiveQueue->handle(),
                              [this, &connection, &side, index](const driver::QpCreated& created) {
                                if (created.error != VerbsError::kNone) return fail("a queue pair was refused");
                                side.qp = created;
                                startSide(side);
                                if (connection.type == driver::QpType::kRc) renewWindow(side);
                                if (connection.isXrc()) return createTarget(connection, index);
                                if (index == 0) return createQp(connection, 1);
                                connect(connection, 1);
                              });
}

void RandomDriver::createTarget(Connection& connection, std::uint32_t index) {
  Side& side = connection.sides[index];
  driver::QpRequest request;
  request.type = driver::QpType::kXrcTarget;
  request.domain = side.host->domain.handle;
  side.host->client->createQp(request, {}, {}, [this, &connection, &side, index](const driver::QpCreated& created) {
    if (created.error != VerbsError::kNone) return fail("a target was refused");
    side.target = created;
    if (index == 0) return createQp(connection, 1);
    connect(connection, 1);
  });
}

void RandomDriver::startSide(Side& side) {
  side.exists = true;
  side.sends = WorkQueueReference(true, world_.expectUnsignaledToComplete);
  side.receives = WorkQueueReference(false);
  side.messagesSent = side.receivesPosted = side.doneThrough = side.atomicValue = 0;
  side.messages.clear();
  side.writes.clear();
  side.toldToFail = side.receiveFailed = false;
  Host& peer = *peerOf(side).host;
  side.atomicAddress = peer.pool.take(8);
  if (side.atomicAddress != 0) std::fill_n(peer.client->bytes(side.atomicAddress, 8), 8, std::uint8_t{0});
}

// Of XRC, the target before the peer's initiator.
void RandomDriver::connect(Connection& connection, std::uint32_t index) {
  Side& side = connection.sides[index];
  const Side& peer = peerOf(side);
  const auto next = [this, &connection, index] {
    if (index == 1) return connect(connection, 0);
    connection.up = true;
    connection.building = false;
    --controlCalls_;
  };
  const auto address = [&](QpNumber to) {
    return driver::QpPeer{peer.host->client->lid(), {}, to, peer.firstPsn, side.firstPsn};
  };
  const auto finish = [this, next](VerbsError error) {
    if (error != VerbsError::kNone) return fail("a queue pair doesn't connect");
    next();
  };
  driver::ThreadClient& client = *side.host->client;
  if (!connection.isXrc()) {
    return client.connect(side.qp.handle, address(peer.qp.number), connection.attributes, finish);
  }
  const driver::QpPeer target = address(peer.target.number);
  client.connect(side.target.handle, address(peer.qp.number), connection.attributes,
                 [this, &client, &connection, &side, target, finish](VerbsError error) {
                   if (error != VerbsError::kNone) return fail("a target doesn't connect");
                   client.connect(side.qp.handle, target, connection.attributes, finish);
                 });
}

void RandomDriver::tearDown(Connection& connection, const std::function<void()>& next) {
  connection.up = false;
  connection.building = true;
  connection.mayFail = true;
  for (const auto& shared : shared_) {
    for (const Side& side : connection.sides) shared->isUnsure = shared->isUnsure || uses(side, *shared);
  }
  ++controlCalls_;
  if (connection.isXrc()) return destroyTarget(connection, 0, next);
  destroyQp(connection, 0, next);
}

// What the target completed is still in the queues, and is taken before its number means something else.
void RandomDriver::destroyTarget(Connection& connection, std::uint32_t index, const std::function<void()>& next) {
  Side& side = connection.sides[index];
  side.host->client->destroyQp(side.target.handle, [this, &connection, &side, index, next](VerbsError error) {
    if (error != VerbsError::kNone) return fail("a target can't be destroyed");
    for (const auto& shared : shared_) {
      if (shared->isXrc() && shared->host == side.host) drain(*shared->queue, 1U << 20);
    }
    if (index == 0) return destroyTarget(connection, 1, next);
    destroyQp(connection, 0, next);
  });
}

void RandomDriver::destroyQp(Connection& connection, std::uint32_t index, const std::function<void()>& next) {
  Side& side = connection.sides[index];
  side.host->client->destroyQp(side.qp.handle, [this, &connection, &side, index, next](VerbsError error) {
    if (error != VerbsError::kNone) return fail("a queue pair can't be destroyed");
    side.exists = false;
    for (const auto* queue : {&side.sends, &side.receives}) {
      for (const WorkRecord& record : queue->records()) release(side, record);
    }
    peerOf(side).host->pool.giveBack(side.atomicAddress);
    if (index == 0) return destroyQp(connection, 1, next);
    --controlCalls_;
    next();
  });
}

void RandomDriver::replaceQueue(Queue& queue, std::uint32_t seed) {
  if (!queue.alive || &queue == queue.host->kickQueue) return;
  waitForControl();
  std::vector<Connection*> users;
  for (const auto& connection : connections_) {
    const auto isUser = [&](const Side& side) {
      return side.sendQueue == &queue || side.receiveQueue == &queue ||
             std::any_of(shared_.begin(), shared_.end(),
                         [&](const auto& shared) { return shared->queue == &queue && uses(side, *shared); });
    };
    if (!isUser(connection->sides[0]) && !isUser(connection->sides[1])) continue;
    users.push_back(connection.get());
    tearDown(*connection, [] {});
  }
  waitForControl();
  if (!failure_.empty()) return;
  for (const auto& shared : shared_) {
    if (shared->queue == &queue) destroyShared(*shared);
  }
  queue.alive = false;
  const auto destroyed = await<VerbsError>([&](auto done) { queue.host->client->destroyCq(queue.handle(), done); });
  if (destroyed != VerbsError::kNone) return fail("an unused completion queue can't be destroyed");
  createQueue(queue, seed);
  RandomNumbers random(seed);
  for (const auto& shared : shared_) {
    if (shared->queue == &queue) createShared(*shared, random);
  }
  for (Connection* connection : users) build(*connection, ++seed);
  waitForControl();
}

void RandomDriver::waitForControl() {
  const Time limit = system_->calendar().now() + milliseconds(100);
  while (controlCalls_ != 0 && failure_.empty()) {
    if (system_->calendar().now() > limit) return fail("a command never ends");
    pass(microseconds(5));
  }
}

}  // namespace hca::test
