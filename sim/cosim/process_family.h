// Processes and their children.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>

namespace hca::cosim {

/// Calls `visit` with each child of `process` that its main thread made.
void forEachChild(pid_t process, const std::function<void(pid_t child)>& visit);

/// Whose child `process` is; 0 if there is no such process.
[[nodiscard]] pid_t parentOf(pid_t process);

/// Whether `process` is one of `known`, or waits for children that are, as a shell does; the same for all of them.
[[nodiscard]] bool isFamilyAmong(pid_t process, const std::set<int>& known);

}  // namespace hca::cosim
