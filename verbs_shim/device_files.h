// The program's file descriptors that belong to the simulation.
#pragma once

#include <stdint.h>

namespace hca::shim {

/// What a descriptor is.
enum class FileKind : uint8_t { kOther = 0, kDevice, kEvents, kTimer, kWallTimer };

/// The descriptor `fd` was opened for device `device` (-1: for no device of ours). Opens the device at the simulation
/// and returns `fd`, or closes it and returns -1 with errno set.
int deviceOpened(int device, int fd);

[[nodiscard]] FileKind kindOf(int fd);
/// The simulation's number of an open device.
[[nodiscard]] uint32_t fileOf(int fd);

/// `fd` is the read end of an event pipe.
void eventsOpened(int fd);
/// `fd` is a timer of simulated time, on the wall clock or on the uptime.
void timerOpened(int fd, bool isWall);
[[nodiscard]] bool isTimer(int fd);
/// Another descriptor of the same file.
void duplicated(int from, int to);
/// The descriptor is about to be closed.
void closing(int fd);
/// Whether a device is open.
[[nodiscard]] bool hasDevices();
/// In the child of a fork that can't reach the simulation: nothing is known, devices excepted if `keepsDevices`.
void forgetFiles(bool keepsDevices);

}  // namespace hca::shim
