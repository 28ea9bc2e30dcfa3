// Words for logs.
#include <cstddef>
#include <iterator>

#include "models/adapter/command/command_record.h"

namespace hca::adapter {
namespace {

constexpr const char* kRejectionNames[] = {
    "register width",
    "register not writable",
    "not ready",
    "no command queue",
    "slot busy",
    "entry unreadable",
    "entry not owned",
    "descriptor type",
    "reserved field",
    "signature",
    "token",
    "block number",
    "input length",
    "output length",
    "input pointer",
    "output pointer",
    "mailbox unreadable",
    "answer unwritable",
};
static_assert(std::size(kRejectionNames) == static_cast<std::size_t>(CommandRejection::kCount));

}  // namespace

const char* name(CommandRejection kind) { return kRejectionNames[static_cast<std::size_t>(kind)]; }

const char* name(CommandStatus status) {
  switch (status) {
    case CommandStatus::kOk:
      return "ok";
    case CommandStatus::kInternalError:
      return "internal error";
    case CommandStatus::kBadOperation:
      return "bad operation";
    case CommandStatus::kBadParameter:
      return "bad parameter";
    case CommandStatus::kBadSystemState:
      return "bad system state";
    case CommandStatus::kBadResource:
      return "bad resource";
    case CommandStatus::kResourceBusy:
      return "resource busy";
    case CommandStatus::kExceedLimit:
      return "limits exceeded";
    case CommandStatus::kBadResourceState:
      return "bad resource state";
    case CommandStatus::kBadIndex:
      return "bad index";
    case CommandStatus::kNoResources:
      return "no resources";
    case CommandStatus::kBadQpState:
      return "bad QP state";
    case CommandStatus::kBadPacket:
      return "bad packet";
    case CommandStatus::kBadSize:
      return "bad size";
    case CommandStatus::kBadInputLength:
      return "bad input length";
    case CommandStatus::kBadOutputLength:
      return "bad output length";
  }
  return "unknown status";
}

}  // namespace hca::adapter
