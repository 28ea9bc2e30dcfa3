// What a guest's kernel says.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/units.h"

namespace hca::vm {

/// Levels of Linux's log: include/linux/kern_levels.h.
enum class KernelLevel : int {
  kEmergency = 0,
  kAlert,
  kCritical,
  kError,
  kWarning,
  kNotice,
  kInfo,
  kDebug,
};
/// "error", "warning", ...
[[nodiscard]] const char* name(KernelLevel level);

/// One line of it.
struct KernelLine {
  KernelLevel level = KernelLevel::kInfo;
  bool isKernels = true;                  ///< not written by a program of the guest
  bool isDrivers = false;                 ///< since the adapter's driver was loaded, until it was unloaded
  std::chrono::microseconds guestTime{};  ///< the guest's clock, since its start
  Time simulated;                         ///< when hcasim read it
  std::chrono::milliseconds wall{};       ///< likewise, since the run began
  std::string text;                       ///< without level and times

  /// A line of the kernel's own of level warning or worse.
  [[nodiscard]] bool isWarning() const { return isKernels && level <= KernelLevel::kWarning; }
};

/// Whether a line says that the kernel can't go on, or that it met a fault of its own: a panic, an oops, a BUG.
[[nodiscard]] bool isKernelFault(std::string_view text);

/// Reads what a guest sends of its /dev/kmsg, and keeps it.
/// Records are "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT": Documentation/ABI/testing/dev-kmsg of Linux.
class KernelLog {
 public:
  /// Told each line as it comes.
  using Listener = std::function<void(const KernelLine& line)>;

  void addListener(Listener listener) { listeners_.push_back(std::move(listener)); }
  /// Bytes as they come, which may end within a line.
  void take(std::string_view bytes, Time simulated, std::chrono::milliseconds wall);

  [[nodiscard]] const std::vector<KernelLine>& lines() const { return lines_; }
  /// Those of level warning or worse.
  [[nodiscard]] std::vector<KernelLine> warnings() const;

 private:
  void takeRecord(std::string_view record, Time simulated, std::chrono::milliseconds wall);
  void add(KernelLine line);

  std::vector<Listener> listeners_;
  std::vector<KernelLine> lines_;
  std::string rest_;        // of a line under way
  bool isDrivers_ = false;  // see KernelLine
};

/// What the guest's first program writes into the log around the time in which the driver is there.
inline constexpr std::string_view kDriverLoaded = "hcasim: the adapter's driver is loaded";
inline constexpr std::string_view kDriverUnloaded = "hcasim: the adapter's driver is gone";

}  // namespace hca::vm
