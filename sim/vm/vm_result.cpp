#include "sim/vm/vm_result.h"

#include <fstream>
#include <ostream>

#include "sim/report/result_json.h"
#include "sim/vm/guests.h"

namespace hca::vm {
namespace {

report::GuestResult resultOf(const Guest& guest) {
  report::GuestResult result;
  result.host = HostIndex(guest.host());
  result.wasUp = guest.isReady();
  result.exitStatus = guest.exitStatus();
  result.troubles = guest.troubles();
  for (const KernelLine& line : guest.kernelLog().warnings()) {
    result.kernelWarnings.push_back({name(line.level), line.text, line.isDrivers, line.simulated,
                                     static_cast<std::uint64_t>(line.guestTime.count())});
  }
  return result;
}

}  // namespace

void VmResult::write(const std::string& path, const Guests& guests, std::ostream& err) const {
  report::Result result = result_.collect(system_.calendar().now());
  result.drills = drills_.results();
  for (const auto& guest : guests.all()) result.guests.push_back(resultOf(*guest));
  std::ofstream file(path, std::ios::trunc);
  file << report::toJson(result);
  file.close();
  if (!file) err << "hcasim: --json: '" << path << "' can't be written\n";
}

}  // namespace hca::vm
