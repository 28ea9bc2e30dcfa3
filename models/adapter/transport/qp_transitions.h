// Which attributes a state change takes from its command.
#pragma once

#include <cstdint>

#include "models/adapter/transport/qp_attributes.h"
#include "models/adapter/transport/qp_directory.h"

namespace hca::adapter {

/// Whether `transition` is legal from `state` (InfiniBand volume 1, 10.3.1).
[[nodiscard]] bool isLegal(QpTransition transition, QpState state);

/// The state after a legal `transition`.
[[nodiscard]] QpState stateAfter(QpTransition transition);

/// Whether `transition` takes the port, or the place in the table of partition keys, from its command.
[[nodiscard]] bool takesPort(QpTransition transition, std::uint32_t optionalMask);
[[nodiscard]] bool takesPartition(QpTransition transition, std::uint32_t optionalMask);
/// Whether the command has an alternate path, or says what becomes of path migration. The latter is not copied: it may
/// be an act.
[[nodiscard]] bool takesAlternatePath(std::uint32_t optionalMask);
[[nodiscard]] bool takesMigration(std::uint32_t optionalMask);

/// Copies what `transition` requires, and of the optional attributes those whose bit is set in `optionalMask` (Linux
/// include/linux/mlx5/qp.h, enum mlx5_qp_optpar), from `from` into `into`. The state stays.
void applyTransition(QpTransition transition, std::uint32_t optionalMask, const QpAttributes& from, QpAttributes& into);

}  // namespace hca::adapter
