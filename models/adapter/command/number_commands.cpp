// Objects that are nothing but a number: protection domains, UAR pages, XRC and transport domains.
#include "models/adapter/command/command_handlers.h"

namespace hca::adapter::commands {
namespace {

using wire::ObjectCommand;

template <class Number>
CommandResult allocate(NumberTable<Number>& table, const CommandCall& call) {
  Number number;
  if (const CommandResult result = table.allocate(number); !result.ok()) return result;
  ObjectCommand::Number::set(call.output, number.value());
  return {};
}

template <class Number>
CommandResult release(NumberTable<Number>& table, const CommandCall& call) {
  const Number number(ObjectCommand::Number::get(call.input));
  return table.release(number);
}

}  // namespace

CommandResult allocatePd(CommandDevice& device, const CommandCall& call) { return allocate(device.targets.pds, call); }
CommandResult deallocatePd(CommandDevice& device, const CommandCall& call) { return release(device.targets.pds, call); }
CommandResult allocateUar(CommandDevice& device, const CommandCall& call) {
  return allocate(device.targets.uars, call);
}
CommandResult deallocateUar(CommandDevice& device, const CommandCall& call) {
  return release(device.targets.uars, call);
}
CommandResult allocateXrcd(CommandDevice& device, const CommandCall& call) { return allocate(device.xrcds, call); }
CommandResult deallocateXrcd(CommandDevice& device, const CommandCall& call) { return release(device.xrcds, call); }
CommandResult allocateTransportDomain(CommandDevice& device, const CommandCall& call) {
  return allocate(device.transportDomains, call);
}
CommandResult deallocateTransportDomain(CommandDevice& device, const CommandCall& call) {
  return release(device.transportDomains, call);
}

}  // namespace hca::adapter::commands
