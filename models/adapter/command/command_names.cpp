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

}  // namespace hca::adapter
