#include "sim/workload/message_content.h"

#include <algorithm>
#include <cstring>

#include "sim/workload/payload_pattern.h"

namespace hca::sim {
namespace {

constexpr std::uint32_t kWord = 8;

}  // namespace

MessageContent::MessageContent(const FlowConfig& config, std::uint64_t seed, bool moves)
    : depth_(config.tx_depth),
      moves_(moves),
      sizes_(config, seed),
      verbs_(config, seed),
      mayLose_(!isReliable(config.transport) && verbs_.any(usesReceive)),
      pairs_(config.qps) {}

std::uint32_t MessageContent::length(std::uint32_t index, std::uint64_t number) const {
  return verbs_.isMixed() && isAtomic(verbs_.of(index, number)) ? kWord : sizes_.of(index, number);
}

void MessageContent::start(const FlowEndpoint& client, const FlowEndpoint& server) {
  client_ = &client;
  server_ = &server;
  numbered_ = moves_ && sizes_.least() >= kWord && client.slots() >= depth_;
  if (!moves_) return;
  const Area readFrom = verbs_.isMixed() ? kReadArea : kReceiveArea;
  for (std::uint32_t index = 0; index < pairs_.size(); ++index) {
    for (std::uint64_t slot = 0; slot < client.slots(); ++slot) {
      const auto fill = [&](const FlowEndpoint& end, Area area) {
        fillPattern(end.bytes(end.address(area, index, slot)), sizes_.most(), seed(index, slot));
      };
      if (verbs_.any([](FlowVerb verb) { return verb == FlowVerb::kRead; })) fill(server, readFrom);
      if (verbs_.any([](FlowVerb verb) { return !hasResponse(verb); })) fill(client, kSendArea);
    }
  }
}

void MessageContent::prepare(std::uint32_t index, std::uint64_t number, driver::SendWorkRequest& request) {
  const FlowVerb verb = verbs_.of(index, number);
  request.opcode = opcodeOf(verb);
  request.scatterGather.front().address = localAddress(index, number);
  request.scatterGather.front().length = length(index, number);
  request.inlineData = client_->inlines(length(index, number)) && !hasResponse(verb);
  request.remoteAddress = remoteAddress(index, number);
  request.immediateOrKey = static_cast<std::uint32_t>(number);
  if (isAtomic(verb)) setOperands(verb, pairs_[index].atomicsPosted++, request);
  if (numbered_) writeHeader(index, number);
}

// ---- places

std::uint64_t MessageContent::localAddress(std::uint32_t index, std::uint64_t number) const {
  const bool comesBack = verbs_.isMixed() && hasResponse(verbs_.of(index, number));
  return client_->address(comesBack ? kReceiveArea : kSendArea, index, number);
}

std::uint64_t MessageContent::remoteAddress(std::uint32_t index, std::uint64_t number) const {
  const FlowVerb verb = verbs_.of(index, number);
  if (isAtomic(verb)) return server_->address(wordArea(), index, 0);
  const Area area = !verbs_.isMixed() ? kReceiveArea : verb == FlowVerb::kRead ? kReadArea : kWrittenArea;
  return server_->address(area, index, number % client_->slots());
}

std::uint64_t MessageContent::seed(std::uint32_t index, std::uint64_t number) const {
  return std::uint64_t{index} * client_->slots() + number % client_->slots();
}

void MessageContent::writeHeader(std::uint32_t index, std::uint64_t number) {
  // Where a response goes there is to be nothing that could be taken for it.
  const std::uint64_t header = hasResponse(verbs_.of(index, number)) ? ~number : number;
  std::memcpy(client_->bytes(localAddress(index, number)), &header, sizeof header);
}

bool MessageContent::isIntact(const std::uint8_t* content, std::uint32_t index, std::uint64_t number) const {
  const std::size_t length = sizes_.of(index, number);
  if (!numbered_) return matchesPattern(content, length, seed(index, number));
  if (std::memcmp(content, &number, sizeof number) != 0) return false;
  return matchesPattern(content, length, seed(index, number), sizeof number);
}

// ---- checks

std::uint64_t MessageContent::checkReceived(std::uint32_t index, std::uint64_t posted, const std::uint8_t* content,
                                            const driver::WorkCompletion& completion) {
  std::uint64_t& expected = pairs_[index].expected;
  while (expected < posted && !usesReceive(verbs_.of(index, expected))) ++expected;
  // Some may be missing: then a message must say itself which one it is.
  std::uint64_t number = expected;
  if (mayLose_ && completion.hasImmediate) {
    number = completion.immediateOrKey;
  } else if (mayLose_ && numbered_) {
    number = wordAt(content);
  }
  const bool isKnown = !mayLose_ || completion.hasImmediate || numbered_;
  bool intact = number >= expected;
  if (isKnown) intact = intact && fits(index, number, content, completion);
  expected = number + 1;
  return intact ? 0 : 1;
}

bool MessageContent::fits(std::uint32_t index, std::uint64_t number, const std::uint8_t* content,
                          const driver::WorkCompletion& completion) const {
  const FlowVerb verb = verbs_.of(index, number);
  const bool isWrite = verb == FlowVerb::kWriteImmediate;
  if (!usesReceive(verb) || isWrite != (completion.opcode == driver::WcOpcode::kReceiveWriteImmediate)) return false;
  if (completion.byteLength != sizes_.of(index, number) + server_->headerSize()) return false;
  const bool hasImmediate = isWrite || verb == FlowVerb::kSendImmediate;
  if (completion.hasImmediate != hasImmediate) return false;
  if (hasImmediate && completion.immediateOrKey != static_cast<std::uint32_t>(number)) return false;
  return !moves_ || isWrite || isIntact(content, index, number);
}

std::uint64_t MessageContent::checkResponses(std::uint32_t index, std::uint64_t first, std::uint64_t last,
                                             std::uint32_t byteLength) {
  if (!verbs_.any(hasResponse)) return 0;
  std::uint64_t wrong = hasResponse(verbs_.of(index, last)) && byteLength != length(index, last) ? 1 : 0;
  for (std::uint64_t number = first; number <= last; ++number) {
    if (!checkResponse(index, number)) ++wrong;
  }
  return wrong;
}

bool MessageContent::checkResponse(std::uint32_t index, std::uint64_t number) {
  const FlowVerb verb = verbs_.of(index, number);
  if (!hasResponse(verb)) return true;
  const std::uint64_t atomic = isAtomic(verb) ? pairs_[index].atomicsCompleted++ : 0;
  if (!moves_) return true;
  const std::uint8_t* content = client_->bytes(localAddress(index, number));
  if (isAtomic(verb)) return !numbered_ || wordAt(content) == atomic;
  return matchesPattern(content, sizes_.of(index, number), seed(index, number));
}

// Writes: what the last message of each place left there. Atomics: each added one.
std::uint64_t MessageContent::checkRemainder(std::uint32_t index, std::uint64_t completed, bool all) const {
  if (!moves_) return 0;
  std::uint64_t wrong = 0;
  if (all && verbs_.any(isAtomic)) {
    const std::uint64_t word = wordAt(server_->bytes(server_->address(wordArea(), index, 0)));
    wrong += word != pairs_[index].atomicsCompleted ? 1 : 0;
  }
  if (!verbs_.any(isWrite)) return wrong;
  for (std::uint64_t number = completed - std::min<std::uint64_t>(completed, client_->slots()); number < completed;
       ++number) {
    if (!isWrite(verbs_.of(index, number))) continue;
    if (!isIntact(server_->bytes(remoteAddress(index, number)), index, number)) ++wrong;
  }
  return wrong;
}

}  // namespace hca::sim
