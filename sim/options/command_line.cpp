#include "sim/options/command_line.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <ostream>

#include "sim/config/nearest_name.h"
#include "sim/options/command.h"

namespace hca::options {

namespace po = boost::program_options;

namespace {

constexpr const char* kVersion = HCASIM_VERSION;
constexpr const char* kOperands = "operands";

bool contains(const std::vector<std::string>& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string usage(const Command& command) {
  return "usage: " + command.name() + " [OPTIONS]" + (command.operands.empty() ? "" : ' ' + command.operands);
}

void printOverview(std::ostream& out) {
  out << "hcasim " << kVersion << ": a cycle-approximate simulator of an RDMA host channel adapter\n\n"
      << "usage: hcasim COMMAND ...\n\n";
  for (const Command& command : commands()) {
    std::string line = "  " + command.name() + (command.operands.empty() ? "" : ' ' + command.operands);
    line.resize(std::max<std::size_t>(line.size(), 34), ' ');
    out << line << "  " << command.summary << '\n';
  }
  out << "\n  hcasim COMMAND --help               Explain a command and its options\n"
      << "  hcasim --version                    Print the version\n";
}

void printHelp(std::ostream& out, const Command& command) {
  out << usage(command) << "\n\n" << command.summary << ".\n\n" << command.options;
  if (!command.details.empty()) out << '\n' << command.details;
}

int complain(const Environment& environment, const std::string& what) {
  environment.err << "hcasim: " << what << '\n';
  return kBadInput;
}

std::string nearestCommand(const std::string& typed) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name().substr(std::string("hcasim ").size()));
  return config::nearestName(typed, names);
}

// How many of the command's words `arguments` begins with.
std::size_t wordsInCommon(const Command& command, const std::vector<std::string>& arguments) {
  const std::size_t most = std::min(command.path.size(), arguments.size());
  std::size_t n = 0;
  while (n < most && command.path[n] == arguments[n]) ++n;
  return n;
}

const Command* findCommand(const std::vector<std::string>& arguments) {
  for (const Command& command : commands()) {
    if (wordsInCommon(command, arguments) == command.path.size()) return &command;
  }
  return nullptr;
}

bool isGroup(const std::string& word) {
  return std::any_of(commands().begin(), commands().end(),
                     [&](const Command& command) { return command.path.size() > 1 && command.path[0] == word; });
}

std::string wordsBehind(const std::string& group) {
  std::string known;
  for (const Command& command : commands()) {
    if (command.path.size() > 1 && command.path[0] == group) known += (known.empty() ? "" : ", ") + command.path[1];
  }
  return known;
}

// Whether a word could be meant as the second one of a command.
bool looksLikeASecondWord(const std::string& word) {
  return std::any_of(commands().begin(), commands().end(), [&](const Command& command) {
    return command.path.size() > 1 && config::isMisspelling(word, command.path[1]);
  });
}

// "hcasim config" alone, or "hcasim confg check": what could follow, or what was meant.
int unknownCommand(const std::vector<std::string>& arguments, const Environment& environment) {
  std::string typed = arguments[0];
  const bool hasSecond = arguments.size() > 1 && !arguments[1].empty() && arguments[1].front() != '-';
  if (isGroup(typed) && !hasSecond) {
    return complain(environment, "'" + typed + "' needs one more word: " + wordsBehind(typed));
  }
  if (hasSecond && (isGroup(typed) || looksLikeASecondWord(arguments[1]))) typed += ' ' + arguments[1];
  return complain(environment, "'" + typed + "' is no command (nearest known: " + nearestCommand(typed) + ')');
}

std::string optionProblem(const Command& command, const po::error& error) {
  const auto* unknown = dynamic_cast<const po::unknown_option*>(&error);
  if (unknown == nullptr) return error.what();
  std::vector<std::string> names;
  for (const auto& option : command.options.options()) names.push_back("--" + option->long_name());
  const std::string typed = unknown->get_option_name();
  return "'" + typed + "' is no option of " + command.name() + " (nearest known: " + config::nearestName(typed, names) +
         ')';
}

// How many of `words` are hcasim's own, in front of another program's.
std::size_t ownWords(const Command& command, const std::vector<std::string>& words) {
  std::size_t n = 0;
  while (n < words.size() && words[n].size() > 2 && words[n].compare(0, 2, "--") == 0) {
    const po::option_description* option = command.options.find_nothrow(words[n].substr(2), false);
    const bool takesWord = option != nullptr && option->semantic()->max_tokens() > 0;
    n += takesWord ? 2 : 1;
  }
  return std::min(n, words.size());
}

std::optional<Arguments> parse(const Command& command, std::vector<std::string> words, std::string& problem) {
  std::vector<std::string> behind;
  if (command.runsPrograms) {
    const auto own = words.begin() + static_cast<std::ptrdiff_t>(ownWords(command, words));
    behind.assign(own, words.end());
    words.erase(own, words.end());
  }
  po::options_description all;
  all.add(command.options);
  all.add_options()(kOperands, po::value<std::vector<std::string>>());
  po::positional_options_description positions;
  positions.add(kOperands, -1);
  // Options in full: an abbreviation would change its meaning with the next option that begins alike.
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  Arguments arguments;
  try {
    po::store(po::command_line_parser(words).options(all).positional(positions).style(style).run(), arguments.values);
  } catch (const po::error& error) {
    problem = optionProblem(command, error);
    return std::nullopt;
  }
  if (arguments.has(kOperands)) arguments.operands = arguments.values[kOperands].as<std::vector<std::string>>();
  arguments.operands.insert(arguments.operands.end(), behind.begin(), behind.end());
  return arguments;
}

int execute(const Command& command, const std::vector<std::string>& words, const Environment& environment) {
  std::string problem;
  const std::optional<Arguments> arguments = parse(command, words, problem);
  if (!arguments) return complain(environment, problem);
  const std::size_t count = arguments->operands.size();
  const bool enough = count >= command.leastOperands || arguments->has("like");
  if (!enough) {
    const std::string missing = command.runsPrograms ? "no CMD is named; " : "no CONFIG is named; ";
    return complain(environment, missing + usage(command));
  }
  if (command.mostIsLeast && count > command.leastOperands) {
    return complain(environment, "'" + arguments->operands.back() + "' is one word too many; " + usage(command));
  }
  return command.handler(*arguments, environment);
}

int dispatch(const std::vector<std::string>& arguments, const Environment& environment) {
  if (arguments.empty()) {
    printOverview(environment.err);
    return kBadInput;
  }
  const Command* command = findCommand(arguments);
  if (command != nullptr) {
    const auto words = static_cast<std::ptrdiff_t>(command->path.size());
    const std::vector<std::string> rest(arguments.begin() + words, arguments.end());
    const auto own =
        rest.begin() + static_cast<std::ptrdiff_t>(command->runsPrograms ? ownWords(*command, rest) : rest.size());
    if (!contains({rest.begin(), own}, "--help")) return execute(*command, rest, environment);
    printHelp(environment.out, *command);
    return kDone;
  }
  if (contains(arguments, "--help") || arguments[0] == "help") {
    printOverview(environment.out);
    return kDone;
  }
  if (arguments[0] == "--version") {
    environment.out << "hcasim " << kVersion << '\n';
    return kDone;
  }
  if (arguments[0].empty() || arguments[0].front() == '-') {
    return complain(environment, "'" + arguments[0] + "' is no option of hcasim: --help or --version, or a command");
  }
  return unknownCommand(arguments, environment);
}

}  // namespace

int runCommandLine(const std::vector<std::string>& arguments, const Environment& environment) {
  try {
    return dispatch(arguments, environment);
  } catch (const std::exception& error) {
    environment.err << "hcasim: a fault of hcasim, please report it: " << error.what() << '\n';
  } catch (...) {
    environment.err << "hcasim: a fault of hcasim, please report it\n";
  }
  return kFault;
}

}  // namespace hca::options
