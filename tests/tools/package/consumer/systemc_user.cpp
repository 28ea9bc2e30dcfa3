// An installed shell under the SystemC kernel of the system.
#include "models/kernel/calendar_module.h"

namespace {

struct Listener final : hca::kernel::CalendarClient {
  void onCalendar(std::uint64_t) override { ++calls; }
  int calls = 0;
};

}  // namespace

int sc_main(int, char*[]) {
  hca::kernel::CalendarModule module("calendar");
  Listener listener;
  module.calendar().schedule(hca::nanoseconds(5), hca::kernel::Priority::kAdapter, listener, 0);
  sc_core::sc_start(1, sc_core::SC_US);
  return listener.calls == 1 ? 0 : 1;
}
