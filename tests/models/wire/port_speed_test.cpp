#include "models/wire/port_speed.h"

#include <gtest/gtest.h>

namespace hca::wire {
namespace {

constexpr std::int64_t kGigabit = 1'000'000'000;

struct SpeedCase {
  std::int64_t rate;  // bits a second
  unsigned code;
};

class PortSpeed : public testing::TestWithParam<SpeedCase> {};

TEST_P(PortSpeed, IsTheSlowestThatCarriesTheRate) {
  EXPECT_EQ(portSpeed(BitsPerSecond(GetParam().rate)).code, GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(Edges, PortSpeed,
                         testing::Values(SpeedCase{kGigabit, 1}, SpeedCase{8 * kGigabit, 1},
                                         SpeedCase{8 * kGigabit + 1, 2}, SpeedCase{32 * kGigabit, 4},
                                         SpeedCase{56 * kGigabit, 16}, SpeedCase{56 * kGigabit + 1, 32},
                                         SpeedCase{100 * kGigabit, 32}, SpeedCase{200 * kGigabit, 64},
                                         SpeedCase{400 * kGigabit, 128}, SpeedCase{1600 * kGigabit, 128}));

}  // namespace
}  // namespace hca::wire
