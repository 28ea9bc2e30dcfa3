#include "models/adapter/completion/session_policy.h"

#include "models/adapter/completion/cqe_builder.h"

namespace hca::adapter {
namespace {

bool hasImmediate(CqeOpcode opcode) {
  return opcode == CqeOpcode::kResponderWriteImmediate || opcode == CqeOpcode::kResponderSendImmediate ||
         opcode == CqeOpcode::kResponderSendInvalidate;
}

// But for the hash: a format has room for it, and with the others it is lost.
bool sameFrame(const std::optional<FrameDescription>& a, const std::optional<FrameDescription>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  FrameDescription other = *b;
  other.rssHash = a->rssHash;
  return *a == other;
}

bool samePeer(const CompletionRecord& a, const CompletionRecord& b) {
  return a.remoteQp == b.remoteQp && a.sourceLid == b.sourceLid && a.serviceLevel == b.serviceLevel &&
         a.pathBits == b.pathBits && a.globalRouteInBuffer == b.globalRouteInBuffer && sameFrame(a.frame, b.frame);
}

// Strides are counted within one WQE, which the title names.
bool sameEntry(const CompletionRecord& a, const CompletionRecord& b) {
  return (a.strides == 0) == (b.strides == 0) && a.wqeId == b.wqeId;
}

class RestorableEntries final : public SessionPolicy {
 public:
  explicit RestorableEntries(MiniFormat format) : format_(format) {}

  [[nodiscard]] std::optional<SessionEnd> excludes(const CompletionRecord& record) const override {
    if (record.isError()) return SessionEnd::kError;
    if (record.inlineLength != 0) return SessionEnd::kInline;
    if (record.tag) return SessionEnd::kMismatch;  // no mini CQE tells what became of a tag
    if (record.forceEvent) return SessionEnd::kForcedEvent;
    if (CqeBuilder::isSolicited(record)) return SessionEnd::kSolicited;
    return std::nullopt;
  }

  [[nodiscard]] std::optional<SessionEnd> parts(const CompletionRecord& title, std::uint32_t advance,
                                                const CompletionRecord& record) const override {
    const bool alike = record.opcode == title.opcode && record.qp == title.qp && record.userIndex == title.userIndex;
    if (!alike) return SessionEnd::kMismatch;
    // A requester's mini CQE names request and opcode itself.
    if (record.opcode == CqeOpcode::kRequester) return std::nullopt;
    const bool sameImmediate = !hasImmediate(record.opcode) || record.immediateOrKey == title.immediateOrKey;
    if (!samePeer(record, title) || !sameEntry(record, title) || !sameImmediate ||
        !sameContent(title, advance, record)) {
      return SessionEnd::kMismatch;
    }
    return std::nullopt;
  }

 private:
  // What one of the formats has room for, and the others take from the title.
  [[nodiscard]] bool sameContent(const CompletionRecord& title, std::uint32_t advance,
                                 const CompletionRecord& record) const {
    const bool checksum = format_ != MiniFormat::kHash || record.checksum == title.checksum;
    const auto next = static_cast<std::uint16_t>(title.wqeCounter + advance);
    return checksum && (format_ == MiniFormat::kChecksumStrideIndex || record.wqeCounter == next);
  }

  MiniFormat format_;
};

}  // namespace

const SessionPolicy& restorableEntries(MiniFormat format) {
  static const RestorableEntries kHash(MiniFormat::kHash);
  static const RestorableEntries kChecksum(MiniFormat::kChecksum);
  static const RestorableEntries kStrideIndex(MiniFormat::kChecksumStrideIndex);
  switch (format) {
    case MiniFormat::kHash:
      return kHash;
    case MiniFormat::kChecksum:
      return kChecksum;
    case MiniFormat::kChecksumStrideIndex:
      break;
  }
  return kStrideIndex;
}

}  // namespace hca::adapter
