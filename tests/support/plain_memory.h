// Host memory for tests of adapter blocks, without a link in between.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "models/kernel/calendar.h"
#include "models/kernel/inbox.h"
#include "models/pcie/dma_port.h"

namespace hca::adapter::test {

/// Host memory whose bus addresses are offsets; reads take `latency`, writes land at once. Counts traffic.
class PlainMemory final : public pcie::DmaPort {
 public:
  explicit PlainMemory(kernel::Calendar& calendar)
      : bytes(1 << 20),
        calendar_(calendar),
        inbox_(calendar, kernel::Priority::kHostMemory, *this, &PlainMemory::done) {}

  void read(const pcie::DmaRead& request) override {
    ++reads[request.traffic];
    inbox_.send(calendar_.now() + latency + request.deliverAfter, request);
  }
  void write(const pcie::DmaWrite& request) override {
    ++writes[request.traffic];
    if (request.address.value() > bytes.size() || request.length > bytes.size() - request.address.value()) {
      ++failedWrites;
      if (request.client != nullptr) request.client->onDmaWritten(request.token, host::DmaStatus::kUnmapped);
      return;
    }
    if (!request.data.empty()) std::memcpy(bytes.data() + request.address.value(), request.data.data(), request.length);
    if (request.notify) request.client->onDmaWritten(request.token, host::DmaStatus::kOk);
  }
  void message(BusAddress, std::uint32_t) override { ++messages; }

  std::vector<std::uint8_t> bytes;
  std::map<pcie::Traffic, int> reads, writes;
  int failedWrites = 0, messages = 0;
  Time latency = nanoseconds(300);

 private:
  void done(pcie::DmaRead& request) {
    const std::uint64_t at = request.address.value();
    if (at > bytes.size() || request.length > bytes.size() - at) {
      return request.client->onDmaRead(request.token, host::DmaStatus::kUnmapped, {});
    }
    request.client->onDmaRead(request.token, host::DmaStatus::kOk, ByteView(bytes.data() + at, request.length));
  }
  kernel::Calendar& calendar_;
  kernel::Inbox<PlainMemory, pcie::DmaRead> inbox_;
};

}  // namespace hca::adapter::test
