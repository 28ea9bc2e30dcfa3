// How the blocks of an adapter reach host memory.
#pragma once

#include <cstdint>

#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/host/bus_address_space.h"
#include "models/pcie/traffic.h"

namespace hca::pcie {

/// Gets the results of DMA. `token` is what the client gave with the request.
class DmaClient {
 public:
  /// All completions of a read arrived (or the first that failed). `data` is valid during the call; with timing-only
  /// payload it is empty for Traffic::kPayload.
  virtual void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) = 0;
  /// A posted write is visible in host memory (called where DmaWrite::notify is set), or it failed (called wherever
  /// DmaWrite::client is set). On real hardware nobody tells the adapter of success: a client uses that for probes
  /// alone. Failures reach it as an advanced error report would.
  virtual void onDmaWritten(std::uint64_t token, host::DmaStatus status) = 0;

 protected:
  ~DmaClient() = default;
};

struct DmaRead {
  BusAddress address;
  std::uint32_t length = 0;  ///< bytes; split by maximum read request size and at 4 KiB boundaries
  Traffic traffic = Traffic::kPayload;
  /// Memory is not read and `data` comes back empty: only the time counts.
  bool timingOnly = false;
  /// Latency of the receiving stage, added between the arrival of the last byte and onDmaRead.
  Time deliverAfter{};
  DmaClient* client = nullptr;
  std::uint64_t token = 0;
};

struct DmaWrite {
  BusAddress address;
  /// Copied by the port before `write` returns. Empty with `length` set: timing only, memory is left alone.
  ByteView data;
  std::uint32_t length = 0;  ///< bytes; split by maximum payload size and at 4 KiB boundaries
  Traffic traffic = Traffic::kPayload;
  /// PCIe relaxed ordering: may become visible before earlier posted writes.
  bool relaxedOrdering = false;
  bool notify = false;
  DmaClient* client = nullptr;
  std::uint64_t token = 0;
};

/// The adapter's side of its PCIe function. Requests are issued at Calendar::now(), in call order; writes are posted
/// and stay in order (unless relaxed); reads may overtake each other but never an earlier write. Back pressure (tags,
/// credits) is inside: requests queue. An interrupt message is a posted write and keeps the order behind data.
class DmaPort {
 public:
  virtual void read(const DmaRead& request) = 0;
  virtual void write(const DmaWrite& request) = 0;
  /// Sends the MSI-X message (address and data of a table entry) behind all earlier posted writes.
  virtual void message(BusAddress address, std::uint32_t data) = 0;

  /// When all that was given so far will have left towards the host, if the host holds nothing up.
  [[nodiscard]] virtual Time drainedAt() const { return {}; }
  /// How long writes of `size` take to leave.
  [[nodiscard]] virtual Time drainTime(Bytes size) const { return transferTime(size, BitsPerSecond(kNoLimit)); }

 protected:
  static constexpr std::int64_t kNoLimit = 100'000'000'000'000;
  ~DmaPort() = default;
};

}  // namespace hca::pcie
