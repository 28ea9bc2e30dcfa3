#include "sim/options/cosim_words.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace hca::options {
namespace {

constexpr const char* kHostOption = "-H";

// One command; empty, or what is wrong with it.
std::string parseOne(std::vector<std::string> words, std::uint32_t next, std::uint32_t hosts, CosimCommand& command) {
  command.host = next;
  if (!words.empty() && words[0] == kHostOption) {
    const auto host = words.size() < 2 ? std::nullopt : parseHost(words[1]);
    if (!host) return "-H needs the number of a host";
    command.host = *host;
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty()) return "a command is missing";
  if (command.host >= hosts) return noSuchHost(command.host, hosts);
  command.words = std::move(words);
  return {};
}

}  // namespace

std::string noSuchHost(std::uint32_t host, std::uint32_t hosts) {
  return "there is no host " + std::to_string(host) + ": the configuration has " + std::to_string(hosts) +
         " (host.count)";
}

std::optional<std::chrono::milliseconds> parseSeconds(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  constexpr double kLongest = 3600;
  if (text.empty() || *end != '\0' || !(seconds >= 0) || seconds > kLongest) return std::nullopt;
  return std::chrono::milliseconds(static_cast<long>(seconds * 1000));
}

std::optional<std::uint32_t> parseHost(const std::string& text) {
  const bool isNumber = !text.empty() && text.size() < 6 &&
                        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return isNumber ? std::optional<std::uint32_t>(std::stoul(text)) : std::nullopt;
}

bool isRunName(const std::string& name) {
  constexpr std::size_t kLongest = 32;  // the path of a socket is short
  const auto isPlain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= kLongest && std::all_of(name.begin(), name.end(), isPlain);
}

std::optional<std::vector<CosimCommand>> splitCommands(const std::vector<std::string>& words,
                                                       const std::string& separator, std::uint32_t hosts,
                                                       std::string& problem) {
  std::vector<CosimCommand> commands;
  auto begin = words.begin();
  for (;;) {
    const auto end = std::find(begin, words.end(), separator);
    const std::uint32_t next = commands.empty() ? 0 : (commands.back().host + 1) % hosts;
    CosimCommand command;
    problem = parseOne({begin, end}, next, hosts, command);
    if (!problem.empty()) return std::nullopt;
    commands.push_back(std::move(command));
    if (end == words.end()) return commands;
    begin = end + 1;
  }
}

}  // namespace hca::options
