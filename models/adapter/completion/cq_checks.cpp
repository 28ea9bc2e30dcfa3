#include "models/adapter/completion/cq_checks.h"

#include "models/adapter/completion/compressed_session.h"
#include "models/adapter/completion/cqe_builder.h"
#include "models/adapter/completion/session_policy.h"
#include "models/adapter/event/ring_pages.h"

namespace hca::adapter {
namespace {

/// Sessions need two entries at least, each in a slot of its own and with room for an array. Padded ones are written
/// whole, which arrays aren't.
bool compressionSupported(const CqAttributes& attributes, const CompletionConfig& config) {
  if (!attributes.compression) return true;
  const auto layout = static_cast<CompressionLayout>(attributes.compressionLayout);
  const bool layoutKnown =
      layout == CompressionLayout::kBasic || (layout == CompressionLayout::kEnhanced && config.enhancedCompression);
  const auto format = static_cast<MiniFormat>(attributes.miniFormat);
  const bool formatKnown =
      attributes.miniFormatExtension == 0 &&
      (format == MiniFormat::kHash || format == MiniFormat::kChecksum || format == MiniFormat::kChecksumStrideIndex);
  const bool strideKnown =
      attributes.stride == CqeStride::k64 || (attributes.stride == CqeStride::k128 && config.wideEntries);
  return config.compressionMax > 1 && !attributes.collapsed && strideKnown && layoutKnown && formatKnown;
}

/// What this adapter doesn't have, whatever the rest of the context says.
bool formatSupported(const CqAttributes& attributes, const CompletionConfig& config) {
  const bool timestampSupported = attributes.timestampFormat < TimestampFormat::kRealTime ||
                                  (attributes.timestampFormat == TimestampFormat::kRealTime && config.realTimeStamps);
  return compressionSupported(attributes, config) && timestampSupported;
}

}  // namespace

CommandResult checkCompletionQueue(const CqAttributes& attributes, const CompletionConfig& config) {
  const bool sizeKnown = attributes.stride < CqeStride::k128Padded ||
                         (attributes.stride == CqeStride::k128Padded && config.wideEntries) ||
                         (attributes.stride == CqeStride::k32 && config.shortEntries);
  if (!sizeKnown) {
    return {CommandStatus::kBadParameter, Syndrome::kCqEntrySizeUnsupported};
  }
  if (!formatSupported(attributes, config)) return {CommandStatus::kBadParameter, Syndrome::kCqFormatUnsupported};
  if (attributes.logSize > config.logMaxCqSize) return {CommandStatus::kExceedLimit, Syndrome::kCqSizeOutOfRange};
  if (!config.moderation && (attributes.moderationPeriod != 0 || attributes.moderationCount != 0)) {
    return {CommandStatus::kBadParameter, Syndrome::kCqModerationUnsupported};
  }
  if (attributes.moderationPeriod > kMaxCqPeriod) {
    return {CommandStatus::kExceedLimit, Syndrome::kCqModerationOutOfRange};
  }
  if (!ringPagesFit(attributes.ring, attributes.logSize, strideBytes(attributes.stride))) {
    return {CommandStatus::kBadParameter, Syndrome::kCqPagesWrong};
  }
  constexpr std::uint64_t kRecordAlignment = 8;
  if (attributes.doorbellRecord.value() % kRecordAlignment != 0) {
    return {CommandStatus::kBadParameter, Syndrome::kCqDoorbellRecordBad};
  }
  return {};
}

}  // namespace hca::adapter
