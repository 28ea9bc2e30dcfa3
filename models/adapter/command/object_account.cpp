#include "models/adapter/command/object_account.h"

#include <algorithm>
#include <iterator>

#include "models/wire/ethernet_commands.h"

namespace hca::adapter {
namespace {

using wire::CommandOpcode;

struct KindRow {
  ObjectKind kind;
  const char* name;
  CommandOpcode creates;
  CommandOpcode destroys;
};

constexpr KindRow kKinds[] = {
    {ObjectKind::kPd, "PD", CommandOpcode::kAllocPd, CommandOpcode::kDeallocPd},
    {ObjectKind::kUar, "UAR", CommandOpcode::kAllocUar, CommandOpcode::kDeallocUar},
    {ObjectKind::kXrcd, "XRCD", CommandOpcode::kAllocXrcd, CommandOpcode::kDeallocXrcd},
    {ObjectKind::kTransportDomain, "transport domain", CommandOpcode::kAllocTransportDomain,
     CommandOpcode::kDeallocTransportDomain},
    {ObjectKind::kMemoryKey, "memory key", CommandOpcode::kCreateMemoryKey, CommandOpcode::kDestroyMemoryKey},
    {ObjectKind::kDeviceMemory, "device memory", CommandOpcode::kAllocDeviceMemory,
     CommandOpcode::kDeallocDeviceMemory},
    {ObjectKind::kEq, "EQ", CommandOpcode::kCreateEq, CommandOpcode::kDestroyEq},
    {ObjectKind::kCq, "CQ", CommandOpcode::kCreateCq, CommandOpcode::kDestroyCq},
    {ObjectKind::kQp, "QP", CommandOpcode::kCreateQp, CommandOpcode::kDestroyQp},
    {ObjectKind::kDct, "DCT", CommandOpcode::kCreateDct, CommandOpcode::kDestroyDct},
    {ObjectKind::kSrq, "SRQ", CommandOpcode::kCreateSrq, CommandOpcode::kDestroySrq},
    {ObjectKind::kXrcSrq, "XRC SRQ", CommandOpcode::kCreateXrcSrq, CommandOpcode::kDestroyXrcSrq},
    {ObjectKind::kRmp, "RMP", CommandOpcode::kCreateRmp, CommandOpcode::kDestroyRmp},
    {ObjectKind::kXrq, "XRQ", CommandOpcode::kCreateXrq, CommandOpcode::kDestroyXrq},
    {ObjectKind::kMulticast, "multicast membership", CommandOpcode::kAttachToMulticast,
     CommandOpcode::kDetachFromMulticast},
    {ObjectKind::kSq, "SQ", CommandOpcode::kCreateSq, CommandOpcode::kDestroySq},
    {ObjectKind::kRq, "RQ", CommandOpcode::kCreateRq, CommandOpcode::kDestroyRq},
    {ObjectKind::kTir, "TIR", CommandOpcode::kCreateTir, CommandOpcode::kDestroyTir},
    {ObjectKind::kTis, "TIS", CommandOpcode::kCreateTis, CommandOpcode::kDestroyTis},
    {ObjectKind::kRqt, "RQT", CommandOpcode::kCreateRqt, CommandOpcode::kDestroyRqt},
    {ObjectKind::kFlowTable, "flow table", CommandOpcode::kCreateFlowTable, CommandOpcode::kDestroyFlowTable},
    {ObjectKind::kFlowGroup, "flow group", CommandOpcode::kCreateFlowGroup, CommandOpcode::kDestroyFlowGroup},
    {ObjectKind::kFlowEntry, "flow entry", CommandOpcode::kSetFlowTableEntry, CommandOpcode::kDeleteFlowTableEntry},
    {ObjectKind::kUmem, "user memory", CommandOpcode::kCreateUserMemory, CommandOpcode::kDestroyUserMemory},
    {ObjectKind::kQueueCounter, "queue counter", CommandOpcode::kAllocQueueCounter,
     CommandOpcode::kDeallocQueueCounter},
};
static_assert(std::size(kKinds) == kObjectKinds, "a row for each kind");

bool changesOnly(CommandOpcode opcode, std::uint32_t modifier) {
  return opcode == CommandOpcode::kSetFlowTableEntry && modifier == wire::FlowEntryInput::kModify;
}

}  // namespace

void ObjectAccount::onSuccess(CommandOpcode opcode, std::uint32_t modifier) {
  if (opcode == CommandOpcode::kInitHca) ++generations_;
  if (changesOnly(opcode, modifier)) return;
  for (const KindRow& row : kKinds) {
    ObjectCount& count = counts_[static_cast<std::size_t>(row.kind)];
    if (row.creates == opcode) {
      ++count.created;
      count.most = std::max(count.most, ++count.live);
    } else if (row.destroys == opcode) {
      ++count.destroyed;
      --count.live;
    }
  }
}

void ObjectAccount::end(GenerationEnd end, std::uint64_t pagesHeld) {
  GenerationLeft left;
  left.generation = generations_;
  left.end = end;
  left.pages = pagesHeld;
  bool any = pagesHeld != 0;
  for (std::size_t kind = 0; kind < kObjectKinds; ++kind) {
    left.objects[kind] = counts_[kind].live;
    any |= counts_[kind].live != 0;
    counts_[kind].destroyed += counts_[kind].live;
    counts_[kind].live = 0;
  }
  if (any && left_.size() < kMostLeft) left_.push_back(left);
}

const char* name(ObjectKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }

const char* name(GenerationEnd end) {
  switch (end) {
    case GenerationEnd::kTeardown:
      return "TEARDOWN_HCA";
    case GenerationEnd::kDisable:
      return "interface disabled";
    case GenerationEnd::kReset:
      return "reset";
  }
  return "unknown";
}

}  // namespace hca::adapter
