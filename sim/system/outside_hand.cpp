#include "sim/system/outside_hand.h"

#include <utility>

#include "models/network/partition_keys.h"
#include "sim/config/guid_text.h"

namespace hca::sim {

OutsideHand::OutsideHand(const config::AdapterSections& sections, kernel::Calendar& calendar, Cabling& cabling,
                         adapter::Hca& hca, std::uint32_t host, std::uint32_t firstPort)
    : calendar_(calendar), cabling_(cabling), hca_(hca) {
  const adapter::DeviceConfig& device = sections.adapter.device;
  plan(device.fatalAt,
       [this, syndrome = static_cast<adapter::HealthSyndrome>(device.fatalSyndrome)] { hca_.fail(syndrome); });
  for (std::uint8_t number = 1; number <= hca.ports(); ++number) {
    planPort(sections.portSections(number).port, number, host, firstPort + number - 1);
  }
}

void OutsideHand::plan(Time when, Deed deed) {
  if (when == Time(0)) return;
  deeds_.push_back(std::move(deed));
  calendar_.schedule(when, kernel::Priority::kNetwork, *this, deeds_.size() - 1);
}

void OutsideHand::planPort(const adapter::PortConfig& port, std::uint8_t number, std::uint32_t host,
                           std::uint32_t hostPort) {
  const auto setUp = [this, host, hostPort](bool isUp) {
    return [this, host, hostPort, isUp] { cabling_.plug(host, hostPort).link.setUp(isUp); };
  };
  plan(port.downAt, setUp(false));
  plan(port.upAt, setUp(true));
  plan(port.lidAt, [this, host, hostPort, number, lid = Lid(static_cast<std::uint16_t>(port.newLid))] {
    cabling_.changeLid(host, hostPort, lid);
    hca_.changeLid(number, lid);
  });
  plan(port.partitionKeysAt, [this, number, keys = network::parsePartitionKeys(port.newPartitionKeys)] {
    if (keys) hca_.changePartitionKeys(number, *keys);
  });
  plan(port.guidAt, [this, number, guid = config::parseGuid(port.newGuid)] {
    if (guid) hca_.changeGuid(number, *guid);
  });
  plan(port.reregisterAt, [this, number] { hca_.askToReregister(number); });
}

}  // namespace hca::sim
