#include "sim/observers/file_observers.h"

namespace hca::observers {

FileObservers::FileObservers(observe::Probes& probes, const ObserverFiles& files) {
  if (!files.commandLog.empty()) commands_ = std::make_unique<CommandLog>(probes, files.commandLog);
  if (!files.entryLog.empty()) entries_ = std::make_unique<EntryLog>(probes, files.entryLog);
}

}  // namespace hca::observers
