#include "tools/dump/dump_command.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "models/wire/command_header.h"
#include "tools/dump/command_text.h"
#include "tools/dump/cqe_text.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/eqe_text.h"
#include "tools/dump/hex_reader.h"
#include "tools/dump/ring_slots.h"
#include "tools/dump/wqe_text.h"

namespace hca::dump {
namespace {

constexpr const char* kUsage =
    R"(usage: tools/cqe_dump [options] [FILE]

Decodes the ring of a completion, event or work queue, or a command, out of FILE or the standard input: hexadecimal as
xxd, hexdump, od or libmlx5 write it, plain hexadecimal, or binary. Slot 0 of the ring must come first.

  --queue KIND        cq (default), eq, sq, rq or srq
  --entry-size BYTES  cq: 64 (default) or 128; rq, srq: bytes of one WQE (16, 32, 64, ...; default 64)
  --entries N         entries of the ring, a power of two (default: as many as the dump has)
  --index N           free-running consumer index, decimal or 0x...; default 0. It says which pass the ring is in, and
                      so which entries are software's. sq: counter of a block in which a WQE begins
  --layout L          none (default), basic or enhanced: how the queue compresses
  --mini-format F     hash (default), checksum or checksum-stride-index
  --striding          receives are of striding queues: strides and fillers are in the byte count
  --brief             one line an entry instead of all fields
  --command-input     the bytes are the input of a command of the command interface, from its opcode on
  --command-output OP the output of command OP, by its name (CREATE_CQ) or number
  --op-mod N          --command-output QUERY_HCA_CAP: op_mod of its input, which says whose capabilities they are
  --register N        --command-output ACCESS_REG: register_id of its input
  -h, --help
)";

/// What is wrong with the call.
struct BadUse {
  std::string what;
};

std::uint64_t numberOf(const std::string& option, const std::string& text) {
  const bool hex = text.rfind("0x", 0) == 0;
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (error != std::errc() || stop != end || value > UINT32_MAX) {
    throw BadUse{option + ": '" + text + "' is no number of 32 bits"};
  }
  return value;
}

unsigned logOf(const std::string& what, std::uint64_t entries) {
  unsigned log = 0;
  while (log < 32 && (std::uint64_t{1} << log) < entries) ++log;
  if (entries == 0 || std::uint64_t{1} << log != entries) {
    throw BadUse{what + ": " + std::to_string(entries) + " is no power of two"};
  }
  return log;
}

template <class Value, std::size_t kCount>
Value valueOf(const std::string& option, const std::string& word,
              const std::pair<const char*, Value> (&choices)[kCount]) {
  std::string known;
  for (const auto& [name, value] : choices) {
    if (word == name) return value;
    known += known.empty() ? "" : ", ";
    known += name;
  }
  throw BadUse{option + ": '" + word + "' is none of " + known};
}

struct Call {
  DumpOptions options;
  std::optional<std::size_t> entrySize;
  std::string file = "-";
  bool isCommandInput = false;
  std::optional<CommandOutputOf> output;  ///< of a command
  bool help = false;
};

constexpr std::pair<const char*, QueueKind> kKinds[] = {{"cq", QueueKind::kCompletion},
                                                        {"eq", QueueKind::kEvent},
                                                        {"sq", QueueKind::kSend},
                                                        {"rq", QueueKind::kReceive},
                                                        {"srq", QueueKind::kSharedReceive}};
constexpr std::pair<const char*, Layout> kLayouts[] = {
    {"none", Layout::kNone}, {"basic", Layout::kBasic}, {"enhanced", Layout::kEnhanced}};
constexpr std::pair<const char*, wire::MiniFormat> kFormats[] = {
    {"hash", wire::MiniFormat::kHash},
    {"checksum", wire::MiniFormat::kChecksum},
    {"checksum-stride-index", wire::MiniFormat::kChecksumStrideIndex}};

/// False for an option that is about queues.
bool setCommandOption(Call& call, const std::string& option, const std::string& value) {
  if (option == "--command-output") {
    const auto opcode = parseOpcode(value);
    if (!opcode) throw BadUse{option + ": '" + value + "' is no command"};
    if (!call.output) call.output.emplace();
    call.output->opcode = *opcode;
    return true;
  }
  if (option != "--op-mod" && option != "--register") return false;
  if (!call.output) throw BadUse{option + " follows --command-output"};
  (option == "--op-mod" ? call.output->modifier : call.output->registerId) =
      static_cast<std::uint32_t>(numberOf(option, value));
  return true;
}

void setOption(Call& call, const std::string& option, const std::string& value) {
  if (setCommandOption(call, option, value)) return;
  if (option == "--queue") {
    call.options.queue = valueOf(option, value, kKinds);
  } else if (option == "--entry-size") {
    call.entrySize = numberOf(option, value);
  } else if (option == "--entries") {
    call.options.logSize = logOf(option, numberOf(option, value));
  } else if (option == "--index") {
    call.options.index = static_cast<std::uint32_t>(numberOf(option, value));
  } else if (option == "--layout") {
    call.options.layout = valueOf(option, value, kLayouts);
  } else if (option == "--mini-format") {
    call.options.format = valueOf(option, value, kFormats);
  } else {
    throw BadUse{"unknown option " + option};
  }
}

void checkEntrySize(Call& call) {
  DumpOptions& options = call.options;
  options.entrySize = call.entrySize.value_or(64);
  const bool receive = options.queue == QueueKind::kReceive || options.queue == QueueKind::kSharedReceive;
  const bool wide = options.queue == QueueKind::kCompletion && options.entrySize == 128;
  const std::size_t least = options.queue == QueueKind::kSharedReceive ? 32 : 16;
  if (receive && options.entrySize >= least) {
    logOf("--entry-size", options.entrySize);
  } else if (options.entrySize != 64 && !wide) {
    throw BadUse{"--entry-size: such a queue has no entries of " + std::to_string(options.entrySize) + " bytes"};
  }
  if (wide && options.layout != Layout::kNone) throw BadUse{"--layout: entries of 128 bytes are not compressed"};
}

Call parse(const std::vector<std::string>& arguments) {
  Call call;
  bool named = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-h" || word == "--help") {
      call.help = true;
    } else if (word == "--brief") {
      call.options.brief = true;
    } else if (word == "--command-input") {
      call.isCommandInput = true;
    } else if (word == "--striding") {
      call.options.striding = true;
    } else if (word.size() > 1 && word[0] == '-') {
      if (i + 1 == arguments.size()) throw BadUse{word + " needs a value"};
      setOption(call, word, arguments[++i]);
    } else {
      if (std::exchange(named, true)) throw BadUse{"one file at a time: '" + word + "' is a second one"};
      call.file = word;
    }
  }
  checkEntrySize(call);
  return call;
}

std::string contentOf(const std::string& file, std::istream& input) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) throw BadUse{file + ": can't be opened"};
  }
  std::istream& source = file == "-" ? input : opened;
  return {std::istreambuf_iterator<char>(source), {}};
}

RingSlots ringOf(const std::vector<std::uint8_t>& bytes, const std::string& name, const DumpOptions& options) {
  if (bytes.empty()) throw BadUse{name + ": no bytes in it"};
  const std::string length = name + ": " + std::to_string(bytes.size()) + " bytes";
  if (bytes.size() % options.entrySize != 0) {
    throw BadUse{length + " are no whole number of entries of " + std::to_string(options.entrySize) +
                 " bytes; is the dump complete? (--entry-size)"};
  }
  const std::size_t entries = bytes.size() / options.entrySize;
  if (options.logSize) {
    if (entries > std::uint64_t{1} << *options.logSize) throw BadUse{length + ", more than --entries says"};
    return {bytes, options.entrySize, *options.logSize};
  }
  return {bytes, options.entrySize, logOf(length + "; entries of the ring (say how many with --entries)", entries)};
}

std::string textOf(const RingSlots& ring, const DumpOptions& options) {
  switch (options.queue) {
    case QueueKind::kCompletion:
      return completionQueueText(ring, options);
    case QueueKind::kEvent:
      return eventQueueText(ring, options);
    case QueueKind::kSend:
      return sendQueueText(ring, options);
    case QueueKind::kReceive:
    case QueueKind::kSharedReceive:
      break;
  }
  return receiveQueueText(ring, options);
}

std::string commandText(ByteView bytes, const std::string& name, const Call& call) {
  if (call.isCommandInput && call.output) throw BadUse{"--command-input and --command-output: one at a time"};
  if (bytes.size() < wire::CommandInput::kMinimumSize) {
    throw BadUse{name + ": " + std::to_string(bytes.size()) + " bytes are too few for a command, which has 8 at least"};
  }
  return call.output ? commandOutputText(*call.output, bytes) : commandInputText(bytes);
}

}  // namespace

int runDump(const std::vector<std::string>& arguments, std::istream& input, std::ostream& out, std::ostream& error) {
  constexpr int kDone = 0, kBadInput = 2;
  try {
    const Call call = parse(arguments);
    if (call.help) {
      out << kUsage;
      return kDone;
    }
    const std::string name = call.file == "-" ? "standard input" : call.file;
    const HexResult read = readDump(contentOf(call.file, input));
    if (!read.error.empty()) throw BadUse{name + ": " + read.error};
    if (call.isCommandInput || call.output) {
      out << commandText(read.bytes, name, call);
      return kDone;
    }
    out << textOf(ringOf(read.bytes, name, call.options), call.options);
    return kDone;
  } catch (const BadUse& bad) {
    error << "cqe_dump: " << bad.what << '\n';
    return kBadInput;
  }
}

}  // namespace hca::dump
