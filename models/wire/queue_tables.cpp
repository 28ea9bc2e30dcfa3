// Contexts of queues and memory keys.
#include "models/wire/completion_queue_context.h"
#include "models/wire/context_tables.h"
#include "models/wire/dct_context.h"
#include "models/wire/event_queue_context.h"
#include "models/wire/memory_key_context.h"
#include "models/wire/queue_pair_context.h"
#include "models/wire/shared_receive_context.h"

namespace hca::wire {
namespace {

using Row = FieldRow;
using Use = FieldRow::Use;

constexpr ValueName kQueueStatus[] = {{0, "good"}, {9, "overflow"}, {10, "write failed"}};
constexpr ValueName kArmStates[] = {{6, "solicited armed"}, {9, "armed"}, {10, "fired"}, {11, "always armed"}};
constexpr ValueName kStrides[] = {{0, "64 B"}, {1, "128 B"}, {2, "128 B padded"}};

using Cqc = CompletionQueueContext;
constexpr FieldRow kCqcRows[] = {
    Row::bits<Cqc::Status>("status", kQueueStatus),
    Row::bits<Cqc::State>("st", kArmStates),
    Row::bits<Cqc::LogSize>("log_cq_size"),
    Row::bits<Cqc::CqeStride>("cqe_sz", kStrides),
    Row::number<Cqc::UarPage>("uar_page"),
    Row::number<Cqc::EventQueue>("c_eqn"),
    Row::bits<Cqc::Collapsed>("cc"),
    Row::bits<Cqc::SolicitedBreaksModeration>("scqe_break_moderation_en"),
    Row::bits<Cqc::IgnoreOverrun>("oi"),
    Row::bits<Cqc::PeriodMode>("cq_period_mode"),
    Row::bits<Cqc::Period>("cq_period"),
    Row::bits<Cqc::MaxCount>("cq_max_count"),
    Row::bits<Cqc::Compression>("cqe_comp_en"),
    Row::bits<Cqc::MiniFormat>("mini_cqe_res_format"),
    Row::bits<Cqc::MiniFormatExtension>("mini_cqe_res_format_ext"),
    Row::bits<Cqc::CompressionLayout>("cqe_compression_layout"),
    Row::bits<Cqc::TimestampFormat>("cq_timestamp_format"),
    Row::bits<Cqc::AlwaysArmed>("always_armed_cq"),
    Row::bits<Cqc::PageOffset>("page_offset"),
    Row::bits<Cqc::LogPageSize>("log_page_size"),
    Row::bits<Cqc::LastNotifiedIndex>("last_notified_index"),
    Row::bits<Cqc::LastSolicitedIndex>("last_solicit_index"),
    Row::bits<Cqc::ConsumerCounter>("consumer_counter"),
    Row::bits<Cqc::ProducerCounter>("producer_counter"),
    Row::bits<Cqc::DoorbellUmemValid>("dbr_umem_valid"),
    Row::bits<Cqc::DoorbellUmemId>("dbr_umem_id"),
    Row::word64<Cqc::DoorbellRecord>("dbr_addr", Use::kBusAddress),
};

using Eqc = EventQueueContext;
constexpr FieldRow kEqcRows[] = {
    Row::bits<Eqc::Status>("status", kQueueStatus),
    Row::bits<Eqc::State>("st", kArmStates),
    Row::bits<Eqc::LogSize>("log_eq_size"),
    Row::number<Eqc::Vector>("intr"),
    Row::number<Eqc::UarPage>("uar_page"),
    Row::bits<Eqc::EventCollapse>("ec"),
    Row::bits<Eqc::IgnoreOverrun>("oi"),
    Row::bits<Eqc::PageOffset>("page_offset"),
    Row::bits<Eqc::LogPageSize>("log_page_size"),
    Row::bits<Eqc::ConsumerCounter>("consumer_counter"),
    Row::bits<Eqc::ProducerCounter>("producer_counter"),
};

constexpr ValueName kAccessModes[] = {{0, "physical"}, {1, "translated"}, {2, "KLM"}, {3, "KSM"}};

using Mkc = MemoryKeyContext;
constexpr FieldRow kMkcRows[] = {
    Row::bits<Mkc::Free>("free"),
    Row::bits<Mkc::AccessModeHigh>("access_mode_4_2"),
    Row::bits<Mkc::AccessModeLow>("access_mode_1_0", kAccessModes),
    Row::bits<Mkc::RelaxedOrderingWrite>("relaxed_ordering_write"),
    Row::bits<Mkc::RelaxedOrderingRead>("relaxed_ordering_read"),
    Row::bits<Mkc::SmallFenceOnReadResponse>("small_fence_on_rdma_read_response"),
    Row::bits<Mkc::UmrEnabled>("umr_en"),
    Row::bits<Mkc::Atomic>("a"),
    Row::bits<Mkc::RemoteWrite>("rw"),
    Row::bits<Mkc::RemoteRead>("rr"),
    Row::bits<Mkc::LocalWrite>("lw"),
    Row::bits<Mkc::LocalRead>("lr"),
    Row::number<Mkc::ProtectionDomain>("pd"),
    Row::bits<Mkc::Qp>("qpn"),
    Row::bits<Mkc::Variant>("mkey_7_0"),
    Row::bits<Mkc::Length64>("length64"),
    Row::word64<Mkc::StartAddress>("start_addr", Use::kVirtualAddress),
    Row::word64<Mkc::Length>("len"),
    Row::bits<Mkc::LogPageSize>("log_page_size"),
    Row::pageCount<Mkc::TranslationOctwords>("translations_octword_size"),
    Row::bits<Mkc::RemoteInvalidate>("en_rinval"),
    Row::bits<Mkc::BsfEnabled>("bsf_en"),
    Row::bits<Mkc::BsfOctwords>("bsf_octword_size"),
};

using Ads = AddressPathContext;
constexpr FieldRow kAdsRows[] = {
    Row::bits<Ads::Port>("vhca_port_num"),
    Row::bits<Ads::RemoteLid>("rlid"),
    Row::bits<Ads::ServiceLevel>("sl"),
    Row::bits<Ads::SourcePathBits>("mlid"),
    Row::bits<Ads::PkeyIndex>("pkey_index"),
    Row::bits<Ads::GlobalRoute>("grh"),
    Row::bytes<Ads::RemoteGid>("rgid_rip"),
    Row::bits<Ads::SourceGidIndex>("src_addr_index"),
    Row::bits<Ads::HopLimit>("hop_limit"),
    Row::bits<Ads::TrafficClass>("tclass"),
    Row::bits<Ads::FlowLabel>("flow_label"),
    Row::bits<Ads::StaticRate>("stat_rate"),
    Row::bits<Ads::AckTimeout>("ack_timeout"),
    Row::bytes<Ads::RemoteMac>("rmac"),
    Row::bits<Ads::UdpSourcePort>("udp_sport"),
    Row::bits<Ads::Dscp>("dscp"),
    Row::bits<Ads::Ecn>("ecn"),
    Row::bits<Ads::EthernetPriority>("eth_prio"),
    Row::bits<Ads::ForceDscp>("f_dscp"),
    Row::bits<Ads::ForceEcn>("f_ecn"),
    Row::bits<Ads::ForceEthernetPriority>("f_eth_prio"),
    Row::bits<Ads::ForceLoopback>("fl"),
    Row::bits<Ads::FreeAdaptiveRouting>("free_ar"),
};
constexpr FieldTable kAdsFields{kAdsRows};

constexpr ValueName kQpStates[] = {{0, "reset"}, {1, "init"},     {2, "RTR"},  {3, "RTS"},
                                   {4, "SQER"},  {5, "SQ drain"}, {6, "error"}};
constexpr ValueName kServices[] = {{0, "RC"},  {1, "UC"},         {2, "UD"},
                                   {3, "XRC"}, {5, "DCI"},        {7, "QP0"},
                                   {8, "QP1"}, {9, "raw packet"}, {12, "registered UMR"}};
constexpr ValueName kMtus[] = {{1, "256 B"}, {2, "512 B"}, {3, "1024 B"}, {4, "2048 B"}, {5, "4096 B"}};
constexpr ValueName kReceiveTypes[] = {{0, "own"}, {1, "SRQ"}, {3, "none"}};
constexpr ValueName kMigration[] = {{0, "armed"}, {1, "rearm"}, {3, "migrated"}};

using Qpc = QueuePairContext;
constexpr FieldRow kQpcRows[] = {
    Row::bits<Qpc::State>("state", kQpStates),
    Row::number<Qpc::Service>("st", kServices),
    Row::bits<Qpc::PathMigration>("pm_state", kMigration),
    Row::bits<Qpc::OffloadType>("offload_type"),
    Row::bits<Qpc::EndPadding>("end_padding_mode"),
    Row::bits<Qpc::WqeSignature>("wq_signature"),
    Row::bits<Qpc::BlockLoopbackMulticast>("block_lb_mc"),
    Row::bits<Qpc::LatencySensitive>("latency_sensitive"),
    Row::bits<Qpc::DrainSignatureErrors>("drain_sigerr"),
    Row::number<Qpc::ProtectionDomain>("pd"),
    Row::bits<Qpc::Mtu>("mtu", kMtus),
    Row::bits<Qpc::LogMaxMessage>("log_msg_max"),
    Row::bits<Qpc::LogReceiveQueueSize>("log_rq_size"),
    Row::bits<Qpc::LogReceiveStride>("log_rq_stride"),
    Row::bits<Qpc::NoSendQueue>("no_sq"),
    Row::bits<Qpc::LogSendQueueSize>("log_sq_size"),
    Row::bits<Qpc::TimestampFormat>("ts_format"),
    Row::bits<Qpc::ReservedLkey>("rlky"),
    Row::bits<Qpc::OffloadMode>("ulp_stateless_offload_mode"),
    Row::bits<Qpc::CounterSet>("counter_set_id"),
    Row::number<Qpc::UarPage>("uar_page"),
    Row::bits<Qpc::UserIndex>("user_index"),
    Row::bits<Qpc::PageOffset>("page_offset"),
    Row::bits<Qpc::LogPageSize>("log_page_size"),
    Row::bits<Qpc::RemoteQp>("remote_qpn"),
    Row::nested<Qpc::PrimaryPath>("primary_address_path", kAdsFields),
    Row::nested<Qpc::SecondaryPath>("secondary_address_path", kAdsFields),
    Row::bits<Qpc::LogAckRequestFrequency>("log_ack_req_freq"),
    Row::bits<Qpc::LogMaxOutstandingReads>("log_sra_max"),
    Row::bits<Qpc::LogMaxResponderReads>("log_rra_max"),
    Row::bits<Qpc::RetryCount>("retry_count"),
    Row::bits<Qpc::RnrRetry>("rnr_retry"),
    Row::bits<Qpc::CurrentRetryCount>("cur_retry_count"),
    Row::bits<Qpc::CurrentRnrRetry>("cur_rnr_retry"),
    Row::bits<Qpc::FastRegisterEnabled>("fre"),
    Row::bits<Qpc::MinRnrNak>("min_rnr_nak"),
    Row::bits<Qpc::NextSendPsn>("next_send_psn"),
    Row::bits<Qpc::NextReceivePsn>("next_rcv_psn"),
    Row::bits<Qpc::LastAckedPsn>("last_acked_psn"),
    Row::bits<Qpc::SendSequenceNumber>("ssn"),
    Row::bits<Qpc::ReceiveMsn>("rmsn"),
    Row::bits<Qpc::DethSourceQp>("deth_sqpn"),
    Row::number<Qpc::SendCq>("cqn_snd"),
    Row::number<Qpc::ReceiveCq>("cqn_rcv"),
    Row::bits<Qpc::ReceiveQueueType>("rq_type", kReceiveTypes),
    Row::bits<Qpc::SharedReceiveQueue>("srqn_rmpn_xrqn"),
    Row::bits<Qpc::XrcDomain>("xrcd"),
    Row::bits<Qpc::RemoteRead>("rre"),
    Row::bits<Qpc::RemoteWrite>("rwe"),
    Row::bits<Qpc::RemoteAtomic>("rae"),
    Row::bits<Qpc::AtomicMode>("atomic_mode"),
    Row::bits<Qpc::QueueKey>("q_key"),
    Row::bits<Qpc::CrossChannelSlaveReceive>("cd_slave_receive"),
    Row::bits<Qpc::CrossChannelSlaveSend>("cd_slave_send"),
    Row::bits<Qpc::CrossChannelMaster>("cd_master"),
    Row::bits<Qpc::RequesterInlineScatter>("cs_req"),
    Row::bits<Qpc::ResponderInlineScatter>("cs_res"),
    Row::bits<Qpc::HardwareSendCounter>("hw_sq_wqebb_counter"),
    Row::bits<Qpc::SoftwareSendCounter>("sw_sq_wqebb_counter"),
    Row::bits<Qpc::HardwareReceiveCounter>("hw_rq_counter"),
    Row::bits<Qpc::SoftwareReceiveCounter>("sw_rq_counter"),
    Row::word64<Qpc::DcAccessKey>("dc_access_key"),
    Row::word64<Qpc::DoorbellRecord>("dbr_addr", Use::kBusAddress),
};

using Srqc = SharedReceiveContext;
constexpr FieldRow kSrqcRows[] = {
    Row::bits<Srqc::State>("state"),
    Row::bits<Srqc::LogSize>("log_srq_size"),
    Row::bits<Srqc::LogStride>("log_rq_stride"),
    Row::bits<Srqc::WqeSignature>("wq_signature"),
    Row::bits<Srqc::ReservedLkey>("rlky"),
    Row::bits<Srqc::BasicCyclic>("basic_cyclic_rcv_wqe"),
    Row::bits<Srqc::XrcDomain>("xrcd"),
    Row::bits<Srqc::PageOffset>("page_offset"),
    Row::bits<Srqc::LogPageSize>("log_page_size"),
    Row::bits<Srqc::Cq>("cqn"),
    Row::bits<Srqc::UserIndexEqualsNumber>("user_index_equal_xrc_srqn"),
    Row::bits<Srqc::UserIndex>("user_index"),
    Row::number<Srqc::ProtectionDomain>("pd"),
    Row::bits<Srqc::LowWaterMark>("lwm"),
    Row::bits<Srqc::WqeCount>("wqe_cnt"),
    Row::word64<Srqc::DoorbellRecord>("db_record_addr", Use::kBusAddress),
};

constexpr ValueName kWorkQueueTypes[] = {
    {0, "linked list"}, {1, "cyclic"}, {2, "linked list striding"}, {3, "cyclic striding"}};

using Wq = WorkQueueContext;
constexpr FieldRow kWqRows[] = {
    Row::bits<Wq::Type>("wq_type", kWorkQueueTypes),
    Row::bits<Wq::WqeSignature>("wq_signature"),
    Row::bits<Wq::EndPadding>("end_padding_mode"),
    Row::bits<Wq::PageOffset>("page_offset"),
    Row::bits<Wq::LowWaterMark>("lwm"),
    Row::number<Wq::ProtectionDomain>("pd"),
    Row::bits<Wq::UarPage>("uar_page"),
    Row::word64<Wq::DoorbellRecord>("dbr_addr", Use::kBusAddress),
    Row::bits<Wq::HardwareCounter>("hw_counter"),
    Row::bits<Wq::SoftwareCounter>("sw_counter"),
    Row::bits<Wq::LogStride>("log_wq_stride"),
    Row::bits<Wq::LogPageSize>("log_wq_pg_sz"),
    Row::bits<Wq::LogSize>("log_wq_sz"),
    Row::bits<Wq::LogStrideCount>("log_wqe_num_of_strides"),
    Row::bits<Wq::TwoByteShift>("two_byte_shift_en"),
    Row::bits<Wq::LogStrideSize>("log_wqe_stride_size"),
};

constexpr ValueName kPoolStates[] = {{1, "ready"}, {3, "error"}};

using Rmpc = ReceiveMemoryPoolContext;
constexpr FieldRow kRmpcRows[] = {
    Row::bits<Rmpc::State>("state", kPoolStates),
    Row::bits<Rmpc::BasicCyclic>("basic_cyclic_rcv_wqe"),
    Row::nested<Rmpc::WorkQueue>("wq", kWqFields),
};

using Xrqc = TagMatchingQueueContext;
constexpr FieldRow kXrqcRows[] = {
    Row::bits<Xrqc::State>("state"),
    Row::bits<Xrqc::Topology>("topology"),
    Row::bits<Xrqc::Offload>("offload"),
    Row::bits<Xrqc::UserIndex>("user_index"),
    Row::number<Xrqc::Cq>("cqn"),
    Row::bits<Xrqc::LogListSize>("log_matching_list_sz"),
    Row::bits<Xrqc::AppendNext>("append_next_index"),
    Row::bits<Xrqc::SoftwarePhaseCount>("sw_phase_cnt"),
    Row::bits<Xrqc::HardwarePhaseCount>("hw_phase_cnt"),
    Row::nested<Xrqc::WorkQueue>("wq", kWqFields),
};

constexpr ValueName kDctStates[] = {{0, "active"}, {1, "draining"}, {2, "drained"}};

using Dctc = DctContext;
constexpr FieldRow kDctcRows[] = {
    Row::bits<Dctc::State>("state", kDctStates),
    Row::bits<Dctc::UserIndex>("user_index"),
    Row::number<Dctc::Cq>("cqn"),
    Row::number<Dctc::SharedReceiveQueue>("srqn_xrqn"),
    Row::number<Dctc::ProtectionDomain>("pd"),
    Row::bits<Dctc::RemoteRead>("rre"),
    Row::bits<Dctc::RemoteWrite>("rwe"),
    Row::bits<Dctc::RemoteAtomic>("rae"),
    Row::bits<Dctc::ResponderInlineScatter>("cs_res"),
    Row::bits<Dctc::MinRnrNak>("min_rnr_nak"),
    Row::bits<Dctc::TrafficClass>("tclass"),
    Row::bits<Dctc::FlowLabel>("flow_label"),
    Row::word64<Dctc::AccessKey>("dc_access_key"),
    Row::bits<Dctc::Mtu>("mtu", kMtus),
    Row::bits<Dctc::Port>("port"),
    Row::bits<Dctc::PkeyIndex>("pkey_index"),
    Row::bits<Dctc::SourceGidIndex>("my_addr_index"),
    Row::bits<Dctc::HopLimit>("hop_limit"),
};

}  // namespace

const FieldTable kCqcFields{kCqcRows};
const FieldTable kEqcFields{kEqcRows};
const FieldTable kMkcFields{kMkcRows};
const FieldTable kQpcFields{kQpcRows};
const FieldTable kSrqcFields{kSrqcRows};
const FieldTable kWqFields{kWqRows};
const FieldTable kRmpcFields{kRmpcRows};
const FieldTable kXrqcFields{kXrqcRows};
const FieldTable kDctcFields{kDctcRows};

}  // namespace hca::wire
