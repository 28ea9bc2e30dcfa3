#include "sim/driver/object_commands.h"

#include <algorithm>

#include "models/adapter/command/context_codec.h"
#include "models/adapter/command/dct_codec.h"
#include "models/adapter/memory/mkey_context.h"
#include "models/wire/command_header.h"
#include "models/wire/dct_context.h"
#include "models/wire/device_commands.h"
#include "models/wire/device_memory.h"
#include "models/wire/queue_commands.h"

namespace hca::driver {
namespace {

using wire::CommandOpcode;

template <class Words>
void setPages(MutableByteView command, const std::vector<BusAddress>& pages, std::uint64_t flags = 0) {
  for (std::size_t i = 0; i < pages.size(); ++i) Words::set(command, i, pages[i].value() | flags);
}

// All kinds of shared receive queues.
template <class Input>
CommandBytes createSharedQueue(CommandOpcode opcode, const adapter::SrqAttributes& attributes,
                               void (*encode)(const adapter::SrqAttributes&, MutableByteView)) {
  CommandBytes input = plainCommand(opcode, Input::kSize + 8 * attributes.buffer.pages.size());
  encode(attributes, Input::Context::mutableView(input));
  setPages<typename Input::Pages>(input, attributes.buffer.pages);
  return input;
}

CommandBytes armSharedQueue(CommandOpcode opcode, std::uint32_t modifier, SrqNumber srq, std::uint16_t limit) {
  using Input = wire::ArmSrqInput;
  CommandBytes input = plainCommand(opcode, Input::kSize, modifier);
  Input::Number::set(input, srq.value());
  Input::LowWaterMark::set(input, limit);
  return input;
}

}  // namespace

CommandBytes plainCommand(CommandOpcode opcode, std::size_t size, std::uint32_t modifier) {
  CommandBytes input(size);
  wire::CommandInput::begin(input, opcode, modifier);
  return input;
}

CommandBytes objectCommand(CommandOpcode opcode, std::uint32_t number) {
  CommandBytes input = plainCommand(opcode, wire::ObjectCommand::kSize);
  wire::ObjectCommand::Number::set(input, number);
  return input;
}

CommandBytes createEqCommand(const adapter::EqAttributes& attributes) {
  using Input = wire::CreateEqInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateEq, Input::kSize + 8 * attributes.ring.pages.size());
  adapter::encodeEqContext(attributes, Input::Context::mutableView(input));
  for (std::size_t i = 0; i < attributes.eventBitmap.size(); ++i) {
    Input::EventMask::set(input, i, attributes.eventBitmap[i]);
  }
  setPages<Input::Pages>(input, attributes.ring.pages);
  return input;
}

CommandBytes createCqCommand(const adapter::CqAttributes& attributes) {
  using Input = wire::CreateCqInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateCq, Input::kSize + 8 * attributes.ring.pages.size());
  adapter::encodeCqContext(attributes, Input::Context::mutableView(input));
  setPages<Input::Pages>(input, attributes.ring.pages);
  return input;
}

CommandBytes modifyModerationCommand(CqNumber cq, std::uint16_t count, std::uint16_t period) {
  using Input = wire::ModifyCqInput;
  CommandBytes input = plainCommand(CommandOpcode::kModifyCq, Input::kSize,
                                    static_cast<std::uint32_t>(wire::ModifyCqOperation::kModify));
  Input::Number::set(input, cq.value());
  Input::Select::set(input, Input::kSelectPeriod | Input::kSelectCount);
  const MutableByteView context = Input::Context::mutableView(input);
  wire::CompletionQueueContext::Period::set(context, period);
  wire::CompletionQueueContext::MaxCount::set(context, count);
  return input;
}

CommandBytes resizeCqCommand(CqNumber cq, const adapter::CqAttributes& attributes) {
  using Input = wire::ModifyCqInput;
  CommandBytes input = plainCommand(CommandOpcode::kModifyCq, Input::kSize + 8 * attributes.ring.pages.size(),
                                    static_cast<std::uint32_t>(wire::ModifyCqOperation::kResize));
  Input::Number::set(input, cq.value());
  Input::Select::set(input, Input::kResizeLogSize | Input::kResizePageOffset | Input::kResizePageSize);
  adapter::encodeCqContext(attributes, Input::Context::mutableView(input));
  setPages<Input::Pages>(input, attributes.ring.pages);
  return input;
}

CommandBytes createRmpCommand(const adapter::SrqAttributes& attributes) {
  return createSharedQueue<wire::CreateRmpInput>(CommandOpcode::kCreateRmp, attributes, adapter::encodeRmpContext);
}

CommandBytes armRmpCommand(SrqNumber srq, std::uint16_t limit) {
  using Input = wire::ModifyRmpInput;
  CommandBytes input = plainCommand(CommandOpcode::kModifyRmp, Input::kSize);
  adapter::SrqAttributes attributes;
  attributes.limit = limit;
  adapter::encodeRmpContext(attributes, Input::Context::mutableView(input));
  Input::State::set(input, wire::ReceiveMemoryPoolContext::kReady);
  Input::Number::set(input, srq.value());
  Input::Mask::set(input, Input::kSelectLowWaterMark);
  return input;
}

CommandBytes createXrcSrqCommand(const adapter::SrqAttributes& attributes) {
  return createSharedQueue<wire::CreateSrqInput>(CommandOpcode::kCreateXrcSrq, attributes, adapter::encodeSrqContext);
}

CommandBytes armXrcSrqCommand(SrqNumber srq, std::uint16_t limit) {
  return armSharedQueue(CommandOpcode::kArmXrcSrq, wire::ArmSrqInput::kSharedReceiveQueue, srq, limit);
}

CommandBytes createXrqCommand(const adapter::SrqAttributes& attributes) {
  return createSharedQueue<wire::CreateXrqInput>(CommandOpcode::kCreateXrq, attributes, adapter::encodeXrqContext);
}

CommandBytes armXrqCommand(SrqNumber srq, std::uint16_t limit) {
  return armSharedQueue(CommandOpcode::kArmReceiveQueue, wire::ArmSrqInput::kTagMatchingQueue, srq, limit);
}

CommandBytes createQpCommand(const adapter::QpAttributes& attributes) {
  using Input = wire::CreateQpInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateQp, Input::kSize + 8 * attributes.buffer.pages.size());
  adapter::encodeQpContext(attributes, Input::Context::mutableView(input));
  setPages<Input::Pages>(input, attributes.buffer.pages);
  return input;
}

CommandBytes modifyQpCommand(QpNumber qp, adapter::QpTransition transition, std::uint32_t optionalMask,
                             const adapter::QpAttributes& attributes) {
  using adapter::QpTransition;
  const auto opcode = static_cast<CommandOpcode>(transition);
  if (transition == QpTransition::kToError || transition == QpTransition::kToReset) {
    return objectCommand(opcode, qp.value());
  }
  using Input = wire::ModifyQpInput;
  CommandBytes input = plainCommand(opcode, Input::kSize);
  Input::Number::set(input, qp.value());
  Input::OptionalMask::set(input, optionalMask);
  Input::DrainedEvent::set(input, attributes.notifyWhenDrained);
  adapter::encodeQpContext(attributes, Input::Context::mutableView(input));
  return input;
}

CommandBytes createDctCommand(const adapter::QpAttributes& attributes) {
  using Input = wire::CreateDctInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateDct, Input::kSize);
  adapter::encodeDctContext(attributes, Input::Context::mutableView(input));
  return input;
}

CommandBytes multicastCommand(CommandOpcode opcode, QpNumber qp, const network::Gid& group) {
  using Input = wire::MulticastInput;
  CommandBytes input = plainCommand(opcode, Input::kSize);
  Input::QpNumber::set(input, qp.value());
  std::copy(group.begin(), group.end(), Input::Group::mutableView(input).data());
  return input;
}

CommandBytes createTisCommand(adapter::TransportDomainNumber domain) {
  CommandBytes input = plainCommand(CommandOpcode::kCreateTis, wire::CreateTisInput::kSize);
  wire::CreateTisInput::TransportDomain::set(input, domain.value());
  return input;
}

CommandBytes createSqCommand(const adapter::QpAttributes& attributes, std::uint32_t sendInterface) {
  using Input = wire::CreateEthernetQueueInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateSq, Input::kSize + 8 * attributes.buffer.pages.size());
  adapter::QpAttributes queue = attributes;
  queue.hasSendQueue = true;
  const MutableByteView context = Input::Context::mutableView(input);
  adapter::encodeEthernetQueueContext(queue, context);
  wire::EthernetQueueContext::TisCount::set(context, 1);
  wire::EthernetQueueContext::Tis::set(context, sendInterface);
  setPages<Input::Pages>(input, attributes.buffer.pages);
  return input;
}

CommandBytes createRqCommand(const adapter::QpAttributes& attributes) {
  using Input = wire::CreateEthernetQueueInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateRq, Input::kSize + 8 * attributes.buffer.pages.size());
  adapter::QpAttributes queue = attributes;
  queue.hasSendQueue = false;
  adapter::encodeEthernetQueueContext(queue, Input::Context::mutableView(input));
  setPages<Input::Pages>(input, attributes.buffer.pages);
  return input;
}

CommandBytes modifyWorkQueueCommand(CommandOpcode opcode, QpNumber queue, const WorkQueueChange& change) {
  using Input = wire::ModifyEthernetQueueInput;
  CommandBytes input = plainCommand(opcode, Input::kSize);
  Input::Number::set(input, queue.value());
  Input::State::set(input, static_cast<std::uint32_t>(change.from));
  const MutableByteView context = Input::Context::mutableView(input);
  wire::EthernetQueueContext::State::set(context, static_cast<std::uint32_t>(change.to));
  wire::EthernetQueueContext::VlanStripDisable::set(context, !change.stripVlan.value_or(true));
  wire::EthernetQueueContext::ScatterFcs::set(context, change.scatterFcs.value_or(false));
  Input::Mask::set(input,
                   (change.stripVlan ? Input::kVlanStripDisable : 0) | (change.scatterFcs ? Input::kScatterFcs : 0));
  return input;
}

CommandBytes createRqtCommand(const std::vector<QpNumber>& queues) {
  using Input = wire::CreateRqtInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateRqt, Input::kQueues + 4 * queues.size());
  Input::MaxSize::set(input, static_cast<std::uint32_t>(queues.size()));
  Input::ActualSize::set(input, static_cast<std::uint32_t>(queues.size()));
  for (std::size_t i = 0; i < queues.size(); ++i) {
    Input::FirstQueue::set(MutableByteView(input).subview(4 * i, input.size() - 4 * i), queues[i].value());
  }
  return input;
}

CommandBytes createTirCommand(const ReceiverAttributes& attributes) {
  using Input = wire::CreateTirInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateTir, Input::kSize);
  Input::Dispatch::set(input, attributes.spread != 0 ? 1 : 0);
  Input::ReceiveQueue::set(input, attributes.queue.value());
  Input::IndirectionTable::set(input, attributes.spread);
  Input::OwnFrames::set(input, (attributes.takesOwnUnicast ? Input::kOwnUnicast : 0) |
                                   (attributes.takesOwnMulticast ? Input::kOwnMulticast : 0));
  Input::TransportDomain::set(input, attributes.domain.value());
  const adapter::ReceiveHash& hash = attributes.hash;
  Input::HashFunction::set(input, static_cast<std::uint32_t>(hash.function));
  Input::HashSymmetric::set(input, hash.symmetric);
  Input::HashIpv6::set(input, hash.ipv6);
  Input::HashUdp::set(input, hash.udp);
  Input::HashFields::set(input, hash.fields);
  std::copy(hash.key.begin(), hash.key.end(), Input::HashKey::mutableView(input).data());
  return input;
}

CommandBytes createMkeyCommand(const adapter::MkeyAttributes& attributes) {
  using Input = wire::CreateMemoryKeyInput;
  const std::size_t octwords = (attributes.pages.size() + 1) / 2;
  CommandBytes input = plainCommand(CommandOpcode::kCreateMemoryKey, Input::kSize + 16 * octwords);
  adapter::encodeMkeyContext(attributes, Input::Context::mutableView(input));
  Input::TranslationOctwords::set(input, static_cast<std::uint32_t>(octwords));
  setPages<Input::Translations>(input, attributes.pages,
                                wire::TranslationEntry::kReadEnabled | wire::TranslationEntry::kWriteEnabled);
  return input;
}

CommandBytes allocateDeviceMemoryCommand(std::uint64_t place, std::uint32_t room, std::uint32_t length,
                                         unsigned logAlignment) {
  using Input = wire::AllocDeviceMemoryInput;
  CommandBytes input = plainCommand(CommandOpcode::kAllocDeviceMemory, Input::kSize);
  Input::LogAlignment::set(input, logAlignment);
  Input::RangeStart::set(input, place);
  Input::RangeSize::set(input, room);
  Input::Size::set(input, length);
  return input;
}

CommandBytes deallocateDeviceMemoryCommand(std::uint64_t start, std::uint32_t length) {
  using Input = wire::DeallocDeviceMemoryInput;
  CommandBytes input = plainCommand(CommandOpcode::kDeallocDeviceMemory, Input::kSize);
  Input::Start::set(input, start);
  Input::Size::set(input, length);
  return input;
}

CommandBytes givePagesCommand(std::uint32_t function, const std::vector<BusAddress>& pages) {
  using Input = wire::ManagePagesInput;
  CommandBytes input = plainCommand(CommandOpcode::kManagePages, Input::kSize + 8 * pages.size(),
                                    static_cast<std::uint32_t>(wire::PagesOperation::kGive));
  Input::Function::set(input, function);
  Input::Entries::set(input, static_cast<std::uint32_t>(pages.size()));
  setPages<Input::Pages>(input, pages);
  return input;
}

CommandBytes takePagesCommand(std::uint32_t function, std::uint32_t count) {
  using Input = wire::ManagePagesInput;
  CommandBytes input =
      plainCommand(CommandOpcode::kManagePages, Input::kSize, static_cast<std::uint32_t>(wire::PagesOperation::kTake));
  Input::Function::set(input, function);
  Input::Entries::set(input, count);
  return input;
}

}  // namespace hca::driver
