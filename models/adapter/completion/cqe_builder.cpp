#include "models/adapter/completion/cqe_builder.h"

#include <cassert>
#include <cstring>

namespace hca::adapter {
namespace {

constexpr std::uint32_t k24Bits = 0xFFFFFF;

wire::Be32 opcodeAndQp(const CompletionRecord& record) {
  return wire::Be32(std::uint32_t{record.sendOpcode} << 24 | (record.qp.value() & k24Bits));
}

wire::CqeFormat formatOf(const CompletionRecord& record) {
  if (record.inlineLength == 0) return wire::CqeFormat::kPlain;
  return record.inlineLength <= wire::kInlineScatterSmall ? wire::CqeFormat::kInline32 : wire::CqeFormat::kInline64;
}

// Both fill the entry in place: a copy of a structure just written word by word stalls the processor.
void fill(wire::Cqe& cqe, const CompletionRecord& record, std::uint64_t timestamp) {
  cqe = {};
  cqe.pathBits = record.pathBits & 0x7F;
  cqe.checksum = wire::Be16(record.checksum);
  cqe.sourceLid = wire::Be16(record.sourceLid);
  cqe.flagsRemoteQp =
      wire::Be32((record.remoteQp.value() & k24Bits) | wire::Cqe::ServiceLevel::make(record.serviceLevel & 0xFU) |
                 wire::Cqe::GrhInBuffer::make(record.globalRouteInBuffer));
  cqe.userIndex = wire::Be32(record.userIndex & k24Bits);
  cqe.immediate = wire::Be32(record.immediateOrKey);
  cqe.wqeId = wire::Be16(record.wqeId);
  cqe.byteCount = wire::Be32(record.byteCountWord());
  cqe.timestamp = wire::Be64(timestamp & (UINT64_MAX >> 1));
  cqe.opcodeQp = opcodeAndQp(record);
  cqe.wqeCounter = wire::Be16(record.wqeCounter);
}

void fillFrame(wire::Cqe& cqe, const FrameDescription& frame) {
  using wire::Cqe;
  cqe.headerFlags = static_cast<std::uint8_t>(Cqe::LinkOk::make(true) | Cqe::NetworkOk::make(frame.networkOk) |
                                              Cqe::TransportOk::make(frame.transportOk));
  cqe.headerTypes =
      static_cast<std::uint8_t>(Cqe::VlanPresent::make(frame.hadVlan) | Cqe::NetworkType::make(frame.networkType) |
                                Cqe::TransportType::make(frame.transportType));
  cqe.vlan = wire::Be16(frame.vlan);
  cqe.rssHash = wire::Be32(frame.rssHash);
  cqe.rssHashType = frame.rssHashType;
  Cqe::FlowTag::set(cqe.opcodeQp, frame.flowTag & k24Bits);
}

void fillTag(wire::Cqe& cqe, const TagDescription& tag) {
  cqe.app = wire::kTagMatchingApp;
  cqe.appOperation = static_cast<std::uint8_t>(tag.operation);
  cqe.appInfo = wire::Be16(tag.place);
  if (tag.hasFront) std::memcpy(static_cast<void*>(&cqe), tag.front.data(), tag.front.size());
}

void fillError(wire::Cqe& entry, const CompletionRecord& record, std::uint8_t filling) {
  wire::ErrorCqe cqe;
  std::memset(cqe.reserved0, filling, sizeof cqe.reserved0);
  std::memset(cqe.reserved1, filling, sizeof cqe.reserved1);
  cqe.hardwareSyndrome = filling;
  cqe.hardwareSyndromeType = filling;
  cqe.signature = filling;
  cqe.userIndex = wire::Be32(record.userIndex & k24Bits);
  cqe.vendorSyndrome = record.vendorError;
  cqe.syndrome = static_cast<std::uint8_t>(record.syndrome);
  cqe.opcodeQp = opcodeAndQp(record);
  cqe.wqeCounter = wire::Be16(record.wqeCounter);
  static_assert(sizeof cqe == sizeof entry);
  std::memcpy(static_cast<void*>(&entry), &cqe, sizeof cqe);
}

}  // namespace

bool CqeBuilder::isSolicited(const CompletionRecord& record) {
  if (record.isError()) return true;
  const bool responder =
      record.opcode >= CqeOpcode::kResponderWriteImmediate && record.opcode <= CqeOpcode::kResponderSendInvalidate;
  return responder && record.solicited;
}

void CqeBuilder::build(const CompletionRecord& record, std::uint64_t index, std::uint64_t timestamp,
                       CqeImage& image) const {
  const wire::CqeFormat format = record.isError() ? wire::CqeFormat::kPlain : formatOf(record);
  const bool firstHalf =
      stride_ == CqeStride::k128Padded || (stride_ == CqeStride::k128 && format == wire::CqeFormat::kInline64);
  assert((stride_ != CqeStride::k64 && stride_ != CqeStride::k32) || format != wire::CqeFormat::kInline64);
  const bool offset = stride_ == CqeStride::k128 && !firstHalf;
  image.offset = offset ? sizeof image.wide.inlineData : 0;
  image.length = firstHalf ? sizeof image.wide : sizeof image.wide.cqe;
  if (stride_ == CqeStride::k32) image.length = wire::kShortCqeSize;
  wire::Cqe& cqe = image.wide.cqe;
  if (record.isError()) {
    fillError(cqe, record, filling_);
  } else {
    fill(cqe, record, timestamp);
    if (record.frame) fillFrame(cqe, *record.frame);
    if (record.tag) fillTag(cqe, *record.tag);
  }
  const std::uint8_t before = record.isError() ? filling_ : 0;
  if (firstHalf) std::memset(image.wide.inlineData, before, sizeof image.wide.inlineData);
  if (format == wire::CqeFormat::kInline32)
    std::memcpy(static_cast<void*>(&cqe), record.inlineData.data(), record.inlineLength);
  if (format == wire::CqeFormat::kInline64) {
    std::memcpy(image.wide.inlineData, record.inlineData.data(), record.inlineLength);
  }
  if (withValidity_) cqe.signature = static_cast<std::uint8_t>(index >> logSize_);
  cqe.opOwn = static_cast<std::uint8_t>(wire::OpOwn::Opcode::make(record.opcode) | wire::OpOwn::Format::make(format) |
                                        wire::OpOwn::Solicited::make(isSolicited(record)) |
                                        wire::OpOwn::Owner::make(((index >> logSize_) & 1) != 0));
}

void CqeBuilder::makeTitle(std::uint32_t count, CqeImage& image) {
  image.wide.cqe.byteCount = wire::Be32(count);
  wire::OpOwn::Format::set(image.wide.cqe.opOwn, wire::CqeFormat::kCompressed);
}

}  // namespace hca::adapter
