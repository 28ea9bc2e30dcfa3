#include "sim/cosim/output_prefixer.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <ostream>
#include <stdexcept>

namespace hca::cosim {

OutputPrefixer::OutputPrefixer(std::ostream& out) : out_(out) {}

OutputPrefixer::~OutputPrefixer() {
  if (thread_.joinable()) thread_.join();
  for (const Source& source : sources_) {
    if (source.descriptor >= 0) ::close(source.descriptor);
  }
}

int OutputPrefixer::add(const std::string& prefix) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  sources_.push_back({ends[0], prefix, {}});
  return ends[1];
}

void OutputPrefixer::start() {
  thread_ = std::thread([this] { run(); });
}

void OutputPrefixer::run() {
  std::size_t open = sources_.size();
  std::vector<pollfd> waits(sources_.size());
  while (open > 0) {
    for (std::size_t i = 0; i < sources_.size(); ++i) waits[i] = {sources_[i].descriptor, POLLIN, 0};
    ::poll(waits.data(), waits.size(), -1);
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (sources_[i].descriptor < 0 || waits[i].revents == 0) continue;
      char bytes[4096];
      const ssize_t length = ::read(sources_[i].descriptor, bytes, sizeof bytes);
      if (length > 0) {
        pass(sources_[i], bytes, static_cast<std::size_t>(length));
        continue;
      }
      if (!sources_[i].rest.empty()) pass(sources_[i], "\n", 1);
      ::close(sources_[i].descriptor);
      sources_[i].descriptor = -1;
      --open;
    }
  }
}

void OutputPrefixer::pass(Source& source, const char* bytes, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    source.rest += bytes[i];
    if (bytes[i] != '\n') continue;
    out_ << source.prefix << source.rest;
    source.rest.clear();
  }
  out_.flush();
}

}  // namespace hca::cosim
