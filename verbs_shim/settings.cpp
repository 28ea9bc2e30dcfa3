#include "verbs_shim/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs_shim/channel/environment.h"

namespace hca::shim {
namespace {

// The program may change its environment, so the texts are copied.
const char* copyOf(const char* variable) {
  const char* value = getenv(variable);
  return value == nullptr || *value == '\0' ? nullptr : strdup(value);
}

Settings read() {
  Settings settings;
  settings.runFolder = copyOf(channel::kRunVariable);
  settings.inprocLibrary = copyOf(channel::kInprocVariable);
  settings.socket = copyOf(channel::kSocketVariable);
  const char* host = getenv(channel::kHostVariable);
  if (host != nullptr) settings.host = static_cast<uint32_t>(strtoul(host, nullptr, 10));
  const char* tsc = getenv(channel::kTscVariable);
  if (tsc != nullptr) settings.tscKilohertz = strtoull(tsc, nullptr, 10);
  return settings;
}

}  // namespace

const Settings& settings() {
  static bool isRead = false;
  static Settings settings;
  // A sanitizer opens files before the C library knows the environment.
  if (!isRead && environ != nullptr) {
    isRead = true;  // before the reading, which may come back here
    settings = read();
  }
  return settings;
}

void complain(const char* format, ...) {
  constexpr int kRoom = 512;
  char line[kRoom] = "hcasim: ";
  const int used = static_cast<int>(strlen(line));
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line + used, static_cast<size_t>(kRoom - used - 1), format, arguments) + used;
  va_end(arguments);
  if (length > kRoom - 2) length = kRoom - 2;
  line[length] = '\n';
  (void)!::write(STDERR_FILENO, line, static_cast<size_t>(length) + 1);
}

}  // namespace hca::shim
