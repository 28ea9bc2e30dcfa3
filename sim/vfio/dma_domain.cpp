#include "sim/vfio/dma_domain.h"

#include <algorithm>
#include <cerrno>

namespace hca::vfio {
namespace {

constexpr std::uint64_t kEnd = std::uint64_t{1} << 48;
constexpr std::uint64_t kMessages = 0xFEE0'0000, kMessagesEnd = 0xFEF0'0000;

bool arePages(std::uint64_t bus, std::uint64_t address, std::uint64_t length) {
  return length != 0 && ((bus | address | length) & (host::BusAddressSpace::kPageSize - 1)) == 0;
}

bool isOnBus(std::uint64_t bus, std::uint64_t length) {
  if (bus >= kEnd || length > kEnd - bus) return false;
  return bus >= kMessagesEnd || bus + length <= kMessages;
}

}  // namespace

DmaDomain::DmaDomain(host::MemoryBackend& memory)
    : both_(memory, {true, true}),
      reads_(memory, {true, false}),
      writes_(memory, {false, true}),
      mayDoBoth_(space_.addOwner("user", both_)),
      mayRead_(space_.addOwner("user, read-only", reads_)),
      mayWrite_(space_.addOwner("user, write-only", writes_)) {}

OwnerId DmaDomain::ownerOf(Access access) const {
  if (access.reads && access.writes) return mayDoBoth_;
  return access.reads ? mayRead_ : mayWrite_;
}

bool DmaDomain::overlaps(std::uint64_t bus, std::uint64_t length) const {
  const auto behind = mappings_.lower_bound(bus + length);
  if (behind == mappings_.begin()) return false;
  const auto last = std::prev(behind);
  return last->first + last->second > bus;
}

int DmaDomain::map(std::uint64_t bus, std::uint64_t address, std::uint64_t length, Access access) {
  if (!access.reads && !access.writes) return EINVAL;
  if (!arePages(bus, address, length) || !isOnBus(bus, length)) return EINVAL;
  if (overlaps(bus, length)) return EEXIST;
  // A longer range is several of the space's mappings, on consecutive pages.
  for (std::uint64_t done = 0; done < length;) {
    const std::uint64_t part = std::min(length - done, host::BusAddressSpace::kLongestMapping);
    if (!space_.mapAt(BusAddress(bus + done), ownerOf(access), address + done, part)) {
      if (done != 0) space_.unmap(BusAddress(bus), done);
      return EINVAL;
    }
    done += part;
  }
  mappings_[bus] = length;
  return 0;
}

int DmaDomain::unmap(std::uint64_t bus, std::uint64_t length, std::uint64_t& unmapped) {
  unmapped = 0;
  if (!arePages(bus, 0, length) || bus + length < bus) return EINVAL;
  const auto first = mappings_.lower_bound(bus);
  const auto behind = mappings_.lower_bound(bus + length);
  if (first != mappings_.begin()) {
    const auto before = std::prev(first);
    if (before->first + before->second > bus) return EINVAL;
  }
  if (behind != first) {
    const auto last = std::prev(behind);
    if (last->first + last->second > bus + length) return EINVAL;
  }
  for (auto at = first; at != behind; ++at) {
    space_.unmap(BusAddress(at->first), at->second);
    unmapped += at->second;
  }
  mappings_.erase(first, behind);
  return 0;
}

std::uint64_t DmaDomain::unmapAll() {
  std::uint64_t unmapped = 0;
  for (const auto& [bus, length] : mappings_) {
    space_.unmap(BusAddress(bus), length);
    unmapped += length;
  }
  mappings_.clear();
  return unmapped;
}

}  // namespace hca::vfio
