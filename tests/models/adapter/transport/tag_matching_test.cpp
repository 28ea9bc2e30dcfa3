// Tag-matching receive queues end to end on the data path.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/adapter/transport/vendor_errors.h"
#include "models/wire/shared_receive_context.h"
#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using wire::TagCompletion;
using wire::TagMessage;

/// A sender on A; on B its peer, whose messages go to a tag-matching queue, and the queue's command queue pair.
class TagBench {
 public:
  static constexpr std::uint64_t kQueueRecord = 0x80, kQueueRing = 0x8000, kCommandRing = 0x18000;
  static constexpr std::uint64_t kUnexpected = 0x60000, kTagged = 0x70000;  // B's buffers
  static constexpr std::uint32_t kUserIndex = 0x5151;
  static constexpr std::uint32_t kPlaces = 8;
  static constexpr std::uint32_t kHeader = 16;

  explicit TagBench(bool peerTransfers = true) {
    SrqAttributes wanted;
    wanted.kind = SrqKind::kTagMatching;
    wanted.topology = wire::TagMatchingQueueContext::kTagMatching;
    wanted.offersRendezvous = true;
    wanted.logTags = 3;
    wanted.cq = CqNumber(5);
    wanted.userIndex = kUserIndex;
    wanted.pd = PdNumber(7);
    wanted.logSize = 3;
    wanted.logStride = 5;
    wanted.buffer.pages = {BusAddress(kQueueRing)};
    wanted.doorbellRecord = BusAddress(kQueueRecord);
    SrqNumber queue;
    EXPECT_TRUE(b.sharedQueues.create(wanted, queue).ok());
    QpAttributes qp = RcPair::attributes();
    qp.receiveQueueType = RqType::kSrq;
    qp.srq = queue;
    qp.buffer.pages = {BusAddress(kCommandRing)};
    EXPECT_TRUE(b.table.create(qp, command).ok());
    RcPair::connect(b, command, command, 2, 0);
    QpAttributes peer = qp;
    peer.hasSendQueue = false;
    peer.offersRendezvous = peerTransfers;
    EXPECT_TRUE(b.table.create(peer, receiver).ok());
    RcPair::connect(b, receiver, pair.qpA, 1, 0);
    EXPECT_TRUE(a.table.modify(pair.qpA, QpTransition::kToReset, 0, {}).ok());
    RcPair::connect(a, pair.qpA, receiver, 2, 0);
    for (std::uint32_t i = 0; i < 8; ++i) writeEntry(i, 1024);
  }

  // ---- software's side of the queue
  void writeEntry(std::uint32_t place, std::uint32_t length) {
    std::vector<std::uint8_t> bytes;
    RcPair::put(bytes, (place + 1) % 8, 4);
    RcPair::put(bytes, 0, 12);
    RcPair::put(bytes, length, 4);
    RcPair::put(bytes, PlainTranslator::kKey, 4);
    RcPair::put(bytes, kUnexpected + place * 1024, 8);
    std::copy(bytes.begin(), bytes.end(),
              b.memory.bytes.begin() + static_cast<std::ptrdiff_t>(kQueueRing + place * 32));
  }
  void postEntries(std::uint8_t count) { b.memory.bytes[kQueueRecord + 3] = count; }

  struct Operation {
    std::uint8_t code = 1;      // append
    std::uint8_t flags = 0x80;  // with a completion
    std::uint16_t index = 0;
    std::uint16_t count = 0;
    std::uint64_t tag = 0;
    std::uint64_t mask = 0xFFFF;
    std::uint32_t length = 256;
    std::uint64_t address = kTagged;
    std::uint32_t key = PlainTranslator::kKey;
  };
  void postOperation(const Operation& o) {
    std::vector<std::uint8_t> bytes;
    const bool appends = o.code == 1;
    RcPair::put(bytes, (blocks & 0xFFFF) << 8 | 0x28, 4);
    RcPair::put(bytes, std::uint64_t{command.value()} << 8 | (appends ? 4U : 3U), 4);
    RcPair::put(bytes, 0, 8);
    RcPair::put(bytes, std::uint64_t{o.code} << 4, 1);
    RcPair::put(bytes, o.flags, 1);
    RcPair::put(bytes, o.index, 2);
    RcPair::put(bytes, 0, 2);
    RcPair::put(bytes, o.count, 2);
    RcPair::put(bytes, 0, 8);
    RcPair::put(bytes, o.tag, 8);
    RcPair::put(bytes, o.mask, 8);
    if (appends) {
      RcPair::put(bytes, o.length, 4);
      RcPair::put(bytes, o.key, 4);
      RcPair::put(bytes, o.address, 8);
    }
    const std::uint64_t at = kCommandRing + (blocks++ % (1U << RcPair::kLogSend)) * 64;
    std::copy(bytes.begin(), bytes.end(), b.memory.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    bytes.resize(8);
    b.sendQueue.onDoorbell(UarIndex(RcPair::kUar), bytes);
    pair.run(span);
  }
  void append(std::uint64_t tag, std::uint16_t next, std::uint32_t length = 256) {
    Operation o;
    o.tag = tag;
    o.index = next;
    o.length = length;
    postOperation(o);
  }
  void synchronize(std::uint16_t count) {
    Operation o;
    o.code = 0;
    o.flags = 0xC0;
    o.count = count;
    postOperation(o);
  }

  // ---- messages
  struct Rendezvous {
    std::uint64_t address = RcPair::kData + 0x1000;
    std::uint32_t length = 0;
    std::uint32_t key = PlainTranslator::kKey;
  };
  /// Sends `length` bytes of A's memory, which begin with a tag header.
  void send(TagMessage message, std::uint64_t tag, std::uint32_t length, const Rendezvous& data) {
    pair.fill(0x2000);
    std::vector<std::uint8_t> header;
    RcPair::put(header, static_cast<std::uint8_t>(message), 1);
    RcPair::put(header, 0, 3);
    RcPair::put(header, 0xCAFE, 4);
    RcPair::put(header, tag, 8);
    if (message == TagMessage::kRendezvous) {
      RcPair::put(header, data.address, 8);
      RcPair::put(header, data.key, 4);
      RcPair::put(header, data.length, 4);
    }
    std::copy(header.begin(), header.end(), a.memory.bytes.begin() + RcPair::kData);
    RcPair::Options options;
    options.opcode = 0x0A;
    pair.post(length, options);
    pair.run(span);
  }
  void send(TagMessage message, std::uint64_t tag, std::uint32_t length) { send(message, tag, length, Rendezvous()); }

  /// Completions of the tag-matching queue.
  [[nodiscard]] std::vector<TagCompletion> told() const {
    std::vector<TagCompletion> all;
    for (const CompletionRecord& record : records()) all.push_back(record.tag->operation);
    return all;
  }
  [[nodiscard]] std::vector<CompletionRecord> records() const {
    std::vector<CompletionRecord> mine;
    for (const CompletionRecord& record : b.completions.records) {
      if (record.tag) mine.push_back(record);
    }
    return mine;
  }
  [[nodiscard]] CompletionRecord last() const { return records().back(); }
  [[nodiscard]] bool placed(std::uint64_t at, std::uint64_t from, std::uint32_t length) const {
    return std::equal(&b.memory.bytes[at], &b.memory.bytes[at] + length, &a.memory.bytes[from]);
  }
  [[nodiscard]] std::uint64_t frontTag() const {
    const CompletionRecord record = last();
    EXPECT_TRUE(record.tag->hasFront);
    return structFrom<wire::TagHeader>(ByteView(record.tag->front.data(), 16)).tag.host();
  }
  [[nodiscard]] QpState stateOf(QpNumber qp) { return b.table.find(qp)->attributes.state; }

  RcPair pair;
  Side& a = pair.a;
  Side& b = pair.b;
  QpNumber command, receiver;
  std::uint64_t blocks = 0;
  Time span = microseconds(50);  // after each step
};

TEST(TagMatching, ListOperationsCompleteInTheQueuesOwnCompletionQueue) {
  TagBench bench;
  bench.append(0x11, 1);
  bench.append(0x12, 2);
  TagBench::Operation remove;
  remove.code = 2;
  remove.index = 1;
  bench.postOperation(remove);
  bench.postOperation(remove);
  bench.synchronize(0);
  EXPECT_EQ(bench.told(),
            (std::vector<TagCompletion>{TagCompletion::kAppend, TagCompletion::kAppend, TagCompletion::kRemove,
                                        TagCompletion::kRemove, TagCompletion::kNoOperation}));
  const std::vector<CompletionRecord> all = bench.records();
  for (const CompletionRecord& record : all) {
    EXPECT_EQ(record.cq, CqNumber(5));
    EXPECT_EQ(record.userIndex, TagBench::kUserIndex);
    EXPECT_EQ(record.opcode, CqeOpcode::kNoPacket);
  }
  EXPECT_EQ(all[2].tag->front[0], 0x80) << "removed";
  EXPECT_EQ(all[3].tag->front[0], 0) << "it was gone";
  EXPECT_EQ(bench.b.completions.records.size(), 5U) << "no completion of the command queue pair's own";
}

TEST(TagMatching, AnOperationThatDoesNotAskForACompletionHasNone) {
  TagBench bench;
  TagBench::Operation quiet;
  quiet.flags = 0;
  quiet.index = 1;
  bench.postOperation(quiet);
  EXPECT_TRUE(bench.records().empty());
}

TEST(TagMatching, EagerMessageThatMatchesGoesToTheTagsBufferWithoutItsHeader) {
  TagBench bench;
  bench.append(0x11, 1);
  bench.send(TagMessage::kEager, 0xAB0011, 216);
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kConsumedMessage);
  EXPECT_EQ(bench.last().opcode, CqeOpcode::kResponderSend);
  EXPECT_EQ(bench.last().byteCount, 200U);
  EXPECT_EQ(bench.last().tag->place, 0);
  EXPECT_EQ(bench.frontTag(), 0xAB0011U);
  EXPECT_TRUE(bench.placed(TagBench::kTagged, RcPair::kData + TagBench::kHeader, 200));
  EXPECT_EQ(bench.b.translator.lastDomain, PdNumber(7));
  bench.send(TagMessage::kEager, 0xAB0011, 16);
  EXPECT_EQ(bench.records().size(), 2U) << "the tag is gone, and there is no entry";
}

TEST(TagMatching, LongMessageTellsTheMatchAtOnceAndItsDataLater) {
  TagBench bench;
  bench.append(0x11, 1, 1000);
  bench.send(TagMessage::kEager, 0x11, 1016);
  const std::vector<CompletionRecord> all = bench.records();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].tag->operation, TagCompletion::kConsumed);
  EXPECT_EQ(all[1].opcode, CqeOpcode::kNoPacket);
  EXPECT_TRUE(all[1].tag->hasFront);
  EXPECT_EQ(all[2].tag->operation, TagCompletion::kExpected);
  EXPECT_EQ(all[2].byteCount, 1000U);
  EXPECT_FALSE(all[2].tag->hasFront);
  EXPECT_TRUE(bench.placed(TagBench::kTagged, RcPair::kData + TagBench::kHeader, 1000));
}

TEST(TagMatching, UnexpectedMessageGoesWholeToAnEntryAndIsCounted) {
  TagBench bench;
  bench.postEntries(2);
  bench.append(0x11, 1);
  bench.send(TagMessage::kEager, 0x12, 116);
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kUnexpected);
  EXPECT_EQ(bench.last().byteCount, 116U);
  EXPECT_EQ(bench.last().wqeCounter, 0);
  EXPECT_FALSE(bench.last().tag->hasFront);
  EXPECT_TRUE(bench.placed(TagBench::kUnexpected, RcPair::kData, 116));
  bench.append(0x12, 2);
  EXPECT_EQ(bench.last().tag->front[5], 1) << "the adapter has told of one that software doesn't know";
  bench.send(TagMessage::kEager, 0x12, 116);
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kUnexpected) << "the new tag is out of step";
  bench.synchronize(2);
  bench.send(TagMessage::kEager, 0x12, 116);
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kConsumedMessage);
}

TEST(TagMatching, AMessageThatFindsNoEntryIsNotYetUnexpected) {
  TagBench bench;
  bench.span = microseconds(5);  // less than until the sender tries again
  bench.send(TagMessage::kEager, 0x12, 116);
  bench.append(0x12, 1);
  EXPECT_EQ(bench.last().tag->front[5], 0);
  bench.pair.run();
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kConsumedMessage) << "it came again";
}

TEST(TagMatching, MessagesWithoutATagAndFinishMessagesMatchNothing) {
  TagBench bench;
  bench.postEntries(2);
  bench.append(0, 1);
  bench.send(TagMessage::kNoTag, 0, 100);
  bench.send(TagMessage::kFinished, 0, 32);
  EXPECT_EQ(bench.told(),
            (std::vector<TagCompletion>{TagCompletion::kAppend, TagCompletion::kNoTag, TagCompletion::kNoTag}));
  bench.append(1, 2);
  EXPECT_EQ(bench.last().tag->front[5], 0) << "they don't count";
}

TEST(TagMatching, RendezvousFetchesTheDataAndTellsTheSender) {
  TagBench bench;
  bench.pair.postReceiveAt(bench.a, 64, 0x7F000, PlainTranslator::kKey);
  bench.append(0x11, 1, 1000);
  TagBench::Rendezvous data;
  data.length = 900;  // four packets
  bench.send(TagMessage::kRendezvous, 0x11, 40, data);
  EXPECT_EQ(bench.told(),
            (std::vector<TagCompletion>{TagCompletion::kAppend, TagCompletion::kConsumed, TagCompletion::kExpected}));
  EXPECT_EQ(bench.last().byteCount, 900U);
  EXPECT_TRUE(bench.placed(TagBench::kTagged, data.address, 900));
  const CompletionRecord& finished = bench.a.completions.records.back();
  EXPECT_EQ(finished.opcode, CqeOpcode::kResponderSend);
  EXPECT_EQ(finished.byteCount, 32U) << "both headers again";
  EXPECT_EQ(bench.a.memory.bytes[0x7F000], static_cast<std::uint8_t>(TagMessage::kFinished));
  EXPECT_TRUE(std::equal(&bench.a.memory.bytes[0x7F001], &bench.a.memory.bytes[0x7F020],
                         &bench.a.memory.bytes[RcPair::kData + 1]));
  EXPECT_EQ(bench.b.completions.records.size(), bench.records().size()) << "no completion of read or message";
}

TEST(TagMatching, RendezvousWithoutDataFetchesNothingAndTellsAllTheSame) {
  TagBench bench;
  bench.pair.postReceiveAt(bench.a, 64, 0x7F000, PlainTranslator::kKey);
  bench.append(0x11, 1, 0);
  bench.send(TagMessage::kRendezvous, 0x11, 32);
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kExpected);
  EXPECT_EQ(bench.last().byteCount, 0U);
}

TEST(TagMatching, RendezvousThatIsTooLongIsLeftToSoftware) {
  for (const std::uint32_t length : {256U, 257U}) {
    TagBench bench;
    bench.pair.postReceiveAt(bench.a, 64, 0x7F000, PlainTranslator::kKey);
    bench.append(0x11, 1, 256);
    TagBench::Rendezvous data;
    data.length = length;
    bench.send(TagMessage::kRendezvous, 0x11, 40, data);
    const bool fits = length == 256;
    EXPECT_EQ(bench.last().tag->operation, fits ? TagCompletion::kExpected : TagCompletion::kConsumedMessageSoftware);
    if (!fits) {
      EXPECT_TRUE(bench.placed(TagBench::kTagged, RcPair::kData, 40)) << "its headers and what came with them";
      EXPECT_EQ(bench.frontTag(), 0x11U);
    }
  }
}

TEST(TagMatching, AQueuePairOfSoftwaresOwnSendsLeavesRendezvousToSoftware) {
  TagBench bench(false);
  bench.append(0x11, 1);
  TagBench::Rendezvous data;
  data.length = 100;
  bench.send(TagMessage::kRendezvous, 0x11, 32, data);
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kConsumedMessageSoftware);
}

TEST(TagMatching, UnexpectedRendezvousIsAnUnexpectedMessage) {
  TagBench bench;
  bench.postEntries(1);
  bench.send(TagMessage::kRendezvous, 0x11, 48);
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kUnexpected);
  EXPECT_TRUE(bench.placed(TagBench::kUnexpected, RcPair::kData, 48));
}

TEST(TagMatching, RendezvousOfMemoryThatTheSenderDoesNotGiveIsCanceled) {
  TagBench bench;
  bench.append(0x11, 1);
  TagBench::Rendezvous data;
  data.length = 100;
  data.key = 0x666;
  bench.send(TagMessage::kRendezvous, 0x11, 32, data);
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kMessageCompletionCanceled);
  EXPECT_EQ(bench.last().tag->place, 0);
  EXPECT_EQ(bench.stateOf(bench.receiver), QpState::kError);
}

TEST(TagMatching, MessageThatIsTooLongForItsTagIsCanceledAndRefused) {
  for (const std::uint32_t length : {116U, 117U}) {
    TagBench bench;
    bench.append(0x11, 1, 100);
    bench.send(TagMessage::kEager, 0x11, length);
    const bool fits = length == 116;
    EXPECT_EQ(bench.last().tag->operation,
              fits ? TagCompletion::kConsumedMessage : TagCompletion::kMessageCompletionCanceled);
    EXPECT_EQ(bench.stateOf(bench.receiver), fits ? QpState::kReadyToSend : QpState::kError);
    const CompletionRecord& sent = bench.a.completions.records.back();
    EXPECT_EQ(sent.opcode, fits ? CqeOpcode::kRequester : CqeOpcode::kRequesterError);
    if (!fits) {
      EXPECT_EQ(sent.syndrome, CqeSyndrome::kRemoteInvalidRequest);
    }
  }
}

TEST(TagMatching, AnErrorDuringAMessageCancelsIt) {
  TagBench bench;
  bench.append(0x11, 1, 1000);
  int packets = 0;
  bench.a.wire.filter = [&packets](network::Packet&) { return ++packets < 3; };
  bench.send(TagMessage::kEager, 0x11, 1016);
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kConsumed);
  EXPECT_TRUE(bench.b.table.modify(bench.receiver, QpTransition::kToError, 0, {}).ok());
  EXPECT_EQ(bench.last().tag->operation, TagCompletion::kMessageCompletionCanceled);
}

TEST(TagMatching, MessagesTooShortForTheirHeadersAreInvalidRequests) {
  const struct {
    TagMessage message;
    std::uint32_t length;
    bool valid;
  } kCases[] = {{TagMessage::kEager, 15, false},
                {TagMessage::kEager, 16, true},
                {TagMessage::kRendezvous, 31, false},
                {TagMessage::kRendezvous, 32, true}};
  for (const auto& c : kCases) {
    TagBench bench;
    bench.postEntries(1);
    bench.send(c.message, 0x11, c.length);
    EXPECT_EQ(bench.stateOf(bench.receiver), c.valid ? QpState::kReadyToSend : QpState::kError) << c.length;
    EXPECT_EQ(bench.records().size(), c.valid ? 1U : 0U);
  }
}

TEST(TagMatching, OperationsThatTheListRefusesFailTheCommandQueuePair) {
  const std::pair<std::uint8_t, std::uint16_t> kBad[] = {{1, TagBench::kPlaces}, {2, TagBench::kPlaces}, {3, 0}};
  for (const auto& [code, index] : kBad) {
    TagBench bench;
    TagBench::Operation o;
    o.code = code;
    o.index = index;
    bench.postOperation(o);
    ASSERT_EQ(bench.b.completions.records.size(), 1U);
    const CompletionRecord& record = bench.b.completions.records[0];
    EXPECT_EQ(record.opcode, CqeOpcode::kRequesterError);
    EXPECT_EQ(record.syndrome, CqeSyndrome::kLocalQpOperation);
    EXPECT_EQ(record.vendorError, vendor_error::kTagListOperation);
    EXPECT_EQ(bench.stateOf(bench.command), QpState::kError);
  }
}

TEST(TagMatching, AnAppendToAFullListFailsTheCommandQueuePair) {
  TagBench bench;
  for (std::uint16_t i = 0; i < TagBench::kPlaces; ++i) {
    bench.append(i, static_cast<std::uint16_t>((i + 1) % TagBench::kPlaces));
  }
  EXPECT_EQ(bench.told().size(), std::size_t{TagBench::kPlaces});
  bench.append(99, 1);
  EXPECT_EQ(bench.b.completions.records.back().opcode, CqeOpcode::kRequesterError);
}

TEST(TagMatching, AListOperationOfAQueuePairWithoutAListIsRefused) {
  RcPair pair;
  std::vector<std::uint8_t> bytes;
  RcPair::put(bytes, 0x28, 4);
  RcPair::put(bytes, std::uint64_t{pair.qpA.value()} << 8 | 3, 4);
  RcPair::put(bytes, 0, 40);
  pair.putWqe(bytes);
  pair.ring();
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1U);
  EXPECT_EQ(pair.a.completions.records[0].vendorError, vendor_error::kTagListOperation);
}

TEST(TagMatching, WriteWithImmediateTakesAnEntryWithoutATag) {
  TagBench bench;
  bench.postEntries(1);
  RcPair::Options options;
  options.opcode = 0x09;
  bench.pair.post(64, options);
  bench.pair.run();
  const CompletionRecord& record = bench.b.completions.records.back();
  EXPECT_EQ(record.opcode, CqeOpcode::kResponderWriteImmediate);
  EXPECT_FALSE(record.tag);
  EXPECT_EQ(record.userIndex, TagBench::kUserIndex);
}

}  // namespace
}  // namespace hca::adapter::test
