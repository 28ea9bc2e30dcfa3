#include "sim/driver/queue_sizes.h"

#include <algorithm>

namespace hca::driver {
namespace {

constexpr std::uint32_t kBlock = 64;
constexpr std::uint32_t kControlSegment = 16;
constexpr std::uint32_t kDataSegment = 16;
constexpr std::uint32_t kNextSegment = 16;
constexpr std::uint32_t kInlineHeader = 4;
constexpr std::uint32_t kDatagramSegment = 48;
// A bind or local invalidate is the largest request of a connected queue pair: UMR control segment, memory key context
// and one row of inline translation.
constexpr std::uint32_t kMemoryWindowSegments = 48 + 64 + 64;

constexpr std::uint64_t roundUp(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

constexpr std::uint64_t powerOfTwoAtLeast(std::uint64_t value) {
  std::uint64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

std::uint32_t exponentOf(std::uint64_t powerOfTwo) {
  std::uint32_t log = 0;
  while ((std::uint64_t{1} << log) < powerOfTwo) ++log;
  return log;
}

std::uint32_t overheadOf(QpType type) {
  return kControlSegment + (type == QpType::kUd ? kDatagramSegment : kMemoryWindowSegments);
}

}  // namespace

std::optional<SendQueueSize> sendQueueSize(const QpRequest& request, const QueueLimits& limits) {
  if (request.maxSendWr == 0) return SendQueueSize{};
  const std::uint64_t overhead = overheadOf(request.type);
  const std::uint64_t gathering = overhead + std::uint64_t{request.maxSendSge} * kDataSegment;
  const std::uint64_t inlining =
      request.maxInline == 0 ? 0 : overhead + roundUp(std::uint64_t{kInlineHeader} + request.maxInline, 16);
  const std::uint64_t wqe = roundUp(std::max(gathering, inlining), kBlock);
  if (wqe > limits.maxSendWqe) return std::nullopt;
  const std::uint64_t ring = powerOfTwoAtLeast(request.maxSendWr * wqe);
  if (ring / kBlock > limits.maxQueueEntries) return std::nullopt;
  SendQueueSize size;
  size.blocks = static_cast<std::uint32_t>(ring / kBlock);
  size.maxPosted = static_cast<std::uint32_t>(ring / wqe);
  size.maxGather = request.maxSendSge;
  size.maxInline = static_cast<std::uint32_t>(wqe - overhead - kInlineHeader);
  return size;
}

std::optional<ReceiveQueueSize> receiveQueueSize(const QpRequest& request, const QueueLimits& limits) {
  if (request.maxReceiveWr == 0) return ReceiveQueueSize{};
  if (request.maxReceiveWr > limits.maxQueueEntries) return std::nullopt;
  const std::uint64_t wqe = std::uint64_t{std::max<std::uint32_t>(request.maxReceiveSge, 1)} * kDataSegment;
  if (wqe > limits.maxReceiveWqe) return std::nullopt;
  const std::uint64_t stride = powerOfTwoAtLeast(wqe);
  const std::uint64_t ring = std::max<std::uint64_t>(powerOfTwoAtLeast(request.maxReceiveWr) * stride, kBlock);
  ReceiveQueueSize size;
  size.entries = static_cast<std::uint32_t>(ring / stride);
  size.logStride = exponentOf(stride);
  size.maxPosted = size.entries;
  size.maxScatter = static_cast<std::uint32_t>(stride / kDataSegment);
  return size;
}

std::optional<ReceiveQueueSize> sharedQueueSize(const SrqRequest& request, const QueueLimits& limits) {
  constexpr std::uint64_t kSmallestEntry = 32;
  if (request.maxWr == 0 || request.maxWr >= limits.maxSrqEntries) return std::nullopt;
  const std::uint64_t wqe = kNextSegment + std::uint64_t{request.maxSge} * kDataSegment;
  if (wqe > limits.maxReceiveWqe) return std::nullopt;
  const std::uint64_t stride = std::max(powerOfTwoAtLeast(wqe), kSmallestEntry);
  ReceiveQueueSize size;
  size.entries = static_cast<std::uint32_t>(powerOfTwoAtLeast(std::uint64_t{request.maxWr} + 1));
  size.logStride = exponentOf(stride);
  size.maxPosted = size.entries - 1;
  size.maxScatter = static_cast<std::uint32_t>((stride - kNextSegment) / kDataSegment);
  return size;
}

std::optional<std::uint32_t> completionQueueEntries(std::int32_t cqe, const QueueLimits& limits) {
  if (cqe < 0 || (cqe == 0 && !limits.raisesZeroCqe)) return std::nullopt;
  const std::uint64_t depth = std::max<std::uint64_t>(static_cast<std::uint64_t>(cqe), limits.minCqe);
  const std::uint64_t entries = powerOfTwoAtLeast(depth + 1);
  if (entries > limits.maxCqEntries) return std::nullopt;
  return static_cast<std::uint32_t>(entries);
}

}  // namespace hca::driver
