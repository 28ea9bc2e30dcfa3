#include "models/adapter/command/vendor_gateway.h"

namespace hca::adapter {
namespace {

constexpr std::uint32_t kControl = 0x04, kCounter = 0x08, kLock = 0x0C, kAddress = 0x10, kData = 0x14;
constexpr std::uint32_t kSpaceMask = 0xFFFF;    // of the control register
constexpr std::uint32_t kSupported = 1U << 29;  // its status: the chosen space is there
constexpr std::uint32_t kSemaphores = 0xA;
constexpr std::uint32_t kFlag = 1U << 31;  // of the address: a write when written, a read that is done when read
constexpr std::uint32_t kAddressMask = (1U << 30) - 1;
constexpr std::size_t kMostSemaphores = 64;

}  // namespace

std::uint32_t VendorGateway::readVendorRegister(std::uint32_t offset) {
  switch (offset) {
    case kControl:
      return space_ | (space_ == kSemaphores ? kSupported : 0);
    case kCounter:
      if (++counter_ == 0) ++counter_;  // a ticket is never 0
      return counter_;
    case kLock:
      return lock_;
    case kAddress:
      return address_;
    case kData:
      return data_;
    default:
      return 0;
  }
}

void VendorGateway::writeVendorRegister(std::uint32_t offset, std::uint32_t value) {
  if (offset == kControl) space_ = value & kSpaceMask;
  if (offset == kLock && (lock_ == 0 || value == 0)) lock_ = value;
  if (offset == kData) data_ = value;
  if (offset == kAddress) access(value);
}

void VendorGateway::access(std::uint32_t address) {
  const std::uint32_t at = address & kAddressMask;
  const bool isWrite = (address & kFlag) != 0;
  address_ = at | (isWrite ? 0 : kFlag);
  if (space_ != kSemaphores) return;
  const auto found = semaphores_.find(at);
  if (!isWrite) {
    data_ = found == semaphores_.end() ? 0 : found->second;
  } else if (data_ == 0) {
    semaphores_.erase(at);
  } else if (found == semaphores_.end() && semaphores_.size() < kMostSemaphores) {
    semaphores_.emplace(at, data_);  // one that is taken stays its taker's
  }
}

}  // namespace hca::adapter
