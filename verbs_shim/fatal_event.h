// What a program is told when its simulation is lost.
#pragma once

namespace hca::shim {

/// `writeEnd`: of the pipe of an asynchronous event file. False if there is no room to keep it.
bool keepForFatal(int writeEnd);
/// Puts "device fatal" into every one.
void reportFatal();
/// In the child of a fork.
void forgetFatal();

}  // namespace hca::shim
