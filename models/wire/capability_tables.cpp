// What adapters say about themselves.
#include "models/wire/context_tables.h"
#include "models/wire/device_commands.h"

namespace hca::wire {
namespace {

using Row = FieldRow;

constexpr ValueName kPortTypes[] = {{0, "InfiniBand"}, {1, "Ethernet"}};

using Cap = HcaCapabilities;
constexpr FieldRow kGeneralRows[] = {
    Row::bits<Cap::LogMaxSrqSize>("log_max_srq_sz"),
    Row::bits<Cap::LogMaxQpSize>("log_max_qp_sz"),
    Row::bits<Cap::LogMaxQp>("log_max_qp"),
    Row::bits<Cap::LogMaxSrq>("log_max_srq"),
    Row::bits<Cap::LogMaxCqSize>("log_max_cq_sz"),
    Row::bits<Cap::RelaxedOrderingWriteByRequest>("relaxed_ordering_write_umr"),
    Row::bits<Cap::RelaxedOrderingReadByRequest>("relaxed_ordering_read_umr"),
    Row::bits<Cap::LogMaxCq>("log_max_cq"),
    Row::bits<Cap::LogMaxEqSize>("log_max_eq_sz"),
    Row::bits<Cap::RelaxedOrderingWrite>("relaxed_ordering_write"),
    Row::bits<Cap::RelaxedOrderingRead>("relaxed_ordering_read"),
    Row::bits<Cap::LogMaxMemoryKey>("log_max_mkey"),
    Row::bits<Cap::LogMaxEq>("log_max_eq"),
    Row::bits<Cap::MaxIndirection>("max_indirection"),
    Row::bits<Cap::FixedBufferSize>("fixed_buffer_size"),
    Row::bits<Cap::LogMaxMemoryRegion>("log_max_mrw_sz"),
    Row::bits<Cap::ForceTeardown>("force_teardown"),
    Row::bits<Cap::FastTeardown>("fast_teardown"),
    Row::bits<Cap::LogMaxBsfList>("log_max_bsf_list_size"),
    Row::bits<Cap::ExtendedTranslationOffset>("umr_extended_translation_offset"),
    Row::bits<Cap::NullMemoryKey>("null_mkey"),
    Row::bits<Cap::LogMaxKlmList>("log_max_klm_list_size"),
    Row::bits<Cap::LogMaxRequesterReads>("log_max_ra_req_qp"),
    Row::bits<Cap::LogMaxResponderReads>("log_max_ra_res_qp"),
    Row::bits<Cap::EndPadding>("end_pad"),
    Row::bits<Cap::StartPadding>("start_pad"),
    Row::bits<Cap::CacheLine128>("cache_line_128byte"),
    Row::bits<Cap::GidTableSize>("gid_table_size"),
    Row::bits<Cap::OutOfSequenceCount>("out_of_seq_cnt"),
    Row::bits<Cap::VportCounters>("vport_counters"),
    Row::bits<Cap::RetransmissionCounters>("retransmission_q_counters"),
    Row::bits<Cap::MaxQueueCounters>("max_qp_cnt"),
    Row::bits<Cap::PkeyTableSize>("pkey_table_size"),
    Row::bits<Cap::VportGroupManager>("vport_group_manager"),
    Row::bits<Cap::VhcaGroupManager>("vhca_group_manager"),
    Row::bits<Cap::IbVirtualization>("ib_virt"),
    Row::bits<Cap::EthernetVirtualization>("eth_virt"),
    Row::bits<Cap::NicFlowTable>("nic_flow_table"),
    Row::bits<Cap::EswitchManager>("eswitch_manager"),
    Row::bits<Cap::DeviceMemory>("device_memory"),
    Row::bits<Cap::McamRegister>("mcam_reg"),
    Row::bits<Cap::PcamRegister>("pcam_reg"),
    Row::bits<Cap::LocalAckDelay>("local_ca_ack_delay"),
    Row::bits<Cap::PortModuleEvent>("port_module_event"),
    Row::bits<Cap::PortType>("port_type", kPortTypes),
    Row::bits<Cap::NumPorts>("num_ports"),
    Row::bits<Cap::LogMaxMessage>("log_max_msg"),
    Row::bits<Cap::MaxTrafficClass>("max_tc"),
    Row::bits<Cap::StaticRateSupport>("stat_rate_support"),
    Row::bits<Cap::CqeVersion>("cqe_version"),
    Row::bits<Cap::EthernetStriding>("striding_rq"),
    Row::bits<Cap::CompactAddressVector>("compact_address_vector"),
    Row::bits<Cap::UmrModifyEntitySizeDisabled>("umr_modify_entity_size_disabled"),
    Row::bits<Cap::UmrModifyAtomicDisabled>("umr_modify_atomic_disabled"),
    Row::bits<Cap::UmrIndirectKeyDisabled>("umr_indirect_mkey_disabled"),
    Row::bits<Cap::UmrFence>("umr_fence"),
    Row::bits<Cap::CommandChecksum>("cmdif_checksum"),
    Row::bits<Cap::SignatureErrorCqe>("sigerr_cqe"),
    Row::bits<Cap::WqeSignature>("wq_signature"),
    Row::bits<Cap::ScatterDataToCqe>("sctr_data_cqe"),
    Row::bits<Cap::SignatureHandover>("sho"),
    Row::bits<Cap::Dct>("dct"),
    Row::bits<Cap::QualityOfService>("qos"),
    Row::bits<Cap::EthernetOffloads>("eth_net_offloads"),
    Row::bits<Cap::Roce>("roce"),
    Row::bits<Cap::Atomic>("atomic"),
    Row::bits<Cap::CqIgnoreOverrun>("cq_oi"),
    Row::bits<Cap::CqResize>("cq_resize"),
    Row::bits<Cap::CqModeration>("cq_moderation"),
    Row::bits<Cap::CqPeriodModeModify>("cq_period_mode_modify"),
    Row::bits<Cap::CqEqRemap>("cq_eq_remap"),
    Row::bits<Cap::OnDemandPaging>("pg"),
    Row::bits<Cap::BlockLoopbackMulticast>("block_lb_mc"),
    Row::bits<Cap::SolicitedBreaksModeration>("scqe_break_moderation"),
    Row::bits<Cap::CqPeriodFromCqe>("cq_period_start_from_cqe"),
    Row::bits<Cap::CrossChannel>("cd"),
    Row::bits<Cap::AutomaticPathMigration>("apm"),
    Row::bits<Cap::InvalidateCarriesLength>("imaicl"),
    Row::bits<Cap::QkeyViolationCounter>("qkv"),
    Row::bits<Cap::PkeyViolationCounter>("pkv"),
    Row::bits<Cap::SetDethSourceQp>("set_deth_sqpn"),
    Row::bits<Cap::Xrc>("xrc"),
    Row::bits<Cap::Ud>("ud"),
    Row::bits<Cap::Uc>("uc"),
    Row::bits<Cap::Rc>("rc"),
    Row::bits<Cap::Uar4k>("uar_4k"),
    Row::bits<Cap::UarSize>("uar_sz"),
    Row::bits<Cap::UmemUid0>("umem_uid_0"),
    Row::bits<Cap::LogPageSize>("log_pg_sz"),
    Row::bits<Cap::BlueFlame>("bf"),
    Row::bits<Cap::DriverVersion>("driver_version"),
    Row::bits<Cap::LogBlueFlameRegisterSize>("log_bf_reg_size"),
    Row::bits<Cap::MaxSendWqeSize>("max_wqe_sz_sq"),
    Row::bits<Cap::MaxReceiveWqeSize>("max_wqe_sz_rq"),
    Row::bits<Cap::MaxMulticastQps>("max_qp_mcg"),
    Row::bits<Cap::LogMaxMulticastGroups>("log_max_mcg"),
    Row::bits<Cap::LogMaxTransportDomain>("log_max_transport_domain"),
    Row::bits<Cap::LogMaxPd>("log_max_pd"),
    Row::bits<Cap::LogMaxXrcd>("log_max_xrcd"),
    Row::bits<Cap::LogMaxRq>("log_max_rq"),
    Row::bits<Cap::LogMaxSq>("log_max_sq"),
    Row::bits<Cap::LogMaxTir>("log_max_tir"),
    Row::bits<Cap::LogMaxTis>("log_max_tis"),
    Row::bits<Cap::BasicCyclicReceive>("basic_cyclic_rcv_wqe"),
    Row::bits<Cap::LogMaxRmp>("log_max_rmp"),
    Row::bits<Cap::LogMaxRqt>("log_max_rqt"),
    Row::bits<Cap::LogMaxRqtSize>("log_max_rqt_size"),
    Row::bits<Cap::LogMaxWorkQueueSize>("log_max_wq_sz"),
    Row::bits<Cap::SendQueueTimestampFormat>("sq_ts_format"),
    Row::bits<Cap::ReceiveQueueTimestampFormat>("rq_ts_format"),
    Row::bits<Cap::MaxNumEqs>("max_num_eqs"),
    Row::bits<Cap::LogUarPageSize>("log_uar_page_sz"),
    Row::bits<Cap::DeviceFrequencyMhz>("device_frequency_mhz"),
    Row::bits<Cap::DeviceFrequencyKhz>("device_frequency_khz"),
    Row::bits<Cap::UarsPerPage>("num_of_uars_per_page"),
    Row::bits<Cap::EnhancedCqeCompression>("enhanced_cqe_compression"),
    Row::bits<Cap::EnhancedCqeCompressionToo>("enhanced_cqe_compression_dpdk"),
    Row::bits<Cap::MiniCqeStrideIndex>("mini_cqe_resp_stride_index"),
    Row::bits<Cap::Cqe128Always>("cqe_128_always"),
    Row::bits<Cap::CqeCompression128>("cqe_compression_128"),
    Row::bits<Cap::CqeCompression>("cqe_compression"),
    Row::bits<Cap::CqeCompressionTimeout>("cqe_compression_timeout"),
    Row::bits<Cap::CqeCompressionMaxNum>("cqe_compression_max_num"),
    Row::bits<Cap::TagMatching>("tag_matching"),
    Row::bits<Cap::RendezvousRc>("rndv_offload_rc"),
    Row::bits<Cap::LogTagListSize>("log_tag_matching_list_sz"),
    Row::bits<Cap::LogMaxXrq>("log_max_xrq"),
};

using Ethernet = EthernetCapabilities;
constexpr FieldRow kEthernetRows[] = {
    Row::bits<Ethernet::Checksums>("csum_cap"),
    Row::bits<Ethernet::VlanStripping>("vlan_cap"),
    Row::bits<Ethernet::OwnFramesModifiable>("self_lb_en_modifiable"),
    Row::bits<Ethernet::InlineMode>("wqe_inline_mode"),
    Row::bits<Ethernet::LogMaxSpread>("rss_ind_tbl_cap"),
    Row::bits<Ethernet::ScatterFcs>("scatter_fcs"),
};

using Memory = DeviceMemoryCapabilities;
constexpr FieldRow kDeviceMemoryRows[] = {
    Row::bits<Memory::Supported>("memic"),
    Row::bits<Memory::LogMinAllocation>("log_min_memic_alloc_size"),
    Row::bits<Memory::LogMaxAlignment>("log_max_memic_addr_alignment"),
    Row::word64<Memory::BarStart>("memic_bar_start_addr"),
    Row::bits<Memory::BarSize>("memic_bar_size"),
    Row::bits<Memory::MaxAllocation>("max_memic_size"),
};

using Atomic = AtomicCapabilities;
constexpr ValueName kByteOrders[] = {{0, "big-endian"}, {1, "host's"}};
constexpr FieldRow kAtomicRows[] = {
    Row::bits<Atomic::RequestByteOrder>("atomic_req_8B_endianness_mode", kByteOrders),
    Row::bits<Atomic::HostByteOrderSupported>("supported_atomic_req_8B_endianness_mode_1"),
    Row::bits<Atomic::Operations>("atomic_operations"),
    Row::bits<Atomic::QpSizes>("atomic_size_qp"),
    Row::bits<Atomic::DcSizes>("atomic_size_dc"),
};

constexpr NamedTable kGeneral{"hca_cap", kGeneralRows};
constexpr NamedTable kEthernetOffloads{"eth_cap", kEthernetRows};
constexpr NamedTable kAtomic{"atomic_caps", kAtomicRows};
constexpr NamedTable kDeviceMemory{"device_mem_cap", kDeviceMemoryRows};

}  // namespace

const NamedTable* capabilitiesOf(ByteView input) {
  switch (CapabilityModifier::Type::get(CommandInput::Modifier::get(input))) {
    case CapabilityType::kGeneral:
      return &kGeneral;
    case CapabilityType::kEthernet:
      return &kEthernetOffloads;
    case CapabilityType::kAtomic:
      return &kAtomic;
    case CapabilityType::kDeviceMemory:
      return &kDeviceMemory;
    default:
      return nullptr;
  }
}

}  // namespace hca::wire
