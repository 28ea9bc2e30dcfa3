// What a verbs command was about, for a log.
#pragma once

#include <cstdint>
#include <string>

namespace hca::cosim {

/// A command's name and its decoded fields, as they become known. Addresses are never among them: a region's name is.
struct CommandNotes {
  const char* name = "unknown";
  std::string fields;   ///< " cqe=255 vector=0"
  std::string answers;  ///< " handle=1 cqn=0x40"
};

}  // namespace hca::cosim
