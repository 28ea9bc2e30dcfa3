#include <ostream>
#include <string>

#include "sim/drills/drill_kinds.h"
#include "sim/options/command.h"
#include "sim/options/cosim_words.h"

namespace hca::options {
namespace {

int refuseDrill(const Environment& environment, const std::string& what) {
  environment.err << "hcasim: " << what << '\n';
  return kCosimBadInput;
}

int listKinds(const Environment& environment) {
  for (const sim::DrillKindInfo& info : sim::drillKinds()) {
    environment.out << info.name;
    for (const char* key : info.keys) environment.out << ' ' << key << "=...";
    environment.out << "\n  adapter: " << info.hardware << "\n  driver:  " << info.driver << '\n';
  }
  environment.out << "all: host=... (or -H N) adapter=... at=...\n";
  return kDone;
}

}  // namespace

int drillCommand(const Arguments& arguments, const Environment& environment) {
  if (arguments.has("list")) return listKinds(environment);
  const auto& words = arguments.operands;
  if (words.empty()) return refuseDrill(environment, "a kind of drill is missing: hcasim drill --list tells all");
  DrillRequest request{arguments.text("run"),
                       arguments.has("name") ? arguments.text("name") : "default",
                       {{"kind", words[0]}},
                       environment.out,
                       environment.err};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto at = words[i].find('=');
    if (words[i] == "-H") {
      const auto host = i + 1 < words.size() ? parseHost(words[i + 1]) : std::nullopt;
      if (!host) return refuseDrill(environment, "-H needs the number of a host");
      request.keys.emplace_back("host", std::to_string(*host));
      ++i;
    } else if (at == std::string::npos) {
      return refuseDrill(environment, '\'' + words[i] + "' is no KEY=VALUE");
    } else {
      request.keys.emplace_back(words[i].substr(0, at), words[i].substr(at + 1));
    }
  }
  return environment.drill(request);
}

}  // namespace hca::options
