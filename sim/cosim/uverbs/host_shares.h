// What the programs of one host share.
#pragma once

#include "sim/cosim/uverbs/shared_files.h"
#include "sim/cosim/uverbs/shared_targets.h"

namespace hca::cosim {

struct HostShares {
  SharedFiles files;
  SharedTargets targets;
};

}  // namespace hca::cosim
