#include "sim/observers/entry_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "models/wire/cqe.h"
#include "models/wire/eqe.h"
#include "tests/sim/observers/probe_events.h"

namespace hca::observers {
namespace {

class EntryLogTest : public testing::Test {
 protected:
  void write(observe::EntryEvent::Queue kind, std::uint64_t index, ByteView bytes) {
    probes.entry.fire(
        [&] { return observe::EntryEvent{kind, nanoseconds(12345), HostIndex(1), AdapterIndex(0), 5, index, bytes}; });
  }
  observe::Probes probes;
  ~EntryLogTest() override { std::remove(path.c_str()); }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }
  const std::string path = testing::TempDir() + "entry_log_test." + std::to_string(getpid());
  EntryLog log{probes, path};
};

wire::Cqe receivedSend() {
  wire::Cqe cqe;
  cqe.byteCount = wire::Be32(100);
  cqe.wqeCounter = wire::Be16(3);
  cqe.opcodeQp = wire::Be32(wire::Cqe::LocalQp::make(0x1a));
  cqe.opOwn = wire::OpOwn::Opcode::make(wire::CqeOpcode::kResponderSend);
  return cqe;
}

TEST_F(EntryLogTest, ACompletionIsALineWithItsMeaningAndItsBytes) {
  write(observe::EntryEvent::Queue::kCompletion, 12, bytesOf(receivedSend()));
  const std::string line = text();
  EXPECT_EQ(line.substr(0, line.find(" | ")),
            "12.345000 us host 1 adapter 0 CQ 0x5 entry 12: responder SEND qp 0x1a counter 3 bytes 100 format plain "
            "owner 0");
  EXPECT_EQ(line.size() - line.find(" | "), 3 + 2 * sizeof(wire::Cqe) + 1);
  EXPECT_EQ(line.substr(line.size() - 9), "00030020\n") << "counter 3, opcode 2";
}

TEST_F(EntryLogTest, AWideEntryMeansWhatItsLastHalfSays) {
  std::uint8_t wide[128] = {};
  const wire::Cqe cqe = receivedSend();
  std::copy_n(bytesOf(cqe).data(), sizeof cqe, wide + 64);
  write(observe::EntryEvent::Queue::kCompletion, 0, ByteView(wide, sizeof wide));
  EXPECT_NE(text().find(": responder SEND qp 0x1a"), std::string::npos);
}

TEST_F(EntryLogTest, ACompressedBlockSaysSo) {
  wire::Cqe block;
  block.opOwn = wire::OpOwn::Format::make(wire::CqeFormat::kCompressed);
  write(observe::EntryEvent::Queue::kCompletion, 0, bytesOf(block));
  EXPECT_NE(text().find(": compressed completions |"), std::string::npos);
}

TEST_F(EntryLogTest, AnEventIsALineToo) {
  wire::Eqe eqe;
  eqe.type = static_cast<std::uint8_t>(wire::EventType::kCompletion);
  eqe.data[27] = 9;
  eqe.owner = 0;
  write(observe::EntryEvent::Queue::kEvent, 7, bytesOf(eqe));
  EXPECT_EQ(text().substr(0, text().find(" | ")),
            "12.345000 us host 1 adapter 0 EQ 0x5 entry 7: completion cq 0x9 owner 0");
}

}  // namespace
}  // namespace hca::observers
