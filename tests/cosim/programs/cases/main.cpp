// Cases from the field, as programs: `cases NAME` runs one. Exit 0 or 1.
#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {

std::map<std::string, Case>& cases() {
  static std::map<std::string, Case> all;
  return all;
}

}  // namespace kit

int main(int argc, char** argv) {
  const auto at = kit::cases().find(argc > 1 ? argv[1] : "");
  if (at == kit::cases().end()) {
    for (const auto& [name, run] : kit::cases()) std::printf("%s\n", name.c_str());
    return 2;
  }
  at->second();
  std::printf("%s: fine\n", argv[1]);
  return 0;
}
