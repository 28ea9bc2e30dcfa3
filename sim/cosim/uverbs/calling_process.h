// A process that gives commands to a verbs device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "models/host/bus_address_space.h"
#include "sim/cosim/event_file.h"
#include "sim/cosim/program_memory.h"
#include "sim/cosim/uverbs/pinned_range.h"
#include "sim/cosim/uverbs/region_names.h"

namespace hca::cosim {

/// Every address and descriptor of a command is one of the process that gave it, whoever opened the device. It stays as
/// long as anything names its memory, although the process itself may be gone.
class CallingProcess final : public std::enable_shared_from_this<CallingProcess> {
 public:
  CallingProcess(int number, std::unique_ptr<ProgramMemory> memory, host::BusAddressSpace& space);
  ~CallingProcess();
  CallingProcess(const CallingProcess&) = delete;
  CallingProcess& operator=(const CallingProcess&) = delete;

  /// The kernel's number.
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] ProgramMemory& memory() { return *memory_; }
  [[nodiscard]] const RegionNames& regions() const { return regions_; }

  /// nullptr if the process has no such memory.
  [[nodiscard]] Pinned pin(std::uint64_t address, std::uint64_t length);

  /// Opens a pipe of the process; nullptr if that fails.
  std::shared_ptr<EventFile> openEventFile(int writeEnd, int readEnd, std::size_t recordSize);
  /// By the number of its read end; nullptr if there is none.
  [[nodiscard]] std::shared_ptr<EventFile> eventFile(int readEnd) const;
  using EventFiles = std::map<int, std::shared_ptr<EventFile>>;
  [[nodiscard]] const EventFiles& eventFiles() const { return eventFiles_; }
  /// Those that it has from its parent.
  void setEventFiles(const EventFiles& files) { eventFiles_ = files; }

  /// It is gone, or runs another program: nobody reaches its memory any more.
  void end();

 private:
  int number_;
  std::unique_ptr<ProgramMemory> memory_;
  host::BusAddressSpace& space_;
  OwnerId owner_;  // of its memory, in `space_`
  RegionNames regions_;
  EventFiles eventFiles_;
};

}  // namespace hca::cosim
