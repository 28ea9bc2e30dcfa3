// What the random driver posts, and what it compares when it completes.
#include <algorithm>
#include <cstring>

#include "tests/sim/driver/random/message_bytes.h"
#include "tests/sim/driver/random/random_driver_state.h"

namespace hca::test {
namespace {

using driver::QpType;
using driver::SendOpcode;
using driver::VerbsError;
using driver::WcOpcode;
using driver::WcStatus;

constexpr std::uint32_t kAtomicSize = 8;
constexpr std::uint32_t kLongestDatagram = 4096;

bool isAtomic(SendOpcode opcode) { return opcode == SendOpcode::kCompareSwap || opcode == SendOpcode::kFetchAdd; }
bool isWrite(SendOpcode opcode) { return opcode == SendOpcode::kWrite || opcode == SendOpcode::kWriteImmediate; }
bool isSend(SendOpcode opcode) {
  return opcode == SendOpcode::kSend || opcode == SendOpcode::kSendImmediate || opcode == SendOpcode::kSendInvalidate;
}
bool changesWindow(SendOpcode opcode) {
  return opcode == SendOpcode::kBindWindow || opcode == SendOpcode::kLocalInvalidate;
}
bool takesReceive(SendOpcode opcode) { return isSend(opcode) || opcode == SendOpcode::kWriteImmediate; }
bool hasRemoteBuffer(SendOpcode opcode) { return isWrite(opcode) || opcode == SendOpcode::kRead; }

WcOpcode completionOf(SendOpcode opcode) {
  switch (opcode) {
    case SendOpcode::kWrite:
    case SendOpcode::kWriteImmediate:
      return WcOpcode::kWrite;
    case SendOpcode::kRead:
      return WcOpcode::kRead;
    case SendOpcode::kCompareSwap:
      return WcOpcode::kCompareSwap;
    case SendOpcode::kFetchAdd:
      return WcOpcode::kFetchAdd;
    case SendOpcode::kBindWindow:
      return WcOpcode::kBindWindow;
    case SendOpcode::kLocalInvalidate:
      return WcOpcode::kLocalInvalidate;
    default:
      return WcOpcode::kSend;
  }
}

std::uint32_t randomLength(std::uint32_t longest, RandomNumbers& random) {
  if (random.percent(10)) return 0;
  if (random.percent(50)) return random.between(1, std::min(longest, 128U));
  return random.between(1, random.percent(70) ? std::min(longest, 4096U) : longest);
}

/// One or two pieces.
std::vector<driver::ScatterGather> pieces(std::uint64_t address, std::uint32_t length, MemoryKey key,
                                          RandomNumbers& random) {
  if (length == 0) return {};
  if (length < 2 || random.percent(60)) return {{address, length, key}};
  const std::uint32_t first = random.between(1, length - 1);
  return {{address, first, key}, {address + first, length - first, key}};
}

}  // namespace

// ---- posting

bool RandomDriver::chooseVerb(Side& side, WorkRecord& record, RandomNumbers& random) {
  constexpr SendOpcode kVerbs[] = {SendOpcode::kSend,           SendOpcode::kSendImmediate, SendOpcode::kWrite,
                                   SendOpcode::kWriteImmediate, SendOpcode::kRead,          SendOpcode::kFetchAdd,
                                   SendOpcode::kCompareSwap};
  const Connection& connection = *side.connection;
  const std::uint32_t offered = connection.reliable() ? 7 : connection.type == QpType::kUc ? 4 : 2;
  record.opcode = kVerbs[random.below(offered)];
  chooseWindowVerb(side, record, random);
  const bool isDatagram = connection.type == QpType::kUd;
  record.length =
      isAtomic(record.opcode)
          ? kAtomicSize
          : randomLength(isDatagram ? std::min(connection.longest, kLongestDatagram) : connection.longest, random);
  if (!connection.reliable() && record.opcode == SendOpcode::kSend) record.length = std::max(record.length, kNamedSize);
  if (changesWindow(record.opcode)) record.length = 0;
  if (record.viaWindow) record.length = std::min(record.length, SlotPool::kSmall - 1);
  if (isAtomic(record.opcode) && side.atomicAddress == 0) return false;
  record.signaled = random.percent(70) || side.sends.trailingUnsignaled() + 1 >= side.qp.maxSendWr / 2;
  record.solicited = random.percent(30);
  if (connection.isXrc()) record.shared = sharedOf(*peerOf(side).host, random);
  record.immediate = static_cast<std::uint32_t>(record.id);
  if (record.opcode == SendOpcode::kSendInvalidate) record.immediate = peerOf(side).window.key.value();
  if (!connection.wild || record.length == 0 || !random.percent(2)) return true;
  constexpr Flaw kFlaws[] = {Flaw::kLocalKey, Flaw::kRemoteKey, Flaw::kMisaligned, Flaw::kTooLong};
  record.flaw = kFlaws[random.below(4)];
  const bool possible = record.flaw == Flaw::kLocalKey || (record.flaw == Flaw::kRemoteKey && !isSend(record.opcode)) ||
                        (record.flaw == Flaw::kMisaligned && isAtomic(record.opcode)) ||
                        (record.flaw == Flaw::kTooLong && isDatagram);
  if (!possible || record.viaWindow || record.opcode == SendOpcode::kSendInvalidate) record.flaw = Flaw::kNone;
  if (record.flaw == Flaw::kTooLong) record.length = kLongestDatagram + 1;
  return true;
}

bool RandomDriver::takeMemory(Side& side, WorkRecord& record) {
  if (record.opcode == SendOpcode::kBindWindow) {
    if (side.window.nextAddress == 0) side.window.nextAddress = side.host->pool.take(SlotPool::kLarge);
    if (side.window.nextAddress == 0) return false;
  }
  record.local = side.host->pool.take(record.length);
  if (record.local == 0) return false;
  if (record.viaWindow) {
    Window& window = peerOf(side).window;
    record.remote = window.address + std::uint64_t{SlotPool::kSmall} * window.pieces++;
  } else if (hasRemoteBuffer(record.opcode)) {
    record.remote = peerOf(side).host->pool.take(record.length);
    if (record.remote == 0) {
      side.host->pool.giveBack(record.local);
      return false;
    }
  }
  return true;
}

void RandomDriver::release(const Side& side, const WorkRecord& record) {
  side.host->pool.giveBack(record.local);
  if (!record.viaWindow) peerOf(const_cast<Side&>(side)).host->pool.giveBack(record.remote);
}

driver::SendWorkRequest RandomDriver::makeRequest(Side& side, WorkRecord& record, RandomNumbers& random) {
  Host& peer = *peerOf(side).host;
  driver::SendWorkRequest request;
  request.workRequestId = record.id;
  request.opcode = record.opcode;
  request.signaled = record.signaled;
  request.solicited = record.solicited;
  request.immediateOrKey = record.immediate;
  request.fence = side.connection->reliable() && random.percent(10);
  std::uint8_t* local = side.host->client->bytes(record.local, std::max(record.length, 1U));
  if (record.opcode == SendOpcode::kRead) {
    fill(peer.client->bytes(record.remote, record.length + 1), record.id, record.length);
    std::memset(local, 0xEE, record.length);
  } else if (!isAtomic(record.opcode)) {
    fill(local, record.id, record.length);
  }
  const bool returnsData = record.opcode == SendOpcode::kRead || isAtomic(record.opcode);
  const MemoryKey wrong =
      returnsData ? side.host->closed.localKey : MemoryKey(side.host->memory.localKey.value() ^ 0x80);
  const MemoryKey key = record.flaw == Flaw::kLocalKey ? wrong : side.host->memory.localKey;
  request.scatterGather = pieces(record.local, record.length, key, random);
  request.inlineData = !returnsData && record.flaw == Flaw::kNone && record.length > 0 &&
                       record.length <= side.qp.maxInline && random.percent(40);
  request.remoteKey = record.flaw == Flaw::kRemoteKey ? peer.closed.remoteKey : peer.memory.remoteKey;
  request.remoteAddress = record.remote;
  if (isAtomic(record.opcode)) addAtomic(side, record, request, random);
  // A key that its window has no more.
  const Window& window = peerOf(side).window;
  const bool isStale = window.state == WindowState::kFree && window.wasBound;
  if (record.flaw == Flaw::kRemoteKey && !isAtomic(record.opcode) && isStale) request.remoteKey = window.key;
  addWindowRequest(side, record, request);
  if (side.connection->isXrc()) request.remoteSrq = shared_[record.shared]->created.number;
  if (side.connection->type == QpType::kUd) {
    request.datagram.address.lid = peer.client->lid();
    request.datagram.qp = peerOf(side).qp.number;
    request.datagram.queueKey = side.connection->attributes.queueKey;
  }
  return request;
}

// The operations of one queue pair on its word are executed in order: each finds what the one before it left.
void RandomDriver::addAtomic(Side& side, WorkRecord& record, driver::SendWorkRequest& request, RandomNumbers& random) {
  request.remoteAddress = side.atomicAddress + (record.flaw == Flaw::kMisaligned ? 4 : 0);
  record.before = side.atomicValue;
  if (record.opcode == SendOpcode::kFetchAdd) {
    request.compareOrAdd = random.next();
    side.atomicValue += request.compareOrAdd;
    return;
  }
  request.compareOrAdd = random.percent(60) ? side.atomicValue : random.next();
  request.swap = random.next();
  if (request.compareOrAdd == side.atomicValue) side.atomicValue = request.swap;
}

void RandomDriver::postSend(const Step& step) {
  Connection& connection = *connections_[step.target / 2 % connections_.size()];
  Side& side = connection.sides[step.target % 2];
  if (!connection.up || side.host->asleep || !becomeIdle(*side.host)) return;
  RandomNumbers random(step.seed);
  std::vector<driver::SendWorkRequest> list;
  std::vector<WorkRecord> records;
  const std::uint32_t wanted = random.percent(60) ? 1 : random.between(2, 6);
  const std::size_t room = side.qp.maxSendWr - std::min<std::size_t>(side.qp.maxSendWr, side.sends.records().size());
  while (list.size() < wanted) {
    if (!side.sendQueue->tight && reserved(*side.sendQueue) + 1 > side.sendQueue->created.cqe) break;
    WorkRecord record;
    record.id = nextId_++;
    if (list.size() >= room) {  // one too many: refused
      list.emplace_back();
      break;
    }
    if (!chooseVerb(side, record, random) || !takeMemory(side, record)) break;
    list.push_back(makeRequest(side, record, random));
    if (takesReceive(record.opcode)) record.message = side.messagesSent++;
    side.sends.post(record);
    records.push_back(record);
    notePosted(side, record);
  }
  if (list.empty()) return;
  const driver::PostResult result = side.host->client->postSend(side.qp.handle, list);
  const VerbsError expected = list.size() > records.size() ? VerbsError::kNoMemory : VerbsError::kNone;
  if (result.accepted != records.size() || result.error != expected) fail("a post took another number of requests");
  // What was posted inline may be overwritten at once.
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (list[i].inlineData)
      std::memset(side.host->client->bytes(records[i].local, records[i].length), 0xDD, records[i].length);
  }
  passCost(*side.host);
}

void RandomDriver::notePosted(Side& side, const WorkRecord& record) {
  Connection& connection = *side.connection;
  const bool succeeds = record.flaw == Flaw::kNone;
  if (!succeeds && (connection.reliable() || record.flaw != Flaw::kRemoteKey)) connection.mayFail = true;
  if (record.message != kNoMessage) {
    if (succeeds) side.messages.push_back(record);
    const bool waits = sharesReceives(peerOf(side)) || record.message >= peerOf(side).receivesPosted;
    if (waits && connection.attributes.rnrRetry != 7 && connection.reliable()) connection.mayFail = true;
  }
  if (isWrite(record.opcode) && succeeds && connection.reliable() && record.length > 0) side.writes.push_back(record);
}

bool RandomDriver::makeReceive(Side& side, WorkRecord& record, RandomNumbers& random) {
  Connection& connection = *side.connection;
  record.length = connection.longest + (connection.type == QpType::kUd ? driver::kGlobalRouteHeaderSize : 0);
  record.local = side.host->pool.take(record.length);
  if (record.local == 0) return false;
  if (!connection.wild || !connection.reliable() || !random.percent(1)) return true;
  connection.mayFail = true;
  if (random.percent(50)) {
    record.length = random.below(20);
  } else {
    record.flaw = Flaw::kLocalKey;
  }
  return true;
}

void RandomDriver::postReceive(const Step& step) {
  Connection& connection = *connections_[step.target / 2 % connections_.size()];
  Side& side = connection.sides[step.target % 2];
  if (!connection.up || side.host->asleep || !becomeIdle(*side.host)) return;
  RandomNumbers random(step.seed);
  if (sharesReceives(side)) return postShared(side, random);
  std::vector<driver::ReceiveWorkRequest> list;
  std::vector<WorkRecord> records;
  const std::uint32_t wanted = random.between(1, 6);
  while (list.size() < wanted && side.receives.records().size() + list.size() < side.qp.maxReceiveWr) {
    const std::size_t filled = reserved(*side.receiveQueue) + list.size();
    if (!side.receiveQueue->tight && filled >= side.receiveQueue->created.cqe) break;
    WorkRecord record;
    record.id = nextId_++;
    if (!makeReceive(side, record, random)) break;
    const MemoryKey key = record.flaw == Flaw::kNone ? side.host->memory.localKey : side.host->closed.localKey;
    list.push_back({record.id, pieces(record.local, record.length, key, random)});
    records.push_back(record);
  }
  if (list.empty()) return;
  const driver::PostResult result = side.host->client->postReceive(side.qp.handle, list);
  // Completions that got lost leave a receive queue fuller than it is.
  if (result.accepted != list.size() && !side.receiveQueue->lossy()) fail("a receive request was refused");
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i >= result.accepted) {
      side.host->pool.giveBack(records[i].local);
      continue;
    }
    records[i].message = side.receivesPosted++;
    side.receives.post(records[i]);
  }
  passCost(*side.host);
}

// ---- completions

void RandomDriver::complete(Queue& queue, const driver::WorkCompletion& completion) {
  ++completions_;
  Host& host = *queue.host;
  if (&queue == host.kickQueue) {
    if (completion.status != WcStatus::kFlushed) fail("a request of a queue pair in error was not flushed");
    return;
  }
  Side* side = sideOf(host, completion.qp);
  if (side == nullptr) return fail("a completion of no queue pair");
  if (completeShared(*side, queue, completion)) return;
  const auto isReceive = [&] {
    if (side->sendQueue != side->receiveQueue) return &queue == side->receiveQueue;
    const auto& records = side->receives.records();
    return std::any_of(records.begin(), records.end(),
                       [&](const WorkRecord& record) { return record.id == completion.workRequestId; });
  };
  if (&queue != side->sendQueue && &queue != side->receiveQueue) return fail("a completion in the wrong queue");
  if (isReceive()) return completeReceive(*side, completion);
  completeSend(*side, completion);
}

void RandomDriver::completeSend(Side& side, const driver::WorkCompletion& completion) {
  std::vector<WorkRecord> done;
  const Circumstances now = circumstances(side, *side.sendQueue);
  const std::string problem = side.sends.complete(completion, now, done);
  if (!problem.empty()) return fail(nameOf(side) + ": " + problem);
  const bool succeeded = completion.status == WcStatus::kSuccess;
  if (succeeded) {
    if (completion.opcode != completionOf(done.back().opcode)) fail("a completion with another opcode");
    const bool returnsData = done.back().opcode == SendOpcode::kRead || isAtomic(done.back().opcode);
    if (returnsData && completion.byteLength != done.back().length) fail("a completion with another length");
  }
  for (std::size_t i = 0; i < done.size(); ++i) {
    const bool isLast = i + 1 == done.size();
    const bool isDone = isLast ? succeeded : !now.lossy;
    noteWindowDone(side, done[i], isDone);
    if (isDone) {
      side.doneThrough = done[i].id;
      checkResult(side, done[i]);
    }
    release(side, done[i]);
  }
}

// What a read or an atomic brought is there when it completes.
void RandomDriver::checkResult(Side& side, const WorkRecord& record) {
  if (record.opcode == SendOpcode::kRead) return checkBytes(*side.host, record.local, record.id, record.length, "read");
  if (!isAtomic(record.opcode)) return;
  std::uint64_t before = 0;
  std::memcpy(&before, side.host->client->bytes(record.local, sizeof before), sizeof before);
  if (before != record.before) fail("request " + std::to_string(record.id) + ": an atomic found another value");
}

void RandomDriver::completeReceive(Side& side, const driver::WorkCompletion& completion) {
  std::vector<WorkRecord> done;
  const Circumstances now = circumstances(side, *side.receiveQueue);
  const std::string problem = side.receives.complete(completion, now, done);
  if (!problem.empty()) return fail(nameOf(side) + ", receive: " + problem);
  if (completion.status == WcStatus::kSuccess) matchMessage(side, done.back(), completion);
  for (const WorkRecord& record : done) side.host->pool.giveBack(record.local);
}

// A reliable connection delivers message n into receive n; the others may lose messages, and say which came.
void RandomDriver::matchMessage(Side& side, const WorkRecord& receive, const driver::WorkCompletion& completion) {
  Side& sender = peerOf(side);
  std::deque<WorkRecord>& messages = sender.messages;
  if (side.connection->reliable()) {
    while (!messages.empty() && messages.front().message < receive.message) messages.pop_front();
    if (messages.empty() || messages.front().message != receive.message) return fail("a receive without a message");
    const WorkRecord message = messages.front();
    messages.pop_front();
    checkMessage(side, receive, message, completion);
    return checkWrites(sender, message.id);
  }
  std::uint64_t name = completion.immediateOrKey;
  if (!completion.hasImmediate) {
    const std::uint32_t header = side.connection->type == QpType::kUd ? driver::kGlobalRouteHeaderSize : 0;
    std::memcpy(&name, side.host->client->bytes(receive.local + header, sizeof name), sizeof name);
  }
  const auto found = std::find_if(messages.begin(), messages.end(), [&](const WorkRecord& message) {
    return static_cast<std::uint32_t>(message.id) == static_cast<std::uint32_t>(name);
  });
  if (found == messages.end()) return fail("a receive of a message that was not sent, or came before");
  const WorkRecord message = *found;
  if (!unordered_) messages.erase(messages.begin(), found + 1);
  checkMessage(side, receive, message, completion);
}

void RandomDriver::checkMessage(Side& side, const WorkRecord& receive, const WorkRecord& message,
                                const driver::WorkCompletion& completion) {
  const std::uint32_t header = side.connection->type == QpType::kUd ? driver::kGlobalRouteHeaderSize : 0;
  const bool isWriteImmediate = message.opcode == SendOpcode::kWriteImmediate;
  const std::string name = "message " + std::to_string(message.id);
  const WcOpcode opcode = isWriteImmediate ? WcOpcode::kReceiveWriteImmediate : WcOpcode::kReceive;
  if (completion.opcode != opcode) fail(name + " is received with another opcode");
  if (completion.byteLength != message.length + header) fail(name + " is received with another length");
  const bool hasKey = message.opcode == SendOpcode::kSendInvalidate;
  const bool hasImmediate = isWriteImmediate || message.opcode == SendOpcode::kSendImmediate;
  if (completion.hasImmediate != hasImmediate || completion.hasInvalidatedKey != hasKey) {
    fail(name + " has an immediate, or has none");
  }
  if ((hasImmediate || hasKey) && completion.immediateOrKey != message.immediate) fail(name + ": another immediate");
  if (hasKey) {
    side.window.state = WindowState::kFree;
    side.window.wasBound = true;
  }
  // Data of up to 32 bytes in the entry are where the sender would be.
  const bool dataInstead = side.connection->scatterToCqe && completion.sourceQp == QpNumber();
  if (completion.sourceQp != peerOf(side).qp.number && !dataInstead) fail(name + " comes from another queue pair");
  if (isWriteImmediate) return checkBytes(*side.host, message.remote, message.id, message.length, "written");
  checkBytes(*side.host, receive.local + header, message.id, message.length, "received");
}

}  // namespace hca::test
