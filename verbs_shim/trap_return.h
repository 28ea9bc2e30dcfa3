// The way out of a handler of a fault.
#pragma once

#include <ucontext.h>

namespace hca::shim {

/// Goes on where `context` says, without the system call by which handlers return: that takes a fifth of a register
/// access. The handler must have been installed without a mask, so that there is none to restore. Returns, and nothing
/// happened, where this is not possible: under valgrind, say, or with a shadow stack.
void returnFromTrap(const ucontext_t& context);

}  // namespace hca::shim
