#include "models/wire/mini_cqe.h"

#include "models/base/byte_view.h"

namespace hca::wire {
namespace {

void restoreRequester(Cqe& cqe, const std::uint8_t* mini) {
  const auto own = structFrom<RequesterMiniCqe>({mini, sizeof(RequesterMiniCqe)});
  cqe.byteCount = own.byteCount;
  cqe.wqeCounter = own.wqeCounter;
  cqe.opcodeQp = Be32((cqe.opcodeQp.host() & Cqe::LocalQp::kMask) | Cqe::SendOpcode::make(own.sendOpcode));
}

}  // namespace

Cqe restoreCqe(const Cqe& title, const std::uint8_t* mini, std::uint32_t advance, MiniFormat format) {
  Cqe cqe = title;
  OpOwn::Format::set(cqe.opOwn, CqeFormat::kPlain);
  if (OpOwn::Opcode::get(cqe.opOwn) == CqeOpcode::kRequester) {
    restoreRequester(cqe, mini);
    return cqe;
  }
  const auto own = structFrom<MiniCqe>({mini, sizeof(MiniCqe)});
  cqe.byteCount = own.byteCount;
  cqe.wqeCounter = Be16(static_cast<std::uint16_t>(title.wqeCounter.host() + advance));
  if (format == MiniFormat::kHash) {
    cqe.rssHash = Be32(std::uint32_t{own.high.host()} << 16 | own.low.host());
    return cqe;
  }
  cqe.checksum = own.high;
  if (advance != 0) cqe.rssHash = Be32(0);  // the title's is of its own packet
  if (format == MiniFormat::kChecksumStrideIndex) cqe.wqeCounter = own.low;
  return cqe;
}

}  // namespace hca::wire
