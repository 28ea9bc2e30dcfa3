#include "sim/options/perftest_line.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <sstream>

#include "sim/config/nearest_name.h"

namespace hca::options {

namespace {

enum class Verb : std::uint8_t { kWrite, kSend, kRead, kAtomic };

struct Program {
  const char* name;
  Verb verb;
  bool bandwidth;
};

constexpr std::array<Program, 8> kPrograms{{{"ib_write_bw", Verb::kWrite, true},
                                            {"ib_write_lat", Verb::kWrite, false},
                                            {"ib_send_bw", Verb::kSend, true},
                                            {"ib_send_lat", Verb::kSend, false},
                                            {"ib_read_bw", Verb::kRead, true},
                                            {"ib_read_lat", Verb::kRead, false},
                                            {"ib_atomic_bw", Verb::kAtomic, true},
                                            {"ib_atomic_lat", Verb::kAtomic, false}}};

// Which programs have a flag.
bool always(const Program&) { return true; }
bool bandwidth(const Program& program) { return program.bandwidth; }
bool sends(const Program& program) { return program.verb == Verb::kSend; }
bool sized(const Program& program) { return program.verb != Verb::kAtomic; }
bool inlines(const Program& program) { return program.verb == Verb::kWrite || program.verb == Verb::kSend; }
bool atomic(const Program& program) { return program.verb == Verb::kAtomic; }
// The latency of a write is taken by polling memory.
bool takesEvents(const Program& program) { return program.verb != Verb::kWrite || program.bandwidth; }

struct Flag {
  char letter;
  const char* word;
  const char* meaning;
  bool (*of)(const Program&);
};

constexpr std::array<Flag, 14> kFlags{{{'s', "size", "message size, bytes", sized},
                                       {'n', "iters", "messages a queue pair", always},
                                       {'q', "qp", "queue pairs (bw)", bandwidth},
                                       {'t', "tx-depth", "requests outstanding", always},
                                       {'r', "rx-depth", "receives posted (send)", sends},
                                       {'Q', "cq-mod", "every how many requests one is signaled (bw)", bandwidth},
                                       {'I', "inline_size", "longest inline message, bytes (write, send)", inlines},
                                       {'e', "events", "sleep until an event (not write_lat)", takesEvents},
                                       {'m', "mtu", "path MTU, bytes", always},
                                       {'c', "connection", "RC, UC, UD or XRC", always},
                                       {'l', "post_list", "requests handed over in one call (bw)", bandwidth},
                                       {'A', "atomic_type", "FETCH_AND_ADD or CMP_AND_SWAP (atomic)", atomic},
                                       {'d', "ib-dev", "adapter of both hosts: mlx5_0, mlx5_1, ...", always},
                                       {'i', "ib-port", "port of both adapters, from 1", always}}};

constexpr char kEvents = 'e';
constexpr char kDevice = 'd';

// "mlx5_1" -> "1"; anything else -> nothing.
std::string deviceNumber(const std::string& name) {
  const std::string prefix = "mlx5_";
  return name.compare(0, prefix.size(), prefix) == 0 ? name.substr(prefix.size()) : std::string();
}

std::string title(const Flag& flag) { return std::string("-") + flag.letter + " or --" + flag.word; }

std::string known(const Program& program) {
  std::string list;
  for (const Flag& flag : kFlags) {
    if (flag.of(program)) list += (list.empty() ? "-" : ", -") + std::string(1, flag.letter);
  }
  return list;
}

bool isNumber(const std::string& text) {
  return !text.empty() && text.size() <= 9 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// What the command line says, by the letter of the flag.
class Said {
 public:
  void set(char letter, std::string value) { values_.emplace_back(letter, std::move(value)); }
  /// Of several the last one counts.
  [[nodiscard]] std::optional<std::string> text(char letter) const {
    const auto found = std::find_if(values_.rbegin(), values_.rend(), [=](const auto& v) { return v.first == letter; });
    return found == values_.rend() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::uint64_t number(char letter, std::uint64_t otherwise) const {
    const auto value = text(letter);
    return value ? std::stoull(*value) : otherwise;
  }

 private:
  std::vector<std::pair<char, std::string>> values_;
};

class Parser {
 public:
  Parser(const Program& program, std::vector<std::string> words) : program_(program), words_(std::move(words)) {}

  /// Empty if everything was understood.
  std::string run() {
    while (at_ < words_.size() && problem_.empty()) take(words_[at_++]);
    return problem_;
  }
  [[nodiscard]] const Said& said() const { return said_; }

 private:
  void take(const std::string& word) {
    if (word.size() < 2 || word[0] != '-') return;  // the server's name
    if (word[1] != '-') return takeFlag(find(word[1]), word.substr(0, 2), word.substr(2));
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    takeFlag(find(name), "--" + name, equals == std::string::npos ? std::string() : word.substr(equals + 1));
  }

  static const Flag* find(char letter) {
    const auto* found = std::find_if(kFlags.begin(), kFlags.end(), [=](const Flag& f) { return f.letter == letter; });
    return found == kFlags.end() ? nullptr : found;
  }
  static const Flag* find(const std::string& name) {
    const auto* found = std::find_if(kFlags.begin(), kFlags.end(), [&](const Flag& f) { return name == f.word; });
    return found == kFlags.end() ? nullptr : found;
  }

  void takeFlag(const Flag* flag, const std::string& typed, std::string value) {
    if (flag == nullptr || !flag->of(program_)) {
      problem_ =
          '\'' + typed + "' is no flag of " + program_.name + " that is known here; known are " + known(program_);
      return;
    }
    if (flag->letter == kEvents) {
      if (!value.empty()) problem_ = '\'' + typed + value + "': " + title(*flag) + " takes no value";
      return said_.set(flag->letter, {});
    }
    if (value.empty() && at_ < words_.size()) value = words_[at_++];
    if (value.empty()) {
      problem_ = '\'' + typed + "' needs a value";
    } else {
      check(*flag, typed, value);
      said_.set(flag->letter, std::move(value));
    }
  }

  void check(const Flag& flag, const std::string& typed, const std::string& value) {
    const auto isOneOf = [&](std::initializer_list<const char*> names) {
      return std::any_of(names.begin(), names.end(), [&](const char* name) { return value == name; });
    };
    if (flag.letter == 'c') {
      if (!isOneOf({"RC", "UC", "UD", "XRC"}))
        problem_ = '\'' + typed + ' ' + value + "' is none of RC, UC, UD and XRC";
    } else if (flag.letter == 'A') {
      if (!isOneOf({"FETCH_AND_ADD", "CMP_AND_SWAP"})) {
        problem_ = '\'' + typed + ' ' + value + "' is none of FETCH_AND_ADD and CMP_AND_SWAP";
      }
    } else if (flag.letter == kDevice) {
      if (!isNumber(deviceNumber(value))) problem_ = '\'' + typed + ' ' + value + "' is no device, such as mlx5_0";
    } else if (!isNumber(value)) {
      problem_ = '\'' + typed + ' ' + value + "' is no number";
    }
  }

  const Program& program_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
  Said said_;
  std::string problem_;
};

/// Fills in what perftest would.
class FlowBuilder {
 public:
  FlowBuilder(const Program& program, const Said& said) : program_(program), said_(said) {}

  PerftestFlow build() {
    flow_.name = program_.name;
    add("kind", program_.bandwidth ? "bandwidth" : "latency");
    add("verb", verb());
    add("transport", transport());
    addBytes("size", size());
    addNumber("iters", iters());
    addNumber("qps", said_.number('q', 1));
    addNumber("tx_depth", depth());
    if (program_.verb == Verb::kSend) addNumber("rx_depth", receives());
    addNumber("cq_mod", signalEvery());
    addNumber("post_list", said_.number('l', 1));
    addBytes("inline_size", said_.number('I', usualInline()));
    if (said_.text('m')) addBytes("mtu", said_.number('m', 0));
    if (said_.text(kEvents)) add("events", "safe");
    if (const auto device = said_.text(kDevice)) addOfBoth("adapter", deviceNumber(*device));
    if (const auto port = said_.text('i')) addOfBoth("port", *port);
    return flow_;
  }

 private:
  static constexpr std::uint64_t kUsualReceives = 512;

  void add(const char* key, std::string value) { flow_.keys.emplace_back(key, std::move(value)); }
  // Both ends are started with the same flags.
  void addOfBoth(const std::string& key, const std::string& value) {
    add(("client_" + key).c_str(), value);
    add(("server_" + key).c_str(), value);
  }
  void addNumber(const char* key, std::uint64_t value) { add(key, std::to_string(value)); }
  void addBytes(const char* key, std::uint64_t value) { add(key, std::to_string(value) + 'B'); }

  [[nodiscard]] std::string connection() const { return said_.text('c').value_or("RC"); }
  [[nodiscard]] std::string transport() const {
    return connection() == "XRC" ? "xrc" : connection() == "UC" ? "uc" : isUd() ? "ud" : "rc";
  }
  [[nodiscard]] bool isUd() const { return connection() == "UD"; }

  [[nodiscard]] std::string verb() const {
    switch (program_.verb) {
      case Verb::kWrite:
        return "write";
      case Verb::kSend:
        return "send";
      case Verb::kRead:
        return "read";
      case Verb::kAtomic:
        break;
    }
    return said_.text('A').value_or("FETCH_AND_ADD") == "CMP_AND_SWAP" ? "compare_swap" : "fetch_add";
  }

  [[nodiscard]] std::uint64_t size() const {
    constexpr std::uint64_t kAtomic = 8;
    constexpr std::uint64_t kBandwidth = 65536;
    constexpr std::uint64_t kLatency = 2;
    constexpr std::uint64_t kMtu = 4096;
    if (program_.verb == Verb::kAtomic) return kAtomic;
    const std::uint64_t usual = program_.bandwidth ? kBandwidth : kLatency;
    return said_.number('s', isUd() ? std::min(usual, said_.number('m', kMtu)) : usual);
  }

  [[nodiscard]] std::uint64_t iters() const {
    constexpr std::uint64_t kWrites = 5000;
    constexpr std::uint64_t kOthers = 1000;
    return said_.number('n', program_.verb == Verb::kWrite && program_.bandwidth ? kWrites : kOthers);
  }

  [[nodiscard]] std::uint64_t depth() const {
    constexpr std::uint64_t kBandwidth = 128;
    return std::min(said_.number('t', program_.bandwidth ? kBandwidth : 1), iters());
  }

  // An unreliable service has a receive for each message, as far as there is room.
  [[nodiscard]] std::uint64_t receives() const {
    constexpr std::uint64_t kMost = 16000;
    const std::uint64_t wanted = said_.number('r', kUsualReceives);
    if ((connection() == "UC" || isUd()) && wanted == kUsualReceives) return std::min(iters(), kMost);
    return std::min(wanted, iters());
  }

  [[nodiscard]] std::uint64_t signalEvery() const {
    constexpr std::uint64_t kUsual = 100;
    constexpr std::uint64_t kLargeMessage = 8192;
    if (!program_.bandwidth) return 1;
    const bool each = size() > kLargeMessage && !isUd() && !said_.text(kEvents);
    return std::min(said_.number('Q', each ? 1 : said_.number('l', kUsual)), depth());
  }

  [[nodiscard]] std::uint64_t usualInline() const {
    constexpr std::uint64_t kWrite = 220;
    constexpr std::uint64_t kSend = 236;
    constexpr std::uint64_t kDatagram = 188;
    if (program_.bandwidth || !inlines(program_)) return 0;
    if (program_.verb == Verb::kWrite) return kWrite;
    return isUd() ? kDatagram : kSend;
  }

  const Program& program_;
  const Said& said_;
  PerftestFlow flow_;
};

}  // namespace

PerftestFlow parsePerftest(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  PerftestFlow failed;
  std::vector<std::string> names;
  for (const Program& program : kPrograms) names.emplace_back(program.name);
  if (words.empty()) {
    failed.problem = "is empty: name one of ib_{write,send,read,atomic}_{lat,bw} and its flags";
    return failed;
  }
  const auto found = std::find(names.begin(), names.end(), words.front());
  if (found == names.end()) {
    failed.problem = '\'' + words.front() +
                     "' is no program that is known here (nearest known: " + config::nearestName(words.front(), names) +
                     ')';
    return failed;
  }
  const Program& program = kPrograms[static_cast<std::size_t>(found - names.begin())];
  Parser parser(program, {words.begin() + 1, words.end()});
  failed.problem = parser.run();
  return failed.problem.empty() ? FlowBuilder(program, parser.said()).build() : failed;
}

std::string perftestFlags() {
  std::string text;
  for (const Flag& flag : kFlags) {
    std::string line = "  " + title(flag);
    line.resize(std::max<std::size_t>(line.size(), 24), ' ');
    text += line + "  " + flag.meaning + '\n';
  }
  return text;
}

}  // namespace hca::options
