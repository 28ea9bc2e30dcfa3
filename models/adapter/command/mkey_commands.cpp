// Memory keys.
#include <algorithm>

#include "models/adapter/command/command_handlers.h"
#include "models/adapter/memory/mkey_context.h"
#include "models/wire/queue_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::CreateMemoryKeyInput;
using wire::ObjectCommand;
using wire::TranslationEntry;

constexpr std::size_t kEntriesPerOctword = 2;

/// The translations of a key; false if the input ends before what it announces.
bool readTranslations(ByteView input, MkeyAttributes& key) {
  using List = CreateMemoryKeyInput::Translations;
  const std::size_t octwords = CreateMemoryKeyInput::TranslationOctwords::get(input);
  if (octwords * kEntriesPerOctword > List::count(input)) return false;
  const ByteView list = input.subview(List::kByteOffset, octwords * kEntriesPerOctword * TranslationEntry::kSize);
  if (key.mode == MkeyMode::kIndirect) {
    for (std::size_t n = 0; n < octwords; ++n) {
      const KeyPiece piece = decodeKeyPiece(list, n);
      if (piece.length != 0) key.pieces.push_back(piece);
    }
    return true;
  }
  key.pages.reserve(octwords * kEntriesPerOctword);
  for (std::size_t n = 0; n < octwords * kEntriesPerOctword; ++n) key.pages.push_back(decodeTranslation(list, n));
  return true;
}

/// Translations come in pairs: drops what lies behind the key's last page.
void dropPadding(MkeyAttributes& key) {
  const std::uint64_t mask = (std::uint64_t{1} << key.logPageSize) - 1;
  const std::uint64_t last = key.length == 0 ? 0 : ((key.start & mask) + (key.length - 1)) >> key.logPageSize;
  const std::uint64_t needed = key.length == 0 ? 0 : last + 1;
  if (needed < key.pages.size()) key.pages.resize(static_cast<std::size_t>(needed));
}

}  // namespace

CommandResult createMkey(CommandDevice& device, const CommandCall& call) {
  if (CreateMemoryKeyInput::UmemValid::get(call.input)) {
    return {CommandStatus::kBadParameter, Syndrome::kUserMemoryUnsupported};
  }
  MkeyAttributes key = decodeMkeyContext(CreateMemoryKeyInput::Context::view(call.input));
  if ((key.mode == MkeyMode::kTranslated || key.mode == MkeyMode::kIndirect) && !key.free) {
    if (!readTranslations(call.input, key)) return {CommandStatus::kBadInputLength, Syndrome::kMemoryKeyPagesWrong};
    if (key.mode == MkeyMode::kTranslated) dropPadding(key);
  }
  MkeyIndex index;
  if (const CommandResult result = device.targets.mkeys.create(key, index); !result.ok()) return result;
  ObjectCommand::Number::set(call.output, index.value());
  return {};
}

CommandResult destroyMkey(CommandDevice& device, const CommandCall& call) {
  const MkeyIndex index(ObjectCommand::Number::get(call.input));
  return device.targets.mkeys.destroy(index);
}

CommandResult queryMkey(CommandDevice& device, const CommandCall& call) {
  const MkeyIndex index(ObjectCommand::Number::get(call.input));
  MkeyAttributes key;
  if (const CommandResult result = device.targets.mkeys.query(index, key); !result.ok()) return result;
  encodeMkeyContext(key, wire::QueryMemoryKeyOutput::Context::mutableView(call.output));
  return {};
}

}  // namespace hca::adapter::commands
