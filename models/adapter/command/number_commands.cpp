// Objects that are nothing but a number: protection domains, UAR pages, XRC and transport domains.
#include "models/adapter/command/command_handlers.h"

namespace hca::adapter::commands {
namespace {

using wire::ObjectCommand;

template <class Number>
CommandResult allocate(NumberTable<Number>& table, const CommandCall& call, const char* label) {
  Number number;
  if (const CommandResult result = table.allocate(number); !result.ok()) return result;
  ObjectCommand::Number::set(call.output, number.value());
  call.note(label, number.value());
  return {};
}

template <class Number>
CommandResult release(NumberTable<Number>& table, const CommandCall& call, const char* label) {
  const Number number(ObjectCommand::Number::get(call.input));
  call.note(label, number.value());
  return table.release(number);
}

}  // namespace

CommandResult allocatePd(CommandDevice& device, const CommandCall& call) {
  return allocate(device.targets.pds, call, "pd");
}
CommandResult deallocatePd(CommandDevice& device, const CommandCall& call) {
  return release(device.targets.pds, call, "pd");
}
CommandResult allocateUar(CommandDevice& device, const CommandCall& call) {
  return allocate(device.targets.uars, call, "uar");
}
CommandResult deallocateUar(CommandDevice& device, const CommandCall& call) {
  return release(device.targets.uars, call, "uar");
}
CommandResult allocateXrcd(CommandDevice& device, const CommandCall& call) {
  return allocate(device.xrcds, call, "xrcd");
}
CommandResult deallocateXrcd(CommandDevice& device, const CommandCall& call) {
  return release(device.xrcds, call, "xrcd");
}
CommandResult allocateTransportDomain(CommandDevice& device, const CommandCall& call) {
  return allocate(device.transportDomains, call, "transport_domain");
}
CommandResult deallocateTransportDomain(CommandDevice& device, const CommandCall& call) {
  return release(device.transportDomains, call, "transport_domain");
}

}  // namespace hca::adapter::commands
