// Automatic path migration: when a connection changes to its alternate path.
#pragma once

#include <cstdint>
#include <utility>

#include "models/adapter/transport/qp_attributes.h"
#include "models/network/packet.h"

namespace hca::adapter {

/// What a packet means for a connection that is not migrated.
enum class MigrationStep : std::uint8_t {
  kNone,
  kArm,      ///< the peer is ready, too
  kMigrate,  ///< the peer has migrated: follow it
  kRefuse,   ///< the peer has migrated to a path that is not our alternate one
};

/// InfiniBand volume 1, 17.2.8: a connection that is migrated says so in each packet (MigReq). Once software rearmed
/// it, and the peer's packets say that it was rearmed there, it is armed; then a packet with MigReq that comes by the
/// alternate path, a request whose retries are used up, or software makes it migrate.
///
/// `alternate`: the connection's other path. `port`: where the packet came in.
[[nodiscard]] inline MigrationStep migrationStep(MigrationState state, const AddressPath& alternate,
                                                 const network::Packet& packet, std::uint8_t port) {
  if (state == MigrationState::kRearm) return packet.migrated ? MigrationStep::kNone : MigrationStep::kArm;
  if (state != MigrationState::kArmed || !packet.migrated) return MigrationStep::kNone;
  const bool isInfiniBand = packet.route.linkLayer == network::LinkLayer::kInfiniBand;
  const bool isPeer =
      isInfiniBand ? packet.route.sourceLid == alternate.remoteLid : packet.route.sourceGid == alternate.remoteGid;
  return port == alternate.port && isPeer ? MigrationStep::kMigrate : MigrationStep::kRefuse;
}

/// The alternate path becomes the primary one; what was the primary one is kept as alternate, to be armed again.
inline void migrate(QpAttributes& attributes) {
  std::swap(attributes.path, attributes.alternatePath);
  attributes.migration = MigrationState::kMigrated;
}

}  // namespace hca::adapter
