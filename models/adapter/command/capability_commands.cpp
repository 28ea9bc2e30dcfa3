// What the adapter offers, and what the driver chooses.
#include <algorithm>

#include "models/adapter/command/command_handlers.h"
#include "models/wire/device_commands.h"
#include "models/wire/device_memory.h"
#include "models/wire/mmio_map.h"

namespace hca::adapter::commands {
namespace {

using Fields = wire::HcaCapabilities;

constexpr std::uint32_t kSignEverything = 3;  // cmdif_checksum: entries and mailboxes
constexpr std::uint32_t kLogMaxSpread = EthernetObjects::kLogMaxSpread;
constexpr std::uint32_t kHostByteOrder = 1;
constexpr std::uint32_t kHertzPerKilohertz = 1000;
constexpr std::uint32_t kHertzPerMegahertz = 1'000'000;

std::uint8_t logFloor(std::uint32_t value) {
  std::uint8_t log = 0;
  while (value > 1) {
    value >>= 1;
    ++log;
  }
  return log;
}

void fillLimits(const AdapterCapabilities& offered, MutableByteView out) {
  Fields::LogMaxQpSize::set(out, offered.logMaxQpSize);
  Fields::LogMaxCqSize::set(out, offered.logMaxCqSize);
  Fields::LogMaxCq::set(out, offered.logMaxCq);
  Fields::LogMaxEqSize::set(out, offered.logMaxEqSize);
  Fields::LogMaxEq::set(out, logFloor(offered.maxEqs));
  Fields::MaxNumEqs::set(out, offered.maxEqs);
  Fields::LogMaxMemoryKey::set(out, offered.logMaxMkey);
  Fields::LogMaxPd::set(out, offered.logMaxPd);
  Fields::LogMaxXrcd::set(out, offered.logMaxXrcd);
  Fields::LogMaxTransportDomain::set(out, offered.logMaxTransportDomain);
  Fields::LogMaxSrq::set(out, offered.logMaxSrq);
  Fields::LogMaxSrqSize::set(out, offered.logMaxSrqSize);
  Fields::LogMaxRmp::set(out, offered.logMaxSrq);
  Fields::LogMaxMessage::set(out, offered.logMaxMessage);
  Fields::LogMaxRequesterReads::set(out, offered.logMaxRequesterReads);
  Fields::LogMaxResponderReads::set(out, offered.logMaxResponderReads);
  Fields::LogMaxMulticastGroups::set(out, offered.logMaxMulticastGroups);
  Fields::MaxMulticastQps::set(out, offered.maxMulticastQps);
  Fields::MaxSendWqeSize::set(out, offered.maxSendWqeSize);
  Fields::MaxReceiveWqeSize::set(out, offered.maxReceiveWqeSize);
}

void fillFeatures(const AdapterCapabilities& offered, MutableByteView out) {
  Fields::Rc::set(out, offered.rc);
  Fields::Uc::set(out, offered.uc);
  Fields::Ud::set(out, offered.ud);
  Fields::Xrc::set(out, offered.xrc);
  Fields::Dct::set(out, offered.dynamicConnections);
  Fields::CqIgnoreOverrun::set(out, offered.ignoreOverrun);
  Fields::CqResize::set(out, true);
  Fields::CqModeration::set(out, offered.moderation);
  Fields::CqPeriodFromCqe::set(out, offered.moderation);
  Fields::Cqe128Always::set(out, offered.wideCqe);
  constexpr std::uint32_t kBothFormats = 2;
  Fields::SendQueueTimestampFormat::set(out, offered.realTimeStamps ? kBothFormats : 0);
  Fields::ReceiveQueueTimestampFormat::set(out, offered.realTimeStamps ? kBothFormats : 0);
  const bool compresses = offered.compressionMax > 1;
  Fields::CqeCompression::set(out, compresses);
  Fields::CqeCompression128::set(out, compresses && offered.wideCqe);
  Fields::MiniCqeStrideIndex::set(out, compresses);
  Fields::EnhancedCqeCompression::set(out, compresses && offered.enhancedCompression);
  Fields::EnhancedCqeCompressionToo::set(out, compresses && offered.enhancedCompression);
  Fields::CqeCompressionMaxNum::set(out, compresses ? offered.compressionMax : 0);
  Fields::CqeCompressionTimeout::set(
      out, compresses ? std::min(offered.compressionTimeout, Fields::CqeCompressionTimeout::kMax) : 0);
  Fields::ScatterDataToCqe::set(out, offered.inlineScatter);
  Fields::RelaxedOrderingWrite::set(out, offered.relaxedOrdering);
  Fields::RelaxedOrderingRead::set(out, offered.relaxedOrdering);
  Fields::CqeVersion::set(out, 1);
  Fields::EthernetStriding::set(out, true);
  Fields::AutomaticPathMigration::set(out, true);
  Fields::PkeyViolationCounter::set(out, true);
  Fields::QkeyViolationCounter::set(out, true);
  Fields::Atomic::set(out, true);
  Fields::BlockLoopbackMulticast::set(out, offered.ud);
  Fields::DriverVersion::set(out, true);
}

// What requests can do to memory keys. Without a change of the page size, drivers register memory by CREATE_MKEY with
// its translations and no request (Linux drivers/infiniband/hw/mlx5/umr.h, mlx5r_umr_can_load_pas).
void fillKeyUpdates(const AdapterCapabilities& offered, MutableByteView out) {
  constexpr std::uint32_t kLogMostPieces = 16;  // what 16 bits of translation octwords in a request can say
  Fields::UmrModifyEntitySizeDisabled::set(out, !offered.registersByRequest);
  Fields::ExtendedTranslationOffset::set(out, true);
  Fields::RelaxedOrderingWriteByRequest::set(out, offered.relaxedOrdering);
  Fields::RelaxedOrderingReadByRequest::set(out, offered.relaxedOrdering);
  Fields::LogMaxKlmList::set(out, kLogMostPieces);
  Fields::InvalidateCarriesLength::set(out, offered.memoryWindows);
}

void fillTagMatching(const CommandDevice& device, MutableByteView out) {
  if (!device.matchesTags()) return;
  Fields::TagMatching::set(out, true);
  Fields::RendezvousRc::set(out, true);
  Fields::LogTagListSize::set(out, device.capabilities.logTagList);
  Fields::LogMaxXrq::set(out, device.capabilities.logMaxSrq);
}

std::uint32_t portType(const CommandDevice& device) {
  constexpr std::uint32_t kInfiniBand = 0;
  constexpr std::uint32_t kEthernet = 1;
  return device.identity.linkLayer == network::LinkLayer::kInfiniBand ? kInfiniBand : kEthernet;
}

void fillPorts(const CommandDevice& device, MutableByteView out) {
  Fields::PortType::set(out, portType(device));
  Fields::NumPorts::set(out, static_cast<std::uint32_t>(device.identity.ports.size()));
  Fields::IbVirtualization::set(out, true);
  Fields::GidTableSize::set(out, device.capabilities.gidTableCode);
  Fields::PkeyTableSize::set(out, device.capabilities.pkeyTableCode);
  Fields::LocalAckDelay::set(out, device.capabilities.localAckDelay);
  if (portType(device) == 0) return;
  constexpr std::uint32_t kLogMaxObjects = 16;
  Fields::EthernetOffloads::set(out, true);
  Fields::NicFlowTable::set(out, true);
  Fields::LogMaxRq::set(out, kLogMaxObjects);
  Fields::LogMaxSq::set(out, kLogMaxObjects);
  Fields::LogMaxTir::set(out, kLogMaxObjects);
  Fields::LogMaxTis::set(out, kLogMaxObjects);
  Fields::LogMaxRqt::set(out, kLogMaxObjects);
  Fields::LogMaxRqtSize::set(out, kLogMaxSpread);
}

void fillEthernet(MutableByteView out) {
  using Ethernet = wire::EthernetCapabilities;
  Ethernet::Checksums::set(out, true);
  Ethernet::VlanStripping::set(out, true);
  Ethernet::OwnFramesModifiable::set(out, false);
  Ethernet::InlineMode::set(out, Ethernet::kNoInline);
  Ethernet::LogMaxSpread::set(out, kLogMaxSpread);
  Ethernet::ScatterFcs::set(out, true);
}

void fillRegisters(const CommandDevice& device, MutableByteView out) {
  Fields::Uar4k::set(out, true);
  Fields::UmemUid0::set(out, true);
  Fields::UarsPerPage::set(out, 1);
  Fields::LogPageSize::set(out, 12);  // smallest page of a page list
  Fields::BlueFlame::set(out, true);
  Fields::LogBlueFlameRegisterSize::set(out, wire::UarPage::kLogBlueFlameRegisterSize);
  const auto hertz = static_cast<std::uint64_t>(device.timerFrequency.count());
  Fields::DeviceFrequencyMhz::set(out, static_cast<std::uint32_t>(hertz / kHertzPerMegahertz));
  Fields::DeviceFrequencyKhz::set(out, static_cast<std::uint32_t>(hertz / kHertzPerKilohertz));
}

// Values in memory are in the host's order, and so are those of responses.
void fillAtomics(const AdapterCapabilities& offered, MutableByteView out) {
  using Atomic = wire::AtomicCapabilities;
  constexpr std::uint32_t kEightBytes = 8;
  Atomic::RequestByteOrder::set(out, kHostByteOrder);
  Atomic::HostByteOrderSupported::set(out, true);
  Atomic::Operations::set(out, Atomic::kCompareSwap | Atomic::kFetchAdd);
  Atomic::QpSizes::set(out, kEightBytes);
  Atomic::DcSizes::set(out, offered.dynamicConnections ? kEightBytes : 0);
}

CommandResult setAtomics(const CommandCall& call) {
  const std::uint32_t order =
      wire::AtomicCapabilities::RequestByteOrder::get(wire::SetHcaCapInput::Atomic::view(call.input));
  return order == kHostByteOrder ? CommandResult{}
                                 : CommandResult{CommandStatus::kBadParameter, Syndrome::kCapabilityNotSettable};
}

void fillDeviceMemory(const DeviceMemory& memory, MutableByteView out) {
  using Memory = wire::DeviceMemoryCapabilities;
  Memory::Supported::set(out, true);
  Memory::LogMinAllocation::set(out, DeviceMemory::kLogMinAllocation);
  Memory::LogMaxAlignment::set(out, DeviceMemory::kLogMaxAlignment);
  Memory::BarStart::set(out, DeviceMemory::kFirst);
  Memory::BarSize::set(out, memory.size());
  Memory::MaxAllocation::set(out, memory.size());
}

}  // namespace

CommandResult queryCapabilities(CommandDevice& device, const CommandCall& call) {
  const auto type = wire::CapabilityModifier::Type::get(call.modifier());
  const bool current = wire::CapabilityModifier::Current::get(call.modifier());
  const MutableByteView out = wire::QueryHcaCapOutput::General::mutableView(call.output);
  if (type == wire::CapabilityType::kEthernet && portType(device) != 0) {
    fillEthernet(out);
    return {};
  }
  if (type == wire::CapabilityType::kAtomic) {
    fillAtomics(device.capabilities, wire::QueryHcaCapOutput::Atomic::mutableView(call.output));
    return {};
  }
  const bool hasDeviceMemory = device.targets.deviceMemory.size() != 0;
  if (type == wire::CapabilityType::kDeviceMemory && hasDeviceMemory) {
    fillDeviceMemory(device.targets.deviceMemory, wire::QueryHcaCapOutput::DeviceMemory::mutableView(call.output));
    return {};
  }
  if (type != wire::CapabilityType::kGeneral) {
    return {CommandStatus::kBadParameter, Syndrome::kUnsupportedCapabilityType};
  }
  fillLimits(device.capabilities, out);
  fillFeatures(device.capabilities, out);
  fillKeyUpdates(device.capabilities, out);
  fillTagMatching(device, out);
  fillPorts(device, out);
  fillRegisters(device, out);
  Fields::DeviceMemory::set(out, hasDeviceMemory);
  Fields::LogMaxQp::set(out, current ? device.currentLogMaxQp : device.capabilities.logMaxQp);
  Fields::CommandChecksum::set(out, current ? device.checksumMode : kSignEverything);
  Fields::CacheLine128::set(out, !current || device.cacheLine128);
  return {};
}

CommandResult setCapabilities(CommandDevice& device, const CommandCall& call) {
  const auto type = wire::CapabilityModifier::Type::get(call.modifier());
  if (wire::CapabilityModifier::Current::get(call.modifier())) {
    return {CommandStatus::kBadParameter, Syndrome::kUnsupportedCapabilityType};
  }
  if (type == wire::CapabilityType::kAtomic) return setAtomics(call);
  if (type != wire::CapabilityType::kGeneral) {
    return {CommandStatus::kBadParameter, Syndrome::kUnsupportedCapabilityType};
  }
  // The driver sends the whole set back. Only these can change; a page size or table size must be what it is.
  const ByteView wanted = wire::SetHcaCapInput::General::view(call.input);
  const bool fixedFieldsKept = Fields::LogUarPageSize::get(wanted) == 0 &&
                               Fields::PkeyTableSize::get(wanted) == device.capabilities.pkeyTableCode &&
                               Fields::PortType::get(wanted) == portType(device);
  if (!fixedFieldsKept) return {CommandStatus::kBadParameter, Syndrome::kCapabilityNotSettable};
  const std::uint32_t logMaxQp = Fields::LogMaxQp::get(wanted);
  if (logMaxQp > device.capabilities.logMaxQp) {
    return {CommandStatus::kExceedLimit, Syndrome::kCapabilityOutOfRange};
  }
  device.currentLogMaxQp = logMaxQp;
  device.checksumMode = Fields::CommandChecksum::get(wanted);
  device.cacheLine128 = Fields::CacheLine128::get(wanted);
  return {};
}

}  // namespace hca::adapter::commands
