// Host memory behind a DMA port with a fixed latency, and the tables that commands act on.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/adapter/command/command_processor.h"
#include "models/kernel/inbox.h"
#include "models/pcie/dma_port.h"

namespace hca::adapter::test {

/// Pages that exist are readable and writable; everything else fails.
class FakeHostMemory {
 public:
  static constexpr std::uint64_t kPage = 4096;

  void map(BusAddress page) { pages_[page.value() / kPage].fill(0); }
  void unmap(BusAddress page) { pages_.erase(page.value() / kPage); }
  /// A fresh mapped page.
  BusAddress allocate() {
    const BusAddress page(next_);
    next_ += kPage;
    map(page);
    return page;
  }

  bool read(BusAddress address, MutableByteView into) const {
    return forEachPiece(address, into.size(),
                        [&](const Page& page, std::size_t at, std::size_t done, std::size_t length) {
                          std::memcpy(into.data() + done, page.data() + at, length);
                        });
  }
  bool write(BusAddress address, ByteView bytes) {
    return forEachPiece(address, bytes.size(),
                        [&](const Page& page, std::size_t at, std::size_t done, std::size_t length) {
                          std::memcpy(const_cast<Page&>(page).data() + at, bytes.data() + done, length);
                        });
  }
  template <class Struct>
  Struct load(BusAddress address) const {
    std::vector<std::uint8_t> bytes(sizeof(Struct));
    read(address, bytes);
    return structFrom<Struct>(bytes);
  }
  template <class Struct>
  void store(BusAddress address, const Struct& object) {
    write(address, bytesOf(object));
  }

 private:
  using Page = std::array<std::uint8_t, kPage>;

  /// Visits [address, address + length) page by page; false at the first page that is missing.
  template <class Visit>
  bool forEachPiece(BusAddress address, std::size_t length, Visit visit) const {
    for (std::size_t done = 0; done < length;) {
      const std::uint64_t at = address.value() + done;
      const auto page = pages_.find(at / kPage);
      if (page == pages_.end()) return false;
      const std::size_t piece = std::min<std::size_t>(length - done, kPage - at % kPage);
      visit(page->second, at % kPage, done, piece);
      done += piece;
    }
    return true;
  }

  std::unordered_map<std::uint64_t, Page> pages_;
  std::uint64_t next_ = 0x10'0000;
};

/// Reads and writes take effect `kLatency` after they are issued, in order.
class FakeDma final : public pcie::DmaPort {
 public:
  static constexpr Time kLatency = nanoseconds(500);

  FakeDma(kernel::Calendar& calendar, FakeHostMemory& memory)
      : calendar_(calendar),
        memory_(memory),
        reads_(calendar, kernel::Priority::kLink, *this, &FakeDma::onRead),
        writes_(calendar, kernel::Priority::kLink, *this, &FakeDma::onWrite) {}

  void read(const pcie::DmaRead& request) override {
    EXPECT_EQ(request.traffic, pcie::Traffic::kCommand);
    reads_.send(calendar_.now() + kLatency, request);
  }
  void write(const pcie::DmaWrite& request) override {
    EXPECT_EQ(request.traffic, pcie::Traffic::kCommand);
    EXPECT_FALSE(request.relaxedOrdering);
    writes_.send(calendar_.now() + kLatency, Pending{request, {request.data.begin(), request.data.end()}});
  }
  void message(BusAddress, std::uint32_t) override {}

  /// (time, address, length) of each write that took effect.
  struct Written {
    Time when;
    BusAddress address;
    std::size_t length;
  };
  std::vector<Written> written;
  bool recordWrites = false;

 private:
  struct Pending {
    pcie::DmaWrite request;
    std::vector<std::uint8_t> bytes;
  };
  void onRead(pcie::DmaRead& request) {
    buffer_.resize(request.length);
    const bool good = memory_.read(request.address, buffer_);
    request.client->onDmaRead(request.token, good ? host::DmaStatus::kOk : host::DmaStatus::kUnmapped,
                              good ? ByteView(buffer_) : ByteView());
  }
  void onWrite(Pending& pending) {
    const bool good = memory_.write(pending.request.address, pending.bytes);
    if (recordWrites) written.push_back({calendar_.now(), pending.request.address, pending.bytes.size()});
    if (!good && pending.request.client != nullptr) {
      pending.request.client->onDmaWritten(pending.request.token, host::DmaStatus::kUnmapped);
    }
  }

  kernel::Calendar& calendar_;
  FakeHostMemory& memory_;
  kernel::Inbox<FakeDma, pcie::DmaRead> reads_;
  kernel::Inbox<FakeDma, Pending> writes_;
  std::vector<std::uint8_t> buffer_;
};

/// A table of one kind of object that checks next to nothing.
class FakeEqs final : public EqDirectory {
 public:
  CommandResult create(const EqAttributes& attributes, EqNumber& number) override {
    if (attributes.logSize > 20) return {CommandStatus::kExceedLimit, Syndrome::kEqSizeOutOfRange};
    if (table.size() >= 200) return {CommandStatus::kNoResources, Syndrome::kEqLimit};
    number = EqNumber(next_++ % 256);
    if (table.count(number) != 0) return {CommandStatus::kNoResources, Syndrome::kEqLimit};
    table[number] = attributes;
    return {};
  }
  CommandResult destroy(EqNumber number) override {
    if (holders[number] != 0) return {CommandStatus::kResourceBusy, Syndrome::kEqInUse};
    return table.erase(number) != 0 ? CommandResult{} : unknown();
  }
  CommandResult query(EqNumber number, EqAttributes& attributes) const override {
    const auto found = table.find(number);
    if (found == table.end()) return unknown();
    attributes = found->second;
    return {};
  }
  bool accepts(EventType type) const override {
    const auto bit = static_cast<unsigned>(type);
    for (const auto& entry : table) {
      if ((entry.second.eventBitmap[bit / 64] >> (bit % 64) & 1) != 0) return true;
    }
    return false;
  }
  CommandResult attach(EqNumber number) override {
    ++holders[number];
    return {};
  }
  void detach(EqNumber number) override { --holders[number]; }

  std::map<EqNumber, EqAttributes> table;
  std::map<EqNumber, int> holders;

 private:
  static CommandResult unknown() { return {CommandStatus::kBadResource, Syndrome::kUnknownEq}; }
  std::uint32_t next_ = 3;
};

class FakeCqs final : public CqDirectory {
 public:
  CommandResult create(const CqAttributes& attributes, CqNumber& number) override {
    if (attributes.logSize > 20) return {CommandStatus::kExceedLimit, Syndrome::kCqSizeOutOfRange};
    if (table.size() >= 1000) return {CommandStatus::kNoResources, Syndrome::kCqLimit};
    number = CqNumber(next_++ & 0xFFFFFF);
    table[number] = attributes;
    return {};
  }
  CommandResult destroy(CqNumber number) override {
    if (holders[number] != 0) return {CommandStatus::kResourceBusy, Syndrome::kCqInUse};
    return table.erase(number) != 0 ? CommandResult{} : unknown();
  }
  CommandResult query(CqNumber number, CqAttributes& attributes) const override {
    const auto found = table.find(number);
    if (found == table.end()) return unknown();
    attributes = found->second;
    return {};
  }
  CommandResult modifyModeration(CqNumber number, const CqModeration& change) override {
    const auto found = table.find(number);
    if (found == table.end()) return unknown();
    if (change.period) found->second.moderationPeriod = *change.period;
    if (change.count) found->second.moderationCount = *change.count;
    if (change.ignoreOverrun) found->second.ignoreOverrun = *change.ignoreOverrun;
    return {};
  }
  void refreshConsumerIndex(CqNumber number, std::function<void()> done) override {
    refreshed.push_back(number);
    done();
  }
  CommandResult resize(CqNumber number, const CqRing& ring) override {
    const auto found = table.find(number);
    if (found == table.end()) return unknown();
    found->second.logSize = ring.logSize;
    found->second.ring = ring.pages;
    return {};
  }
  CommandResult attach(CqNumber number) override {
    ++holders[number];
    return {};
  }
  void detach(CqNumber number) override { --holders[number]; }

  std::map<CqNumber, CqAttributes> table;
  std::map<CqNumber, int> holders;
  std::vector<CqNumber> refreshed;

 private:
  static CommandResult unknown() { return {CommandStatus::kBadResource, Syndrome::kUnknownCq}; }
  std::uint32_t next_ = 0x80;
};

class FakeQps final : public QpDirectory {
 public:
  CommandResult create(const QpAttributes& attributes, QpNumber& number) override {
    if (attributes.service != QpService::kRc && attributes.service != QpService::kXrc &&
        attributes.service != QpService::kRaw && attributes.service != QpService::kDct) {
      return {CommandStatus::kBadParameter, Syndrome::kQpServiceUnsupported};
    }
    if (table.size() >= 1000) return {CommandStatus::kNoResources, Syndrome::kQpLimit};
    number = QpNumber(next_++ & 0xFFFFFF);
    table[number] = attributes;
    return {};
  }
  CommandResult destroy(QpNumber number) override { return table.erase(number) != 0 ? CommandResult{} : unknown(); }
  CommandResult modify(QpNumber number, QpTransition transition, std::uint32_t optionalMask,
                       const QpAttributes& attributes) override {
    if (table.count(number) == 0) return unknown();
    last = {transition, optionalMask, attributes};
    return {};
  }
  CommandResult query(QpNumber number, QpAttributes& attributes) const override {
    const auto found = table.find(number);
    if (found == table.end()) return unknown();
    attributes = found->second;
    return {};
  }
  CommandResult setFrameOptions(QpNumber number, bool stripVlan, bool scatterFcs) override {
    const auto found = table.find(number);
    if (found == table.end()) return unknown();
    found->second.stripVlan = stripVlan;
    found->second.scatterFcs = scatterFcs;
    return {};
  }
  CommandResult addFlow(const FlowRule& rule, std::uint64_t& name) override {
    flows[name = ++lastFlow_] = rule;
    return {};
  }
  CommandResult removeFlow(std::uint64_t name) override { return flows.erase(name) != 0 ? CommandResult{} : unknown(); }
  CommandResult attachMulticast(QpNumber number, const network::Gid& group) override {
    groups.emplace_back(number, group);
    return {};
  }
  CommandResult detachMulticast(QpNumber number, const network::Gid& group) override {
    if (groups.empty() || groups.back() != std::pair(number, group)) return unknown();
    groups.pop_back();
    return {};
  }

  CommandResult drainTarget(QpNumber number) override {
    drained.push_back(number);
    return {};
  }

  std::vector<QpNumber> drained;
  std::vector<std::pair<QpNumber, network::Gid>> groups;
  std::map<std::uint64_t, FlowRule> flows;
  struct Modified {
    QpTransition transition{};
    std::uint32_t optionalMask = 0;
    QpAttributes attributes;
  };
  std::map<QpNumber, QpAttributes> table;
  Modified last;

 private:
  static CommandResult unknown() { return {CommandStatus::kBadResource, Syndrome::kUnknownQp}; }
  std::uint32_t next_ = 0x100;
  std::uint64_t lastFlow_ = 0;
};

class FakeSrqs final : public SrqDirectory {
 public:
  CommandResult create(const SrqAttributes& attributes, SrqNumber& number) override {
    if (attributes.logSize > 15) return {CommandStatus::kBadParameter, Syndrome::kSrqSizeOutOfRange};
    if (table.size() >= 1000) return {CommandStatus::kNoResources, Syndrome::kSrqLimit};
    number = SrqNumber(next_++ & 0xFFFFFF);
    table[number] = attributes;
    return {};
  }
  CommandResult destroy(SrqKind kind, SrqNumber number) override {
    if (!has(kind, number)) return unknown();
    if (inUse.count(number) != 0) return {CommandStatus::kResourceBusy, Syndrome::kSrqInUse};
    table.erase(number);
    return {};
  }
  CommandResult query(SrqKind kind, SrqNumber number, SrqAttributes& attributes) const override {
    if (!has(kind, number)) return unknown();
    attributes = table.at(number);
    return {};
  }
  CommandResult arm(SrqKind kind, SrqNumber number, std::uint16_t limit) override {
    if (!has(kind, number)) return unknown();
    table[number].limit = limit;
    return {};
  }

  std::map<SrqNumber, SrqAttributes> table;
  std::set<SrqNumber> inUse;

 private:
  [[nodiscard]] bool has(SrqKind kind, SrqNumber number) const {
    const auto found = table.find(number);
    return found != table.end() && found->second.kind == kind;
  }
  static CommandResult unknown() { return {CommandStatus::kBadResource, Syndrome::kUnknownSrq}; }
  std::uint32_t next_ = 0x40;
};

class FakeEvents final : public EventPort {
 public:
  void raiseCompletion(EqNumber, CqNumber) override {}
  void raise(const EventRecord& event) override { raised.push_back(event); }
  std::vector<EventRecord> raised;
};

}  // namespace hca::adapter::test
