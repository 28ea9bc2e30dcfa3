#include "sim/vfio/event_descriptor.h"

#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace hca::vfio {

EventDescriptor::~EventDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool EventDescriptor::isEventFile() const {
  char target[64] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor_);
  const ssize_t length = ::readlink(link.c_str(), target, sizeof target - 1);
  return length > 0 && std::string(target) == "anon_inode:[eventfd]";
}

void EventDescriptor::signal() const {
  if (descriptor_ < 0) return;
  pollfd room{descriptor_, POLLOUT, 0};
  if (::poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) return;
  const std::uint64_t one = 1;
  (void)!::write(descriptor_, &one, sizeof one);
}

}  // namespace hca::vfio
