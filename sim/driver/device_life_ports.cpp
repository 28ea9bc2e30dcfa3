// What DeviceLife learns of the device's ports.
#include <algorithm>
#include <utility>

#include "models/network/partition_keys.h"
#include "models/wire/eqe.h"
#include "models/wire/port_commands.h"
#include "sim/driver/device_life.h"

namespace hca::driver {

namespace {

using adapter::CommandResult;
using wire::CommandOpcode;

// InfiniBand volume 1, 4.1.1: the default prefix, and the port's GUID.
network::Gid linkLocalGid(std::uint64_t guid) {
  network::Gid gid{0xFE, 0x80};
  wire::storeBigEndian(gid.data() + 8, guid);
  return gid;
}

}  // namespace

void DeviceLife::queryPorts(std::uint8_t number, const Next& next) {
  if (number > capabilities_.ports.size()) return next({});
  queryPort(number, [this, number, next](CommandResult result) {
    if (!result.ok()) return next(result);
    queryPorts(static_cast<std::uint8_t>(number + 1), next);
  });
}

// On the only port commands name none.
CommandBytes DeviceLife::portCommand(CommandOpcode opcode, std::uint8_t number) const {
  CommandBytes input = plainCommand(opcode, wire::HcaVportInput::kSize);
  if (capabilities_.ports.size() > 1) wire::HcaVportInput::Port::set(input, number);
  return input;
}

void DeviceLife::queryPort(std::uint8_t number, const Next& next) {
  using Output = wire::HcaVportContextOutput;
  using Context = wire::HcaVportContext;
  commands_->execute(portCommand(CommandOpcode::kQueryHcaVportContext, number), Output::kSize,
                     [this, number, next](const CommandReply& reply) {
                       if (!reply.result.ok()) return next(reply.result);
                       constexpr std::uint32_t kActive = 4;
                       const ByteView context = Output::Context::view(reply.output);
                       DevicePort& port = capabilities_.ports[number - 1U];
                       port.active = Context::PortState::get(context) == kActive;
                       port.lid = Lid(static_cast<std::uint16_t>(Context::Lid::get(context)));
                       port.guid = Context::PortGuid::get(context);
                       port.gids = {linkLocalGid(port.guid)};
                       capabilities_.nodeGuid = Context::NodeGuid::get(context);
                       capabilities_.systemImageGuid = Context::SystemImageGuid::get(context);
                       if (!capabilities_.roce) return next({});
                       queryGids(number, next);
                     });
}

// The last entry in use is the one of the port's IP address, which packets of RoCE v2 carry.
void DeviceLife::queryGids(std::uint8_t number, const Next& next) {
  using Output = wire::HcaVportGidOutput;
  constexpr std::uint32_t kEntries = 8;
  CommandBytes input = portCommand(CommandOpcode::kQueryHcaVportGid, number);
  wire::HcaVportInput::Index::set(input, wire::HcaVportInput::kAllEntries);
  commands_->execute(
      std::move(input), Output::kTable + kEntries * Output::kEntrySize,
      [this, number, next](const CommandReply& reply) {
        if (!reply.result.ok()) return next(reply.result);
        DevicePort& port = capabilities_.ports[number - 1U];
        for (std::uint32_t n = 0; n < kEntries; ++n) {
          network::Gid gid{};
          const ByteView entry =
              ByteView(reply.output).subview(Output::kTable + n * Output::kEntrySize, Output::kEntrySize);
          std::copy(entry.begin(), entry.end(), gid.begin());
          if (gid == network::Gid{}) continue;
          port.gids.resize(n + 1);
          port.gids[n] = gid;
          port.gidIndex = static_cast<std::uint8_t>(n);
        }
        next({});
      });
}

void DeviceLife::queryPartitionKeys(std::uint8_t number, const Next& next) {
  using Output = wire::HcaVportPkeyOutput;
  CommandBytes input = portCommand(CommandOpcode::kQueryHcaVportPkey, number);
  wire::HcaVportInput::Index::set(input, wire::HcaVportInput::kAllEntries);
  commands_->execute(std::move(input), Output::kTable + network::kMostPartitionKeys * Output::kEntrySize,
                     [this, number, next](const CommandReply& reply) {
                       if (!reply.result.ok()) return next(reply.result);
                       std::vector<std::uint16_t>& keys = capabilities_.ports[number - 1U].partitionKeys;
                       keys.resize(network::kMostPartitionKeys);
                       for (std::size_t i = 0; i < keys.size(); ++i) {
                         const std::uint8_t* entry = reply.output.data() + Output::kTable + i * Output::kEntrySize;
                         keys[i] = static_cast<std::uint16_t>(wire::loadBigEndian<std::uint32_t>(entry));
                       }
                       next({});
                     });
}

// As the kernel's cache does before it tells anybody (Linux drivers/infiniband/core/cache.c, ib_dispatch_event).
void DeviceLife::onPortChange(std::uint32_t number, std::uint8_t subType, std::function<void()> known) {
  if (number == 0 || number > capabilities_.ports.size()) return known();
  switch (static_cast<wire::PortChange>(subType)) {
    case wire::PortChange::kDown:
    case wire::PortChange::kActive:
      capabilities_.ports[number - 1U].active = static_cast<wire::PortChange>(subType) == wire::PortChange::kActive;
      return known();
    case wire::PortChange::kLidChanged:
    case wire::PortChange::kGuidChanged:
      return queryPort(static_cast<std::uint8_t>(number), [known = std::move(known)](CommandResult) { known(); });
    case wire::PortChange::kPkeyChanged:
      return queryPartitionKeys(static_cast<std::uint8_t>(number),
                                [known = std::move(known)](CommandResult) { known(); });
    default:
      return known();
  }
}

}  // namespace hca::driver
