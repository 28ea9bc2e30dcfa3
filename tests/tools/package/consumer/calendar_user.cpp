// An installed core without SystemC: exit 0 when the calendar runs its one entry at its time.
#include "models/kernel/calendar.h"

namespace {

struct Listener final : hca::kernel::CalendarClient {
  void onCalendar(std::uint64_t token) override { seen = token; }
  std::uint64_t seen = 0;
};

}  // namespace

int main() {
  hca::kernel::Calendar calendar;
  Listener listener;
  calendar.schedule(hca::nanoseconds(5), hca::kernel::Priority::kAdapter, listener, 7);
  calendar.step();
  return listener.seen == 7 && calendar.now() == hca::nanoseconds(5) ? 0 : 1;
}
