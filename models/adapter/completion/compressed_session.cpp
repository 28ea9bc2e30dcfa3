#include "models/adapter/completion/compressed_session.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>

namespace hca::adapter {
namespace {

template <class Mini>
std::uint64_t wordOf(const Mini& mini) {
  std::uint64_t word = 0;
  static_assert(sizeof mini == sizeof word);
  std::memcpy(&word, &mini, sizeof word);
  return word;
}

}  // namespace

std::uint64_t miniCqeOf(const CompletionRecord& record, MiniFormat format) {
  if (record.opcode == CqeOpcode::kRequester) {
    wire::RequesterMiniCqe mini;
    mini.wqeCounter = wire::Be16(record.wqeCounter);
    mini.sendOpcode = record.sendOpcode;
    mini.byteCount = wire::Be32(record.byteCount);
    return wordOf(mini);
  }
  // The hash of packets without one is 0; a queue that isn't striding has its entry's number as stride index.
  wire::MiniCqe mini;
  if (format != MiniFormat::kHash) {
    mini.high = wire::Be16(record.checksum);
  } else if (record.frame) {
    mini.high = wire::Be16(static_cast<std::uint16_t>(record.frame->rssHash >> 16));
    mini.low = wire::Be16(static_cast<std::uint16_t>(record.frame->rssHash));
  }
  if (format == MiniFormat::kChecksumStrideIndex) mini.low = wire::Be16(record.wqeCounter);
  mini.byteCount = wire::Be32(record.byteCountWord());
  return wordOf(mini);
}

MiniCqeSlot miniCqeArray(const std::vector<CompressedSession::Held>& held, std::size_t first) {
  MiniCqeSlot slot{};
  const std::size_t end = std::min(held.size(), first + wire::kMiniCqesPerArray);
  for (std::size_t i = first; i < end; ++i) {
    std::memcpy(&slot[(i - first) * sizeof(wire::MiniCqe)], &held[i].mini, sizeof held[i].mini);
  }
  return slot;
}

MiniCqeSlot miniCqeBlock(const std::vector<CompressedSession::Held>& held, std::uint64_t pass) {
  assert(!held.empty() && held.size() <= wire::kMiniCqesPerEnhancedBlock);
  MiniCqeSlot slot = miniCqeArray(held, 0);
  slot[offsetof(wire::Cqe, signature)] = static_cast<std::uint8_t>(pass);
  slot[offsetof(wire::Cqe, opOwn)] = static_cast<std::uint8_t>(
      wire::OpOwn::Opcode::make(static_cast<wire::CqeOpcode>(held.size() - 1)) |
      wire::OpOwn::Format::make(wire::CqeFormat::kCompressed) | wire::OpOwn::Owner::make((pass & 1) != 0));
  return slot;
}

}  // namespace hca::adapter
