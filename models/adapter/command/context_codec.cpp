#include "models/adapter/command/context_codec.h"

#include <algorithm>

#include "models/wire/completion_queue_context.h"
#include "models/wire/ethernet_commands.h"
#include "models/wire/event_queue_context.h"
#include "models/wire/queue_pair_context.h"
#include "models/wire/shared_receive_context.h"

namespace hca::adapter {
namespace {

using wire::AddressPathContext;
using wire::CompletionQueueContext;
using wire::EventQueueContext;
using wire::QueuePairContext;
using wire::ReceiveMemoryPoolContext;
using wire::SharedReceiveContext;
using wire::TagMatchingQueueContext;
using wire::WorkQueueContext;

constexpr std::uint8_t kLogAdapterPage = 12;    // log_page_size fields count from 4 KiB
constexpr std::uint8_t kLogOffsetUnits = 6;     // page_offset fields count in 1/64 of a page
constexpr std::uint8_t kLogSmallestStride = 4;  // log_rq_stride counts from 16 bytes
constexpr std::uint32_t kSmallestMtu = 256;
constexpr std::uint32_t kLargestMtuCode = 5;

std::uint8_t byte(std::uint32_t value) { return static_cast<std::uint8_t>(value); }

// A page larger than the address space has no place in it that could be named.
PageList decodePageGeometry(std::uint32_t logPageSize, std::uint32_t offsetUnits) {
  constexpr std::uint32_t kLargest = 63 - kLogAdapterPage;
  if (logPageSize > kLargest) return decodePageGeometry(kLargest, 0);
  PageList list;
  list.logPageSize = byte(logPageSize + kLogAdapterPage);
  list.offset = static_cast<std::uint32_t>(std::uint64_t{offsetUnits} << (list.logPageSize - kLogOffsetUnits));
  return list;
}
std::uint32_t logPageField(const PageList& list) { return list.logPageSize - kLogAdapterPage; }
std::uint32_t offsetField(const PageList& list) { return list.offset >> (list.logPageSize - kLogOffsetUnits); }

std::uint32_t decodeMtu(std::uint32_t code) {
  return code == 0 || code > kLargestMtuCode ? 0 : kSmallestMtu << (code - 1);
}
std::uint32_t encodeMtu(std::uint32_t bytes) {
  std::uint32_t code = 0;
  for (std::uint32_t size = kSmallestMtu; size <= bytes && code < kLargestMtuCode; size <<= 1) ++code;
  return code;
}

AddressPath decodePath(ByteView path) {
  AddressPath decoded;
  decoded.remoteLid = Lid(static_cast<std::uint16_t>(AddressPathContext::RemoteLid::get(path)));
  decoded.serviceLevel = byte(AddressPathContext::ServiceLevel::get(path));
  decoded.sourcePathBits = byte(AddressPathContext::SourcePathBits::get(path));
  decoded.globalRoute = AddressPathContext::GlobalRoute::get(path);
  decoded.sourceGidIndex = byte(AddressPathContext::SourceGidIndex::get(path));
  decoded.hopLimit = byte(AddressPathContext::HopLimit::get(path));
  decoded.trafficClass = byte(AddressPathContext::TrafficClass::get(path));
  decoded.flowLabel = AddressPathContext::FlowLabel::get(path);
  const ByteView gid = AddressPathContext::RemoteGid::view(path);
  std::copy(gid.begin(), gid.end(), decoded.remoteGid.begin());
  const ByteView mac = AddressPathContext::RemoteMac::view(path);
  std::copy(mac.begin(), mac.end(), decoded.remoteMac.begin());
  decoded.udpSourcePort = static_cast<std::uint16_t>(AddressPathContext::UdpSourcePort::get(path));
  decoded.partitionIndex = static_cast<std::uint16_t>(AddressPathContext::PkeyIndex::get(path));
  decoded.port = byte(AddressPathContext::Port::get(path));
  decoded.ackTimeout = byte(AddressPathContext::AckTimeout::get(path));
  return decoded;
}

void encodePath(const AddressPath& path, MutableByteView context) {
  AddressPathContext::RemoteLid::set(context, path.remoteLid.value());
  AddressPathContext::ServiceLevel::set(context, path.serviceLevel);
  AddressPathContext::SourcePathBits::set(context, path.sourcePathBits);
  AddressPathContext::GlobalRoute::set(context, path.globalRoute);
  AddressPathContext::SourceGidIndex::set(context, path.sourceGidIndex);
  AddressPathContext::HopLimit::set(context, path.hopLimit);
  AddressPathContext::TrafficClass::set(context, path.trafficClass);
  AddressPathContext::FlowLabel::set(context, path.flowLabel);
  std::copy(path.remoteGid.begin(), path.remoteGid.end(), AddressPathContext::RemoteGid::mutableView(context).data());
  std::copy(path.remoteMac.begin(), path.remoteMac.end(), AddressPathContext::RemoteMac::mutableView(context).data());
  AddressPathContext::UdpSourcePort::set(context, path.udpSourcePort);
  AddressPathContext::PkeyIndex::set(context, path.partitionIndex);
  AddressPathContext::Port::set(context, path.port);
  AddressPathContext::AckTimeout::set(context, path.ackTimeout);
}

void decodeQpQueues(ByteView context, QpAttributes& qp) {
  qp.hasSendQueue = !QueuePairContext::NoSendQueue::get(context);
  qp.logSendQueueSize = byte(QueuePairContext::LogSendQueueSize::get(context));
  qp.receiveQueueType = static_cast<RqType>(QueuePairContext::ReceiveQueueType::get(context));
  qp.logReceiveQueueSize = byte(QueuePairContext::LogReceiveQueueSize::get(context));
  qp.logReceiveStride = byte(QueuePairContext::LogReceiveStride::get(context) + kLogSmallestStride);
  qp.buffer =
      decodePageGeometry(QueuePairContext::LogPageSize::get(context), QueuePairContext::PageOffset::get(context));
  qp.doorbellRecord = BusAddress(QueuePairContext::DoorbellRecord::get(context));
  qp.sendCq = CqNumber(QueuePairContext::SendCq::get(context));
  qp.receiveCq = CqNumber(QueuePairContext::ReceiveCq::get(context));
  qp.domain = XrcdNumber(QueuePairContext::XrcDomain::get(context));
  qp.srq = SrqNumber(QueuePairContext::SharedReceiveQueue::get(context));
  qp.hardwareSendCounter = QueuePairContext::HardwareSendCounter::get(context);
  qp.softwareSendCounter = QueuePairContext::SoftwareSendCounter::get(context);
  qp.hardwareReceiveCounter = QueuePairContext::HardwareReceiveCounter::get(context);
  qp.softwareReceiveCounter = QueuePairContext::SoftwareReceiveCounter::get(context);
}

void decodeQpTransport(ByteView context, QpAttributes& qp) {
  qp.mtu = decodeMtu(QueuePairContext::Mtu::get(context));
  qp.logMaxMessage = byte(QueuePairContext::LogMaxMessage::get(context));
  qp.remoteQp = QpNumber(QueuePairContext::RemoteQp::get(context));
  qp.nextSendPsn = QueuePairContext::NextSendPsn::get(context);
  qp.nextReceivePsn = QueuePairContext::NextReceivePsn::get(context);
  qp.queueKey = QueuePairContext::QueueKey::get(context);
  qp.retryCount = byte(QueuePairContext::RetryCount::get(context));
  qp.rnrRetry = byte(QueuePairContext::RnrRetry::get(context));
  qp.minRnrNak = byte(QueuePairContext::MinRnrNak::get(context));
  qp.logMaxOutstandingReads = byte(QueuePairContext::LogMaxOutstandingReads::get(context));
  qp.logMaxResponderReads = byte(QueuePairContext::LogMaxResponderReads::get(context));
  qp.remoteRead = QueuePairContext::RemoteRead::get(context);
  qp.remoteWrite = QueuePairContext::RemoteWrite::get(context);
  qp.remoteAtomic = QueuePairContext::RemoteAtomic::get(context);
  qp.requesterInlineScatter = byte(QueuePairContext::RequesterInlineScatter::get(context));
  qp.responderInlineScatter = byte(QueuePairContext::ResponderInlineScatter::get(context));
  qp.path = decodePath(QueuePairContext::PrimaryPath::view(context));
  qp.alternatePath = decodePath(QueuePairContext::SecondaryPath::view(context));
  qp.migration = static_cast<MigrationState>(QueuePairContext::PathMigration::get(context));
}

void encodeQpQueues(const QpAttributes& qp, MutableByteView context) {
  QueuePairContext::NoSendQueue::set(context, !qp.hasSendQueue);
  QueuePairContext::LogSendQueueSize::set(context, qp.logSendQueueSize);
  QueuePairContext::ReceiveQueueType::set(context, static_cast<std::uint32_t>(qp.receiveQueueType));
  QueuePairContext::LogReceiveQueueSize::set(context, qp.logReceiveQueueSize);
  const std::uint32_t stride = std::max(qp.logReceiveStride, kLogSmallestStride) - kLogSmallestStride;
  QueuePairContext::LogReceiveStride::set(context, stride);
  QueuePairContext::LogPageSize::set(context, logPageField(qp.buffer));
  QueuePairContext::PageOffset::set(context, offsetField(qp.buffer));
  QueuePairContext::DoorbellRecord::set(context, qp.doorbellRecord.value());
  QueuePairContext::SendCq::set(context, qp.sendCq.value());
  QueuePairContext::ReceiveCq::set(context, qp.receiveCq.value());
  QueuePairContext::XrcDomain::set(context, qp.domain.value());
  QueuePairContext::SharedReceiveQueue::set(context, qp.srq.value());
  QueuePairContext::HardwareSendCounter::set(context, qp.hardwareSendCounter & 0xFFFF);
  QueuePairContext::SoftwareSendCounter::set(context, qp.softwareSendCounter & 0xFFFF);
  QueuePairContext::HardwareReceiveCounter::set(context, qp.hardwareReceiveCounter);
  QueuePairContext::SoftwareReceiveCounter::set(context, qp.softwareReceiveCounter);
}

void encodeQpTransport(const QpAttributes& qp, MutableByteView context) {
  QueuePairContext::Mtu::set(context, encodeMtu(qp.mtu));
  QueuePairContext::LogMaxMessage::set(context, qp.logMaxMessage);
  QueuePairContext::RemoteQp::set(context, qp.remoteQp.value());
  QueuePairContext::NextSendPsn::set(context, qp.nextSendPsn);
  QueuePairContext::NextReceivePsn::set(context, qp.nextReceivePsn);
  QueuePairContext::QueueKey::set(context, qp.queueKey);
  QueuePairContext::RetryCount::set(context, qp.retryCount);
  QueuePairContext::RnrRetry::set(context, qp.rnrRetry);
  QueuePairContext::MinRnrNak::set(context, qp.minRnrNak);
  QueuePairContext::LogMaxOutstandingReads::set(context, qp.logMaxOutstandingReads);
  QueuePairContext::LogMaxResponderReads::set(context, qp.logMaxResponderReads);
  QueuePairContext::RemoteRead::set(context, qp.remoteRead);
  QueuePairContext::RemoteWrite::set(context, qp.remoteWrite);
  QueuePairContext::RemoteAtomic::set(context, qp.remoteAtomic);
  QueuePairContext::RequesterInlineScatter::set(context, qp.requesterInlineScatter);
  QueuePairContext::ResponderInlineScatter::set(context, qp.responderInlineScatter);
  encodePath(qp.path, QueuePairContext::PrimaryPath::mutableView(context));
  encodePath(qp.alternatePath, QueuePairContext::SecondaryPath::mutableView(context));
  QueuePairContext::PathMigration::set(context, static_cast<std::uint32_t>(qp.migration));
}

}  // namespace

CqAttributes decodeCqContext(ByteView context) {
  using Context = CompletionQueueContext;
  CqAttributes cq;
  cq.status = static_cast<CqStatus>(Context::Status::get(context));
  cq.stride = static_cast<CqeStride>(Context::CqeStride::get(context));
  cq.collapsed = Context::Collapsed::get(context);
  cq.ignoreOverrun = Context::IgnoreOverrun::get(context);
  cq.solicitedBreaksModeration = Context::SolicitedBreaksModeration::get(context);
  cq.alwaysArmed = Context::AlwaysArmed::get(context);
  cq.compression = Context::Compression::get(context);
  cq.miniFormat = byte(Context::MiniFormat::get(context));
  cq.miniFormatExtension = byte(Context::MiniFormatExtension::get(context));
  cq.compressionLayout = byte(Context::CompressionLayout::get(context));
  cq.timestampFormat = static_cast<TimestampFormat>(Context::TimestampFormat::get(context));
  cq.periodMode = static_cast<PeriodMode>(Context::PeriodMode::get(context));
  cq.notification = static_cast<NotificationState>(Context::State::get(context));
  cq.logSize = byte(Context::LogSize::get(context));
  cq.uar = UarIndex(Context::UarPage::get(context));
  cq.eq = EqNumber(Context::EventQueue::get(context));
  cq.moderationPeriod = static_cast<std::uint16_t>(Context::Period::get(context));
  cq.moderationCount = static_cast<std::uint16_t>(Context::MaxCount::get(context));
  cq.ring = decodePageGeometry(Context::LogPageSize::get(context), Context::PageOffset::get(context));
  cq.doorbellRecord = BusAddress(Context::DoorbellRecord::get(context));
  cq.lastNotifiedIndex = Context::LastNotifiedIndex::get(context);
  cq.lastSolicitedIndex = Context::LastSolicitedIndex::get(context);
  cq.consumerCounter = Context::ConsumerCounter::get(context);
  cq.producerCounter = Context::ProducerCounter::get(context);
  return cq;
}

void encodeCqContext(const CqAttributes& cq, MutableByteView context) {
  using Context = CompletionQueueContext;
  Context::Status::set(context, static_cast<std::uint32_t>(cq.status));
  Context::CqeStride::set(context, static_cast<std::uint32_t>(cq.stride));
  Context::Collapsed::set(context, cq.collapsed);
  Context::IgnoreOverrun::set(context, cq.ignoreOverrun);
  Context::SolicitedBreaksModeration::set(context, cq.solicitedBreaksModeration);
  Context::AlwaysArmed::set(context, cq.alwaysArmed);
  Context::Compression::set(context, cq.compression);
  Context::MiniFormat::set(context, cq.miniFormat);
  Context::MiniFormatExtension::set(context, cq.miniFormatExtension);
  Context::CompressionLayout::set(context, cq.compressionLayout);
  Context::TimestampFormat::set(context, static_cast<std::uint32_t>(cq.timestampFormat));
  Context::PeriodMode::set(context, static_cast<std::uint32_t>(cq.periodMode));
  Context::State::set(context, static_cast<std::uint32_t>(cq.notification));
  Context::LogSize::set(context, cq.logSize);
  Context::UarPage::set(context, cq.uar.value());
  Context::EventQueue::set(context, cq.eq.value());
  Context::Period::set(context, cq.moderationPeriod);
  Context::MaxCount::set(context, cq.moderationCount);
  Context::LogPageSize::set(context, logPageField(cq.ring));
  Context::PageOffset::set(context, offsetField(cq.ring));
  Context::DoorbellRecord::set(context, cq.doorbellRecord.value());
  Context::LastNotifiedIndex::set(context, cq.lastNotifiedIndex & Context::LastNotifiedIndex::kMax);
  Context::LastSolicitedIndex::set(context, cq.lastSolicitedIndex & Context::LastSolicitedIndex::kMax);
  Context::ConsumerCounter::set(context, cq.consumerCounter & Context::ConsumerCounter::kMax);
  Context::ProducerCounter::set(context, cq.producerCounter & Context::ProducerCounter::kMax);
}

EqAttributes decodeEqContext(ByteView context) {
  using Context = EventQueueContext;
  EqAttributes eq;
  eq.status = static_cast<EqStatus>(Context::Status::get(context));
  eq.state = static_cast<EqState>(Context::State::get(context));
  eq.ignoreOverrun = Context::IgnoreOverrun::get(context);
  eq.logSize = byte(Context::LogSize::get(context));
  eq.uar = UarIndex(Context::UarPage::get(context));
  eq.vector = InterruptVector(Context::Vector::get(context));
  eq.ring = decodePageGeometry(Context::LogPageSize::get(context), Context::PageOffset::get(context));
  eq.consumerCounter = Context::ConsumerCounter::get(context);
  eq.producerCounter = Context::ProducerCounter::get(context);
  return eq;
}

void encodeEqContext(const EqAttributes& eq, MutableByteView context) {
  using Context = EventQueueContext;
  Context::Status::set(context, static_cast<std::uint32_t>(eq.status));
  Context::State::set(context, static_cast<std::uint32_t>(eq.state));
  Context::IgnoreOverrun::set(context, eq.ignoreOverrun);
  Context::LogSize::set(context, eq.logSize);
  Context::UarPage::set(context, eq.uar.value());
  Context::Vector::set(context, eq.vector.value());
  Context::LogPageSize::set(context, logPageField(eq.ring));
  Context::PageOffset::set(context, offsetField(eq.ring));
  Context::ConsumerCounter::set(context, eq.consumerCounter & Context::ConsumerCounter::kMax);
  Context::ProducerCounter::set(context, eq.producerCounter & Context::ProducerCounter::kMax);
}

QpAttributes decodeQpContext(ByteView context) {
  QpAttributes qp;
  qp.state = static_cast<QpState>(QueuePairContext::State::get(context));
  qp.service = static_cast<QpService>(QueuePairContext::Service::get(context));
  qp.pd = PdNumber(QueuePairContext::ProtectionDomain::get(context));
  qp.uar = UarIndex(QueuePairContext::UarPage::get(context));
  qp.userIndex = QueuePairContext::UserIndex::get(context);
  qp.blockMulticastLoopback = QueuePairContext::BlockLoopbackMulticast::get(context) != 0;
  qp.offersRendezvous = QueuePairContext::OffloadType::get(context) == QueuePairContext::kRendezvous;
  decodeQpQueues(context, qp);
  decodeQpTransport(context, qp);
  return qp;
}

void encodeQpContext(const QpAttributes& qp, MutableByteView context) {
  QueuePairContext::State::set(context, static_cast<std::uint32_t>(qp.state));
  QueuePairContext::Service::set(context, static_cast<std::uint32_t>(qp.service));
  QueuePairContext::ProtectionDomain::set(context, qp.pd.value());
  QueuePairContext::UarPage::set(context, qp.uar.value());
  QueuePairContext::UserIndex::set(context, qp.userIndex);
  QueuePairContext::BlockLoopbackMulticast::set(context, qp.blockMulticastLoopback);
  QueuePairContext::OffloadType::set(context, qp.offersRendezvous ? QueuePairContext::kRendezvous : 0);
  encodeQpQueues(qp, context);
  encodeQpTransport(qp, context);
}

SrqAttributes decodeSrqContext(ByteView context) {
  using Context = SharedReceiveContext;
  SrqAttributes srq;
  srq.inError = Context::State::get(context) != 0;
  srq.cyclic = Context::BasicCyclic::get(context);
  srq.pd = PdNumber(Context::ProtectionDomain::get(context));
  srq.logSize = byte(Context::LogSize::get(context));
  srq.logStride = byte(Context::LogStride::get(context) + kLogSmallestStride);
  srq.buffer = decodePageGeometry(Context::LogPageSize::get(context), Context::PageOffset::get(context));
  srq.doorbellRecord = BusAddress(Context::DoorbellRecord::get(context));
  srq.limit = static_cast<std::uint16_t>(Context::LowWaterMark::get(context));
  srq.domain = XrcdNumber(Context::XrcDomain::get(context));
  srq.cq = CqNumber(Context::Cq::get(context));
  srq.userIndex = Context::UserIndex::get(context);
  return srq;
}

void encodeSrqContext(const SrqAttributes& srq, MutableByteView context) {
  using Context = SharedReceiveContext;
  Context::State::set(context, srq.inError ? 1 : 0);
  Context::ProtectionDomain::set(context, srq.pd.value());
  Context::LogSize::set(context, srq.logSize);
  Context::LogStride::set(context, srq.logStride - kLogSmallestStride);
  Context::LogPageSize::set(context, logPageField(srq.buffer));
  Context::PageOffset::set(context, offsetField(srq.buffer));
  Context::DoorbellRecord::set(context, srq.doorbellRecord.value());
  Context::LowWaterMark::set(context, srq.limit);
  Context::WqeCount::set(context, (srq.softwareCounter - srq.hardwareCounter) & 0xFFFF);
  Context::Cq::set(context, srq.cq.value());
  if (srq.kind != SrqKind::kXrc) return;
  Context::XrcDomain::set(context, srq.domain.value());
  Context::UserIndex::set(context, srq.userIndex);
}

namespace {

// Of a linked list of receives that several queue pairs share.
void decodeWorkQueue(ByteView queue, SrqAttributes& srq) {
  using Queue = WorkQueueContext;
  srq.cyclic = srq.cyclic || Queue::Type::get(queue) != 0;
  srq.pd = PdNumber(Queue::ProtectionDomain::get(queue));
  srq.logSize = byte(Queue::LogSize::get(queue));
  srq.logStride = byte(Queue::LogStride::get(queue));
  srq.buffer = decodePageGeometry(Queue::LogPageSize::get(queue), Queue::PageOffset::get(queue));
  srq.doorbellRecord = BusAddress(Queue::DoorbellRecord::get(queue));
  srq.limit = static_cast<std::uint16_t>(Queue::LowWaterMark::get(queue));
  srq.hardwareCounter = Queue::HardwareCounter::get(queue);
  srq.softwareCounter = Queue::SoftwareCounter::get(queue);
}

void encodeWorkQueue(const SrqAttributes& srq, MutableByteView queue) {
  using Queue = WorkQueueContext;
  Queue::ProtectionDomain::set(queue, srq.pd.value());
  Queue::LogSize::set(queue, srq.logSize);
  Queue::LogStride::set(queue, srq.logStride);
  Queue::LogPageSize::set(queue, logPageField(srq.buffer));
  Queue::PageOffset::set(queue, offsetField(srq.buffer));
  Queue::DoorbellRecord::set(queue, srq.doorbellRecord.value());
  Queue::LowWaterMark::set(queue, srq.limit);
  Queue::HardwareCounter::set(queue, srq.hardwareCounter);
  Queue::SoftwareCounter::set(queue, srq.softwareCounter);
}

}  // namespace

SrqAttributes decodeRmpContext(ByteView context) {
  using Pool = ReceiveMemoryPoolContext;
  SrqAttributes srq;
  srq.kind = SrqKind::kMemoryPool;
  srq.inError = Pool::State::get(context) == Pool::kInError;
  srq.cyclic = Pool::BasicCyclic::get(context);
  decodeWorkQueue(Pool::WorkQueue::view(context), srq);
  return srq;
}

void encodeRmpContext(const SrqAttributes& srq, MutableByteView context) {
  using Pool = ReceiveMemoryPoolContext;
  Pool::State::set(context, srq.inError ? Pool::kInError : Pool::kReady);
  encodeWorkQueue(srq, Pool::WorkQueue::mutableView(context));
}

SrqAttributes decodeXrqContext(ByteView context) {
  using Context = TagMatchingQueueContext;
  SrqAttributes srq;
  srq.kind = SrqKind::kTagMatching;
  srq.inError = Context::State::get(context) != 0;
  srq.topology = Context::Topology::get(context);
  srq.offersRendezvous = Context::Offload::get(context) == Context::kRendezvous;
  srq.userIndex = Context::UserIndex::get(context);
  srq.cq = CqNumber(Context::Cq::get(context));
  srq.logTags = byte(Context::LogListSize::get(context));
  srq.nextTag = static_cast<std::uint16_t>(Context::AppendNext::get(context));
  srq.softwarePhase = static_cast<std::uint16_t>(Context::SoftwarePhaseCount::get(context));
  srq.hardwarePhase = static_cast<std::uint16_t>(Context::HardwarePhaseCount::get(context));
  decodeWorkQueue(Context::WorkQueue::view(context), srq);
  return srq;
}

void encodeXrqContext(const SrqAttributes& srq, MutableByteView context) {
  using Context = TagMatchingQueueContext;
  Context::State::set(context, srq.inError ? 1 : 0);
  Context::Topology::set(context, srq.topology);
  Context::Offload::set(context, srq.offersRendezvous ? Context::kRendezvous : 0);
  Context::UserIndex::set(context, srq.userIndex);
  Context::Cq::set(context, srq.cq.value());
  Context::LogListSize::set(context, srq.logTags);
  Context::AppendNext::set(context, srq.nextTag);
  Context::SoftwarePhaseCount::set(context, srq.softwarePhase);
  Context::HardwarePhaseCount::set(context, srq.hardwarePhase);
  encodeWorkQueue(srq, Context::WorkQueue::mutableView(context));
}

QpAttributes decodeEthernetQueueContext(ByteView context) {
  using Context = wire::EthernetQueueContext;
  using Queue = WorkQueueContext;
  const ByteView queue = Context::WorkQueue::view(context);
  QpAttributes qp;
  qp.service = QpService::kRaw;
  qp.userIndex = Context::UserIndex::get(context);
  qp.sendCq = qp.receiveCq = CqNumber(Context::Cq::get(context));
  qp.stripVlan = !Context::VlanStripDisable::get(context);
  qp.scatterFcs = Context::ScatterFcs::get(context);
  qp.pd = PdNumber(Queue::ProtectionDomain::get(queue));
  qp.uar = UarIndex(Queue::UarPage::get(queue));
  qp.logSendQueueSize = qp.logReceiveQueueSize = byte(Queue::LogSize::get(queue));
  qp.logReceiveStride = byte(Queue::LogStride::get(queue));
  qp.buffer = decodePageGeometry(Queue::LogPageSize::get(queue), Queue::PageOffset::get(queue));
  qp.doorbellRecord = BusAddress(Queue::DoorbellRecord::get(queue));
  qp.workQueueType = Queue::Type::get(queue);
  qp.striding.isOn = qp.workQueueType == Queue::kCyclicStriding;
  if (!qp.striding.isOn) return qp;
  qp.striding.shifts = Queue::TwoByteShift::get(queue) != 0;
  qp.striding.logCount = byte(Queue::LogStrideCount::get(queue) + StridingLayout::kLogFewest);
  qp.striding.logSize = byte(Queue::LogStrideSize::get(queue) + StridingLayout::kLogSmallest);
  return qp;
}

wire::WorkQueueState workQueueState(QpState state) {
  if (state == QpState::kReset) return wire::WorkQueueState::kReset;
  const bool failed = state == QpState::kError || state == QpState::kSendQueueError;
  return failed ? wire::WorkQueueState::kError : wire::WorkQueueState::kReady;
}

void encodeEthernetQueueContext(const QpAttributes& qp, MutableByteView context) {
  using Context = wire::EthernetQueueContext;
  using Queue = WorkQueueContext;
  const MutableByteView queue = Context::WorkQueue::mutableView(context);
  Context::State::set(context, static_cast<std::uint32_t>(workQueueState(qp.state)));
  Context::UserIndex::set(context, qp.userIndex);
  Context::Cq::set(context, qp.hasSendQueue ? qp.sendCq.value() : qp.receiveCq.value());
  Context::VlanStripDisable::set(context, !qp.hasSendQueue && !qp.stripVlan);
  Context::ScatterFcs::set(context, !qp.hasSendQueue && qp.scatterFcs);
  Queue::ProtectionDomain::set(queue, qp.pd.value());
  Queue::UarPage::set(queue, qp.uar.value());
  Queue::LogSize::set(queue, qp.hasSendQueue ? qp.logSendQueueSize : qp.logReceiveQueueSize);
  Queue::LogStride::set(queue, qp.hasSendQueue ? 6U : qp.logReceiveStride);
  Queue::Type::set(queue, qp.workQueueType);
  if (qp.striding.isOn) {
    Queue::TwoByteShift::set(queue, qp.striding.shifts);
    Queue::LogStrideCount::set(queue, qp.striding.logCount - StridingLayout::kLogFewest);
    Queue::LogStrideSize::set(queue, qp.striding.logSize - StridingLayout::kLogSmallest);
  }
  Queue::LogPageSize::set(queue, logPageField(qp.buffer));
  Queue::PageOffset::set(queue, offsetField(qp.buffer));
  Queue::DoorbellRecord::set(queue, qp.doorbellRecord.value());
}

}  // namespace hca::adapter
