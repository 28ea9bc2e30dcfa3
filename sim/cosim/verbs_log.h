// What programs ask of their adapters, and what the adapters are told, line by line.
#pragma once

#include <cstdint>
#include <string>

#include "models/adapter/command/command_record.h"
#include "models/base/byte_view.h"
#include "models/base/units.h"
#include "sim/cosim/uverbs/command_notes.h"
#include "sim/observers/command_log.h"
#include "sim/observers/line_file.h"

namespace hca::cosim {

/// The file of `hcasim cosim --log-verbs` (docs/cosim.md tells its form). Lines come in the order in which things
/// happen and hold nothing that differs between two runs of the same program: threads and programs are counted,
/// addresses are offsets in numbered regions.
class VerbsLog {
 public:
  /// Throws std::runtime_error if the file can't be written.
  explicit VerbsLog(const std::string& path);
  VerbsLog(const VerbsLog&) = delete;
  VerbsLog& operator=(const VerbsLog&) = delete;

  /// Whose doing it is. All are counted from 0.
  struct Place {
    std::uint32_t host = 0;
    std::uint32_t program = 0;
    std::uint32_t thread = 0;
  };
  /// Where an address is, or empty.
  using NameRegion = observers::NameAddress;

  /// A verb that is answered. `began`: when the program called.
  void verb(Time now, const Place& place, Time began, const CommandNotes& notes, int error);
  /// Something short about a program, such as that it opens a device.
  void note(Time now, const Place& place, const std::string& text);
  /// `bytes` stored at `offset` of a page of registers.
  void registerWrite(Time now, const Place& place, std::uint64_t offset, ByteView bytes);
  /// `access`: "LOAD" or "STORE"; `offset` in BAR0.
  void deviceMemory(Time now, const Place& place, const char* access, std::uint64_t offset, std::size_t length);
  void registerRead(Time now, const Place& place, std::uint64_t offset, std::uint32_t length);
  /// A command of the adapter's command interface.
  void command(const adapter::CommandRecord& record, const NameRegion& nameRegion);
  /// An event that a program is told of.
  void event(Time now, const Place& place, const std::string& text);

 private:
  void line(Time now, const std::string& who, const char* kind, const std::string& text);

  observers::LineFile file_;
};

}  // namespace hca::cosim
