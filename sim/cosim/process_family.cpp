#include "sim/cosim/process_family.h"

#include <fstream>
#include <string>

namespace hca::cosim {

void forEachChild(pid_t process, const std::function<void(pid_t child)>& visit) {
  const std::string number = std::to_string(process);
  std::ifstream children("/proc/" + number + "/task/" + number + "/children");
  for (pid_t child = 0; children >> child;) visit(child);
}

bool isFamilyAmong(pid_t process, const std::set<int>& known) {
  bool hasChildren = false;
  bool areKnown = true;
  forEachChild(process, [&](pid_t child) {
    hasChildren = true;
    areKnown = areKnown && isFamilyAmong(child, known);
  });
  return areKnown && (hasChildren || known.count(process) != 0);
}

}  // namespace hca::cosim
