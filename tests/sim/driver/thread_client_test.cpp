// What a thread writes, in memory and to registers, and when.
#include "sim/driver/thread_client.h"

#include <gtest/gtest.h>

#include "tests/sim/driver/fake_driver.h"
#include "tests/sim/driver/fake_function.h"

namespace hca::driver {
namespace {

class ThreadClientTest : public testing::Test {
 protected:
  ThreadClientTest() { device().blueFlameRegisterSize = 512; }

  DeviceCapabilities& device() { return driver_.device; }
  void makeClient(const DriverConfig& config = {}) {
    client_ = std::make_unique<ThreadClient>(environment_, driver_, config, probes_, 0, "test");
    client_->open([](VerbsError error) { EXPECT_EQ(error, VerbsError::kNone); });
    buffer_ = client_->allocate(4096, 4096);
    client_->registerMemory(buffer_, 4096, 15, [this](const MrRegistered& region) { key_ = region.localKey; });
    CqRequest cq;
    cq.cqe = 7;
    cq.withChannel = true;
    client_->createCq(cq, [this](const CqCreated& created) { cq_ = created; });
    QpRequest qp;
    qp.maxSendWr = 8;
    qp.maxReceiveWr = 8;
    qp.maxInline = 200;
    client_->createQp(qp, cq_.handle, cq_.handle, [this](const QpCreated& created) { qp_ = created; });
    EXPECT_EQ(qp_.error, VerbsError::kNone);
  }
  void run() {
    while (!calendar_.empty()) calendar_.step();
  }
  /// Runs one step of the thread at `when`.
  void at(Time when, std::function<void()> step) {
    client_->sleepFor(when - calendar_.now(), std::move(step));
    run();
  }
  SendWorkRequest send(std::uint32_t length, bool inlined) {
    SendWorkRequest request;
    request.inlineData = inlined;
    request.scatterGather.push_back({buffer_, length, key_});
    return request;
  }
  void post(const std::vector<SendWorkRequest>& list) { client_->postSend(qp_.handle, list); }
  /// The adapter's entry `index` of the queue: a successful send of the WQE at block `counter`.
  void produce(std::uint32_t index, std::uint16_t counter) {
    const adapter::CqAttributes& queue = driver_.queues.front();
    std::vector<std::uint8_t> entry(64);
    entry[0x23] = static_cast<std::uint8_t>(driver_.pairs.front().userIndex);
    entry[0x38] = 0x0A;
    entry[0x3B] = 0x40;
    entry[0x3D] = static_cast<std::uint8_t>(counter);
    entry[0x3F] = static_cast<std::uint8_t>(index >> queue.logSize & 1);
    const std::uint64_t slot = index & ((1U << queue.logSize) - 1);
    EXPECT_EQ(space_.write(queue.ring.address(slot * 64), entry), host::DmaStatus::kOk);
  }
  [[nodiscard]] std::vector<std::uint8_t> read(BusAddress address, std::size_t length) {
    std::vector<std::uint8_t> bytes(length);
    EXPECT_EQ(space_.read(address, bytes), host::DmaStatus::kOk);
    return bytes;
  }

  kernel::Calendar calendar_;
  observe::Probes probes_;
  host::BusAddressSpace space_;
  test::FakeFunction function_;
  host::CpuConfig costs_;
  host::InterruptController interrupts_{calendar_, probes_, HostIndex(0), Time()};
  host::Cpu cpu_{calendar_, costs_};
  DriverEnvironment environment_{calendar_, function_, space_, interrupts_, cpu_, HostIndex(0), AdapterIndex(0)};
  test::FakeDriver driver_{calendar_};
  std::unique_ptr<ThreadClient> client_;
  std::uint64_t buffer_ = 0;
  MemoryKey key_;
  CqCreated cq_;
  QpCreated qp_;
};

constexpr Time kStart = microseconds(1);

TEST_F(ThreadClientTest, DoorbellLeavesWhenTheCostOfThePostHasPassed) {
  DriverConfig config;
  config.prefer_blueflame = false;
  makeClient(config);
  client_->sleepFor(kStart, [this] { post({send(64, false)}); });
  const Time due = kStart + costs_.postCall + costs_.postPerWqe + costs_.postPerSge + costs_.doorbell;
  calendar_.runUntil(due - picoseconds(1));
  EXPECT_TRUE(driver_.doorbells.empty());
  EXPECT_EQ(read(advance(driver_.pairs[0].doorbellRecord, 4), 4), (std::vector<std::uint8_t>{0, 0, 0, 1}))
      << "the record comes first";
  calendar_.runUntil(due);
  ASSERT_EQ(driver_.doorbells.size(), 1U);
  EXPECT_EQ(driver_.doorbells[0].offset, 0x800U);
  // First eight bytes of the control segment: opcode SEND of block 0, queue pair 0x40, two units.
  EXPECT_EQ(driver_.doorbells[0].bytes, (std::vector<std::uint8_t>{0, 0, 0, 0x0A, 0, 0, 0x40, 2}));
  run();
}

TEST_F(ThreadClientTest, SingleRequestIsCopiedWhole) {
  makeClient();
  at(kStart, [this] { post({send(64, false)}); });
  ASSERT_EQ(driver_.doorbells.size(), 1U);
  EXPECT_EQ(driver_.doorbells[0].bytes.size(), 64U);
  const std::uint64_t sendQueue = 8 * 16;  // behind eight receive entries of 16 bytes
  EXPECT_EQ(driver_.doorbells[0].bytes, read(driver_.pairs[0].buffer.address(sendQueue), 64));
  EXPECT_EQ(driver_.doorbells[0].time,
            kStart + costs_.postCall + costs_.postPerWqe + costs_.postPerSge + costs_.writeCombining);
}

TEST_F(ThreadClientTest, InlineDataGoWithTheCopyUpToHalfARegister) {
  DriverConfig config;
  config.prefer_blueflame = false;
  makeClient(config);
  at(kStart, [this] { post({send(200, true)}); });  // 16 + 4 + 200: four blocks
  ASSERT_EQ(driver_.doorbells.size(), 1U);
  EXPECT_EQ(driver_.doorbells[0].bytes.size(), 256U);
  device().blueFlameRegisterSize = 256;
  at(kStart * 2, [this] { post({send(200, true)}); });
  EXPECT_EQ(driver_.doorbells[1].bytes.size(), 8U) << "too long for half of this register";
}

TEST_F(ThreadClientTest, ListIsRungOnceAndNamesItsLastRequest) {
  makeClient();
  at(kStart, [this] { post({send(1, false), send(1, false), send(1, false)}); });
  ASSERT_EQ(driver_.doorbells.size(), 1U);
  EXPECT_EQ(driver_.doorbells[0].bytes, (std::vector<std::uint8_t>{0, 0, 2, 0x0A, 0, 0, 0x40, 2}));
}

TEST_F(ThreadClientTest, HalvesOfTheRegisterAlternate) {
  makeClient();
  at(kStart, [this] {
    for (int i = 0; i < 4; ++i) post({send(1, false)});
  });
  ASSERT_EQ(driver_.doorbells.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(driver_.doorbells[i].offset, i % 2 == 0 ? 0x800U : 0x900U);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_LT(driver_.doorbells[i - 1].time, driver_.doorbells[i].time);
}

TEST_F(ThreadClientTest, CopyFollowsTheRingAroundItsEnd) {
  makeClient();
  const std::uint64_t blocks = std::uint64_t{1} << driver_.pairs[0].logSendQueueSize;
  std::uint32_t index = 0;
  std::uint64_t posted = 0;
  while (posted + 2 <= blocks) {  // up to one block before the end: two blocks a request
    at(calendar_.now() + kStart, [this] { post({send(100, true)}); });
    produce(index, static_cast<std::uint16_t>(posted));
    at(calendar_.now() + kStart, [this] {
      std::vector<WorkCompletion> completions;
      EXPECT_EQ(client_->poll(cq_.handle, 1, completions), 1U);
    });
    posted += 2;
    ++index;
    if (posted + 2 == blocks) {  // leave a single block
      at(calendar_.now() + kStart, [this] { post({send(1, false)}); });
      posted += 1;
      break;
    }
  }
  std::uint8_t* data = client_->bytes(buffer_, 100);
  for (int i = 0; i < 100; ++i) data[i] = static_cast<std::uint8_t>(i);
  driver_.doorbells.clear();
  at(calendar_.now() + kStart, [this] { post({send(100, true)}); });
  ASSERT_EQ(driver_.doorbells.size(), 1U);
  ASSERT_EQ(driver_.doorbells[0].bytes.size(), 128U);
  EXPECT_EQ((posted & (blocks - 1)), blocks - 1) << "the request begins in the last block";
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(driver_.doorbells[0].bytes[20 + i], i);
}

TEST_F(ThreadClientTest, ArmWritesTheRecordAndThenTheRegister) {
  makeClient();
  client_->sleepFor(kStart, [this] { client_->arm(cq_.handle, true); });
  const Time due = kStart + costs_.arm + costs_.doorbell;
  calendar_.runUntil(due - picoseconds(1));
  EXPECT_TRUE(driver_.doorbells.empty());
  EXPECT_EQ(read(advance(driver_.queues[0].doorbellRecord, 4), 4), (std::vector<std::uint8_t>{1, 0, 0, 0}));
  calendar_.runUntil(due);
  ASSERT_EQ(driver_.doorbells.size(), 1U);
  EXPECT_EQ(driver_.doorbells[0].offset, 0x20U);
  EXPECT_EQ(driver_.doorbells[0].bytes, (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 0, 1}));
  run();
}

TEST_F(ThreadClientTest, SpinningFindsAnEntryAtItsFirstPollAndNotBefore) {
  makeClient();
  Time found;
  const std::vector<CqHandle> queues{cq_.handle};
  client_->sleepFor(kStart, [&] { client_->whenNotEmpty(queues, [&](CqHandle) { found = calendar_.now(); }); });
  // Polls begin at the start and every empty poll later; the entry comes a picosecond after one of them.
  const Time visible = kStart + costs_.pollEmpty * 7 + picoseconds(1);
  calendar_.runUntil(visible);
  produce(0, 0);
  run();
  EXPECT_EQ(found, kStart + costs_.pollEmpty * 8);
}

TEST_F(ThreadClientTest, SpinningFindsAnEntryInTheVeryMomentOfAPoll) {
  makeClient();
  Time found;
  const std::vector<CqHandle> queues{cq_.handle};
  client_->sleepFor(kStart, [&] { client_->whenNotEmpty(queues, [&](CqHandle) { found = calendar_.now(); }); });
  calendar_.runUntil(kStart + costs_.pollEmpty * 7);
  produce(0, 0);
  run();
  EXPECT_EQ(found, kStart + costs_.pollEmpty * 7);
}

TEST_F(ThreadClientTest, PollChargesEachCompletionAndPublishesTheIndexOnce) {
  makeClient();
  at(kStart, [this] { post({send(1, false), send(1, false), send(1, false)}); });
  for (std::uint32_t i = 0; i < 3; ++i) produce(i, static_cast<std::uint16_t>(i));
  Time after;
  at(kStart * 2, [&] {
    std::vector<WorkCompletion> completions;
    EXPECT_EQ(client_->poll(cq_.handle, 2, completions), 2U);
    EXPECT_EQ(read(driver_.queues[0].doorbellRecord, 4), (std::vector<std::uint8_t>{0, 0, 0, 2}));
    client_->afterCost([&] { after = calendar_.now(); });
  });
  EXPECT_EQ(after, kStart * 2 + costs_.pollCompletion * 2);
}

TEST_F(ThreadClientTest, SleepingThreadRunsAfterTheWakeUpAndTheSystemCall) {
  makeClient();
  Time taken;
  Time stepAfter;
  client_->sleepFor(kStart, [&] {
    client_->waitForEvent([&](CqHandle) {
      taken = calendar_.now();
      client_->afterCost([&] { stepAfter = calendar_.now(); });
    });
  });
  calendar_.runUntil(kStart * 3);
  driver_.client->onCompletionEvent(cq_.number, cpu_.core(0));
  run();
  EXPECT_EQ(taken, kStart * 3 + costs_.wakeUpSameCore);
  EXPECT_EQ(stepAfter, taken + costs_.getEvent);
}

TEST_F(ThreadClientTest, QueuedEventIsTakenWithoutSleep) {
  makeClient();
  driver_.client->onCompletionEvent(cq_.number, cpu_.core(1));
  Time taken;
  at(kStart, [&] { client_->waitForEvent([&](CqHandle) { taken = calendar_.now(); }); });
  EXPECT_EQ(taken, kStart + costs_.getEvent);
}

TEST_F(ThreadClientTest, ConfirmedArmWaitsForTheRegisterRead) {
  makeClient();
  Time continued = kForever;
  client_->sleepFor(kStart, [&] {
    client_->arm(cq_.handle, false);
    client_->afterArm([&] { continued = calendar_.now(); });
  });
  calendar_.runUntil(kStart * 5);
  ASSERT_EQ(driver_.readBacks.size(), 1U);
  EXPECT_EQ(driver_.doorbells.size(), 1U) << "the arm went first";
  EXPECT_EQ(continued, kForever);
  driver_.readBacks.front()();
  run();
  EXPECT_EQ(continued, kStart * 5);
}

TEST_F(ThreadClientTest, UnconfirmedArmGoesOnAtOnce) {
  DriverConfig config;
  config.confirm_arm = false;
  makeClient(config);
  Time continued;
  at(kStart, [&] {
    client_->arm(cq_.handle, false);
    client_->afterArm([&] { continued = calendar_.now(); });
  });
  EXPECT_EQ(continued, kStart + costs_.arm + costs_.doorbell);
  EXPECT_TRUE(driver_.readBacks.empty());
}

TEST_F(ThreadClientTest, SpinningOnAByteEndsWithTheValueThatWasAskedFor) {
  makeClient();
  Time found;
  client_->sleepFor(kStart, [&] { client_->whenByte(buffer_ + 63, 2, [&] { found = calendar_.now(); }); });
  const BusAddress bus = driver_.keys[0].pages[0];
  calendar_.runUntil(kStart + costs_.pollEmpty * 2);
  space_.write(advance(bus, 63), std::vector<std::uint8_t>{1});
  calendar_.runUntil(kStart + costs_.pollEmpty * 5);
  EXPECT_EQ(found, Time());
  space_.write(advance(bus, 63), std::vector<std::uint8_t>{2});
  run();
  EXPECT_EQ(found, kStart + costs_.pollEmpty * 5);
}

TEST_F(ThreadClientTest, RefusedCreationLeavesNothing) {
  makeClient();
  const std::uint64_t before = client_->allocatedBytes();
  driver_.createCqResult.status = adapter::CommandStatus::kNoResources;
  CqRequest request;
  request.cqe = 1000;
  VerbsError error = VerbsError::kNone;
  client_->createCq(request, [&](const CqCreated& created) { error = created.error; });
  EXPECT_EQ(error, VerbsError::kNoMemory);
  EXPECT_EQ(client_->allocatedBytes(), before);
}

TEST_F(ThreadClientTest, TranslationNamesEveryPageOfTheRegion) {
  makeClient();
  const std::uint64_t address = client_->allocate(3 * 4096, 4096);
  client_->registerMemory(address + 100, 2 * 4096, 1, [](const MrRegistered&) {});
  const adapter::MkeyAttributes& key = driver_.keys.back();
  EXPECT_EQ(key.start, address + 100);
  EXPECT_EQ(key.length, 2U * 4096);
  const std::uint64_t page = std::uint64_t{1} << key.logPageSize;
  std::uint8_t* bytes = client_->bytes(address, 3 * 4096);
  for (const std::uint64_t at : {std::uint64_t{100}, std::uint64_t{4096}, std::uint64_t{2 * 4096 + 99}}) {
    bytes[at] = static_cast<std::uint8_t>(at);
    const std::uint64_t index = ((address + at) / page) - (key.start / page);
    ASSERT_LT(index, key.pages.size());
    EXPECT_EQ(read(advance(key.pages[index], (address + at) % page), 1)[0], static_cast<std::uint8_t>(at));
  }
  EXPECT_TRUE(key.rights.localWrite);
  EXPECT_FALSE(key.rights.remoteWrite);
}

}  // namespace
}  // namespace hca::driver
