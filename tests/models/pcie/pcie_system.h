// An adapter's endpoint, a link and a host for tests; records everything with its time.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <systemc>
#include <vector>

#include "models/host/root_complex.h"
#include "models/host/sparse_memory.h"
#include "models/kernel/calendar_module.h"
#include "models/pcie/endpoint.h"
#include "models/pcie/link.h"

namespace hca::pcie::test {

inline std::vector<std::uint8_t> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(seed * 37 + i * 11 + i / 256);
  return bytes;
}

/// What somebody was told, and when.
struct Told {
  Time time;
  std::uint64_t token;
  host::DmaStatus status;
  std::vector<std::uint8_t> data;
};

struct DmaRecorder final : DmaClient {
  explicit DmaRecorder(kernel::Calendar& c) : calendar(c) {}
  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override {
    reads.push_back({calendar.now(), token, status, {data.begin(), data.end()}});
  }
  void onDmaWritten(std::uint64_t token, host::DmaStatus status) override {
    writes.push_back({calendar.now(), token, status, {}});
  }
  kernel::Calendar& calendar;
  std::vector<Told> reads, writes;
};

/// Memory-like registers that also record.
struct Registers final : BarTarget {
  explicit Registers(kernel::Calendar& c) : calendar(c), bytes(1 << 16) {}
  void onBarWrite(unsigned, std::uint64_t offset, ByteView data) override {
    writes.push_back({calendar.now(), offset, host::DmaStatus::kOk, {data.begin(), data.end()}});
    if (offset + data.size() <= bytes.size()) std::memcpy(bytes.data() + offset, data.data(), data.size());
  }
  void expectBarWrite(unsigned, std::uint64_t offset, ByteView data) override {
    announced.push_back({calendar.now(), offset, host::DmaStatus::kOk, {data.begin(), data.end()}});
  }
  void onBarRead(unsigned, std::uint64_t offset, MutableByteView into) override {
    reads.push_back({calendar.now(), offset, host::DmaStatus::kOk, {}});
    if (offset + into.size() <= bytes.size()) std::memcpy(into.data(), bytes.data() + offset, into.size());
  }
  void onReset() override { ++resets; }
  void onMsixControl(bool enabled, bool masked) override {
    msix.push_back(std::to_string(enabled) + (masked ? "m" : ""));
  }
  kernel::Calendar& calendar;
  std::vector<std::uint8_t> bytes;
  std::vector<Told> writes, reads, announced;
  std::vector<std::string> msix;
  int resets = 0;
};

struct Messages final : host::InterruptPort {
  explicit Messages(kernel::Calendar& c) : calendar(c) {}
  void onMessage(BusAddress address, std::uint32_t data) override {
    arrived.push_back({calendar.now(), address.value(), host::DmaStatus::kOk, {static_cast<std::uint8_t>(data)}});
  }
  kernel::Calendar& calendar;
  std::vector<Told> arrived;
};

inline FunctionDescription describedFunction() {
  FunctionDescription description;
  description.msixTableOffset = 0x10000;
  description.msixPendingOffset = 0x18000;
  return description;
}

struct PcieSystem {
  static constexpr std::uint64_t kMemory = 1 << 20;

  explicit PcieSystem(const PcieConfig& c = PcieConfig(), Time quantum = microseconds(10))
      : config(c),
        module("calendar", quantum),
        calendar(module.calendar()),
        client(calendar),
        registers(calendar),
        messages(calendar),
        link("link", module, config),
        endpoint("endpoint", module, config, describedFunction()),
        rootComplex("root_complex", module, config, space, messages) {
    endpoint.link_initiator_socket.bind(link.endpoint_target_socket);
    link.endpoint_initiator_socket.bind(endpoint.link_target_socket);
    rootComplex.link_initiator_socket.bind(link.host_target_socket);
    link.host_initiator_socket.bind(rootComplex.link_target_socket);
    endpoint.setBarTarget(registers);
    const std::uint64_t virtualAddress = memory.allocate(kMemory, 4096);
    base = space.map(space.addOwner("test", memory), virtualAddress, kMemory);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    enable();
  }

  /// Memory space and bus master.
  void enable() { rootComplex.configWrite(4, 2, 6); }

  [[nodiscard]] BusAddress at(std::uint64_t offset) const { return advance(base, offset); }
  [[nodiscard]] std::vector<std::uint8_t> peek(std::uint64_t offset, std::size_t length) const {
    std::vector<std::uint8_t> bytes(length);
    EXPECT_EQ(space.read(at(offset), bytes), host::DmaStatus::kOk);
    return bytes;
  }
  void poke(std::uint64_t offset, const std::vector<std::uint8_t>& bytes) {
    EXPECT_EQ(space.write(at(offset), bytes), host::DmaStatus::kOk);
  }
  void write(std::uint64_t offset, const std::vector<std::uint8_t>& bytes, std::uint64_t token = 0,
             bool relaxed = false, Traffic traffic = Traffic::kPayload) {
    DmaWrite request;
    request.address = at(offset);
    request.data = bytes;
    request.length = static_cast<std::uint32_t>(bytes.size());
    request.traffic = traffic;
    request.relaxedOrdering = relaxed;
    request.notify = true;
    request.client = &client;
    request.token = token;
    endpoint.write(request);
  }
  void read(std::uint64_t offset, std::uint32_t length, std::uint64_t token = 0, Time deliverAfter = Time()) {
    DmaRead request;
    request.address = at(offset);
    request.length = length;
    request.deliverAfter = deliverAfter;
    request.client = &client;
    request.token = token;
    endpoint.read(request);
  }
  void settle() { calendar.runUntil(kForever); }
  [[nodiscard]] Time portsAndWire() const {
    return config.endpointLatency + config.propagation + config.rootComplexLatency;
  }
  /// Time on the lanes of one TLP, from the published rate model alone.
  [[nodiscard]] Time lanes(std::int64_t bytes) const {
    const std::int64_t rate = link.timing().usableRate().count();
    return picoseconds((bytes * 8'000'000'000'000 + rate - 1) / rate);
  }
  [[nodiscard]] TrafficCount upstream() const { return total(link.counts(Link::Direction::kUpstream)); }
  [[nodiscard]] TrafficCount downstream() const { return total(link.counts(Link::Direction::kDownstream)); }

  PcieConfig config;
  kernel::CalendarModule module;
  kernel::Calendar& calendar;
  host::SparseMemory memory;
  host::BusAddressSpace space;
  DmaRecorder client;
  Registers registers;
  Messages messages;
  Link link;
  Endpoint endpoint;
  host::RootComplex rootComplex;
  BusAddress base;
};

}  // namespace hca::pcie::test
