#include "sim/observers/line_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "sim/logging/logging.h"

namespace hca::observers {

LineFile::LineFile(const std::string& option, const std::string& path)
    : name_("--" + option + ": '" + path + "'"),
      file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw std::runtime_error(name_ + " can't be written: " + std::strerror(errno));
}

LineFile::~LineFile() { ::close(file_); }

void LineFile::write(std::string line) {
  line += '\n';
  if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) complain();
}

void LineFile::complain() {
  if (!isGood_) return;
  isGood_ = false;
  logging::logger("observers")->error("{} could not be written to its end: {}", name_, std::strerror(errno));
}

}  // namespace hca::observers
