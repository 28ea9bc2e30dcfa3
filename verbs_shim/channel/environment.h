// The variables by which `hcasim cosim` tells its programs where the simulation is. Children inherit them.
#pragma once

namespace hca::channel {

constexpr const char* kHostVariable = "HCASIM_HOST";           ///< number of the host the program runs on
constexpr const char* kRunVariable = "HCASIM_RUN";             ///< folder of the run: sysfs trees, lock, socket
constexpr const char* kInprocVariable = "HCASIM_INPROC";       ///< library of the in-process simulation
constexpr const char* kSocketVariable = "HCASIM_SOCKET";       ///< socket of the shared simulation
constexpr const char* kTscVariable = "HCASIM_TSC_KHZ";         ///< virtual time: rate of the time stamp counter
constexpr const char* kResultVariable = "HCASIM_RESULT";       ///< of an in-process run: file for the result, or empty
constexpr const char* kVerbsLogVariable = "HCASIM_VERBS_LOG";  ///< likewise for the log of verbs
constexpr const char* kSyncVariable = "HCASIM_SYNC";           ///< likewise: how simulated time follows the program
constexpr const char* kConfigFile = "config.ini";              ///< in the folder of the run
constexpr const char* kLockFile = "device.lock";               ///< held by the one process of an in-process run

}  // namespace hca::channel
