#include "models/adapter/command/dct_codec.h"

#include <algorithm>

#include "models/wire/dct_context.h"

namespace hca::adapter {
namespace {

using Dct = wire::DctContext;

constexpr std::uint32_t kDctMtuUnit = 128;  // shifted by the code
constexpr std::uint32_t kLargestDctMtu = 5;

}  // namespace

QpAttributes decodeDctContext(ByteView context) {
  QpAttributes target;
  target.service = QpService::kDct;
  target.receiveQueueType = RqType::kSrq;
  target.hasSendQueue = false;
  target.userIndex = Dct::UserIndex::get(context);
  target.sendCq = target.receiveCq = CqNumber(Dct::Cq::get(context));
  target.remoteRead = Dct::RemoteRead::get(context);
  target.remoteWrite = Dct::RemoteWrite::get(context);
  target.remoteAtomic = Dct::RemoteAtomic::get(context);
  target.responderInlineScatter = static_cast<std::uint8_t>(Dct::ResponderInlineScatter::get(context));
  target.minRnrNak = static_cast<std::uint8_t>(Dct::MinRnrNak::get(context));
  target.srq = SrqNumber(Dct::SharedReceiveQueue::get(context));
  target.pd = PdNumber(Dct::ProtectionDomain::get(context));
  target.path.trafficClass = static_cast<std::uint8_t>(Dct::TrafficClass::get(context));
  target.path.flowLabel = Dct::FlowLabel::get(context);
  target.accessKey = Dct::AccessKey::get(context);
  target.mtu = kDctMtuUnit << std::clamp(Dct::Mtu::get(context), std::uint32_t{1}, kLargestDctMtu);
  target.path.port = static_cast<std::uint8_t>(Dct::Port::get(context));
  target.path.partitionIndex = static_cast<std::uint16_t>(Dct::PkeyIndex::get(context));
  target.path.sourceGidIndex = static_cast<std::uint8_t>(Dct::SourceGidIndex::get(context));
  target.path.hopLimit = static_cast<std::uint8_t>(Dct::HopLimit::get(context));
  return target;
}

void encodeDctContext(const QpAttributes& target, MutableByteView context) {
  constexpr std::uint32_t kDrained = 2;
  std::uint32_t code = 1;
  while (code < kLargestDctMtu && kDctMtuUnit << code < target.mtu) ++code;
  Dct::State::set(context, target.state == QpState::kError ? kDrained : 0);
  Dct::UserIndex::set(context, target.userIndex);
  Dct::Cq::set(context, target.receiveCq.value());
  Dct::RemoteRead::set(context, target.remoteRead);
  Dct::RemoteWrite::set(context, target.remoteWrite);
  Dct::RemoteAtomic::set(context, target.remoteAtomic);
  Dct::ResponderInlineScatter::set(context, target.responderInlineScatter);
  Dct::MinRnrNak::set(context, target.minRnrNak);
  Dct::SharedReceiveQueue::set(context, target.srq.value());
  Dct::ProtectionDomain::set(context, target.pd.value());
  Dct::TrafficClass::set(context, target.path.trafficClass);
  Dct::FlowLabel::set(context, target.path.flowLabel);
  Dct::AccessKey::set(context, target.accessKey);
  Dct::Mtu::set(context, code);
  Dct::Port::set(context, target.path.port);
  Dct::PkeyIndex::set(context, target.path.partitionIndex);
  Dct::SourceGidIndex::set(context, target.path.sourceGidIndex);
  Dct::HopLimit::set(context, target.path.hopLimit);
}

}  // namespace hca::adapter
