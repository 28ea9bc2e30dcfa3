#include "sim/vfio/event_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace hca::vfio {
namespace {

std::uint64_t take(int descriptor) {
  std::uint64_t count = 0;
  return ::read(descriptor, &count, sizeof count) == sizeof count ? count : 0;
}

TEST(EventDescriptor, CountsItsSignals) {
  const int own = ::eventfd(0, EFD_NONBLOCK);
  const EventDescriptor event(::dup(own));
  EXPECT_TRUE(event.isThere() && event.isEventFile());
  event.signal();
  event.signal();
  EXPECT_EQ(take(own), 2U);
  ::close(own);
}

TEST(EventDescriptor, NeverBlocks) {
  const int own = ::eventfd(0, 0);
  const EventDescriptor event(::dup(own));
  const std::uint64_t most = ~std::uint64_t{0} - 1;
  ASSERT_EQ(::write(own, &most, sizeof most), static_cast<ssize_t>(sizeof most));
  event.signal();
  EXPECT_EQ(take(own), most);
  ::close(own);
}

TEST(EventDescriptor, NothingElseIsAnEventFile) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const EventDescriptor read(ends[0]), write(ends[1]), none;
  EXPECT_FALSE(read.isEventFile());
  EXPECT_FALSE(write.isEventFile());
  EXPECT_FALSE(none.isThere());
  none.signal();
}

}  // namespace
}  // namespace hca::vfio
