// User memory.
#include <algorithm>
#include <utility>

#include "models/adapter/command/command_handlers.h"
#include "models/adapter/command/page_words.h"
#include "models/wire/umem_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::CreateUmemInput;
using wire::UmemCommand;

constexpr std::uint8_t kSmallestLogPage = 12;
constexpr std::uint64_t kReadable = 1, kWritable = 2;

// False if the list isn't one of pages that can be read.
bool readEntries(ByteView input, Umem& umem) {
  const std::uint64_t pageMask = (std::uint64_t{1} << umem.pages.logPageSize) - 1;
  umem.writable = true;
  for (const BusAddress entry : readPages<CreateUmemInput::Pages>(input)) {
    const std::uint64_t access = entry.value() & (kReadable | kWritable);
    const std::uint64_t page = entry.value() - access;
    if ((access & kReadable) == 0 || (page & pageMask) != 0) return false;
    umem.writable = umem.writable && (access & kWritable) != 0;
    umem.pages.pages.emplace_back(page);
  }
  return true;
}

}  // namespace

CommandResult createUmem(CommandDevice& device, const CommandCall& call) {
  const std::uint32_t logPageSize = kSmallestLogPage + CreateUmemInput::LogPageSize::get(call.input);
  const std::uint64_t count = CreateUmemInput::PageCount::get(call.input);
  Umem umem;
  umem.pages.logPageSize = static_cast<std::uint8_t>(std::min<std::uint32_t>(logPageSize, kLargestLogPage));
  umem.pages.offset = CreateUmemInput::PageOffset::get(call.input);
  const bool isSound = logPageSize <= kLargestLogPage && count != 0 &&
                       count == CreateUmemInput::Pages::count(call.input) &&
                       umem.pages.offset < std::uint64_t{1} << logPageSize && readEntries(call.input, umem);
  if (!isSound) return {CommandStatus::kBadParameter, Syndrome::kUmemPagesWrong};
  UmemNumber number;
  if (const CommandResult result = device.umems.create(std::move(umem), number); !result.ok()) return result;
  UmemCommand::Number::set(call.output, number.value());
  return {};
}

CommandResult destroyUmem(CommandDevice& device, const CommandCall& call) {
  const UmemNumber number(UmemCommand::Number::get(call.input));
  return device.umems.destroy(number);
}

}  // namespace hca::adapter::commands
