// Words for logs.
#include "models/adapter/command/syndromes.h"

namespace hca::adapter {

// Without a default: the compiler names what a new check forgets.
const char* name(Syndrome syndrome) {
  switch (syndrome) {
    case Syndrome::kNone:
      return "none";
    case Syndrome::kUnknownOpcode:
      return "unknown opcode";
    case Syndrome::kUnknownOperationModifier:
      return "unknown operation modifier";
    case Syndrome::kInputTooShort:
      return "input too short";
    case Syndrome::kOutputTooShort:
      return "output too short";
    case Syndrome::kWrongDeviceState:
      return "wrong device state";
    case Syndrome::kUnknownFieldSelect:
      return "unknown field select";
    case Syndrome::kUnknownFunction:
      return "unknown function";
    case Syndrome::kPagesMissing:
      return "pages missing";
    case Syndrome::kPagesHeld:
      return "pages held";
    case Syndrome::kTooManyPages:
      return "too many pages";
    case Syndrome::kPageMisaligned:
      return "page misaligned";
    case Syndrome::kPageGivenTwice:
      return "page given twice";
    case Syndrome::kUnknownInterfaceRevision:
      return "unknown interface revision";
    case Syndrome::kUnknownTeardownProfile:
      return "unknown teardown profile";
    case Syndrome::kCapabilityNotSettable:
      return "capability not settable";
    case Syndrome::kCapabilityOutOfRange:
      return "capability out of range";
    case Syndrome::kHostEndiannessUnsupported:
      return "host endianness unsupported";
    case Syndrome::kUserMemoryUnsupported:
      return "user memory unsupported";
    case Syndrome::kUnknownEq:
      return "unknown EQ";
    case Syndrome::kEqSizeOutOfRange:
      return "EQ size out of range";
    case Syndrome::kEqVectorOutOfRange:
      return "EQ vector out of range";
    case Syndrome::kEqLimit:
      return "EQ limit";
    case Syndrome::kEqInUse:
      return "EQ in use";
    case Syndrome::kEqPagesWrong:
      return "EQ pages wrong";
    case Syndrome::kUnknownCq:
      return "unknown CQ";
    case Syndrome::kCqSizeOutOfRange:
      return "CQ size out of range";
    case Syndrome::kCqEntrySizeUnsupported:
      return "CQ entry size unsupported";
    case Syndrome::kCqLimit:
      return "CQ limit";
    case Syndrome::kCqInUse:
      return "CQ in use";
    case Syndrome::kCqPagesWrong:
      return "CQ pages wrong";
    case Syndrome::kCqEqUnknown:
      return "CQ EQ unknown";
    case Syndrome::kCqModerationOutOfRange:
      return "CQ moderation out of range";
    case Syndrome::kCqFormatUnsupported:
      return "CQ format unsupported";
    case Syndrome::kCqUarUnknown:
      return "CQ UAR unknown";
    case Syndrome::kCqDoorbellRecordBad:
      return "CQ doorbell record bad";
    case Syndrome::kCqTooSmallForEntries:
      return "CQ too small for entries";
    case Syndrome::kCqInError:
      return "CQ in error";
    case Syndrome::kCqNoSlotForResize:
      return "CQ no slot for resize";
    case Syndrome::kCqModerationUnsupported:
      return "CQ moderation unsupported";
    case Syndrome::kUnknownQp:
      return "unknown QP";
    case Syndrome::kQpTransitionIllegal:
      return "QP transition illegal";
    case Syndrome::kQpLimit:
      return "QP limit";
    case Syndrome::kQpServiceUnsupported:
      return "QP service unsupported";
    case Syndrome::kQpSizeOutOfRange:
      return "QP size out of range";
    case Syndrome::kQpCqUnknown:
      return "QP CQ unknown";
    case Syndrome::kQpPdUnknown:
      return "QP PD unknown";
    case Syndrome::kQpPagesWrong:
      return "QP pages wrong";
    case Syndrome::kQpUarUnknown:
      return "QP UAR unknown";
    case Syndrome::kQpAttributeOutOfRange:
      return "QP attribute out of range";
    case Syndrome::kQpSrqUnknown:
      return "QP SRQ unknown";
    case Syndrome::kQpDomainUnknown:
      return "QP domain unknown";
    case Syndrome::kQpPortUnknown:
      return "QP port unknown";
    case Syndrome::kQpInlineScatterUnsupported:
      return "QP inline scatter unsupported";
    case Syndrome::kQpReceiveLayoutUnsupported:
      return "QP receive layout unsupported";
    case Syndrome::kQpHasFlows:
      return "QP has flows";
    case Syndrome::kUnknownDct:
      return "unknown DCT";
    case Syndrome::kUnknownFlow:
      return "unknown flow";
    case Syndrome::kUnknownTir:
      return "unknown TIR";
    case Syndrome::kTirInUse:
      return "TIR in use";
    case Syndrome::kTirDispatchUnsupported:
      return "TIR dispatch unsupported";
    case Syndrome::kUnknownTis:
      return "unknown TIS";
    case Syndrome::kTisInUse:
      return "TIS in use";
    case Syndrome::kEthernetObjectLimit:
      return "ethernet object limit";
    case Syndrome::kUnknownFlowTable:
      return "unknown flow table";
    case Syndrome::kFlowTableInUse:
      return "flow table in use";
    case Syndrome::kUnknownFlowGroup:
      return "unknown flow group";
    case Syndrome::kFlowGroupInUse:
      return "flow group in use";
    case Syndrome::kFlowIndexOutOfRange:
      return "flow index out of range";
    case Syndrome::kFlowMatchUnsupported:
      return "flow match unsupported";
    case Syndrome::kFlowActionUnsupported:
      return "flow action unsupported";
    case Syndrome::kUnknownRqt:
      return "unknown RQT";
    case Syndrome::kRqtInUse:
      return "RQT in use";
    case Syndrome::kRqtSizeOutOfRange:
      return "RQT size out of range";
    case Syndrome::kMulticastGidBad:
      return "multicast GID bad";
    case Syndrome::kMulticastLimit:
      return "multicast limit";
    case Syndrome::kNotInMulticastGroup:
      return "not in multicast group";
    case Syndrome::kFlowConflict:
      return "a rule with this match does something else";
    case Syndrome::kQpPartitionOutOfRange:
      return "QP partition out of range";
    case Syndrome::kQpMigrationIllegal:
      return "QP migration illegal";
    case Syndrome::kUnknownMemoryKey:
      return "unknown memory key";
    case Syndrome::kMemoryKeyLimit:
      return "memory key limit";
    case Syndrome::kMemoryKeyModeUnsupported:
      return "memory key mode unsupported";
    case Syndrome::kMemoryKeyRangeBad:
      return "memory key range bad";
    case Syndrome::kMemoryKeyPdUnknown:
      return "memory key PD unknown";
    case Syndrome::kMemoryKeyPagesWrong:
      return "memory key pages wrong";
    case Syndrome::kMemoryKeyInUse:
      return "memory key in use";
    case Syndrome::kMemoryKeyPiecesWrong:
      return "memory key pieces wrong";
    case Syndrome::kUnknownPd:
      return "unknown PD";
    case Syndrome::kPdInUse:
      return "PD in use";
    case Syndrome::kPdLimit:
      return "PD limit";
    case Syndrome::kUnknownUar:
      return "unknown UAR";
    case Syndrome::kUarLimit:
      return "UAR limit";
    case Syndrome::kUnknownXrcd:
      return "unknown XRCD";
    case Syndrome::kUnknownTransportDomain:
      return "unknown transport domain";
    case Syndrome::kUnknownRegister:
      return "unknown register";
    case Syndrome::kUnknownPort:
      return "unknown port";
    case Syndrome::kUnsupportedCapabilityType:
      return "unsupported capability type";
    case Syndrome::kXrcdInUse:
      return "XRCD in use";
    case Syndrome::kXrcdLimit:
      return "XRCD limit";
    case Syndrome::kTransportDomainInUse:
      return "transport domain in use";
    case Syndrome::kTransportDomainLimit:
      return "transport domain limit";
    case Syndrome::kGidIndexOutOfRange:
      return "GID index out of range";
    case Syndrome::kPkeyIndexOutOfRange:
      return "P_Key index out of range";
    case Syndrome::kRegisterReadOnly:
      return "register read only";
    case Syndrome::kDeviceMemoryRangeBad:
      return "device memory range bad";
    case Syndrome::kDeviceMemorySizeBad:
      return "device memory size bad";
    case Syndrome::kDeviceMemoryAlignmentBad:
      return "device memory alignment bad";
    case Syndrome::kDeviceMemoryFull:
      return "device memory full";
    case Syndrome::kUnknownDeviceMemory:
      return "unknown device memory";
    case Syndrome::kDeviceMemoryInUse:
      return "device memory in use";
    case Syndrome::kUnknownSrq:
      return "unknown SRQ";
    case Syndrome::kSrqSizeOutOfRange:
      return "SRQ size out of range";
    case Syndrome::kSrqPagesWrong:
      return "SRQ pages wrong";
    case Syndrome::kSrqDoorbellRecordBad:
      return "SRQ doorbell record bad";
    case Syndrome::kSrqLimitOutOfRange:
      return "SRQ limit out of range";
    case Syndrome::kSrqFormatUnsupported:
      return "SRQ format unsupported";
    case Syndrome::kSrqCqUnknown:
      return "SRQ CQ unknown";
    case Syndrome::kSrqPdUnknown:
      return "SRQ PD unknown";
    case Syndrome::kSrqDomainUnknown:
      return "SRQ domain unknown";
    case Syndrome::kSrqLimit:
      return "SRQ limit";
    case Syndrome::kSrqInUse:
      return "SRQ in use";
    case Syndrome::kSrqInError:
      return "SRQ in error";
    case Syndrome::kSrqTagListTooLong:
      return "SRQ tag list too long";
    case Syndrome::kUnknownUmem:
      return "unknown umem";
    case Syndrome::kUmemInUse:
      return "umem in use";
    case Syndrome::kUmemLimit:
      return "umem limit";
    case Syndrome::kUmemPagesWrong:
      return "umem pages wrong";
    case Syndrome::kDriverVersionUnterminated:
      return "driver version unterminated";
    case Syndrome::kQpSpecialTaken:
      return "QP special taken";
    case Syndrome::kPortFieldNotModifiable:
      return "port field not modifiable";
    case Syndrome::kCommandTimedOut:
      return "command timed out";
  }
  return "unknown syndrome";
}

}  // namespace hca::adapter
