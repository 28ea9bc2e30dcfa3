#include "sim/config/run_config.h"
#include "sim/config/value_text.h"
#include "sim/options/command.h"

namespace hca::options {

namespace {

// Words that may stand where `depth` words of a command were typed, each once.
std::string wordsAt(const std::vector<Command>& all, std::size_t depth, const std::string& before) {
  std::string words;
  for (const Command& command : all) {
    if (command.path.size() <= depth || (depth > 0 && command.path[depth - 1] != before)) continue;
    if ((' ' + words + ' ').find(' ' + command.path[depth] + ' ') != std::string::npos) continue;
    words += (words.empty() ? "" : " ") + command.path[depth];
  }
  return words;
}

std::string optionWords(const Command& command) {
  std::string words;
  for (const auto& option : command.options.options()) words += (words.empty() ? "--" : " --") + option->long_name();
  return words;
}

std::string caseOf(const Command& command) {
  std::string pattern;
  for (const std::string& word : command.path) pattern += (pattern.empty() ? "" : " ") + word;
  return "    \"" + pattern + "\"*) options=\"" + optionWords(command) + "\" ;;\n";
}

}  // namespace

std::string bashCompletion(const std::vector<Command>& all) {
  std::string levels;
  for (const std::string& level : config::enumNames<config::LogLevel>()) levels += (levels.empty() ? "" : " ") + level;
  std::string text =
      "# bash completion for hcasim\n"
      "_hcasim() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" options=\"\"\n"
      "  COMPREPLY=()\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
      "    COMPREPLY=($(compgen -W \"" +
      wordsAt(all, 0, "") +
      " --help --version\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  if [[ $COMP_CWORD -eq 2 ]]; then\n"
      "    case \"$before\" in\n";
  std::string groups;
  for (const Command& command : all) {
    if (command.path.size() < 2 || groups.find(command.path[0] + ' ') != std::string::npos) continue;
    groups += command.path[0] + ' ';
    text += "      " + command.path[0] + ") COMPREPLY=($(compgen -W \"" + wordsAt(all, 1, command.path[0]) +
            "\" -- \"$word\")); return ;;\n";
  }
  text +=
      "    esac\n"
      "  fi\n"
      "  if [[ $before == --log ]]; then\n"
      "    COMPREPLY=($(compgen -W \"" +
      levels +
      "\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${COMP_WORDS[*]:1}\" in\n";
  for (const Command& command : all) text += caseOf(command);
  return text +
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _hcasim hcasim\n";
}

}  // namespace hca::options
