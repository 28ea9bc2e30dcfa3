#include "sim/driver/completion_parser.h"

#include <cstddef>

#include "models/base/byte_view.h"
#include "models/wire/wqe.h"

namespace hca::driver {
namespace {

constexpr std::uint32_t kAtomicLength = 8;

void fillRequester(const wire::Cqe& cqe, WorkCompletion& completion) {
  switch (static_cast<wire::SendOpcode>(wire::Cqe::SendOpcode::get(cqe.opcodeQp))) {
    case wire::SendOpcode::kWrite:
    case wire::SendOpcode::kWriteImmediate:
      completion.opcode = WcOpcode::kWrite;
      break;
    case wire::SendOpcode::kRead:
      completion.opcode = WcOpcode::kRead;
      completion.byteLength = cqe.byteCount.host();
      break;
    case wire::SendOpcode::kCompareSwap:
      completion.opcode = WcOpcode::kCompareSwap;
      completion.byteLength = kAtomicLength;
      break;
    case wire::SendOpcode::kFetchAdd:
      completion.opcode = WcOpcode::kFetchAdd;
      completion.byteLength = kAtomicLength;
      break;
    default:
      completion.opcode = WcOpcode::kSend;
      break;
  }
}

void fillResponder(const wire::Cqe& cqe, wire::CqeOpcode opcode, WorkCompletion& completion) {
  completion.opcode =
      opcode == wire::CqeOpcode::kResponderWriteImmediate ? WcOpcode::kReceiveWriteImmediate : WcOpcode::kReceive;
  completion.byteLength = cqe.byteCount.host();
  completion.hasInvalidatedKey = opcode == wire::CqeOpcode::kResponderSendInvalidate;
  completion.hasImmediate =
      opcode == wire::CqeOpcode::kResponderWriteImmediate || opcode == wire::CqeOpcode::kResponderSendImmediate;
  if (completion.hasImmediate || completion.hasInvalidatedKey) completion.immediateOrKey = cqe.immediate.host();
  // Inline data of up to 32 bytes are where the address would be.
  if (wire::OpOwn::Format::get(cqe.opOwn) == wire::CqeFormat::kInline32) return;
  completion.sourceQp = QpNumber(wire::Cqe::RemoteQp::get(cqe.flagsRemoteQp));
  completion.hasGlobalRoute =
      wire::Cqe::GrhInBuffer::get(cqe.flagsRemoteQp) || wire::Cqe::GrhInEntry::get(cqe.flagsRemoteQp);
  constexpr std::uint32_t kIpv4 = 2;
  completion.checksumOk = wire::Cqe::NetworkOk::get(cqe.headerFlags) && wire::Cqe::TransportOk::get(cqe.headerFlags) &&
                          wire::Cqe::NetworkType::get(cqe.headerTypes) == kIpv4;
  completion.vlan = cqe.vlan.host();
  completion.flowTag = wire::Cqe::FlowTag::get(cqe.opcodeQp);
  completion.sourceLid = Lid(cqe.sourceLid.host());
  completion.pathBits = cqe.pathBits & 0x7F;
  completion.serviceLevel = static_cast<std::uint8_t>(wire::Cqe::ServiceLevel::get(cqe.flagsRemoteQp));
}

}  // namespace

const char* name(WcOpcode opcode) {
  switch (opcode) {
    case WcOpcode::kSend:
      return "SEND";
    case WcOpcode::kWrite:
      return "RDMA_WRITE";
    case WcOpcode::kRead:
      return "RDMA_READ";
    case WcOpcode::kCompareSwap:
      return "COMP_SWAP";
    case WcOpcode::kFetchAdd:
      return "FETCH_ADD";
    case WcOpcode::kBindWindow:
      return "BIND_MW";
    case WcOpcode::kLocalInvalidate:
      return "LOCAL_INV";
    case WcOpcode::kReceive:
      return "RECV";
    case WcOpcode::kReceiveWriteImmediate:
      return "RECV_RDMA_WITH_IMM";
  }
  return "UNKNOWN";
}

const char* name(WcStatus status) {
  switch (status) {
    case WcStatus::kSuccess:
      return "SUCCESS";
    case WcStatus::kLocalLength:
      return "LOC_LEN_ERR";
    case WcStatus::kLocalQpOperation:
      return "LOC_QP_OP_ERR";
    case WcStatus::kLocalEeContext:
      return "LOC_EEC_OP_ERR";
    case WcStatus::kLocalProtection:
      return "LOC_PROT_ERR";
    case WcStatus::kFlushed:
      return "WR_FLUSH_ERR";
    case WcStatus::kWindowBind:
      return "MW_BIND_ERR";
    case WcStatus::kBadResponse:
      return "BAD_RESP_ERR";
    case WcStatus::kLocalAccess:
      return "LOC_ACCESS_ERR";
    case WcStatus::kRemoteInvalidRequest:
      return "REM_INV_REQ_ERR";
    case WcStatus::kRemoteAccess:
      return "REM_ACCESS_ERR";
    case WcStatus::kRemoteOperation:
      return "REM_OP_ERR";
    case WcStatus::kRetryExceeded:
      return "RETRY_EXC_ERR";
    case WcStatus::kRnrRetryExceeded:
      return "RNR_RETRY_EXC_ERR";
    case WcStatus::kRemoteAborted:
      return "REM_ABORT_ERR";
    case WcStatus::kGeneral:
      return "GENERAL_ERR";
  }
  return "unknown";
}

WcStatus statusOf(std::uint8_t syndrome) {
  switch (static_cast<wire::CqeSyndrome>(syndrome)) {
    case wire::CqeSyndrome::kLocalLength:
      return WcStatus::kLocalLength;
    case wire::CqeSyndrome::kLocalQpOperation:
      return WcStatus::kLocalQpOperation;
    case wire::CqeSyndrome::kLocalProtection:
      return WcStatus::kLocalProtection;
    case wire::CqeSyndrome::kWorkRequestFlushed:
      return WcStatus::kFlushed;
    case wire::CqeSyndrome::kMemoryWindowBind:
      return WcStatus::kWindowBind;
    case wire::CqeSyndrome::kBadResponse:
      return WcStatus::kBadResponse;
    case wire::CqeSyndrome::kLocalAccess:
      return WcStatus::kLocalAccess;
    case wire::CqeSyndrome::kRemoteInvalidRequest:
      return WcStatus::kRemoteInvalidRequest;
    case wire::CqeSyndrome::kRemoteAccess:
      return WcStatus::kRemoteAccess;
    case wire::CqeSyndrome::kRemoteOperation:
      return WcStatus::kRemoteOperation;
    case wire::CqeSyndrome::kTransportRetryExceeded:
      return WcStatus::kRetryExceeded;
    case wire::CqeSyndrome::kRnrRetryExceeded:
      return WcStatus::kRnrRetryExceeded;
    case wire::CqeSyndrome::kRemoteAborted:
      return WcStatus::kRemoteAborted;
  }
  return WcStatus::kGeneral;
}

CompletedQueue completedQueue(wire::CqeOpcode opcode) {
  switch (opcode) {
    case wire::CqeOpcode::kRequester:
    case wire::CqeOpcode::kRequesterError:
      return CompletedQueue::kSend;
    case wire::CqeOpcode::kResponderWriteImmediate:
    case wire::CqeOpcode::kResponderSend:
    case wire::CqeOpcode::kResponderSendImmediate:
    case wire::CqeOpcode::kResponderSendInvalidate:
    case wire::CqeOpcode::kResponderError:
      return CompletedQueue::kReceive;
    default:
      return CompletedQueue::kNone;
  }
}

WorkCompletion parseCompletion(const wire::Cqe& cqe) {
  const wire::CqeOpcode opcode = wire::OpOwn::Opcode::get(cqe.opOwn);
  WorkCompletion completion;
  completion.qp = QpNumber(wire::Cqe::LocalQp::get(cqe.opcodeQp));
  if (opcode == wire::CqeOpcode::kRequesterError || opcode == wire::CqeOpcode::kResponderError) {
    const auto error = structFrom<wire::ErrorCqe>(bytesOf(cqe));
    completion.status = statusOf(error.syndrome);
    completion.vendorError = error.vendorSyndrome;
    completion.opcode = opcode == wire::CqeOpcode::kRequesterError ? WcOpcode::kSend : WcOpcode::kReceive;
    return completion;
  }
  completion.timestamp = cqe.timestamp.host();
  if (opcode == wire::CqeOpcode::kRequester) {
    fillRequester(cqe, completion);
  } else {
    fillResponder(cqe, opcode, completion);
  }
  return completion;
}

VerbsError errorOf(const adapter::CommandResult& result) {
  using adapter::CommandStatus;
  switch (result.status) {
    case CommandStatus::kOk:
      return VerbsError::kNone;
    case CommandStatus::kResourceBusy:
      return VerbsError::kBusy;
    case CommandStatus::kExceedLimit:
    case CommandStatus::kNoResources:
      return VerbsError::kNoMemory;
    case CommandStatus::kInternalError:
    case CommandStatus::kBadSystemState:
    case CommandStatus::kBadInputLength:
    case CommandStatus::kBadOutputLength:
      return VerbsError::kInputOutput;
    case CommandStatus::kBadOperation:
    case CommandStatus::kBadParameter:
    case CommandStatus::kBadResource:
    case CommandStatus::kBadResourceState:
    case CommandStatus::kBadIndex:
    case CommandStatus::kBadQpState:
    case CommandStatus::kBadPacket:
    case CommandStatus::kBadSize:
      return VerbsError::kInvalid;
  }
  return VerbsError::kInputOutput;
}

}  // namespace hca::driver
