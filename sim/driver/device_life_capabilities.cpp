// Bringing a device up: what the adapter offers.
#include <algorithm>

#include "models/wire/command_header.h"
#include "models/wire/device_memory.h"
#include "models/wire/hca_capabilities.h"
#include "sim/driver/device_life.h"

namespace hca::driver {

using wire::CommandOpcode;

void DeviceLife::queryCapabilities(bool current, Capabilities& into, const Next& next) {
  using Output = wire::QueryHcaCapOutput;
  const std::uint32_t modifier = wire::CapabilityModifier::Type::make(wire::CapabilityType::kGeneral) |
                                 wire::CapabilityModifier::Current::make(current);
  commands_->execute(plainCommand(CommandOpcode::kQueryHcaCapabilities, 16, modifier), Output::kSize,
                     [&into, next](const CommandReply& reply) {
                       if (reply.result.ok()) {
                         const ByteView general = Output::General::view(reply.output);
                         into.assign(general.begin(), general.end());
                       }
                       next(reply.result);
                     });
}

void DeviceLife::setCapabilities(const Next& next) {
  using Input = wire::SetHcaCapInput;
  CommandBytes input = plainCommand(CommandOpcode::kSetHcaCapabilities, Input::kSize);
  const MutableByteView general = Input::General::mutableView(input);
  std::copy(current_.begin(), current_.end(), general.data());
  wire::HcaCapabilities::CommandChecksum::set(general, 0);
  wire::HcaCapabilities::LogUarPageSize::set(general, 0);  // pages of 4 KiB
  run(std::move(input), 16, next);
}

void DeviceLife::readCapabilities() {
  using Caps = wire::HcaCapabilities;
  const ByteView caps = current_;
  capabilities_.limits.maxSendWqe = Caps::MaxSendWqeSize::get(caps);
  capabilities_.limits.maxReceiveWqe = Caps::MaxReceiveWqeSize::get(caps);
  capabilities_.limits.maxQueueEntries = 1U << Caps::LogMaxQpSize::get(caps);
  capabilities_.limits.maxSrqEntries = 1U << Caps::LogMaxSrqSize::get(caps);
  capabilities_.limits.maxCqEntries = 1U << Caps::LogMaxCqSize::get(caps);
  capabilities_.limits.minCqe = config_.min_cqe;
  capabilities_.limits.raisesZeroCqe = config_.raise_zero_cqe;
  capabilities_.blueFlameRegisterSize =
      Caps::BlueFlame::get(caps) ? 1U << Caps::LogBlueFlameRegisterSize::get(caps) : 0;
  capabilities_.uc = Caps::Uc::get(caps);
  capabilities_.ud = Caps::Ud::get(caps);
  capabilities_.xrc = Caps::Xrc::get(caps);
  capabilities_.dynamicConnections = Caps::Dct::get(caps);
  capabilities_.logTagList = static_cast<std::uint8_t>(Caps::LogTagListSize::get(caps));
  capabilities_.striding = Caps::EthernetStriding::get(caps) != 0;
  capabilities_.rendezvous = Caps::RendezvousRc::get(caps) != 0;
  capabilities_.ignoreOverrun = Caps::CqIgnoreOverrun::get(caps);
  capabilities_.resize = Caps::CqResize::get(caps);
  capabilities_.wideEntries = Caps::Cqe128Always::get(caps);
  capabilities_.realTimeStamps = Caps::ReceiveQueueTimestampFormat::get(caps) != 0;
  capabilities_.compression = Caps::CqeCompression::get(caps);
  capabilities_.wideCompression = Caps::CqeCompression128::get(caps);
  capabilities_.compressionMax = Caps::CqeCompressionMaxNum::get(caps);
  capabilities_.enhancedCompression = Caps::EnhancedCqeCompression::get(caps);
  capabilities_.miniStrideIndex = Caps::MiniCqeStrideIndex::get(caps);
  capabilities_.inlineScatter = Caps::ScatterDataToCqe::get(caps);
  capabilities_.moderation = Caps::CqModeration::get(caps);
  capabilities_.roce = Caps::PortType::get(caps) == 1;
  capabilities_.ports.resize(Caps::NumPorts::get(caps));
  capabilities_.clock = Hertz(std::int64_t{Caps::DeviceFrequencyKhz::get(caps)} * 1000);
}

void DeviceLife::queryDeviceMemory(const Next& next) {
  if (!wire::HcaCapabilities::DeviceMemory::get(current_)) return next({});
  using Output = wire::QueryHcaCapOutput;
  using Memory = wire::DeviceMemoryCapabilities;
  const std::uint32_t modifier = wire::CapabilityModifier::Type::make(wire::CapabilityType::kDeviceMemory) |
                                 wire::CapabilityModifier::Current::make(true);
  commands_->execute(plainCommand(CommandOpcode::kQueryHcaCapabilities, 16, modifier), Output::kSize,
                     [this, next](const CommandReply& reply) {
                       if (!reply.result.ok()) return next(reply.result);
                       const ByteView memory = Output::DeviceMemory::view(reply.output);
                       if (Memory::Supported::get(memory)) {
                         capabilities_.deviceMemory = {Memory::BarStart::get(memory), Memory::BarSize::get(memory),
                                                       Memory::MaxAllocation::get(memory),
                                                       Memory::LogMaxAlignment::get(memory)};
                       }
                       next({});
                     });
}

void DeviceLife::queryEthernet(const Next& next) {
  if (!capabilities_.roce || !wire::HcaCapabilities::EthernetOffloads::get(current_)) return next({});
  using Output = wire::QueryHcaCapOutput;
  const std::uint32_t modifier = wire::CapabilityModifier::Type::make(wire::CapabilityType::kEthernet) |
                                 wire::CapabilityModifier::Current::make(true);
  commands_->execute(plainCommand(CommandOpcode::kQueryHcaCapabilities, 16, modifier), Output::kSize,
                     [this, next](const CommandReply& reply) {
                       using Caps = wire::EthernetCapabilities;
                       const ByteView set = Output::General::view(reply.output);
                       RawPacketCapabilities& ethernet = capabilities_.ethernet;
                       ethernet.offered = reply.result.ok();
                       ethernet.checksums = Caps::Checksums::get(set);
                       ethernet.vlanStrip = Caps::VlanStripping::get(set);
                       ethernet.scatterFcs = Caps::ScatterFcs::get(set);
                       ethernet.logMaxSpread = Caps::LogMaxSpread::get(set);
                       next(reply.result);
                     });
}

}  // namespace hca::driver
