// Whether a program can be co-simulated.
#pragma once

#include <string>
#include <vector>

namespace hca::cosim {

/// Why the program of a command line can't be entered by the preload library, with what to do; empty if it can, if it
/// is a script, or if there is no such program (starting it says so). Programs that it starts itself are not looked at.
///
/// The library is for x86-64 (System V ABI, AMD64 supplement: EM_X86_64, ELFCLASS64), comes in through the dynamic
/// loader (PT_INTERP), and the loader ignores it in programs with more rights than their user (ld.so(8), secure
/// execution).
[[nodiscard]] std::string whyNotCosimulated(const std::vector<std::string>& words);

}  // namespace hca::cosim
