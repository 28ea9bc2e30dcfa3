// A DMA port with a memory behind it, for tests of blocks that write to the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "models/kernel/calendar.h"
#include "models/kernel/inbox.h"
#include "models/pcie/dma_port.h"

namespace hca::test {

/// Keeps what it was asked to do, in order. Writes land `writeLatency` after the call, reads look at the memory
/// `readLatency` / 2 after it and answer after the whole. Addresses in `broken` fail.
class FakeDmaPort final : public pcie::DmaPort {
 public:
  struct Operation {
    enum class Kind : std::uint8_t { kRead, kWrite, kMessage } kind = Kind::kRead;
    Time time{};
    std::uint64_t address = 0;
    pcie::Traffic traffic = pcie::Traffic::kPayload;
    std::vector<std::uint8_t> bytes;  ///< of a write
    std::uint32_t data = 0;           ///< of a message
    bool notify = false;
    bool relaxedOrdering = false;
  };

  FakeDmaPort(kernel::Calendar& calendar, std::size_t memoryBytes)
      : memory(memoryBytes),
        calendar_(calendar),
        landings_(calendar, kernel::Priority::kHostMemory, *this, &FakeDmaPort::onLanding),
        looks_(calendar, kernel::Priority::kHostMemory, *this, &FakeDmaPort::onLook),
        answers_(calendar, kernel::Priority::kAdapter, *this, &FakeDmaPort::onAnswer) {}

  void read(const pcie::DmaRead& request) override {
    ++reads;
    if (keepLog) note(Operation::Kind::kRead, request.address, request.traffic);
    looks_.send(calendar_.now() + Time(readLatency.count() / 2), Read{request, {}});
  }
  void write(const pcie::DmaWrite& request) override {
    ++writes;
    Write write{request, {request.data.begin(), request.data.end()}};
    if (keepLog) {
      Operation& operation = note(Operation::Kind::kWrite, request.address, request.traffic);
      operation.bytes = write.bytes;
      operation.notify = request.notify;
      operation.relaxedOrdering = request.relaxedOrdering;
    }
    landings_.send(calendar_.now() + writeLatency, std::move(write));
  }
  void message(BusAddress address, std::uint32_t data) override {
    ++messages;
    if (keepLog) note(Operation::Kind::kMessage, address, pcie::Traffic::kInterrupt).data = data;
  }

  [[nodiscard]] std::vector<Operation> of(pcie::Traffic traffic) const {
    std::vector<Operation> found;
    std::copy_if(log.begin(), log.end(), std::back_inserter(found),
                 [traffic](const Operation& o) { return o.traffic == traffic; });
    return found;
  }
  [[nodiscard]] std::size_t count(pcie::Traffic traffic) const { return of(traffic).size(); }

  std::vector<std::uint8_t> memory;
  std::vector<Operation> log;
  bool keepLog = true;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t messages = 0;
  std::set<std::uint64_t> broken;
  Time writeLatency = nanoseconds(300);
  Time readLatency = nanoseconds(600);

 private:
  struct Read {
    pcie::DmaRead request;
    std::vector<std::uint8_t> bytes;
  };
  struct Write {
    pcie::DmaWrite request;
    std::vector<std::uint8_t> bytes;
  };

  Operation& note(Operation::Kind kind, BusAddress address, pcie::Traffic traffic) {
    Operation operation;
    operation.kind = kind;
    operation.time = calendar_.now();
    operation.address = address.value();
    operation.traffic = traffic;
    return log.emplace_back(std::move(operation));
  }

  void onLook(Read& read) {
    const auto at = memory.begin() + static_cast<std::ptrdiff_t>(read.request.address.value());
    read.bytes.assign(at, at + read.request.length);
    answers_.send(calendar_.now() + readLatency - Time(readLatency.count() / 2), std::move(read));
  }
  void onAnswer(Read& read) {
    const bool failed = broken.count(read.request.address.value()) != 0;
    const auto status = failed ? host::DmaStatus::kUnmapped : host::DmaStatus::kOk;
    read.request.client->onDmaRead(read.request.token, status, failed ? ByteView() : ByteView(read.bytes));
  }
  void onLanding(Write& write) {
    const bool failed = broken.count(write.request.address.value()) != 0;
    if (!failed) std::memcpy(&memory[write.request.address.value()], write.bytes.data(), write.bytes.size());
    const auto status = failed ? host::DmaStatus::kUnmapped : host::DmaStatus::kOk;
    if (write.request.notify || failed) write.request.client->onDmaWritten(write.request.token, status);
  }

  kernel::Calendar& calendar_;
  kernel::Inbox<FakeDmaPort, Write> landings_;
  kernel::Inbox<FakeDmaPort, Read> looks_;
  kernel::Inbox<FakeDmaPort, Read> answers_;
};

}  // namespace hca::test
