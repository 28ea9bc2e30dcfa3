// Whether a program waits for others to connect.
#pragma once

#include <sys/types.h>

namespace hca::cosim {

/// Whether `process` or a child of it has a TCP socket that listens.
[[nodiscard]] bool isListening(pid_t process);

}  // namespace hca::cosim
