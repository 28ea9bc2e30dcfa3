#include "sim/vm/kernel_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace hca::vm {
namespace {

template <class Number>
bool takeNumber(std::string_view& text, char end, Number& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(stop - text.data());
  if (error != std::errc() || length >= text.size() || text[length] != end) return false;
  text.remove_prefix(length + 1);
  return true;
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The kernel writes what isn't printable, line ends too, as \xNN.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool isEscape = text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x' && hexDigit(text[i + 2]) >= 0 &&
                          hexDigit(text[i + 3]) >= 0;
    plain += isEscape ? static_cast<char>(hexDigit(text[i + 2]) * 16 + hexDigit(text[i + 3])) : text[i];
    if (isEscape) i += 3;
  }
  return plain;
}

constexpr int kLevelBits = 3;  // of a priority; the others are who wrote it, 0 the kernel

std::optional<KernelLine> parseRecord(std::string_view record) {
  unsigned priority = 0;
  std::uint64_t sequence = 0, time = 0;
  if (!takeNumber(record, ',', priority) || !takeNumber(record, ',', sequence) || !takeNumber(record, ',', time)) {
    return std::nullopt;
  }
  const auto at = record.find(';');
  if (at == std::string_view::npos) return std::nullopt;
  KernelLine line;
  line.level = static_cast<KernelLevel>(priority & ((1U << kLevelBits) - 1));
  line.isKernels = priority >> kLevelBits == 0;
  line.guestTime = std::chrono::microseconds(time);
  line.text = unescaped(record.substr(at + 1));
  return line;
}

}  // namespace

const char* name(KernelLevel level) {
  static constexpr std::array kNames{"emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"};
  return kNames[static_cast<std::size_t>(level)];
}

bool isKernelFault(std::string_view text) {
  constexpr std::array<std::string_view, 6> kSigns{
      "Kernel panic", "Oops: ", "BUG: ", "kernel BUG at", "soft lockup", "general protection fault"};
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [text](std::string_view sign) { return text.find(sign) != std::string_view::npos; });
}

void KernelLog::take(std::string_view bytes, Time simulated, std::chrono::milliseconds wall) {
  rest_ += bytes;
  std::size_t begin = 0;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
    takeRecord(std::string_view(rest_).substr(begin, end - begin), simulated, wall);
    begin = end + 1;
  }
  rest_.erase(0, begin);
}

void KernelLog::takeRecord(std::string_view record, Time simulated, std::chrono::milliseconds wall) {
  auto parsed = parseRecord(record);
  if (!parsed) return;  // " SUBSYSTEM=pci": which device the line before was about
  parsed->simulated = simulated;
  parsed->wall = wall;
  const std::string text = std::move(parsed->text);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    parsed->text = text.substr(begin, end - begin);
    begin = end + 1;
    if (!parsed->text.empty() || begin > text.size()) add(*parsed);
  }
}

void KernelLog::add(KernelLine line) {
  if (!line.isKernels && line.text == kDriverLoaded) isDrivers_ = true;
  line.isDrivers = isDrivers_;
  if (!line.isKernels && line.text == kDriverUnloaded) isDrivers_ = false;
  lines_.push_back(std::move(line));
  for (const Listener& listener : listeners_) listener(lines_.back());
}

std::vector<KernelLine> KernelLog::warnings() const {
  std::vector<KernelLine> found;
  std::copy_if(lines_.begin(), lines_.end(), std::back_inserter(found),
               [](const KernelLine& line) { return line.isWarning(); });
  return found;
}

}  // namespace hca::vm
