// Every command of the adapters' command interfaces, line by line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "models/adapter/command/command_record.h"
#include "models/observe/probes.h"
#include "sim/observers/line_file.h"

namespace hca::observers {

/// Listens to the command probe and writes a line for each command that is answered and each doorbell that led to none
/// (docs/command-log.md tells the form): text, or an object of JSON if the file's name ends in .jsonl.
class CommandLog {
 public:
  /// `probes` must outlive the run. Throws std::runtime_error if the file can't be written.
  CommandLog(observe::Probes& probes, const std::string& path);
  CommandLog(const CommandLog&) = delete;
  CommandLog& operator=(const CommandLog&) = delete;

 private:
  LineFile file_;
  bool writesJson_;
};

/// What programs' addresses are called.
using NameAddress = std::function<std::string(std::uint64_t address)>;

/// "CREATE_CQ cqc.log_cq_size=8 ... -> OK cqn=0x81 (3 us)". With `nameAddress` for a log that is the same in every run:
/// programs' addresses have its names; bus addresses are left out, and how many pages memory lies on.
[[nodiscard]] std::string commandText(const adapter::CommandRecord& record, const NameAddress& nameAddress = {});
/// A whole line, with time and place.
[[nodiscard]] std::string commandLine(const adapter::CommandRecord& record);
/// One object of JSON in one line.
[[nodiscard]] std::string commandJson(const adapter::CommandRecord& record);

}  // namespace hca::observers
