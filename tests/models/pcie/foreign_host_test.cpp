// Somebody else's host model on the link: plain SystemC with processes, queues of transactions and memory of its own.
// It knows protocol.h and nothing of the calendar.
#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <deque>
#include <memory>

#include "models/kernel/activation_counter.h"
#include "models/pcie/pcie_extension.h"
#include "models/pcie/transaction_pool.h"
#include "tests/models/pcie/pcie_system.h"

namespace hca::pcie::test {
namespace {

using sc_core::SC_NS;
using sc_core::sc_time;

class ForeignHost : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<ForeignHost, 64, ProtocolTypes> registers{"registers"};
  tlm_utils::simple_target_socket<ForeignHost, 64, ProtocolTypes> memory{"memory"};

  SC_HAS_PROCESS(ForeignHost);
  ForeignHost(const sc_core::sc_module_name& name, kernel::Calendar& calendar)
      : sc_core::sc_module(name), bytes(1 << 16), calendar_(calendar) {
    registers.register_nb_transport_bw(this, &ForeignHost::onResponse);
    memory.register_nb_transport_fw(this, &ForeignHost::onRequest);
    SC_METHOD(serve);
    sensitive << arrivals_.get_event();
    dont_initialize();
    SC_METHOD(readBack);
    sensitive << responses_.get_event();
    dont_initialize();
    SC_METHOD(program);
  }

  // What its program does: one register access at each of these times, alternately writes and reads.
  std::vector<sc_time> times;
  std::vector<std::uint8_t> bytes;
  std::vector<sc_time> writesArrived, readsArrived, registersReadAt;
  std::vector<std::uint32_t> registersRead;
  bool sawTheFuture = false;

 private:
  using Payload = tlm::tlm_generic_payload;

  void lookAtTheClock() { sawTheFuture |= calendar_.now() > kernel::fromScTime(sc_core::sc_time_stamp()); }

  void program() {
    if (sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME) return waitForNext();
    lookAtTheClock();
    const auto value = static_cast<std::uint8_t>(accesses_);
    const std::uint8_t word[4] = {value, 1, 2, 3};
    const bool isWrite = accesses_ % 2 == 0;
    const std::uint64_t address = 4 * (accesses_ / 2);
    const auto transaction = isWrite ? pool_.acquireWrite(address, {word, 4}, 4) : pool_.acquireRead(address, 4);
    transaction.extension->bar = 0;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay(static_cast<double>(accesses_ % 3), SC_NS);  // some ahead of their time
    EXPECT_EQ(registers->nb_transport_fw(*transaction.payload, phase, delay), tlm::TLM_ACCEPTED);
    if (isWrite) transaction.payload->release();
    ++accesses_;
    waitForNext();
  }
  void waitForNext() {
    if (accesses_ < times.size()) next_trigger(times[accesses_] - sc_core::sc_time_stamp());
  }

  tlm::tlm_sync_enum onResponse(Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
    if (phase == tlm::BEGIN_RESP) responses_.notify(payload, delay);
    return tlm::TLM_ACCEPTED;  // END_RESP comes later
  }
  void readBack() {
    lookAtTheClock();
    while (Payload* payload = responses_.get_next_transaction()) {
      registersReadAt.push_back(sc_core::sc_time_stamp());
      registersRead.push_back(payload->get_data_ptr()[0]);
      tlm::tlm_phase phase = tlm::END_RESP;
      sc_time delay;
      registers->nb_transport_fw(*payload, phase, delay);
      payload->release();
    }
  }

  tlm::tlm_sync_enum onRequest(Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
    EXPECT_TRUE(phase == tlm::BEGIN_REQ);
    payload.acquire();
    arrivals_.notify(payload, delay);
    return tlm::TLM_ACCEPTED;
  }
  void serve() {
    lookAtTheClock();
    while (Payload* payload = arrivals_.get_next_transaction()) {
      const bool isInside = payload->get_address() + payload->get_data_length() <= bytes.size();
      std::uint8_t* at = bytes.data() + payload->get_address();
      if (payload->is_write()) {
        writesArrived.push_back(sc_core::sc_time_stamp());
        if (isInside) std::memcpy(at, payload->get_data_ptr(), payload->get_data_length());
      } else {
        readsArrived.push_back(sc_core::sc_time_stamp());
        if (isInside) std::memcpy(payload->get_data_ptr(), at, payload->get_data_length());
      }
      payload->set_response_status(isInside ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_time delay;
      memory->nb_transport_bw(*payload, phase, delay);
      const bool tells = payload->get_extension<PcieExtension>()->notify;
      if (payload->is_read() || tells || !isInside) {
        phase = tlm::BEGIN_RESP;
        delay = payload->is_read() ? sc_time(100, SC_NS) : sc_core::SC_ZERO_TIME;
        memory->nb_transport_bw(*payload, phase, delay);
      }
      payload->release();
    }
  }

  kernel::Calendar& calendar_;
  TransactionPool pool_;
  std::size_t accesses_ = 0;
  tlm_utils::peq_with_get<Payload> arrivals_{"arrivals"};
  tlm_utils::peq_with_get<Payload> responses_{"responses"};
};

// Keeps the calendar busy, so that it would run ahead if it were let.
class Ticker final : private kernel::CalendarClient {
 public:
  Ticker(kernel::Calendar& calendar, int ticks) : calendar_(calendar), left_(ticks) { onCalendar(0); }

 private:
  void onCalendar(std::uint64_t) override {
    if (--left_ > 0) calendar_.schedule(calendar_.now() + picoseconds(777), kernel::Priority::kAdapter, *this, 0);
  }
  kernel::Calendar& calendar_;
  int left_;
};

struct ForeignSystem {
  ForeignSystem(const PcieConfig& c, Time quantum)
      : config(c),
        module("calendar", quantum),
        calendar(module.calendar()),
        client(calendar),
        registers(calendar),
        link("link", module, config),
        endpoint("endpoint", module, config, describedFunction()),
        host("host", calendar) {
    endpoint.link_initiator_socket.bind(link.endpoint_target_socket);
    link.endpoint_initiator_socket.bind(endpoint.link_target_socket);
    host.registers.bind(link.host_target_socket);
    link.host_initiator_socket.bind(host.memory);
    endpoint.setBarTarget(registers);
  }
  void start() {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    PcieExtension extension;
    extension.kind = TlpKind::kConfiguration;
    std::uint8_t command[2] = {6, 0};
    tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_address(4);
    payload.set_data_ptr(command);
    payload.set_data_length(2);
    payload.set_extension(&extension);
    sc_time delay;
    host.registers->b_transport(payload, delay);
    EXPECT_TRUE(payload.is_response_ok());
    payload.clear_extension(&extension);
  }
  void write(std::uint64_t address, const std::vector<std::uint8_t>& data, std::uint64_t token) {
    DmaWrite write;
    write.address = BusAddress(address);
    write.data = data;
    write.length = static_cast<std::uint32_t>(data.size());
    write.client = &client;
    write.notify = true;
    write.token = token;
    endpoint.write(write);
  }
  void read(std::uint64_t address, std::uint32_t length, std::uint64_t token) {
    DmaRead read;
    read.address = BusAddress(address);
    read.length = length;
    read.client = &client;
    read.token = token;
    endpoint.read(read);
  }
  [[nodiscard]] Time lanes(std::int64_t bytes) const { return link.timing().tlpTime(Bytes(bytes)); }
  [[nodiscard]] Time ports() const { return config.endpointLatency + config.propagation + config.rootComplexLatency; }

  PcieConfig config;
  kernel::CalendarModule module;
  kernel::Calendar& calendar;
  DmaRecorder client;
  Registers registers;
  Link link;
  Endpoint endpoint;
  ForeignHost host;
};

class ForeignHostTest : public testing::TestWithParam<Time> {};

TEST_P(ForeignHostTest, DmaHasItsTimesAndData) {
  ForeignSystem system({}, GetParam());
  system.start();
  system.host.bytes[320] = 0x42;
  system.write(64, pattern(64), 1);
  system.read(320, 64, 2);
  system.read(1 << 20, 64, 3);  // the host has no such memory
  const Ticker ticker(system.calendar, 3000);
  sc_core::sc_start();
  const Time arrival = system.lanes(88) + system.ports();
  ASSERT_EQ(system.client.writes.size(), 1U);
  EXPECT_EQ(system.client.writes[0].time, arrival);
  EXPECT_EQ(std::vector<std::uint8_t>(system.host.bytes.begin() + 64, system.host.bytes.begin() + 128), pattern(64));
  ASSERT_EQ(system.client.reads.size(), 2U);
  EXPECT_EQ(system.client.reads[0].time,
            arrival + system.lanes(24) + nanoseconds(100) + system.lanes(84) + system.ports());
  EXPECT_EQ(system.client.reads[0].data[0], 0x42);
  EXPECT_EQ(system.client.reads[1].status, host::DmaStatus::kUnmapped);
  EXPECT_FALSE(system.host.sawTheFuture);
}

TEST_P(ForeignHostTest, ItsProcessReadsAndWritesRegisters) {
  ForeignSystem system({}, GetParam());
  for (int i = 0; i < 40; ++i) system.host.times.push_back(sc_time(333.0 * i + 7, SC_NS));
  system.start();
  const Ticker ticker(system.calendar, 30'000);
  sc_core::sc_start();
  ASSERT_EQ(system.registers.writes.size(), 20U);
  ASSERT_EQ(system.host.registersRead.size(), 20U);
  for (int i = 0; i < 20; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const Time issued = nanoseconds(333 * 2 * i + 7 + 2 * i % 3);
    EXPECT_EQ(system.registers.writes[index].time, issued + system.lanes(4 + 24) + system.ports());
    EXPECT_EQ(system.host.registersRead[index], static_cast<std::uint32_t>(2 * i));
    const Time readIssued = nanoseconds(333 * (2 * i + 1) + 7 + (2 * i + 1) % 3);
    EXPECT_EQ(kernel::fromScTime(system.host.registersReadAt[index]),
              readIssued + system.lanes(24) + system.lanes(4 + 20) + 2 * system.ports());
  }
  EXPECT_FALSE(system.host.sawTheFuture);
}

// The foreign host gives credits back by calls of its own.
TEST_P(ForeignHostTest, ScarceCreditsNeverStall) {
  PcieConfig config;
  config.upstreamCredits = {1, 4, 1, 0, 1, 1};
  config.downstreamCredits = {1, 1, 1, 0, 1, 1};
  config.tags = 3;
  ForeignSystem system(config, GetParam());
  for (int i = 0; i < 200; ++i) system.host.times.push_back(sc_time(500.0 * i + 3, SC_NS));
  system.start();
  for (std::uint64_t i = 0; i < 200; ++i) {
    system.write(4096 + 100 * i, pattern(100, static_cast<unsigned>(i)), i);
    system.read(64 * i, 700, i);
  }
  sc_core::sc_start();
  EXPECT_EQ(system.client.writes.size(), 200U);
  EXPECT_EQ(system.client.reads.size(), 200U);
  EXPECT_EQ(system.registers.writes.size(), 100U);
  EXPECT_EQ(system.host.registersRead.size(), 100U);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(system.client.writes[i].token, i);
  for (const auto direction : {Link::Direction::kUpstream, Link::Direction::kDownstream}) {
    for (const auto& waiting : system.link.waitState(direction).classes) EXPECT_EQ(waiting.bursts, 0U);
  }
  EXPECT_FALSE(system.host.sawTheFuture);
}

INSTANTIATE_TEST_SUITE_P(Quanta, ForeignHostTest, testing::Values(Time(), microseconds(10), milliseconds(1)));

// A link between devices of the simulation alone keeps its calendar in one activation for each quantum.
TEST(NativeLink, TakesFewActivations) {
  PcieSystem system;
  for (std::uint64_t i = 0; i < 100; ++i) system.write(64 * i, pattern(64), i);
  const std::uint64_t before = kernel::activations();
  sc_core::sc_start();
  EXPECT_EQ(system.client.writes.size(), 100U);
  EXPECT_LE(kernel::activations() - before, 2U);
  for (std::uint64_t i = 0; i < 10; ++i) system.read(64 * i, 64, i);
  system.settle();
  EXPECT_EQ(system.client.reads.size(), 10U);
  EXPECT_EQ(system.module.refreshes(), 0U) << "its devices notify no SystemC event that could be looked for";
}

}  // namespace
}  // namespace hca::pcie::test
