#include "models/wire/describe.h"

#include <cstdarg>
#include <cstdio>

#include "models/base/byte_view.h"

namespace hca::wire {
namespace {

__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  char line[192];
  std::va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(line, sizeof line, pattern, arguments);
  va_end(arguments);
  return line;
}

bool isError(CqeOpcode opcode) { return opcode == CqeOpcode::kRequesterError || opcode == CqeOpcode::kResponderError; }

std::string describeError(const Cqe& cqe, CqeOpcode opcode) {
  const auto error = structFrom<ErrorCqe>(bytesOf(cqe));
  return format("%s qp 0x%x counter %u syndrome 0x%02x (%s) vendor 0x%02x owner %d", name(opcode),
                Cqe::LocalQp::get(error.opcodeQp), unsigned{error.wqeCounter.host()}, unsigned{error.syndrome},
                name(static_cast<CqeSyndrome>(error.syndrome)), unsigned{error.vendorSyndrome},
                OpOwn::Owner::get(error.opOwn) ? 1 : 0);
}

}  // namespace

const char* name(CqeOpcode opcode) {
  switch (opcode) {
    case CqeOpcode::kRequester:
      return "requester";
    case CqeOpcode::kResponderWriteImmediate:
      return "responder RDMA_WRITE_IMM";
    case CqeOpcode::kResponderSend:
      return "responder SEND";
    case CqeOpcode::kResponderSendImmediate:
      return "responder SEND_IMM";
    case CqeOpcode::kResponderSendInvalidate:
      return "responder SEND_INVAL";
    case CqeOpcode::kResize:
      return "resize";
    case CqeOpcode::kNoPacket:
      return "no packet";
    case CqeOpcode::kSignatureError:
      return "signature error";
    case CqeOpcode::kRequesterError:
      return "requester error";
    case CqeOpcode::kResponderError:
      return "responder error";
    case CqeOpcode::kInvalid:
      return "invalid";
  }
  return "unknown";
}

const char* name(CqeFormat format) {
  switch (format) {
    case CqeFormat::kPlain:
      return "plain";
    case CqeFormat::kInline32:
      return "inline 32";
    case CqeFormat::kInline64:
      return "inline 64";
    case CqeFormat::kCompressed:
      return "compressed";
  }
  return "unknown";
}

const char* name(CqeSyndrome syndrome) {
  switch (syndrome) {
    case CqeSyndrome::kLocalLength:
      return "local length error";
    case CqeSyndrome::kLocalQpOperation:
      return "local QP operation error";
    case CqeSyndrome::kLocalProtection:
      return "local protection error";
    case CqeSyndrome::kWorkRequestFlushed:
      return "work request flushed";
    case CqeSyndrome::kMemoryWindowBind:
      return "memory window bind error";
    case CqeSyndrome::kBadResponse:
      return "bad response";
    case CqeSyndrome::kLocalAccess:
      return "local access error";
    case CqeSyndrome::kRemoteInvalidRequest:
      return "remote invalid request";
    case CqeSyndrome::kRemoteAccess:
      return "remote access error";
    case CqeSyndrome::kRemoteOperation:
      return "remote operation error";
    case CqeSyndrome::kTransportRetryExceeded:
      return "transport retry exceeded";
    case CqeSyndrome::kRnrRetryExceeded:
      return "RNR retry exceeded";
    case CqeSyndrome::kRemoteAborted:
      return "remote aborted";
  }
  return "unknown";
}

const char* name(SendOpcode opcode) {
  switch (opcode) {
    case SendOpcode::kNop:
      return "NOP";
    case SendOpcode::kSendInvalidate:
      return "SEND_INVAL";
    case SendOpcode::kWrite:
      return "RDMA_WRITE";
    case SendOpcode::kWriteImmediate:
      return "RDMA_WRITE_IMM";
    case SendOpcode::kSend:
      return "SEND";
    case SendOpcode::kSendImmediate:
      return "SEND_IMM";
    case SendOpcode::kSegmentedSend:
      return "TSO";
    case SendOpcode::kRead:
      return "RDMA_READ";
    case SendOpcode::kCompareSwap:
      return "ATOMIC_CS";
    case SendOpcode::kFetchAdd:
      return "ATOMIC_FA";
    case SendOpcode::kMaskedCompareSwap:
      return "ATOMIC_MASKED_CS";
    case SendOpcode::kMaskedFetchAdd:
      return "ATOMIC_MASKED_FA";
    case SendOpcode::kLocalInvalidate:
      return "LOCAL_INVAL";
    case SendOpcode::kSetPsv:
      return "SET_PSV";
    case SendOpcode::kUmr:
      return "UMR";
    case SendOpcode::kTagMatching:
      return "TAG_MATCHING";
    case SendOpcode::kMemoryOperation:
      return "MMO";
  }
  return "unknown";
}

const char* name(TagCompletion operation) {
  switch (operation) {
    case TagCompletion::kConsumed:
      return "tag consumed";
    case TagCompletion::kExpected:
      return "tag expected";
    case TagCompletion::kUnexpected:
      return "tag unexpected";
    case TagCompletion::kNoTag:
      return "no tag";
    case TagCompletion::kAppend:
      return "tag append";
    case TagCompletion::kRemove:
      return "tag remove";
    case TagCompletion::kNoOperation:
      return "tag no-op";
    case TagCompletion::kConsumedSoftware:
      return "tag consumed, software rendezvous";
    case TagCompletion::kConsumedMessage:
      return "tag consumed with its message";
    case TagCompletion::kConsumedMessageSoftware:
      return "tag consumed with its message, software rendezvous";
    case TagCompletion::kMessageCompletionCanceled:
      return "tag message completion canceled";
  }
  return "unknown";
}

const char* name(EventType type) {
  switch (type) {
    case EventType::kCompletion:
      return "completion";
    case EventType::kPathMigrated:
      return "path migrated";
    case EventType::kCommunicationEstablished:
      return "communication established";
    case EventType::kSendQueueDrained:
      return "send queue drained";
    case EventType::kCqError:
      return "CQ error";
    case EventType::kWorkQueueCatastrophicError:
      return "work queue catastrophic error";
    case EventType::kPathMigrationFailed:
      return "path migration failed";
    case EventType::kInternalError:
      return "internal error";
    case EventType::kPortChange:
      return "port change";
    case EventType::kCommandCompletion:
      return "command completion";
    case EventType::kPageRequest:
      return "page request";
    case EventType::kPageFault:
      return "page fault";
    case EventType::kNicVportChange:
      return "vport change";
    case EventType::kWorkQueueInvalidRequest:
      return "work queue invalid request";
    case EventType::kWorkQueueAccessError:
      return "work queue access error";
    case EventType::kSrqCatastrophicError:
      return "SRQ catastrophic error";
    case EventType::kSrqLastWqe:
      return "SRQ last WQE";
    case EventType::kSrqLimit:
      return "SRQ limit";
    case EventType::kGpio:
      return "GPIO";
    case EventType::kPortModule:
      return "port module";
    case EventType::kTemperatureWarning:
      return "temperature warning";
    case EventType::kXrqError:
      return "XRQ error";
    case EventType::kDoorbellCongestion:
      return "doorbell congestion";
    case EventType::kStall:
      return "stall";
    case EventType::kDctDrained:
      return "DCT drained";
    case EventType::kGeneral:
      return "general";
    case EventType::kObjectChange:
      return "object change";
  }
  return "unknown";
}

std::string describe(const Cqe& cqe) {
  const CqeOpcode opcode = OpOwn::Opcode::get(cqe.opOwn);
  const int owner = OpOwn::Owner::get(cqe.opOwn) ? 1 : 0;
  if (isError(opcode)) return describeError(cqe, opcode);
  if (opcode == CqeOpcode::kInvalid) return format("invalid owner %d", owner);
  const bool requester = opcode == CqeOpcode::kRequester;
  return format("%s%s%s qp 0x%x counter %u bytes %u format %s%s owner %d", name(opcode), requester ? " " : "",
                requester ? name(static_cast<SendOpcode>(Cqe::SendOpcode::get(cqe.opcodeQp))) : "",
                Cqe::LocalQp::get(cqe.opcodeQp), unsigned{cqe.wqeCounter.host()}, cqe.byteCount.host(),
                name(OpOwn::Format::get(cqe.opOwn)), OpOwn::Solicited::get(cqe.opOwn) ? " solicited" : "", owner);
}

std::string describe(const Eqe& eqe) {
  const auto type = static_cast<EventType>(eqe.type);
  const int owner = Eqe::Owner::get(eqe.owner) ? 1 : 0;
  switch (type) {
    case EventType::kCompletion:
      return format("%s cq 0x%x owner %d", name(type), eventData<CompletionEvent>(eqe).cq.host(), owner);
    case EventType::kCqError: {
      const auto data = eventData<CqErrorEvent>(eqe);
      return format("%s cq 0x%x syndrome %u owner %d", name(type), data.cq.host(), unsigned{data.syndrome}, owner);
    }
    case EventType::kCommandCompletion:
      return format("%s slots 0x%x owner %d", name(type), eventData<CommandEvent>(eqe).slots.host(), owner);
    case EventType::kPageRequest: {
      const auto data = eventData<PageRequestEvent>(eqe);
      return format("%s function %u pages %d owner %d", name(type), unsigned{data.function.host()},
                    static_cast<int>(data.pages.host()), owner);
    }
    case EventType::kPortChange:
      return format("%s port %u sub-type %u owner %d", name(type),
                    unsigned{PortEvent::Port::get(eventData<PortEvent>(eqe).port)}, unsigned{eqe.subType}, owner);
    default:
      return format("%s (0x%02x) owner %d", name(type), unsigned{eqe.type}, owner);
  }
}

}  // namespace hca::wire
