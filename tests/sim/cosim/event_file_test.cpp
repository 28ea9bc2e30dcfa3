#include "sim/cosim/event_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace hca::cosim {
namespace {

class EventFileTest : public testing::Test {
 protected:
  EventFileTest() {
    EXPECT_EQ(pipe2(ends_.data(), O_NONBLOCK), 0);
    file_ = EventFile::open(getpid(), ends_[1], ends_[0], sizeof(std::uint64_t));
    close(ends_[1]);
  }
  ~EventFileTest() override { close(ends_[0]); }

  void push(std::uint64_t event) { file_->push(bytesOf(event)); }
  // 0: nothing there.
  std::uint64_t read() {
    std::uint64_t event = 0;
    return ::read(ends_[0], &event, sizeof event) == sizeof event ? event : 0;
  }

  std::array<int, 2> ends_{};
  std::shared_ptr<EventFile> file_;
};

TEST_F(EventFileTest, ProgramReadsEventsInOrder) {
  ASSERT_NE(file_, nullptr);
  EXPECT_FALSE(file_->isReadable());
  push(1);
  push(2);
  EXPECT_TRUE(file_->isReadable());
  EXPECT_EQ(read(), 1U);
  EXPECT_EQ(read(), 2U);
  EXPECT_EQ(read(), 0U);
}

TEST_F(EventFileTest, PurgeTakesUnreadEventsAloneAndKeepsTheOrder) {
  for (const std::uint64_t event : {5, 1, 5, 2, 5, 3}) push(event);
  EXPECT_EQ(read(), 5U);
  EXPECT_EQ(file_->purge([](ByteView record) { return structFrom<std::uint64_t>(record) == 5; }), 2U);
  EXPECT_EQ(read(), 1U);
  EXPECT_EQ(read(), 2U);
  EXPECT_EQ(read(), 3U);
  EXPECT_EQ(read(), 0U);
}

TEST_F(EventFileTest, KeepsWhatAFullPipeHasNoRoomFor) {
  constexpr std::uint64_t kMany = 20000;  // a pipe holds 64 KiB
  for (std::uint64_t event = 1; event <= kMany; ++event) push(event);
  for (std::uint64_t event = 1; event <= kMany; ++event) {
    std::uint64_t got = read();
    if (got == 0) {
      file_->flush();
      got = read();
    }
    ASSERT_EQ(got, event);
  }
}

}  // namespace
}  // namespace hca::cosim
