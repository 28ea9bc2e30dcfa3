// Host pages lent to the adapter.
#include "models/adapter/command/command_handlers.h"
#include "models/wire/device_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::ManagePagesInput;
using wire::ManagePagesOutput;
using wire::PagesKind;
using wire::PagesOperation;

constexpr CommandResult kUnknownModifier{CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier};
constexpr CommandResult kUnknownFunction{CommandStatus::kBadParameter, Syndrome::kUnknownFunction};

CommandResult givePages(CommandDevice& device, const CommandCall& call, std::size_t entries) {
  if (entries > ManagePagesInput::Pages::count(call.input)) {
    return {CommandStatus::kBadInputLength, Syndrome::kInputTooShort};
  }
  std::vector<BusAddress> pages;
  pages.reserve(entries);
  for (std::size_t n = 0; n < entries; ++n) pages.emplace_back(ManagePagesInput::Pages::get(call.input, n));
  return device.pages.give(pages);
}

CommandResult takePages(CommandDevice& device, const CommandCall& call, std::size_t entries) {
  if (entries > ManagePagesOutput::Pages::count(call.output)) {
    return {CommandStatus::kBadOutputLength, Syndrome::kOutputTooShort};
  }
  const std::vector<BusAddress> pages = device.pages.take(entries);
  for (std::size_t n = 0; n < pages.size(); ++n) ManagePagesOutput::Pages::set(call.output, n, pages[n].value());
  ManagePagesOutput::Entries::set(call.output, static_cast<std::uint32_t>(pages.size()));
  return {};
}

}  // namespace

CommandResult queryPages(CommandDevice& device, const CommandCall& call) {
  if (ManagePagesInput::Function::get(call.input) != 0) return kUnknownFunction;
  std::uint32_t pages = 0;
  switch (static_cast<PagesKind>(call.modifier())) {
    case PagesKind::kBoot:
      pages = device.pages.missingForBoot();
      break;
    case PagesKind::kInit:
      pages = device.pages.missingForInit();
      break;
    case PagesKind::kRegular:  // negative: what the adapter wants to give back
      pages = 0U - static_cast<std::uint32_t>(device.pages.returnable());
      break;
    default:
      return kUnknownModifier;
  }
  wire::QueryPagesOutput::Pages::set(call.output, pages);
  return {};
}

CommandResult managePages(CommandDevice& device, const CommandCall& call) {
  if (ManagePagesInput::Function::get(call.input) != 0) return kUnknownFunction;
  const std::size_t entries = ManagePagesInput::Entries::get(call.input);
  switch (static_cast<PagesOperation>(call.modifier())) {
    case PagesOperation::kCannotGive:
      return {};  // the adapter asked for nothing beyond the start-up pages
    case PagesOperation::kGive:
      return givePages(device, call, entries);
    case PagesOperation::kTake:
      return takePages(device, call, entries);
  }
  return kUnknownModifier;
}

}  // namespace hca::adapter::commands
