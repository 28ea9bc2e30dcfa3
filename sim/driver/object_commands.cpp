#include "sim/driver/object_commands.h"

#include <algorithm>

#include "models/adapter/command/context_codec.h"
#include "models/adapter/memory/mkey_context.h"
#include "models/wire/command_header.h"
#include "models/wire/device_commands.h"
#include "models/wire/queue_commands.h"

namespace hca::driver {
namespace {

using wire::CommandOpcode;

template <class Words>
void setPages(MutableByteView command, const std::vector<BusAddress>& pages, std::uint64_t flags = 0) {
  for (std::size_t i = 0; i < pages.size(); ++i) Words::set(command, i, pages[i].value() | flags);
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
  using Input = wire::CreateRmpInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateRmp, Input::kSize + 8 * attributes.buffer.pages.size());
  adapter::encodeRmpContext(attributes, Input::Context::mutableView(input));
  setPages<Input::Pages>(input, attributes.buffer.pages);
  return input;
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
  using Input = wire::CreateSrqInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateXrcSrq, Input::kSize + 8 * attributes.buffer.pages.size());
  adapter::encodeSrqContext(attributes, Input::Context::mutableView(input));
  setPages<Input::Pages>(input, attributes.buffer.pages);
  return input;
}

CommandBytes armXrcSrqCommand(SrqNumber srq, std::uint16_t limit) {
  using Input = wire::ArmSrqInput;
  CommandBytes input = plainCommand(CommandOpcode::kArmXrcSrq, Input::kSize, Input::kSharedReceiveQueue);
  Input::Number::set(input, srq.value());
  Input::LowWaterMark::set(input, limit);
  return input;
}

CommandBytes createXrqCommand(const adapter::SrqAttributes& attributes) {
  using Input = wire::CreateXrqInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateXrq, Input::kSize + 8 * attributes.buffer.pages.size());
  adapter::encodeXrqContext(attributes, Input::Context::mutableView(input));
  setPages<Input::Pages>(input, attributes.buffer.pages);
  return input;
}

CommandBytes armXrqCommand(SrqNumber srq, std::uint16_t limit) {
  using Input = wire::ArmSrqInput;
  CommandBytes input = plainCommand(CommandOpcode::kArmReceiveQueue, Input::kSize, Input::kTagMatchingQueue);
  Input::Number::set(input, srq.value());
  Input::LowWaterMark::set(input, limit);
  return input;
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

CommandBytes multicastCommand(CommandOpcode opcode, QpNumber qp, const network::Gid& group) {
  using Input = wire::MulticastInput;
  CommandBytes input = plainCommand(opcode, Input::kSize);
  Input::QpNumber::set(input, qp.value());
  std::copy(group.begin(), group.end(), Input::Group::mutableView(input).data());
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
