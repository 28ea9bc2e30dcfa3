#include "sim/cosim/event_file.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace hca::cosim {

std::shared_ptr<EventFile> EventFile::open(int processId, int writeEnd, int readEnd, std::size_t recordSize) {
  const std::string folder = "/proc/" + std::to_string(processId) + "/fd/";
  // Open file descriptions of our own: the program's O_NONBLOCK is not ours.
  const int writer = ::open((folder + std::to_string(writeEnd)).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (writer < 0) return nullptr;
  const int reader = ::open((folder + std::to_string(readEnd)).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (reader < 0) {
    ::close(writer);
    return nullptr;
  }
  // Whatever else a program offers is not written into.
  struct stat written {
  }, read{};
  const bool isPipe = fstat(writer, &written) == 0 && fstat(reader, &read) == 0 && S_ISFIFO(written.st_mode) &&
                      written.st_dev == read.st_dev && written.st_ino == read.st_ino;
  if (!isPipe) {
    ::close(writer);
    ::close(reader);
    return nullptr;
  }
  return std::shared_ptr<EventFile>(new EventFile(writer, reader, recordSize));
}

EventFile::EventFile(int writeEnd, int readEnd, std::size_t recordSize)
    : writeEnd_(writeEnd), readEnd_(readEnd), recordSize_(recordSize) {}

EventFile::~EventFile() {
  ::close(writeEnd_);
  ::close(readEnd_);
}

void EventFile::push(ByteView record) {
  waiting_.emplace_back(record.begin(), record.end());
  flush();
}

void EventFile::flush() {
  while (!waiting_.empty()) {
    const std::vector<std::uint8_t>& record = waiting_.front();
    if (::write(writeEnd_, record.data(), record.size()) != static_cast<ssize_t>(record.size())) return;
    waiting_.pop_front();
  }
}

std::size_t EventFile::purge(const std::function<bool(ByteView record)>& isGone) {
  std::deque<std::vector<std::uint8_t>> all;
  std::vector<std::uint8_t> record(recordSize_);
  while (::read(readEnd_, record.data(), record.size()) == static_cast<ssize_t>(record.size())) all.push_back(record);
  all.insert(all.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
  std::size_t gone = 0;
  for (std::vector<std::uint8_t>& each : all) {
    if (isGone(each)) {
      ++gone;
    } else {
      waiting_.push_back(std::move(each));
    }
  }
  flush();
  return gone;
}

bool EventFile::isReadable() const {
  int bytes = 0;
  return ioctl(readEnd_, FIONREAD, &bytes) == 0 && bytes > 0;
}

}  // namespace hca::cosim
