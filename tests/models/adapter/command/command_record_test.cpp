// What the command interface tells: records of commands, the account of what drivers made and left.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "models/adapter/command/command_table.h"
#include "models/wire/command_fields.h"
#include "models/wire/decode_fields.h"
#include "models/wire/umem_commands.h"
#include "tests/models/adapter/command/ethernet_fixture.h"
#include "tests/models/adapter/command/object_fixture.h"

namespace hca::adapter::test {
namespace {

TEST(CommandTable, EveryCommandHasNamesForItsFields) {
  unsigned commands = 0;
  for (unsigned value = 0; value <= 0xFFFF; ++value) {
    const auto opcode = static_cast<CommandOpcode>(value);
    const CommandEntryPoint* command = findCommand(opcode);
    if (command == nullptr) continue;
    ++commands;
    EXPECT_STRNE(wire::name(opcode), "unknown") << std::hex << value;
    const wire::CommandFields* fields = wire::findCommandFields(opcode);
    ASSERT_NE(fields, nullptr) << wire::name(opcode)
                               << " has no table: models/wire/command_fields.cpp, see docs/development.md";
    constexpr std::size_t kHeader = 8;
    EXPECT_TRUE(fields->input.count != 0 || command->minimumInput <= kHeader ||
                opcode == CommandOpcode::kQueryHcaCapabilities)
        << wire::name(opcode) << " has an input without fields";
    EXPECT_TRUE(fields->output.count != 0 || command->minimumOutput <= kHeader)
        << wire::name(opcode) << " has an output without fields";
  }
  EXPECT_GT(commands, 90U);
}

TEST(Syndromes, EachHasWordsAndANumberOfItsOwn) {
  std::set<std::string> words;
  for (std::uint32_t value = 1; value <= 0xFFFF; ++value) {
    const std::string text = name(static_cast<Syndrome>(value));
    if (text == "unknown syndrome") continue;
    EXPECT_TRUE(words.insert(text).second) << text;
  }
  EXPECT_STREQ(name(Syndrome::kCqEntrySizeUnsupported), "CQ entry size unsupported");
  EXPECT_STREQ(name(Syndrome::kPortFieldNotModifiable), "port field not modifiable");
  EXPECT_STREQ(name(Syndrome::kDriverVersionUnterminated), "driver version unterminated");
  EXPECT_STREQ(name(Syndrome::kQpSpecialTaken), "QP special taken");
  EXPECT_GT(words.size(), 120U);
}

/// A record with what it refers to, which is gone when its listener returns.
struct KeptRecord {
  explicit KeptRecord(const CommandRecord& told)
      : record(told), input(told.input.begin(), told.input.end()), output(told.output.begin(), told.output.end()) {}

  CommandRecord record;
  std::vector<std::uint8_t> input, output;
  [[nodiscard]] std::string in() const { return wire::fieldsText(wire::decodeCommandInput(input)); }
  [[nodiscard]] std::string out() const { return wire::fieldsText(wire::decodeCommandOutput(input, output)); }
};

class CommandRecordTest : public ObjectCommandsTest {
 protected:
  void listen() {
    probes_.command.attach([this](const observe::CommandEvent& event) { records_.emplace_back(*event.record); });
  }

  std::vector<KeptRecord> records_;
};

TEST_F(CommandRecordTest, TellsBothSidesOfACommandThatIsLongerThanAMailbox) {
  listen();
  const Time before = calendar_.now();
  ASSERT_TRUE(issue(mkeyInput(200), 16, 3).ok());
  ASSERT_EQ(records_.size(), 1U);
  const CommandRecord& record = records_[0].record;
  EXPECT_EQ(record.opcode, CommandOpcode::kCreateMemoryKey);
  EXPECT_STREQ(record.name, "CREATE_MKEY");
  EXPECT_EQ(record.slot, 3U);
  EXPECT_EQ(record.rung, before);
  EXPECT_GT(record.answered, before);
  EXPECT_TRUE(record.result.ok());
  EXPECT_FALSE(record.rejection);
  EXPECT_NE(records_[0].in().find("klm_pas_mtt=[200: 0x40000003 .. 0x40c70003]"), std::string::npos);
  EXPECT_EQ(records_[0].out().rfind(" mkey_index=", 0), 0U) << records_[0].out();
}

TEST_F(CommandRecordTest, TellsTheFieldsOfWhatOnlyTheKernelDriverAsks) {
  const auto told = [this](const std::vector<std::uint8_t>& input, std::size_t output) {
    records_.clear();
    EXPECT_TRUE(issue(input, output).ok());
    EXPECT_EQ(records_.size(), 1U);
    return records_[0].in() + " ->" + records_[0].out();
  };
  const auto expectIn = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in" << text;
  };
  listen();
  expectIn(told(makeInput(CommandOpcode::kAllocPd), 16), " pd=");
  expectIn(told(makeInput(CommandOpcode::kQueryHcaCapabilities, 16, 3U << 1), 0x1010), "atomic_operations=3");
  auto version = makeInput(CommandOpcode::kSetDriverVersion, 0x50);
  version[0x10] = 'v';
  expectIn(told(version, 16), "driver_version=");
  auto timeouts = makeInput(CommandOpcode::kAccessRegister, 16 + 64, 1);
  wire::AccessRegisterInput::Register::set(timeouts, static_cast<std::uint32_t>(wire::RegisterId::kDefaultTimeouts));
  expectIn(told(timeouts, 16 + 64), "fsm_reactivate_to=");
  auto umem = makeInput(CommandOpcode::kCreateUserMemory, wire::CreateUmemInput::kSize + 8);
  wire::CreateUmemInput::PageCount::set(umem, 1);
  wire::CreateUmemInput::Pages::set(umem, 0, 0x4000'0003);
  const std::string created = told(umem, 16);
  expectIn(created, "umem.num_of_mtt=");
  expectIn(created, "umem_id=");
}

TEST_F(CommandRecordTest, TellsOfOneThatIsRefused) {
  listen();
  (void)issue(makeNumberInput(CommandOpcode::kDestroyCq, 0x777));
  ASSERT_EQ(records_.size(), 1U);
  EXPECT_EQ(records_[0].record.result.status, CommandStatus::kBadResource);
  EXPECT_EQ(records_[0].record.result.syndrome, Syndrome::kUnknownCq);
  EXPECT_EQ(records_[0].in(), " cqn=0x777");
  EXPECT_EQ(records_[0].out(), "");
}

TEST_F(CommandRecordTest, TellsOfOneThatIsBroken) {
  listen();
  wire::CommandEntry entry = makeEntry(cqInput(1), 16);
  entry.token = 0x11;  // not that of its mailboxes
  (void)issue(entry);
  ASSERT_EQ(records_.size(), 1U);
  EXPECT_EQ(records_[0].record.delivery, wire::DeliveryStatus::kTokenError);
  EXPECT_EQ(records_[0].record.rejection, CommandRejection::kToken);
  EXPECT_EQ(records_[0].record.opcode, CommandOpcode::kCreateCq) << "what was read is told";
}

TEST_F(CommandRecordTest, TellsOfDoorbellsThatLeadToNothing) {
  listen();
  memory_.store(entryAddress(5), wire::CommandEntry());  // software's
  ring(1U << 5);
  drain();
  std::uint8_t byte[1] = {};
  processor_.writeRegister(wire::InitSegment::kCommandDoorbell, {byte, 1});
  writeRegister(wire::InitSegment::kFirmwareRevision, 1);
  ASSERT_EQ(records_.size(), 3U);
  EXPECT_EQ(records_[0].record.rejection, CommandRejection::kEntryNotOwned);
  EXPECT_EQ(records_[0].record.slot, 5U);
  EXPECT_EQ(records_[1].record.rejection, CommandRejection::kRegisterWidth);
  EXPECT_FALSE(records_[1].record.slot);
  EXPECT_EQ(records_[2].record.rejection, CommandRejection::kRegisterNotWritable);
  EXPECT_EQ(processor_.account().rejections[static_cast<std::size_t>(CommandRejection::kEntryNotOwned)], 1U);
}

// ---- the account

class ObjectAccountTest : public ObjectCommandsTest {
 protected:
  [[nodiscard]] ObjectCount count(ObjectKind kind) const {
    return processor_.account().objects[static_cast<std::size_t>(kind)];
  }
  void tearDown() { ASSERT_TRUE(issue(makeInput(CommandOpcode::kTeardownHca)).ok()); }
  void takeAll() {
    auto input = makeInput(CommandOpcode::kManagePages, 16, static_cast<std::uint32_t>(wire::PagesOperation::kTake));
    wire::ManagePagesInput::Entries::set(input, static_cast<std::uint32_t>(given_.size()));
    ASSERT_TRUE(issue(input, 16 + given_.size() * 8).ok());
    given_.clear();
  }
  void disable() { ASSERT_TRUE(issue(makeInput(CommandOpcode::kDisableHca)).ok()); }
};

TEST_F(ObjectAccountTest, CountsWhatIsMadeAndEnded) {
  const std::uint32_t first = allocate(CommandOpcode::kAllocPd);
  const std::uint32_t second = allocate(CommandOpcode::kAllocPd);
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocPd, first)).ok());
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocPd, second)).ok());
  EXPECT_FALSE(issue(makeNumberInput(CommandOpcode::kDeallocPd, second)).ok()) << "counts nothing";
  const ObjectCount pds = count(ObjectKind::kPd);  // one is the fixture's
  EXPECT_EQ(pds.live, 1U);
  EXPECT_EQ(pds.created, 3U);
  EXPECT_EQ(pds.destroyed, 2U);
  EXPECT_EQ(pds.most, 3U);
  EXPECT_EQ(pds.live, pds_.size());
  ASSERT_TRUE(issue(mkeyInput(2)).ok());
  EXPECT_EQ(count(ObjectKind::kMemoryKey).live, mkeys_.size());
}

TEST_F(ObjectAccountTest, CountsCommandsAndWhatTheyReturn) {
  (void)issue(makeNumberInput(CommandOpcode::kDestroyCq, 0x777));
  const AdapterAccount account = processor_.account();
  EXPECT_EQ(account.commands.at(CommandOpcode::kAllocPd), 1U);
  EXPECT_EQ(account.commands.at(CommandOpcode::kDestroyCq), 1U);
  EXPECT_EQ(account.statuses.at(CommandStatus::kBadResource), 1U);
  EXPECT_GT(account.statuses.at(CommandStatus::kOk), 5U);
}

TEST_F(ObjectAccountTest, TellsWhatATeardownFinds) {
  ASSERT_TRUE(issue(mkeyInput(1)).ok());
  tearDown();
  const AdapterAccount account = processor_.account();
  ASSERT_EQ(account.left.size(), 1U);
  const GenerationLeft& left = account.left[0];
  EXPECT_EQ(left.generation, 1U);
  EXPECT_EQ(left.end, GenerationEnd::kTeardown);
  EXPECT_EQ(left.objects[static_cast<std::size_t>(ObjectKind::kPd)], 1U);
  EXPECT_EQ(left.objects[static_cast<std::size_t>(ObjectKind::kUar)], 1U);
  EXPECT_EQ(left.objects[static_cast<std::size_t>(ObjectKind::kMemoryKey)], 1U);
  EXPECT_EQ(left.objects[static_cast<std::size_t>(ObjectKind::kCq)], 0U);
  EXPECT_EQ(left.pages, 0U) << "the driver takes them back afterwards";
  EXPECT_EQ(count(ObjectKind::kMemoryKey).live, 0U);
}

TEST_F(ObjectAccountTest, ADriverThatCleansUpLeavesNothingHoweverOftenItComes) {
  for (std::uint64_t n = 1; n <= 10; ++n) {
    EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocPd, pd_)).ok());
    EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocUar, uar_)).ok());
    tearDown();
    EXPECT_EQ(processor_.account().pages.held, 74U);
    takeAll();
    disable();
    const AdapterAccount account = processor_.account();
    EXPECT_EQ(account.state, DeviceState::kDisabled);
    EXPECT_EQ(account.generations, n);
    EXPECT_TRUE(account.left.empty());
    EXPECT_EQ(account.pages.held, 0U);
    EXPECT_EQ(account.pages.most, 74U);
    EXPECT_EQ(account.pages.given, n * 74);
    EXPECT_EQ(account.pages.taken, n * 74);
    bringUp();
    pd_ = allocate(CommandOpcode::kAllocPd);
    uar_ = allocate(CommandOpcode::kAllocUar);
  }
}

TEST_F(ObjectAccountTest, PagesThatAreNotTakenBackStayInTheAccount) {
  tearDown();
  EXPECT_EQ(processor_.account().pages.held, given_.size());
  processor_.reset();
  const AdapterAccount account = processor_.account();
  EXPECT_EQ(account.pages.held, 0U);
  ASSERT_EQ(account.left.size(), 2U);  // the fixture's objects at TEARDOWN_HCA, the pages at the reset
  EXPECT_EQ(account.left[1].end, GenerationEnd::kReset);
  EXPECT_EQ(account.left[1].pages, 74U);
}

TEST_F(ObjectAccountTest, AResetAndADisableEndEverything) {
  processor_.reset();
  EXPECT_EQ(count(ObjectKind::kPd).live, 0U);
  EXPECT_EQ(processor_.account().left.at(0).end, GenerationEnd::kReset);
  calendar_.runUntil(calendar_.now() + config_.bootTime);
  given_.clear();
  bringUp();
  (void)allocate(CommandOpcode::kAllocPd);
  writeRegister(wire::InitSegment::kCommandQueueLow, 1U << 8);  // nic_interface: disabled
  ASSERT_EQ(processor_.account().left.size(), 2U);
  EXPECT_EQ(processor_.account().left[1].end, GenerationEnd::kDisable);
  EXPECT_EQ(processor_.account().left[1].generation, 2U);
  EXPECT_EQ(processor_.account().left[1].pages, 74U);
}

class EthernetAccountTest : public EthernetCommandsTest {};

TEST_F(EthernetAccountTest, AResetEndsWhatRawPacketQueuesHave) {
  const std::uint32_t tis = createTis();
  processor_.reset();
  calendar_.runUntil(calendar_.now() + config_.bootTime);
  bringUp();
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDestroyTis, tis)), CommandStatus::kBadResource,
                Syndrome::kUnknownTis);
}

TEST(ObjectKinds, HaveNames) {
  std::set<std::string> names;
  for (std::size_t kind = 0; kind < kObjectKinds; ++kind) names.insert(name(static_cast<ObjectKind>(kind)));
  EXPECT_EQ(names.size(), kObjectKinds);
}

}  // namespace
}  // namespace hca::adapter::test
