#include "sim/driver/moderation/make_moderation.h"

#include "sim/driver/moderation/fixed_moderation.h"
#include "sim/driver/moderation/no_moderation.h"
#include "sim/driver/moderation/rdma_dim.h"

namespace hca::driver {

std::unique_ptr<ModerationPolicy> makeModeration(const CqRequest& request) {
  switch (request.moderation) {
    case ModerationKind::kNone:
      return std::make_unique<NoModeration>();
    case ModerationKind::kFixed:
      return std::make_unique<FixedModeration>(CqModerationSetting{request.cq_count, request.cq_period});
    case ModerationKind::kRdmaDim:
      return std::make_unique<RdmaDim>();
  }
  return std::make_unique<NoModeration>();
}

}  // namespace hca::driver
