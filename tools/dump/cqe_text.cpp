#include "tools/dump/cqe_text.h"

#include <optional>

#include "models/wire/describe.h"
#include "models/wire/mini_cqe.h"
#include "tools/dump/field_list.h"

namespace hca::dump {
namespace {

using wire::Cqe;
using wire::CqeFormat;
using wire::CqeOpcode;
using wire::OpOwn;

void addTail(FieldList& list, std::uint8_t opOwn, std::uint8_t signature) {
  list.hex("signature", signature);
  list.named("opcode", static_cast<std::uint8_t>(OpOwn::Opcode::get(opOwn)), wire::name(OpOwn::Opcode::get(opOwn)));
  list.named("format", static_cast<std::uint8_t>(OpOwn::Format::get(opOwn)), wire::name(OpOwn::Format::get(opOwn)));
  list.flag("solicited", OpOwn::Solicited::get(opOwn));
  list.decimal("owner", OpOwn::Owner::get(opOwn) ? 1 : 0);
}

void addQueueFields(FieldList& list, std::uint32_t opcodeQp, std::uint16_t counter) {
  const auto opcode = static_cast<std::uint8_t>(Cqe::SendOpcode::get(opcodeQp));
  list.named("send_opcode", opcode, wire::name(static_cast<wire::SendOpcode>(opcode)));
  list.hex("qpn", Cqe::LocalQp::get(opcodeQp));
  list.decimal("wqe_counter", counter);
}

FieldList errorFields(const Cqe& cqe) {
  const auto error = structFrom<wire::ErrorCqe>(bytesOf(cqe));
  FieldList list;
  list.hex("srqn_uidx", error.userIndex.host());
  list.hex("hw_err_synd", error.hardwareSyndrome);
  list.hex("hw_synd_type", error.hardwareSyndromeType);
  list.hex("vendor_err_synd", error.vendorSyndrome);
  list.named("syndrome", error.syndrome, wire::name(static_cast<wire::CqeSyndrome>(error.syndrome)));
  addQueueFields(list, error.opcodeQp.host(), error.wqeCounter.host());
  addTail(list, error.opOwn, error.signature);
  return list;
}

FieldList signatureFields(const Cqe& cqe) {
  const auto error = structFrom<wire::SignatureErrorCqe>(bytesOf(cqe));
  FieldList list;
  list.hex("expected_trans_sig", error.expectedSignature.host());
  list.hex("actual_trans_sig", error.actualSignature.host());
  list.hex("expected_reftag", error.expectedReferenceTag.host());
  list.hex("actual_reftag", error.actualReferenceTag.host());
  list.hex("syndrome", error.syndrome.host());
  list.hex("sig_type", error.signatureType);
  list.hex("domain", error.domain);
  list.hex("mkey", error.memoryKey.host());
  list.hex("err_offset", error.errorOffset.host());
  list.hex("qpn", error.qp.host());
  addTail(list, error.opOwn, error.signature);
  return list;
}

void addHeaderFields(FieldList& list, const Cqe& cqe) {
  const std::uint32_t flags = cqe.flagsRemoteQp.host();
  list.hex("tunnelled", cqe.tunnelled);
  list.decimal("wqe_id", cqe.wqeId.host());
  list.bytes("coalescing", cqe.coalescing, sizeof cqe.coalescing);
  list.hex("rss_hash_result", cqe.rssHash.host());
  list.hex("rss_hash_type", cqe.rssHashType);
  list.hex("ml_path", cqe.pathBits);
  list.hex("check_sum", cqe.checksum.host());
  list.hex("slid", cqe.sourceLid.host());
  list.hex("rqpn", Cqe::RemoteQp::get(flags));
  list.decimal("sl", Cqe::ServiceLevel::get(flags));
  list.flag("grh_in_buffer", Cqe::GrhInBuffer::get(flags));
  list.flag("grh_in_cqe", Cqe::GrhInEntry::get(flags));
}

FieldList plainFields(const Cqe& cqe) {
  FieldList list;
  // Up to 32 bytes of inline data replace what is in front.
  if (OpOwn::Format::get(cqe.opOwn) == CqeFormat::kInline32) {
    list.bytes("inline_data", bytesOf(cqe).data(), wire::kInlineScatterSmall);
  } else {
    addHeaderFields(list, cqe);
    list.hex("hds_ip_ext", cqe.headerFlags);
    list.hex("l4_l3_hdr_type", cqe.headerTypes);
    list.hex("vlan_info", cqe.vlan.host());
  }
  list.hex("srqn_uidx", Cqe::UserIndex::get(cqe.userIndex));
  list.decimal("lro_num_seg", cqe.userIndex.host() >> 24);
  list.hex("imm_inval_pkey", cqe.immediate.host());
  list.hex("app", cqe.app);
  if (cqe.app == wire::kTagMatchingApp) {
    list.named("app_op", cqe.appOperation, wire::name(static_cast<wire::TagCompletion>(cqe.appOperation)));
  } else {
    list.hex("app_op", cqe.appOperation);
  }
  list.hex("app_info", cqe.appInfo.host());
  list.decimal("byte_cnt", cqe.byteCount.host());
  list.hex("timestamp", cqe.timestamp.host());
  addQueueFields(list, cqe.opcodeQp.host(), cqe.wqeCounter.host());
  addTail(list, cqe.opOwn, cqe.signature);
  return list;
}

FieldList fieldsOf(const Cqe& cqe) {
  switch (OpOwn::Opcode::get(cqe.opOwn)) {
    case CqeOpcode::kRequesterError:
    case CqeOpcode::kResponderError:
      return errorFields(cqe);
    case CqeOpcode::kSignatureError:
      return signatureFields(cqe);
    default:
      return plainFields(cqe);
  }
}

bool isError(CqeOpcode opcode) {
  return opcode == CqeOpcode::kRequesterError || opcode == CqeOpcode::kResponderError ||
         opcode == CqeOpcode::kSignatureError;
}

/// Reads a ring from the consumer index on, as its software would.
class CqReader {
 public:
  CqReader(const RingSlots& ring, const DumpOptions& options) : ring_(ring), options_(options) {}

  std::string run() {
    const std::uint64_t end = options_.index + ring_.size();
    for (std::uint64_t index = options_.index; index < end;) index += take(index);
    return std::move(text_);
  }

 private:
  std::uint64_t take(std::uint64_t index) {
    if (!ring_.has(index)) {
      note(index, "not in the dump");
      return 1;
    }
    const Cqe cqe = cqeAt(index);
    if (!owned(index, cqe)) {
      note(index, notOwned(index, cqe));
      return 1;
    }
    const bool block = OpOwn::Format::get(cqe.opOwn) == CqeFormat::kCompressed;
    if (block && options_.layout == Layout::kBasic) return basic(index, cqe);
    if (block && options_.layout == Layout::kEnhanced) return enhanced(index, cqe);
    note(index, "valid");
    entry(index, cqe);
    if (block) text_ += "    (a compressed session: say which layout with --layout)\n";
    title_ = cqe;
    advance_ = advanceOf(cqe);
    return 1;
  }

  [[nodiscard]] Cqe cqeAt(std::uint64_t index) const {
    return structFrom<Cqe>(ring_.at(index).subview(ring_.slotSize() - sizeof(Cqe), sizeof(Cqe)));
  }

  [[nodiscard]] std::uint8_t pass(std::uint64_t index) const {
    return static_cast<std::uint8_t>(index >> ring_.logSize());
  }
  [[nodiscard]] bool owned(std::uint64_t index, const Cqe& cqe) const {
    if (options_.layout == Layout::kEnhanced) {
      const bool block = OpOwn::Format::get(cqe.opOwn) == CqeFormat::kCompressed;
      return cqe.signature == pass(index) && (block || OpOwn::Opcode::get(cqe.opOwn) != CqeOpcode::kInvalid);
    }
    return wire::isSoftwareOwned(cqe.opOwn, static_cast<std::uint32_t>(index), ring_.logSize());
  }
  [[nodiscard]] std::string notOwned(std::uint64_t index, const Cqe& cqe) const {
    if (options_.layout == Layout::kEnhanced && cqe.signature != pass(index)) {
      return "the adapter's: validity byte " + std::to_string(cqe.signature) + ", this pass has " +
             std::to_string(pass(index));
    }
    if (OpOwn::Opcode::get(cqe.opOwn) == CqeOpcode::kInvalid) return "the adapter's: opcode invalid";
    return "the adapter's: owner bit " + std::to_string(OpOwn::Owner::get(cqe.opOwn) ? 1 : 0) +
           " is of another pass; last in it: " + wire::describe(cqe);
  }

  void note(std::uint64_t index, const std::string& what) {
    text_ += "index " + std::to_string(index) + " slot " + std::to_string(ring_.slotOf(index)) + ": " + what + '\n';
  }

  void entry(std::uint64_t index, const Cqe& cqe) {
    text_ += "  " + wire::describe(cqe) + '\n';
    if (options_.brief) return;
    const bool wide = ring_.slotSize() == sizeof(wire::WideCqe);
    const bool hasData = OpOwn::Format::get(cqe.opOwn) == CqeFormat::kInline64;
    if (wide && !isError(OpOwn::Opcode::get(cqe.opOwn))) {
      FieldList front;
      front.bytes(hasData ? "inline_data" : "first_half", ring_.at(index).data(), wire::kInlineScatterLarge);
      text_ += front.toText("    ");
    }
    text_ += fieldsOf(cqe).toText("    ");
    if (!isStriding(cqe)) return;
    FieldList strides;
    strides.decimal("packet_length", Cqe::PacketLength::get(cqe.byteCount));
    strides.decimal("consumed_strides", Cqe::ConsumedStrides::get(cqe.byteCount));
    strides.flag("filler", Cqe::Filler::get(cqe.byteCount));
    text_ += strides.toText("    ");
  }

  [[nodiscard]] bool isStriding(const Cqe& cqe) const {
    const CqeOpcode opcode = OpOwn::Opcode::get(cqe.opOwn);
    return options_.striding && opcode != CqeOpcode::kRequester && opcode != CqeOpcode::kResize && !isError(opcode);
  }
  /// By how much the WQE counter is further behind `cqe`.
  [[nodiscard]] std::uint32_t advanceOf(const Cqe& cqe) const {
    return isStriding(cqe) ? Cqe::ConsumedStrides::get(cqe.byteCount) : 1;
  }

  std::uint64_t basic(std::uint64_t index, const Cqe& title) {
    const std::uint32_t count = title.byteCount.host();
    if (count == 0 || count > ring_.size()) {
      note(index, "title of " + std::to_string(count) + " completions, of which the ring has no room: damaged");
      return 1;
    }
    note(index, "valid: title of a compressed session of " + std::to_string(count));
    advance_ = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      constexpr std::uint32_t kArray = wire::kMiniCqesPerArray;
      const std::uint64_t array = index + wire::miniArraySlot(i / kArray * kArray);
      restored(index + i, title, array, i % kArray);
    }
    return count;
  }

  std::uint64_t enhanced(std::uint64_t index, const Cqe& block) {
    const auto count = static_cast<std::uint32_t>(OpOwn::Opcode::get(block.opOwn)) + 1;
    note(index, "valid: compressed block of " + std::to_string(count));
    if (count > wire::kMiniCqesPerEnhancedBlock) {
      text_ += "  more than a block has room for: damaged\n";
      return 1;
    }
    if (!title_) text_ += "  its title was consumed: begin with an index before it\n";
    for (std::uint32_t i = 0; title_ && i < count; ++i) restored(index + i, *title_, index, i);
    return count;
  }

  // Mini CQE number `mini` of the slot of `array`.
  void restored(std::uint64_t index, const Cqe& title, std::uint64_t array, std::uint32_t mini) {
    note(index, "restored from mini CQE " + std::to_string(mini) + " of slot " + std::to_string(ring_.slotOf(array)));
    if (!ring_.has(array)) {
      text_ += "  which is not in the dump\n";
      ++advance_;
      return;
    }
    const std::uint8_t* const bytes = ring_.at(array).data() + mini * sizeof(wire::MiniCqe);
    const Cqe cqe = wire::restoreCqe(title, bytes, advance_, options_.format);
    advance_ += advanceOf(cqe);
    entry(index, cqe);
  }

  RingSlots ring_;
  const DumpOptions& options_;
  std::string text_;
  std::optional<Cqe> title_;
  std::uint32_t advance_ = 0;  // how far the next completion's WQE counter is ahead of the title's
};

}  // namespace

std::string completionQueueText(const RingSlots& ring, const DumpOptions& options) {
  return CqReader(ring, options).run();
}

}  // namespace hca::dump
