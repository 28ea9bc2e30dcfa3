#include "sim/system/outside_hand.h"

#include <utility>

#include "models/network/partition_keys.h"
#include "sim/config/guid_text.h"

namespace hca::sim {

OutsideHand::OutsideHand(const config::AdapterSections& sections, kernel::Calendar& calendar, Cabling& cabling,
                         adapter::Hca& hca, std::uint32_t host, std::uint32_t firstPort)
    : calendar_(calendar), cabling_(cabling), hca_(hca), host_(host), firstPort_(firstPort) {
  const adapter::DeviceConfig& device = sections.adapter.device;
  plan(device.fatalAt,
       [this, syndrome = static_cast<adapter::HealthSyndrome>(device.fatalSyndrome)] { breakAdapter(syndrome); });
  for (std::uint8_t number = 1; number <= hca.ports(); ++number) {
    planPort(sections.portSections(number).port, number);
  }
}

void OutsideHand::plan(Time when, Deed deed) {
  if (when == Time(0)) return;
  deeds_.push_back(std::move(deed));
  calendar_.schedule(when, kernel::Priority::kNetwork, *this, deeds_.size() - 1);
}

void OutsideHand::setCable(std::uint8_t number, bool isPlugged) {
  cabling_.plug(host_, firstPort_ + number - 1).link.setUp(isPlugged);
}

void OutsideHand::planPort(const adapter::PortConfig& port, std::uint8_t number) {
  plan(port.downAt, [this, number] { setCable(number, false); });
  plan(port.upAt, [this, number] { setCable(number, true); });
  plan(port.lidAt, [this, number, lid = Lid(static_cast<std::uint16_t>(port.newLid))] {
    cabling_.changeLid(host_, firstPort_ + number - 1, lid);
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
