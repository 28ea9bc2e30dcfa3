#include "sim/cosim/process_family.h"

#include <fstream>
#include <sstream>
#include <string>

namespace hca::cosim {

void forEachChild(pid_t process, const std::function<void(pid_t child)>& visit) {
  const std::string number = std::to_string(process);
  std::ifstream children("/proc/" + number + "/task/" + number + "/children");
  for (pid_t child = 0; children >> child;) visit(child);
}

// proc(5), /proc/pid/stat: the fourth field; the second one, a name in parentheses, may hold anything.
pid_t parentOf(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream rest(line.substr(end + 1));
  std::string state;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
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
