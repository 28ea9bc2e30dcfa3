// A verbs device that one or more processes have open.
#pragma once

#include <vector>

#include "sim/cosim/uverbs/uverbs_file.h"

namespace hca::cosim {

/// An open file as the kernel has it: a child of fork(2) has the same one as its parent, and whatever belongs to it
/// goes when the last of them has closed it.
class OpenDevice final : private EventListener {
 public:
  explicit OpenDevice(const UverbsFile::Surroundings& surroundings);

  [[nodiscard]] UverbsFile& file() { return file_; }
  /// `holder` has it open, and is told of its events.
  void join(EventListener& holder) { holders_.push_back(&holder); }
  void leave(EventListener& holder);
  [[nodiscard]] bool isHeld() const { return !holders_.empty(); }

 private:
  void onEventReported(const std::string& text) override;
  void onEventReadable(host::Core* core) override;

  std::vector<EventListener*> holders_;  // first who opened it
  UverbsFile file_;
};

}  // namespace hca::cosim
