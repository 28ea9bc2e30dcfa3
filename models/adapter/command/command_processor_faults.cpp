// Commands that go wrong on purpose.
#include <utility>

#include "models/adapter/command/command_processor.h"
#include "models/wire/command_header.h"

namespace hca::adapter {

using wire::DeliveryStatus;

void CommandProcessor::goWrong(const CommandFault& fault) {
  if (fault.happened) fault.happened(wire::CommandInput::opcode(active_.input), active_.doorbell.slot);
  switch (fault.kind) {
    case CommandFaultKind::kSwallowed:
      phase_ = Phase::kIdle;  // its slot stays pending
      return startNext();
    case CommandFaultKind::kLate:
      return putOff(fault);
    case CommandFaultKind::kRefused:
      return refuse(fault.result);
    case CommandFaultKind::kUndelivered:
      active_.answersByEvent = device_.targets.eqs.accepts(EventType::kCommand);
      answer(fault.delivery);
      tell(fault.delivery, {});
      return finish();
  }
}

void CommandProcessor::putOff(const CommandFault& fault) {
  late_.send(context_.now() + fault.delay, Late{generation_, std::move(active_)});
  phase_ = Phase::kIdle;
  startNext();
}

void CommandProcessor::onLate(Late& late) {
  if (late.generation != generation_) return;  // of before a reset
  overdue_.push_back(std::move(late.command));
  startNext();
}

void CommandProcessor::refuse(const CommandResult& result) {
  active_.answersByEvent = device_.targets.eqs.accepts(EventType::kCommand);
  wire::CommandOutput::Status::set(active_.output, static_cast<std::uint32_t>(result.status));
  wire::CommandOutput::Syndrome::set(active_.output, static_cast<std::uint32_t>(result.syndrome));
  writeOutput();
  count(result);
  answer(DeliveryStatus::kOk);
  tell(result);
  finish();
}

}  // namespace hca::adapter
