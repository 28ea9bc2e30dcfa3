#include "models/adapter/command/command_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "models/adapter/command/command_handlers.h"
#include "models/wire/dct_context.h"
#include "models/wire/device_commands.h"
#include "models/wire/device_memory.h"
#include "models/wire/ethernet_commands.h"
#include "models/wire/port_commands.h"
#include "models/wire/queue_commands.h"
#include "models/wire/umem_commands.h"

namespace hca::adapter {
namespace {

using wire::CommandOpcode;
using Cost = CommandClass;

constexpr std::uint8_t in(DeviceState state) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(state)); }
constexpr std::uint8_t kDisabled = in(DeviceState::kDisabled);
constexpr std::uint8_t kEnabled = in(DeviceState::kEnabled);
constexpr std::uint8_t kInitialized = in(DeviceState::kInitialized);
constexpr std::uint8_t kUp = kEnabled | kInitialized;
constexpr std::uint8_t kAny = kDisabled | kUp;

constexpr std::size_t kShort = 16;                                  // inputs and outputs with one number
constexpr std::size_t kStatus = wire::CommandOutput::kMinimumSize;  // outputs with nothing but status and syndrome
constexpr std::size_t kCapabilities = 0x10 + wire::HcaCapabilities::kSize;  // of the general set, the largest
constexpr std::size_t kFlowCommand = 0x24;                                  // as far as table, group and index
constexpr std::size_t kPageListCommand = 0x110;                             // contexts with a page list behind

// In the order of the opcodes' values, for the search below.
constexpr CommandEntryPoint kCommands[] = {
    {CommandOpcode::kQueryHcaCapabilities, kUp, Cost::kQuery, kShort, kCapabilities, commands::queryCapabilities},
    {CommandOpcode::kQueryAdapter, kUp, Cost::kQuery, kStatus, wire::QueryAdapterOutput::kSize, commands::queryAdapter},
    {CommandOpcode::kInitHca, kEnabled, Cost::kDevice, kStatus, kStatus, commands::initHca},
    {CommandOpcode::kTeardownHca, kInitialized, Cost::kDevice, kShort, kStatus, commands::teardownHca},
    {CommandOpcode::kEnableHca, kDisabled, Cost::kDevice, kShort, kStatus, commands::enableHca},
    {CommandOpcode::kDisableHca, kEnabled, Cost::kDevice, kShort, kStatus, commands::disableHca},
    {CommandOpcode::kQueryPages, kUp, Cost::kQuery, kShort, kShort, commands::queryPages},
    {CommandOpcode::kManagePages, kUp, Cost::kObject, kShort, kShort, commands::managePages},
    {CommandOpcode::kSetHcaCapabilities, kEnabled, Cost::kObject, kCapabilities, kStatus, commands::setCapabilities},
    {CommandOpcode::kQueryIssi, kUp, Cost::kQuery, kStatus, wire::QueryIssiOutput::kSize, commands::queryIssi},
    {CommandOpcode::kSetIssi, kEnabled, Cost::kObject, kShort, kStatus, commands::setIssi},
    {CommandOpcode::kSetDriverVersion, kUp, Cost::kObject, wire::SetDriverVersionInput::kSize, kStatus,
     commands::setDriverVersion},
    {CommandOpcode::kCreateMemoryKey, kInitialized, Cost::kObject, kPageListCommand, kShort, commands::createMkey},
    {CommandOpcode::kQueryMemoryKey, kInitialized, Cost::kQuery, kShort, kPageListCommand, commands::queryMkey},
    {CommandOpcode::kDestroyMemoryKey, kInitialized, Cost::kObject, kShort, kStatus, commands::destroyMkey},
    {CommandOpcode::kQuerySpecialContexts, kInitialized, Cost::kQuery, kStatus, wire::QuerySpecialContextsOutput::kSize,
     commands::querySpecialContexts},
    {CommandOpcode::kAllocDeviceMemory, kInitialized, Cost::kObject, wire::AllocDeviceMemoryInput::kSize,
     wire::AllocDeviceMemoryOutput::kSize, commands::allocateDeviceMemory},
    {CommandOpcode::kDeallocDeviceMemory, kInitialized, Cost::kObject, wire::DeallocDeviceMemoryInput::kSize, kStatus,
     commands::deallocateDeviceMemory},
    {CommandOpcode::kCreateEq, kInitialized, Cost::kObject, kPageListCommand, kShort, commands::createEq},
    {CommandOpcode::kDestroyEq, kInitialized, Cost::kObject, kShort, kStatus, commands::destroyEq},
    {CommandOpcode::kQueryEq, kInitialized, Cost::kQuery, kShort, kPageListCommand, commands::queryEq},
    {CommandOpcode::kCreateCq, kInitialized, Cost::kObject, kPageListCommand, kShort, commands::createCq},
    {CommandOpcode::kDestroyCq, kInitialized, Cost::kObject, kShort, kStatus, commands::destroyCq},
    {CommandOpcode::kQueryCq, kInitialized, Cost::kQuery, kShort, kPageListCommand, commands::queryCq},
    {CommandOpcode::kModifyCq, kInitialized, Cost::kObject, kPageListCommand, kStatus, commands::modifyCq,
     commands::prepareModifyCq},
    {CommandOpcode::kCreateQp, kInitialized, Cost::kObject, kPageListCommand, kShort, commands::createQp},
    {CommandOpcode::kDestroyQp, kInitialized, Cost::kObject, kShort, kStatus, commands::destroyQp},
    {CommandOpcode::kResetToInit, kInitialized, Cost::kTransition, kPageListCommand, kStatus, commands::modifyQp},
    {CommandOpcode::kInitToReadyToReceive, kInitialized, Cost::kTransition, kPageListCommand, kStatus,
     commands::modifyQp},
    {CommandOpcode::kReadyToReceiveToReadyToSend, kInitialized, Cost::kTransition, kPageListCommand, kStatus,
     commands::modifyQp},
    {CommandOpcode::kReadyToSendToReadyToSend, kInitialized, Cost::kTransition, kPageListCommand, kStatus,
     commands::modifyQp},
    {CommandOpcode::kSendQueueErrorToReadyToSend, kInitialized, Cost::kTransition, kPageListCommand, kStatus,
     commands::modifyQp},
    {CommandOpcode::kToError, kInitialized, Cost::kTransition, kShort, kStatus, commands::stopQp},
    {CommandOpcode::kReadyToSendToDrain, kInitialized, Cost::kTransition, kPageListCommand, kStatus,
     commands::modifyQp},
    {CommandOpcode::kDrainToReadyToSend, kInitialized, Cost::kTransition, kPageListCommand, kStatus,
     commands::modifyQp},
    {CommandOpcode::kToReset, kInitialized, Cost::kTransition, kShort, kStatus, commands::stopQp},
    {CommandOpcode::kQueryQp, kInitialized, Cost::kQuery, kShort, kPageListCommand, commands::queryQp},
    {CommandOpcode::kDrainedToReadyToSend, kInitialized, Cost::kTransition, kPageListCommand, kStatus,
     commands::modifyQp},
    {CommandOpcode::kMadInterface, kInitialized, Cost::kQuery, wire::MadInput::kSize, wire::MadOutput::kSize,
     commands::answerMad},
    {CommandOpcode::kInitToInit, kInitialized, Cost::kTransition, kPageListCommand, kStatus, commands::modifyQp},
    {CommandOpcode::kDrainToDrain, kInitialized, Cost::kTransition, kPageListCommand, kStatus, commands::modifyQp},
    {CommandOpcode::kCreateSrq, kInitialized, Cost::kObject, kPageListCommand, kShort, commands::createSrq},
    {CommandOpcode::kDestroySrq, kInitialized, Cost::kObject, kShort, kStatus, commands::destroySrq},
    {CommandOpcode::kQuerySrq, kInitialized, Cost::kQuery, kShort, kPageListCommand, commands::querySrq},
    {CommandOpcode::kArmReceiveQueue, kInitialized, Cost::kObject, kShort, kStatus, commands::armSrq},
    {CommandOpcode::kCreateXrcSrq, kInitialized, Cost::kObject, kPageListCommand, kShort, commands::createSrq},
    {CommandOpcode::kDestroyXrcSrq, kInitialized, Cost::kObject, kShort, kStatus, commands::destroySrq},
    {CommandOpcode::kQueryXrcSrq, kInitialized, Cost::kQuery, kShort, kPageListCommand, commands::querySrq},
    {CommandOpcode::kArmXrcSrq, kInitialized, Cost::kObject, kShort, kStatus, commands::armSrq},
    {CommandOpcode::kCreateDct, kInitialized, Cost::kObject, wire::CreateDctInput::kSize, kShort, commands::createDct},
    {CommandOpcode::kDestroyDct, kInitialized, Cost::kObject, kShort, kStatus, commands::destroyDct},
    {CommandOpcode::kDrainDct, kInitialized, Cost::kTransition, kShort, kStatus, commands::drainDct},
    {CommandOpcode::kQueryDct, kInitialized, Cost::kQuery, kShort, wire::QueryDctOutput::kSize, commands::queryDct},
    {CommandOpcode::kCreateXrq, kInitialized, Cost::kObject, wire::CreateXrqInput::kSize, kShort, commands::createXrq},
    {CommandOpcode::kDestroyXrq, kInitialized, Cost::kObject, kShort, kStatus, commands::destroySrq},
    {CommandOpcode::kQueryXrq, kInitialized, Cost::kQuery, kShort, wire::QueryXrqOutput::kSize, commands::queryXrq},
    {CommandOpcode::kQueryVportState, kInitialized, Cost::kQuery, kShort, kShort, commands::queryVportState},
    {CommandOpcode::kQueryHcaVportContext, kInitialized, Cost::kQuery, kShort, wire::HcaVportContextOutput::kSize,
     commands::queryVportContext},
    {CommandOpcode::kModifyHcaVportContext, kInitialized, Cost::kObject, wire::HcaVportInput::kModifySize, kStatus,
     commands::modifyVportContext},
    {CommandOpcode::kQueryHcaVportGid, kInitialized, Cost::kQuery, kShort, kShort, commands::queryVportGid},
    {CommandOpcode::kQueryHcaVportPkey, kInitialized, Cost::kQuery, kShort, kShort, commands::queryVportPkey},
    {CommandOpcode::kAllocPd, kInitialized, Cost::kObject, kStatus, kShort, commands::allocatePd},
    {CommandOpcode::kDeallocPd, kInitialized, Cost::kObject, kShort, kStatus, commands::deallocatePd},
    {CommandOpcode::kAllocUar, kInitialized, Cost::kObject, kStatus, kShort, commands::allocateUar},
    {CommandOpcode::kDeallocUar, kInitialized, Cost::kObject, kShort, kStatus, commands::deallocateUar},
    {CommandOpcode::kAccessRegister, kUp, Cost::kQuery, kShort, kShort, commands::accessRegister},
    {CommandOpcode::kAttachToMulticast, kInitialized, Cost::kObject, wire::MulticastInput::kSize, kStatus,
     commands::attachMulticast},
    {CommandOpcode::kDetachFromMulticast, kInitialized, Cost::kObject, wire::MulticastInput::kSize, kStatus,
     commands::detachMulticast},
    {CommandOpcode::kNop, kAny, Cost::kQuery, kStatus, kStatus, commands::nop},
    {CommandOpcode::kAllocXrcd, kInitialized, Cost::kObject, kStatus, kShort, commands::allocateXrcd},
    {CommandOpcode::kDeallocXrcd, kInitialized, Cost::kObject, kShort, kStatus, commands::deallocateXrcd},
    {CommandOpcode::kAllocTransportDomain, kInitialized, Cost::kObject, kStatus, kShort,
     commands::allocateTransportDomain},
    {CommandOpcode::kDeallocTransportDomain, kInitialized, Cost::kObject, kShort, kStatus,
     commands::deallocateTransportDomain},
    {CommandOpcode::kCreateTir, kInitialized, Cost::kObject, wire::CreateTirInput::kSize, kShort, commands::createTir},
    {CommandOpcode::kDestroyTir, kInitialized, Cost::kObject, kShort, kStatus, commands::destroyTir},
    {CommandOpcode::kCreateSq, kInitialized, Cost::kObject, kPageListCommand, kShort, commands::createSq},
    {CommandOpcode::kModifySq, kInitialized, Cost::kTransition, kPageListCommand, kStatus, commands::modifySq},
    {CommandOpcode::kDestroySq, kInitialized, Cost::kObject, kShort, kStatus, commands::destroySq},
    {CommandOpcode::kQuerySq, kInitialized, Cost::kQuery, kShort, kPageListCommand, commands::queryEthernetQueue},
    {CommandOpcode::kCreateRq, kInitialized, Cost::kObject, kPageListCommand, kShort, commands::createRq},
    {CommandOpcode::kModifyRq, kInitialized, Cost::kTransition, kPageListCommand, kStatus, commands::modifyRq},
    {CommandOpcode::kDestroyRq, kInitialized, Cost::kObject, kShort, kStatus, commands::destroyRq},
    {CommandOpcode::kQueryRq, kInitialized, Cost::kQuery, kShort, kPageListCommand, commands::queryEthernetQueue},
    {CommandOpcode::kCreateRmp, kInitialized, Cost::kObject, kPageListCommand, kShort, commands::createRmp},
    {CommandOpcode::kModifyRmp, kInitialized, Cost::kObject, kPageListCommand, kStatus, commands::modifyRmp},
    {CommandOpcode::kDestroyRmp, kInitialized, Cost::kObject, kShort, kStatus, commands::destroySrq},
    {CommandOpcode::kQueryRmp, kInitialized, Cost::kQuery, kShort, kPageListCommand, commands::queryRmp},
    {CommandOpcode::kCreateTis, kInitialized, Cost::kObject, wire::CreateTisInput::kSize, kShort, commands::createTis},
    {CommandOpcode::kDestroyTis, kInitialized, Cost::kObject, kShort, kStatus, commands::destroyTis},
    {CommandOpcode::kCreateRqt, kInitialized, Cost::kObject, kPageListCommand, kShort, commands::createRqt},
    {CommandOpcode::kModifyRqt, kInitialized, Cost::kObject, kPageListCommand, kStatus, commands::modifyRqt},
    {CommandOpcode::kDestroyRqt, kInitialized, Cost::kObject, kShort, kStatus, commands::destroyRqt},
    {CommandOpcode::kCreateFlowTable, kInitialized, Cost::kObject, wire::CreateFlowTableInput::kSize, kShort,
     commands::createFlowTable},
    {CommandOpcode::kDestroyFlowTable, kInitialized, Cost::kObject, kFlowCommand, kStatus, commands::destroyFlowTable},
    {CommandOpcode::kCreateFlowGroup, kInitialized, Cost::kObject, wire::CreateFlowGroupInput::kSize, kShort,
     commands::createFlowGroup},
    {CommandOpcode::kDestroyFlowGroup, kInitialized, Cost::kObject, kFlowCommand, kStatus, commands::destroyFlowGroup},
    {CommandOpcode::kSetFlowTableEntry, kInitialized, Cost::kObject, wire::FlowEntryInput::kDestinations, kStatus,
     commands::setFlowEntry},
    {CommandOpcode::kDeleteFlowTableEntry, kInitialized, Cost::kObject, kFlowCommand, kStatus,
     commands::deleteFlowEntry},
    {CommandOpcode::kCreateUserMemory, kInitialized, Cost::kObject, wire::CreateUmemInput::kSize, kShort,
     commands::createUmem},
    {CommandOpcode::kDestroyUserMemory, kInitialized, Cost::kObject, kShort, kStatus, commands::destroyUmem},
};

CommandResult check(const CommandEntryPoint* command, DeviceState state, ByteView input, std::size_t outputSize) {
  if (command == nullptr) return {CommandStatus::kBadOperation, Syndrome::kUnknownOpcode};
  if ((command->states & in(state)) == 0) return {CommandStatus::kBadSystemState, Syndrome::kWrongDeviceState};
  if (input.size() < command->minimumInput) return {CommandStatus::kBadInputLength, Syndrome::kInputTooShort};
  if (outputSize < command->minimumOutput) return {CommandStatus::kBadOutputLength, Syndrome::kOutputTooShort};
  return {};
}

Time baseTime(const CommandConfig& config, CommandClass costClass) {
  switch (costClass) {
    case CommandClass::kQuery:
      return config.queryLatency;
    case CommandClass::kObject:
      return config.objectLatency;
    case CommandClass::kTransition:
      return config.transitionLatency;
    case CommandClass::kDevice:
      return config.deviceLatency;
  }
  return config.queryLatency;
}

}  // namespace

const CommandEntryPoint* findCommand(CommandOpcode opcode) {
  const auto* const found =
      std::lower_bound(std::begin(kCommands), std::end(kCommands), opcode,
                       [](const CommandEntryPoint& entry, CommandOpcode wanted) { return entry.opcode < wanted; });
  return found != std::end(kCommands) && found->opcode == opcode ? found : nullptr;
}

void prepareCommand(CommandDevice& device, ByteView input, std::size_t outputSize, std::function<void()> ready) {
  const CommandEntryPoint* command = findCommand(wire::CommandInput::opcode(input));
  const bool prepares =
      command != nullptr && command->preparation != nullptr && check(command, device.state, input, outputSize).ok();
  if (!prepares) return ready();
  command->preparation(device, input, std::move(ready));
}

CommandResult executeCommand(CommandDevice& device, ByteView input, MutableByteView output) {
  const CommandCall call{input, output};
  const CommandEntryPoint* command = findCommand(wire::CommandInput::opcode(input));
  CommandResult result = check(command, device.state, input, output.size());
  if (result.ok()) result = command->handler(device, call);
  if (result.ok()) device.account.onSuccess(wire::CommandInput::opcode(input), call.modifier());
  if (!result.ok()) std::fill_n(output.data(), output.size(), std::uint8_t{0});
  wire::CommandOutput::Status::set(output, static_cast<std::uint32_t>(result.status));
  wire::CommandOutput::Syndrome::set(output, static_cast<std::uint32_t>(result.syndrome));
  return result;
}

Time executionTime(const CommandConfig& config, ByteView input) {
  constexpr std::size_t kListEntry = 8;
  const CommandEntryPoint* command = findCommand(wire::CommandInput::opcode(input));
  const Time base = baseTime(config, command == nullptr ? CommandClass::kQuery : command->costClass);
  if (command == nullptr) return base;
  const std::size_t fixed = std::max(command->minimumInput, kShort);
  const std::size_t listed = input.size() > fixed ? (input.size() - fixed) / kListEntry : 0;
  return base + config.pageLatency * static_cast<std::int64_t>(listed);
}

}  // namespace hca::adapter
