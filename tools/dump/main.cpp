// The program behind tools/cqe_dump.
#include <iostream>
#include <string>
#include <vector>

#include "tools/dump/dump_command.h"

int main(int argc, char** argv) {
  return hca::dump::runDump(std::vector<std::string>(argv + 1, argv + argc), std::cin, std::cout, std::cerr);
}
