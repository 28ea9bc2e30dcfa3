// Every completion and event queue entry that adapters write, a line each.
#pragma once

#include <string>

#include "models/observe/probes.h"
#include "sim/observers/line_file.h"

namespace hca::observers {

/// Listens to the entry probe. Lines are in the order in which each adapter handed its entries to the bus:
///   `12.345678 us host 0 adapter 0 CQ 0x5 entry 12: requester SEND qp 0x1a counter 3 bytes 64 ... | 00000000...`
/// with all bytes as the adapter wrote them behind the bar, so that other tools (hcasim_dump) decode every field. A
/// block of compressed completions is one line.
class EntryLog {
 public:
  /// `probes` must outlive the run. Throws std::runtime_error if the file can't be written.
  EntryLog(observe::Probes& probes, const std::string& path);
  EntryLog(const EntryLog&) = delete;
  EntryLog& operator=(const EntryLog&) = delete;

 private:
  void onEntry(const observe::EntryEvent& event);

  LineFile file_;
};

}  // namespace hca::observers
