#include "models/wire/opcode.h"

#include <algorithm>
#include <iterator>

namespace hca::wire {
namespace {

struct OpcodeName {
  CommandOpcode opcode;
  const char* name;
};

// In the order of the opcodes' values, for the search below.
constexpr OpcodeName kNames[] = {
    {CommandOpcode::kQueryHcaCapabilities, "QUERY_HCA_CAP"},
    {CommandOpcode::kQueryAdapter, "QUERY_ADAPTER"},
    {CommandOpcode::kInitHca, "INIT_HCA"},
    {CommandOpcode::kTeardownHca, "TEARDOWN_HCA"},
    {CommandOpcode::kEnableHca, "ENABLE_HCA"},
    {CommandOpcode::kDisableHca, "DISABLE_HCA"},
    {CommandOpcode::kQueryPages, "QUERY_PAGES"},
    {CommandOpcode::kManagePages, "MANAGE_PAGES"},
    {CommandOpcode::kSetHcaCapabilities, "SET_HCA_CAP"},
    {CommandOpcode::kQueryIssi, "QUERY_ISSI"},
    {CommandOpcode::kSetIssi, "SET_ISSI"},
    {CommandOpcode::kSetDriverVersion, "SET_DRIVER_VERSION"},
    {CommandOpcode::kCreateMemoryKey, "CREATE_MKEY"},
    {CommandOpcode::kQueryMemoryKey, "QUERY_MKEY"},
    {CommandOpcode::kDestroyMemoryKey, "DESTROY_MKEY"},
    {CommandOpcode::kQuerySpecialContexts, "QUERY_SPECIAL_CONTEXTS"},
    {CommandOpcode::kCreateEq, "CREATE_EQ"},
    {CommandOpcode::kDestroyEq, "DESTROY_EQ"},
    {CommandOpcode::kQueryEq, "QUERY_EQ"},
    {CommandOpcode::kGenerateEvent, "GEN_EQE"},
    {CommandOpcode::kCreateCq, "CREATE_CQ"},
    {CommandOpcode::kDestroyCq, "DESTROY_CQ"},
    {CommandOpcode::kQueryCq, "QUERY_CQ"},
    {CommandOpcode::kModifyCq, "MODIFY_CQ"},
    {CommandOpcode::kCreateQp, "CREATE_QP"},
    {CommandOpcode::kDestroyQp, "DESTROY_QP"},
    {CommandOpcode::kResetToInit, "RST2INIT_QP"},
    {CommandOpcode::kInitToReadyToReceive, "INIT2RTR_QP"},
    {CommandOpcode::kReadyToReceiveToReadyToSend, "RTR2RTS_QP"},
    {CommandOpcode::kReadyToSendToReadyToSend, "RTS2RTS_QP"},
    {CommandOpcode::kSendQueueErrorToReadyToSend, "SQERR2RTS_QP"},
    {CommandOpcode::kToError, "2ERR_QP"},
    {CommandOpcode::kReadyToSendToDrain, "RTS2SQD_QP"},
    {CommandOpcode::kDrainToReadyToSend, "SQD2RTS_QP"},
    {CommandOpcode::kToReset, "2RST_QP"},
    {CommandOpcode::kQueryQp, "QUERY_QP"},
    {CommandOpcode::kDrainedToReadyToSend, "SQD_RTS_QP"},
    {CommandOpcode::kMadInterface, "MAD_IFC"},
    {CommandOpcode::kInitToInit, "INIT2INIT_QP"},
    {CommandOpcode::kDrainToDrain, "SQD2SQD_QP"},
    {CommandOpcode::kCreateSrq, "CREATE_SRQ"},
    {CommandOpcode::kDestroySrq, "DESTROY_SRQ"},
    {CommandOpcode::kQuerySrq, "QUERY_SRQ"},
    {CommandOpcode::kArmReceiveQueue, "ARM_RQ"},
    {CommandOpcode::kCreateXrcSrq, "CREATE_XRC_SRQ"},
    {CommandOpcode::kDestroyXrcSrq, "DESTROY_XRC_SRQ"},
    {CommandOpcode::kQueryXrcSrq, "QUERY_XRC_SRQ"},
    {CommandOpcode::kArmXrcSrq, "ARM_XRC_SRQ"},
    {CommandOpcode::kCreateXrq, "CREATE_XRQ"},
    {CommandOpcode::kDestroyXrq, "DESTROY_XRQ"},
    {CommandOpcode::kQueryXrq, "QUERY_XRQ"},
    {CommandOpcode::kQueryVportState, "QUERY_VPORT_STATE"},
    {CommandOpcode::kModifyVportState, "MODIFY_VPORT_STATE"},
    {CommandOpcode::kQueryNicVportContext, "QUERY_NIC_VPORT_CONTEXT"},
    {CommandOpcode::kModifyNicVportContext, "MODIFY_NIC_VPORT_CONTEXT"},
    {CommandOpcode::kQueryRoceAddress, "QUERY_ROCE_ADDRESS"},
    {CommandOpcode::kSetRoceAddress, "SET_ROCE_ADDRESS"},
    {CommandOpcode::kQueryHcaVportContext, "QUERY_HCA_VPORT_CONTEXT"},
    {CommandOpcode::kModifyHcaVportContext, "MODIFY_HCA_VPORT_CONTEXT"},
    {CommandOpcode::kQueryHcaVportGid, "QUERY_HCA_VPORT_GID"},
    {CommandOpcode::kQueryHcaVportPkey, "QUERY_HCA_VPORT_PKEY"},
    {CommandOpcode::kQueryVportCounter, "QUERY_VPORT_COUNTER"},
    {CommandOpcode::kAllocQueueCounter, "ALLOC_Q_COUNTER"},
    {CommandOpcode::kDeallocQueueCounter, "DEALLOC_Q_COUNTER"},
    {CommandOpcode::kQueryQueueCounter, "QUERY_Q_COUNTER"},
    {CommandOpcode::kAllocPd, "ALLOC_PD"},
    {CommandOpcode::kDeallocPd, "DEALLOC_PD"},
    {CommandOpcode::kAllocUar, "ALLOC_UAR"},
    {CommandOpcode::kDeallocUar, "DEALLOC_UAR"},
    {CommandOpcode::kAccessRegister, "ACCESS_REG"},
    {CommandOpcode::kAttachToMulticast, "ATTACH_TO_MCG"},
    {CommandOpcode::kDetachFromMulticast, "DETACH_FROM_MCG"},
    {CommandOpcode::kNop, "NOP"},
    {CommandOpcode::kAllocXrcd, "ALLOC_XRCD"},
    {CommandOpcode::kDeallocXrcd, "DEALLOC_XRCD"},
    {CommandOpcode::kAllocTransportDomain, "ALLOC_TRANSPORT_DOMAIN"},
    {CommandOpcode::kDeallocTransportDomain, "DEALLOC_TRANSPORT_DOMAIN"},
    {CommandOpcode::kCreateTir, "CREATE_TIR"},
    {CommandOpcode::kDestroyTir, "DESTROY_TIR"},
    {CommandOpcode::kCreateSq, "CREATE_SQ"},
    {CommandOpcode::kModifySq, "MODIFY_SQ"},
    {CommandOpcode::kDestroySq, "DESTROY_SQ"},
    {CommandOpcode::kQuerySq, "QUERY_SQ"},
    {CommandOpcode::kCreateRq, "CREATE_RQ"},
    {CommandOpcode::kModifyRq, "MODIFY_RQ"},
    {CommandOpcode::kDestroyRq, "DESTROY_RQ"},
    {CommandOpcode::kQueryRq, "QUERY_RQ"},
    {CommandOpcode::kCreateRmp, "CREATE_RMP"},
    {CommandOpcode::kModifyRmp, "MODIFY_RMP"},
    {CommandOpcode::kDestroyRmp, "DESTROY_RMP"},
    {CommandOpcode::kQueryRmp, "QUERY_RMP"},
    {CommandOpcode::kCreateTis, "CREATE_TIS"},
    {CommandOpcode::kDestroyTis, "DESTROY_TIS"},
    {CommandOpcode::kCreateFlowTable, "CREATE_FLOW_TABLE"},
    {CommandOpcode::kDestroyFlowTable, "DESTROY_FLOW_TABLE"},
    {CommandOpcode::kCreateFlowGroup, "CREATE_FLOW_GROUP"},
    {CommandOpcode::kDestroyFlowGroup, "DESTROY_FLOW_GROUP"},
    {CommandOpcode::kSetFlowTableEntry, "SET_FLOW_TABLE_ENTRY"},
    {CommandOpcode::kDeleteFlowTableEntry, "DELETE_FLOW_TABLE_ENTRY"},
};

}  // namespace

const char* name(CommandOpcode opcode) {
  const auto* const found =
      std::lower_bound(std::begin(kNames), std::end(kNames), opcode,
                       [](const OpcodeName& entry, CommandOpcode wanted) { return entry.opcode < wanted; });
  return found != std::end(kNames) && found->opcode == opcode ? found->name : "unknown";
}

}  // namespace hca::wire
