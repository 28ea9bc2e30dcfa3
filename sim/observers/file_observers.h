// The observers that write files.
#pragma once

#include <memory>

#include "models/observe/probes.h"
#include "sim/observers/command_log.h"
#include "sim/observers/entry_log.h"
#include "sim/observers/observer_files.h"

namespace hca::observers {

/// Attaches an observer for each file that is wanted, and none else: who wants no file pays nothing.
class FileObservers {
 public:
  /// `probes` must outlive the run. Throws std::runtime_error, which names option and file, if one can't be written.
  FileObservers(observe::Probes& probes, const ObserverFiles& files);

 private:
  std::unique_ptr<CommandLog> commands_;  // null if nobody wants it, as the next
  std::unique_ptr<EntryLog> entries_;
};

}  // namespace hca::observers
