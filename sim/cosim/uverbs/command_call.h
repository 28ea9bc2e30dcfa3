// One command of a program to the verbs device, until it is answered.
#pragma once

#include <rdma/ib_user_ioctl_cmds.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cosim/uverbs/calling_process.h"
#include "sim/cosim/uverbs/command_notes.h"
#include "sim/cosim/uverbs/ioctl_request.h"

namespace hca::cosim {

/// A pipe that the program offers for an event file, by the numbers of its ends there.
struct OfferedPipe {
  int writeEnd = -1;
  int readEnd = -1;
};

class CommandCall {
 public:
  using Done = std::function<void(int error)>;
  /// `error` of Done that asks the program for a pipe.
  static constexpr int kNeedsPipe = -1;

  CommandCall(std::shared_ptr<CallingProcess> caller, const IoctlRequest& request, std::optional<OfferedPipe> pipe,
              std::shared_ptr<CommandNotes> notes, Done done)
      : process(std::move(caller)),
        ioctl(request),
        offeredPipe(pipe),
        notes_(std::move(notes)),
        core_(ioctl.bytes(UVERBS_ATTR_CORE_IN)),
        driver_(ioctl.bytes(UVERBS_ATTR_UHW_IN)),
        done_(std::move(done)) {}

  /// The command's own input; what the program left out is zero.
  template <class Struct>
  [[nodiscard]] Struct core() const {
    return padded<Struct>(core_);
  }
  /// The input that the device's own library added.
  template <class Struct>
  [[nodiscard]] Struct driver() const {
    return padded<Struct>(driver_);
  }
  [[nodiscard]] std::size_t coreSize() const { return core_.size(); }
  /// All of it: some end in a list.
  [[nodiscard]] ByteView coreBytes() const { return {core_.data(), core_.size()}; }
  [[nodiscard]] std::size_t driverSize() const { return driver_.size(); }
  [[nodiscard]] std::size_t coreRoom() const { return ioctl.room(UVERBS_ATTR_CORE_OUT); }
  [[nodiscard]] std::size_t driverRoom() const { return ioctl.room(UVERBS_ATTR_UHW_OUT); }
  template <class Struct>
  void answerCore(const Struct& answer) {
    faulted_ = !ioctl.answer(UVERBS_ATTR_CORE_OUT, bytesOf(answer)) || faulted_;
  }
  template <class Struct>
  void answerDriver(const Struct& answer) {
    faulted_ = !ioctl.answer(UVERBS_ATTR_UHW_OUT, bytesOf(answer)) || faulted_;
  }
  template <class Value>
  void answerAttribute(unsigned id, const Value& value) {
    faulted_ = !ioctl.answer(id, bytesOf(value)) || faulted_;
  }

  /// For a log: a decoded field of the request, of the answer, or a piece of memory by its number. `name` is as the
  /// kernel's header spells it.
  void note(const char* name, std::uint64_t value) {
    if (notes_ != nullptr) notes_->fields += ' ' + std::string(name) + '=' + std::to_string(value);
  }
  void noteRegion(const char* name, const PinnedRange& range) {
    if (notes_ == nullptr) return;
    notes_->fields += ' ' + std::string(name) + "=r" + std::to_string(range.region()) + " (" +
                      std::to_string(range.length()) + " bytes)";
  }
  void noteAnswer(const char* name, std::uint64_t value) {
    if (notes_ != nullptr) notes_->answers += ' ' + std::string(name) + '=' + std::to_string(value);
  }
  void setName(const char* name) {
    if (notes_ != nullptr) notes_->name = name;
  }

  /// Once. An answer that the program's memory refused is EFAULT.
  void finish(int error) { done_(error == 0 && faulted_ ? EFAULT : error); }

  const std::shared_ptr<CallingProcess> process;  ///< whose addresses and descriptors the request names
  IoctlRequest ioctl;
  std::optional<OfferedPipe> offeredPipe;

 private:
  template <class Struct>
  static Struct padded(const std::vector<std::uint8_t>& bytes) {
    Struct object{};
    if (!bytes.empty()) std::memcpy(&object, bytes.data(), std::min(sizeof object, bytes.size()));
    return object;
  }

  std::shared_ptr<CommandNotes> notes_;  // may be null
  std::vector<std::uint8_t> core_;
  std::vector<std::uint8_t> driver_;
  Done done_;
  bool faulted_ = false;
};

/// Shared by the callbacks of the command's steps.
using Call = std::shared_ptr<CommandCall>;

}  // namespace hca::cosim
