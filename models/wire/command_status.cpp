#include "models/wire/command_status.h"

#include <algorithm>
#include <iterator>

namespace hca::wire {
namespace {

struct StatusNames {
  CommandStatus status;
  const char* driver;
  const char* words;
};

constexpr StatusNames kStatusNames[] = {
    {CommandStatus::kOk, "OK", "ok"},
    {CommandStatus::kInternalError, "INT_ERR", "internal error"},
    {CommandStatus::kBadOperation, "BAD_OP_ERR", "bad operation"},
    {CommandStatus::kBadParameter, "BAD_PARAM_ERR", "bad parameter"},
    {CommandStatus::kBadSystemState, "BAD_SYS_STATE_ERR", "bad system state"},
    {CommandStatus::kBadResource, "BAD_RES_ERR", "bad resource"},
    {CommandStatus::kResourceBusy, "RES_BUSY", "resource busy"},
    {CommandStatus::kExceedLimit, "LIM_ERR", "limits exceeded"},
    {CommandStatus::kBadResourceState, "BAD_RES_STATE_ERR", "bad resource state"},
    {CommandStatus::kBadIndex, "IX_ERR", "bad index"},
    {CommandStatus::kNoResources, "NO_RES_ERR", "no resources"},
    {CommandStatus::kBadQpState, "BAD_QP_STATE_ERR", "bad QP state"},
    {CommandStatus::kBadPacket, "BAD_PKT_ERR", "bad packet"},
    {CommandStatus::kBadSize, "BAD_SIZE_OUTS_CQES_ERR", "bad size"},
    {CommandStatus::kBadInputLength, "BAD_INP_LEN_ERR", "bad input length"},
    {CommandStatus::kBadOutputLength, "BAD_OUTP_LEN_ERR", "bad output length"},
};

const StatusNames* namesOf(CommandStatus status) {
  const auto* const found = std::find_if(std::begin(kStatusNames), std::end(kStatusNames),
                                         [status](const StatusNames& names) { return names.status == status; });
  return found == std::end(kStatusNames) ? nullptr : found;
}

}  // namespace

const char* name(CommandStatus status) {
  const StatusNames* names = namesOf(status);
  return names == nullptr ? "unknown status" : names->words;
}

const char* driverName(CommandStatus status) {
  const StatusNames* names = namesOf(status);
  return names == nullptr ? "UNKNOWN" : names->driver;
}

}  // namespace hca::wire
