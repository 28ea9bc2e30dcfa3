#include "models/adapter/receive_queue/tag_matching_unit.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "models/adapter/requester/requester.h"
#include "models/adapter/transport/vendor_errors.h"

namespace hca::adapter {

namespace {

using wire::TagCompletion;
using wire::TagListOperation;
using wire::TagSegment;

MemoryOperationResult refused() { return {false, CqeSyndrome::kLocalQpOperation, vendor_error::kTagListOperation}; }

DataSegment bufferOf(ByteView segments) {
  const auto data = structFrom<wire::DataSegment>(segments.subview(sizeof(TagSegment), sizeof(wire::DataSegment)));
  const MemoryKey key(data.key.host());
  if (key.value() == wire::DataSegment::kTerminatorKey) return {};  // for messages without data
  return {data.address.host(), wire::DataSegment::Length::get(data.byteCount), key};
}

TagCompletion completionOf(TagListOperation operation) {
  if (operation == TagListOperation::kAppend) return TagCompletion::kAppend;
  return operation == TagListOperation::kRemove ? TagCompletion::kRemove : TagCompletion::kNoOperation;
}

}  // namespace

TagMatchingUnit::TagMatchingUnit(const AdapterContext& context, SrqEngine& sharedQueues, CompletionPort& completions,
                                 Requester& requester)
    : context_(context), sharedQueues_(sharedQueues), completions_(completions), requester_(requester) {
  requester_.connect(*this, *this);
}

TagList* TagMatchingUnit::listOf(const QueuePair& qp) const {
  if (!qp.usesSharedQueue() || qp.isXrc()) return nullptr;
  return sharedQueues_.tagsOf(qp.attributes.srq);
}

bool TagMatchingUnit::transfers(const QueuePair& qp) const {
  return qp.attributes.offersRendezvous && sharedQueues_.find(qp.attributes.srq)->attributes.offersRendezvous;
}

// ---- list operations

MemoryOperationResult TagMatchingUnit::execute(const QueuePair& qp, std::uint64_t request, ByteView segments) {
  TagList* list = listOf(qp);
  if (list == nullptr) return refused();
  const auto segment = structFrom<TagSegment>(segments.subview(0, sizeof(TagSegment)));
  const TagListOperation operation = TagSegment::Operation::get(segment.operation);
  const std::uint16_t index = segment.index.host();
  if (TagSegment::HasSoftwareCount::get(segment.flags)) list->synchronize(segment.softwareCount.host());
  const std::uint16_t place = operation == TagListOperation::kAppend ? list->next() : index;
  bool succeeded = true;
  switch (operation) {
    case TagListOperation::kNone:
      break;
    case TagListOperation::kAppend: {
      const TagList::Tag tag{segment.tag.host(), segment.mask.host(), bufferOf(segments)};
      if (list->append(tag, index) != TagList::Append::kDone) return refused();
      break;
    }
    case TagListOperation::kRemove:
      if (!list->isPlace(index)) return refused();
      succeeded = list->remove(index);
      break;
    default:
      return refused();
  }
  if (!TagSegment::WantsCompletion::get(segment.flags)) return {};
  CompletionRecord record = listRecord(qp, operation, place, succeeded);
  record.request = {context_.host, context_.adapter, qp.number, observe::WorkQueue::kSend, request};
  completions_.complete(record);
  return {};
}

CompletionRecord TagMatchingUnit::listRecord(const QueuePair& qp, TagListOperation operation, std::uint16_t place,
                                             bool succeeded) const {
  CompletionRecord record = recordOf(qp, completionOf(operation), place);
  record.opcode = CqeOpcode::kNoPacket;
  wire::TagListCqe front;
  wire::TagListCqe::Succeeded::set(front.success, succeeded);
  front.hardwareCount = wire::Be16(listOf(qp)->hardwareCount());
  record.tag->setFront(bytesOf(front));
  return record;
}

// ---- messages

CompletionRecord TagMatchingUnit::recordOf(const QueuePair& qp, TagCompletion operation, std::uint16_t place) const {
  CompletionRecord record;
  record.qp = qp.number;
  record.opcode = CqeOpcode::kResponderSend;
  record.wqeCounter = place;
  sharedQueues_.describe(qp.attributes.srq, record);
  record.request = {context_.host, context_.adapter, QpNumber(qp.attributes.srq.value()), observe::WorkQueue::kTag,
                    place};
  record.tag.emplace();
  record.tag->operation = operation;
  record.tag->place = place;
  return record;
}

void TagMatchingUnit::reportConsumed(const QueuePair& qp, std::uint16_t place, ByteView header) {
  CompletionRecord record = recordOf(qp, TagCompletion::kConsumed, place);
  record.opcode = CqeOpcode::kNoPacket;
  record.tag->setFront(header);
  completions_.complete(record);
}

void TagMatchingUnit::reportCanceled(const QueuePair& qp, std::uint16_t place) {
  completions_.complete(recordOf(qp, TagCompletion::kMessageCompletionCanceled, place));
}

// ---- rendezvous

void TagMatchingUnit::startTransfer(QueuePair& qp, const TagList::Match& match, ByteView headers) {
  const auto where =
      structFrom<wire::RendezvousHeader>(headers.subview(sizeof(wire::TagHeader), sizeof(wire::RendezvousHeader)));
  SendRequest read;
  read.opcode = SendOpcode::kRead;
  read.index = match.serial;
  read.remoteAddress = where.address.host();
  read.remoteKey = MemoryKey(where.key.host());
  read.length = where.length.host();
  if (read.length != 0) read.segments.push({match.buffer.address, read.length, match.buffer.key});
  read.rendezvous = std::make_unique<RendezvousTransfer>();
  read.rendezvous->place = match.place;
  read.rendezvous->domain = sharedQueues_.domainOf(qp.attributes.srq);
  std::copy_n(headers.data(), read.rendezvous->headers.size(), read.rendezvous->headers.data());
  requester_.submit(qp, std::move(read));
}

void TagMatchingUnit::onTransferEnded(QueuePair& qp, const SendRequest& request, bool ok) {
  if (request.opcode != SendOpcode::kRead || !serves(qp)) return;
  const RendezvousTransfer& transfer = *request.rendezvous;
  if (!ok) return reportCanceled(qp, transfer.place);
  CompletionRecord record = recordOf(qp, TagCompletion::kExpected, transfer.place);
  record.byteCount = request.length;
  completions_.complete(record);
  if (!qp.inError()) finish(qp, transfer);
}

// The sender may have its memory back.
void TagMatchingUnit::finish(QueuePair& qp, const RendezvousTransfer& transfer) {
  SendRequest message;
  message.opcode = SendOpcode::kSend;
  message.length = static_cast<std::uint32_t>(transfer.headers.size());
  message.inlineData = context_.pool.copyOf(ByteView(transfer.headers.data(), transfer.headers.size()));
  message.inlineData.mutableView().data()[0] = static_cast<std::uint8_t>(wire::TagMessage::kFinished);
  message.rendezvous = std::make_unique<RendezvousTransfer>(transfer);
  requester_.submit(qp, std::move(message));
}

}  // namespace hca::adapter
