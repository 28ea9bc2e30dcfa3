#include "models/wire/command_fields.h"

#include <algorithm>
#include <iterator>

#include "models/wire/context_tables.h"
#include "models/wire/dct_context.h"
#include "models/wire/device_commands.h"
#include "models/wire/device_memory.h"
#include "models/wire/ethernet_commands.h"
#include "models/wire/port_commands.h"
#include "models/wire/queue_commands.h"
#include "models/wire/umem_commands.h"

namespace hca::wire {
namespace {

using Opcode = CommandOpcode;
using Row = FieldRow;
using Use = FieldRow::Use;

// Inputs and outputs with the number of one object.
constexpr FieldRow kCqn[] = {Row::number<ObjectCommand::Number>("cqn")};
constexpr FieldRow kDctn[] = {Row::number<ObjectCommand::Number>("dctn")};
constexpr FieldRow kEqn[] = {Row::number<EqCommand::Number>("eq_number")};
constexpr FieldRow kMkeyIndex[] = {Row::number<ObjectCommand::Number>("mkey_index")};
constexpr FieldRow kPdn[] = {Row::number<ObjectCommand::Number>("pd")};
constexpr FieldRow kQpn[] = {Row::number<ObjectCommand::Number>("qpn")};
constexpr FieldRow kRmpn[] = {Row::number<ObjectCommand::Number>("rmpn")};
constexpr FieldRow kRqn[] = {Row::number<ObjectCommand::Number>("rqn")};
constexpr FieldRow kRqtn[] = {Row::number<ObjectCommand::Number>("rqtn")};
constexpr FieldRow kSqn[] = {Row::number<ObjectCommand::Number>("sqn")};
constexpr FieldRow kSrqn[] = {Row::number<ObjectCommand::Number>("srqn")};
constexpr FieldRow kTableId[] = {Row::number<ObjectCommand::Number>("table_id")};
constexpr FieldRow kGroupId[] = {Row::number<ObjectCommand::Number>("group_id")};
constexpr FieldRow kTirn[] = {Row::number<ObjectCommand::Number>("tirn")};
constexpr FieldRow kTisn[] = {Row::number<ObjectCommand::Number>("tisn")};
constexpr FieldRow kTransportDomain[] = {Row::number<ObjectCommand::Number>("transport_domain")};
constexpr FieldRow kUar[] = {Row::number<ObjectCommand::Number>("uar")};
constexpr FieldRow kXrcd[] = {Row::number<ObjectCommand::Number>("xrcd")};
constexpr FieldRow kXrcSrqn[] = {Row::number<ObjectCommand::Number>("xrc_srqn")};
constexpr FieldRow kXrqn[] = {Row::number<ObjectCommand::Number>("xrqn")};

// ---- the device

constexpr FieldRow kFunction[] = {Row::bits<EnableHcaInput::Function>("function_id")};
constexpr FieldRow kIssiIn[] = {Row::number<SetIssiInput::Current>("current_issi")};
constexpr FieldRow kIssiOut[] = {Row::number<QueryIssiOutput::Current>("current_issi"),
                                 Row::bits<QueryIssiOutput::SupportedLow>("supported_issi_dw0")};
constexpr FieldRow kTeardownIn[] = {Row::bits<TeardownHcaInput::Profile>("profile")};
constexpr FieldRow kTeardownOut[] = {Row::bits<TeardownHcaOutput::ForcedFailed>("state")};
constexpr FieldRow kQueryPagesOut[] = {Row::bits<QueryPagesOutput::Function>("function_id"),
                                       Row::signedNumber<QueryPagesOutput::Pages>("num_pages")};
constexpr FieldRow kManagePagesIn[] = {Row::bits<ManagePagesInput::Function>("function_id"),
                                       Row::number<ManagePagesInput::Entries>("input_num_entries"),
                                       Row::words64<ManagePagesInput::Pages>("pas")};
constexpr FieldRow kManagePagesOut[] = {Row::number<ManagePagesOutput::Entries>("output_num_entries"),
                                        Row::words64<ManagePagesOutput::Pages>("pas")};
constexpr FieldRow kCapabilities[] = {Row::choice(QueryHcaCapOutput::General::kByteOffset, capabilitiesOf)};
constexpr FieldRow kCreateUmemIn[] = {Row::bits<CreateUmemInput::LogPageSize>("umem.log_page_size"),
                                      Row::bits<CreateUmemInput::PageOffset>("umem.page_offset"),
                                      Row::word64<CreateUmemInput::PageCount>("umem.num_of_mtt"),
                                      Row::words64<CreateUmemInput::Pages>("umem.mtt")};
constexpr FieldRow kUmemId[] = {Row::number<UmemCommand::Number>("umem_id")};
constexpr FieldRow kAdapterOut[] = {Row::bits<QueryAdapterOutput::IeeeVendorId>("ieee_vendor_id"),
                                    Row::bits<QueryAdapterOutput::VsdVendorId>("vsd_vendor_id"),
                                    Row::text<QueryAdapterOutput::BoardId>("vsd_contd_psid")};
constexpr FieldRow kDriverVersion[] = {Row::text<SetDriverVersionInput::Text>("driver_version")};
constexpr FieldRow kSpecialContexts[] = {Row::bits<QuerySpecialContextsOutput::DumpFillKey>("dump_fill_mkey"),
                                         Row::bits<QuerySpecialContextsOutput::ReservedLkey>("resd_lkey"),
                                         Row::bits<QuerySpecialContextsOutput::NullKey>("null_mkey")};
constexpr FieldRow kRegisterIn[] = {Row::number<AccessRegisterInput::Register>("register_id"),
                                    Row::bits<AccessRegisterInput::Argument>("argument"),
                                    Row::choice(AccessRegisterInput::kData, registerOf)};
constexpr FieldRow kRegisterOut[] = {Row::choice(AccessRegisterOutput::kData, registerOf)};
constexpr FieldRow kAllocMemicIn[] = {Row::bits<AllocDeviceMemoryInput::LogAlignment>("log_memic_addr_alignment"),
                                      Row::word64<AllocDeviceMemoryInput::RangeStart>("range_start_addr"),
                                      Row::bits<AllocDeviceMemoryInput::RangeSize>("range_size"),
                                      Row::bits<AllocDeviceMemoryInput::Size>("memic_size")};
constexpr FieldRow kAllocMemicOut[] = {Row::word64<AllocDeviceMemoryOutput::Start>("memic_start_addr")};
constexpr FieldRow kDeallocMemic[] = {Row::word64<DeallocDeviceMemoryInput::Start>("memic_start_addr"),
                                      Row::bits<DeallocDeviceMemoryInput::Size>("memic_size")};

// ---- ports

constexpr FieldRow kVportIn[] = {Row::bits<HcaVportInput::OtherVport>("other_vport"),
                                 Row::bits<HcaVportInput::Port>("port_num"),
                                 Row::bits<HcaVportInput::Vport>("vport_number")};
constexpr FieldRow kVportModify[] = {Row::bits<HcaVportInput::OtherVport>("other_vport"),
                                     Row::bits<HcaVportInput::Port>("port_num"),
                                     Row::bits<HcaVportInput::Vport>("vport_number"),
                                     Row::nested<HcaVportInput::Context>("hca_vport_context", kHcaVportFields)};
constexpr FieldRow kVportGidIn[] = {
    Row::bits<HcaVportInput::OtherVport>("other_vport"), Row::bits<HcaVportInput::Port>("port_num"),
    Row::bits<HcaVportInput::Vport>("vport_number"), Row::number<HcaVportInput::Index>("gid_index")};
constexpr FieldRow kVportPkeyIn[] = {
    Row::bits<HcaVportInput::OtherVport>("other_vport"), Row::bits<HcaVportInput::Port>("port_num"),
    Row::bits<HcaVportInput::Vport>("vport_number"), Row::number<HcaVportInput::Index>("pkey_index")};
constexpr FieldRow kVportOut[] = {Row::nested<HcaVportContextOutput::Context>("hca_vport_context", kHcaVportFields)};
constexpr FieldRow kVportGidOut[] = {Row::bits<HcaVportGidOutput::Count>("gids_num"),
                                     Row::list("gid", HcaVportGidOutput::kTable, HcaVportGidOutput::kEntrySize)};
constexpr FieldRow kVportPkeyOut[] = {Row::list("pkey", HcaVportPkeyOutput::kTable, HcaVportPkeyOutput::kEntrySize)};
constexpr FieldRow kVportStateOut[] = {Row::bits<VportStateOutput::AdminState>("admin_state"),
                                       Row::number<VportStateOutput::State>("state")};
constexpr FieldRow kMadIn[] = {Row::bits<MadInput::RemoteLid>("remote_lid"), Row::bits<MadInput::Port>("port"),
                               Row::bytes<MadInput::Mad>("mad")};
constexpr FieldRow kMadOut[] = {Row::bytes<MadOutput::Mad>("response_mad_packet")};

// ---- memory keys, event and completion queues

constexpr FieldRow kCreateMkey[] = {
    Row::bits<CreateMemoryKeyInput::PageAccess>("pg_access"),
    Row::bits<CreateMemoryKeyInput::UmemValid>("mkey_umem_valid"),
    Row::nested<CreateMemoryKeyInput::Context>("mkc", kMkcFields),
    Row::pageCount<CreateMemoryKeyInput::TranslationOctwords>("translations_octword_actual_size"),
    Row::words64<CreateMemoryKeyInput::Translations>("klm_pas_mtt")};
constexpr FieldRow kQueryMkey[] = {Row::nested<QueryMemoryKeyOutput::Context>("mkc", kMkcFields)};
constexpr FieldRow kCreateEq[] = {
    Row::nested<CreateEqInput::Context>("eqc", kEqcFields),
    Row::words64<CreateEqInput::EventMask>("event_bitmask", Use::kPlain, CreateEqInput::kEventMaskWords),
    Row::words64<CreateEqInput::Pages>("pas")};
constexpr FieldRow kQueryEq[] = {
    Row::nested<QueryEqOutput::Context>("eqc", kEqcFields),
    Row::words64<QueryEqOutput::EventMask>("event_bitmask", Use::kPlain, CreateEqInput::kEventMaskWords),
    Row::words64<QueryEqOutput::Pages>("pas")};
constexpr FieldRow kGenerateEvent[] = {Row::number<GenerateEventInput::Number>("eq_number"),
                                       Row::bytes<GenerateEventInput::Entry>("eqe")};
constexpr FieldRow kCreateCq[] = {
    Row::nested<CreateCqInput::Context>("cqc", kCqcFields), Row::bits<CreateCqInput::UmemValid>("cq_umem_valid"),
    Row::bits<CreateCqInput::UmemId>("cq_umem_id"), Row::word64<CreateCqInput::UmemOffset>("cq_umem_offset"),
    Row::words64<CreateCqInput::Pages>("pas")};
constexpr FieldRow kQueryCq[] = {Row::nested<QueryCqOutput::Context>("cqc", kCqcFields),
                                 Row::words64<QueryCqOutput::Pages>("pas")};
constexpr FieldRow kModifyCq[] = {Row::number<ModifyCqInput::Number>("cqn"),
                                  Row::bits<ModifyCqInput::Select>("modify_field_select"),
                                  Row::nested<ModifyCqInput::Context>("cqc", kCqcFields),
                                  Row::bits<ModifyCqInput::UmemValid>("cq_umem_valid"),
                                  Row::bits<ModifyCqInput::UmemId>("cq_umem_id"),
                                  Row::words64<ModifyCqInput::Pages>("pas")};

// ---- queue pairs and what they receive from

constexpr FieldRow kCreateQp[] = {
    Row::bits<CreateQpInput::OptionalMask>("opt_param_mask"), Row::nested<CreateQpInput::Context>("qpc", kQpcFields),
    Row::bits<CreateQpInput::UmemValid>("wq_umem_valid"), Row::bits<CreateQpInput::UmemId>("wq_umem_id"),
    Row::words64<CreateQpInput::Pages>("pas")};
constexpr FieldRow kModifyQp[] = {
    Row::number<ModifyQpInput::Number>("qpn"), Row::bits<ModifyQpInput::DrainedEvent>("sqd_event"),
    Row::bits<ModifyQpInput::OptionalMask>("opt_param_mask"), Row::nested<ModifyQpInput::Context>("qpc", kQpcFields)};
constexpr FieldRow kQueryQp[] = {Row::bits<QueryQpOutput::OptionalMask>("opt_param_mask"),
                                 Row::nested<QueryQpOutput::Context>("qpc", kQpcFields),
                                 Row::words64<QueryQpOutput::Pages>("pas")};
constexpr FieldRow kCreateSrq[] = {Row::nested<CreateSrqInput::Context>("srqc", kSrqcFields),
                                   Row::words64<CreateSrqInput::Pages>("pas")};
constexpr FieldRow kQuerySrq[] = {Row::nested<QuerySrqOutput::Context>("srqc", kSrqcFields)};
constexpr FieldRow kArmSrq[] = {Row::number<ArmSrqInput::Number>("srq_number"),
                                Row::bits<ArmSrqInput::LowWaterMark>("lwm")};
constexpr FieldRow kCreateRmp[] = {Row::nested<CreateRmpInput::Context>("rmpc", kRmpcFields),
                                   Row::words64<CreateRmpInput::Pages>("pas")};
constexpr FieldRow kModifyRmp[] = {
    Row::number<ModifyRmpInput::Number>("rmpn"), Row::bits<ModifyRmpInput::State>("rmp_state"),
    Row::word64<ModifyRmpInput::Mask>("bitmask"), Row::nested<ModifyRmpInput::Context>("rmpc", kRmpcFields)};
constexpr FieldRow kQueryRmp[] = {Row::nested<QueryRmpOutput::Context>("rmpc", kRmpcFields)};
constexpr FieldRow kCreateXrq[] = {Row::nested<CreateXrqInput::Context>("xrqc", kXrqcFields),
                                   Row::words64<CreateXrqInput::Pages>("pas")};
constexpr FieldRow kQueryXrq[] = {Row::nested<QueryXrqOutput::Context>("xrqc", kXrqcFields)};
constexpr FieldRow kCreateDct[] = {Row::nested<CreateDctInput::Context>("dctc", kDctcFields)};
constexpr FieldRow kQueryDct[] = {Row::nested<QueryDctOutput::Context>("dctc", kDctcFields)};
constexpr FieldRow kMulticast[] = {Row::number<MulticastInput::QpNumber>("qpn"),
                                   Row::bytes<MulticastInput::Group>("multicast_gid")};

// ---- raw packets

constexpr FieldRow kCreateSq[] = {Row::nested<CreateEthernetQueueInput::Context>("sqc", kSqcFields),
                                  Row::words64<CreateEthernetQueueInput::Pages>("pas")};
constexpr FieldRow kCreateRq[] = {Row::nested<CreateEthernetQueueInput::Context>("rqc", kRqcFields),
                                  Row::words64<CreateEthernetQueueInput::Pages>("pas")};
constexpr FieldRow kModifySq[] = {Row::number<ModifyEthernetQueueInput::Number>("sqn"),
                                  Row::bits<ModifyEthernetQueueInput::State>("sq_state"),
                                  Row::word64<ModifyEthernetQueueInput::Mask>("modify_bitmask"),
                                  Row::nested<ModifyEthernetQueueInput::Context>("sqc", kSqcFields)};
constexpr FieldRow kModifyRq[] = {Row::number<ModifyEthernetQueueInput::Number>("rqn"),
                                  Row::bits<ModifyEthernetQueueInput::State>("rq_state"),
                                  Row::word64<ModifyEthernetQueueInput::Mask>("modify_bitmask"),
                                  Row::nested<ModifyEthernetQueueInput::Context>("rqc", kRqcFields)};
constexpr FieldRow kQuerySq[] = {Row::nested<QueryEthernetQueueOutput::Context>("sqc", kSqcFields)};
constexpr FieldRow kQueryRq[] = {Row::nested<QueryEthernetQueueOutput::Context>("rqc", kRqcFields)};
constexpr FieldRow kCreateTir[] = {
    Row::bits<CreateTirInput::Dispatch>("disp_type"),
    Row::bits<CreateTirInput::ReceiveQueue>("inline_rqn"),
    Row::bits<CreateTirInput::IndirectionTable>("indirect_table"),
    Row::bits<CreateTirInput::HashSymmetric>("rx_hash_symmetric"),
    Row::bits<CreateTirInput::HashFunction>("rx_hash_fn"),
    Row::bits<CreateTirInput::OwnFrames>("self_lb_block"),
    Row::number<CreateTirInput::TransportDomain>("transport_domain"),
    Row::bytes<CreateTirInput::HashKey>("rx_hash_toeplitz_key"),
    Row::bits<CreateTirInput::HashIpv6>("rx_hash_field_selector_outer.l3_prot_type"),
    Row::bits<CreateTirInput::HashUdp>("rx_hash_field_selector_outer.l4_prot_type"),
    Row::bits<CreateTirInput::HashFields>("rx_hash_field_selector_outer.selected_fields")};
constexpr FieldRow kCreateTis[] = {Row::number<CreateTisInput::TransportDomain>("transport_domain")};
constexpr FieldRow kCreateRqt[] = {Row::bits<CreateRqtInput::MaxSize>("rqt_max_size"),
                                   Row::bits<CreateRqtInput::ActualSize>("rqt_actual_size"),
                                   Row::dwords<CreateRqtInput::FirstQueue>("rq_num")};
constexpr FieldRow kModifyRqt[] = {Row::number<ObjectCommand::Number>("rqtn"),
                                   Row::bits<CreateRqtInput::ActualSize>("rqt_actual_size"),
                                   Row::dwords<CreateRqtInput::FirstQueue>("rq_num")};
constexpr FieldRow kCreateFlowTable[] = {Row::number<FlowTableInput::Type>("table_type"),
                                         Row::number<CreateFlowTableInput::Level>("level"),
                                         Row::bits<CreateFlowTableInput::LogSize>("log_size")};
constexpr FieldRow kFlowTable[] = {Row::number<FlowTableInput::Type>("table_type"),
                                   Row::number<FlowTableInput::Table>("table_id")};
constexpr FieldRow kCreateFlowGroup[] = {Row::number<FlowTableInput::Type>("table_type"),
                                         Row::number<FlowTableInput::Table>("table_id"),
                                         Row::number<CreateFlowGroupInput::FirstIndex>("start_flow_index"),
                                         Row::number<CreateFlowGroupInput::LastIndex>("end_flow_index"),
                                         Row::bits<CreateFlowGroupInput::Criteria>("match_criteria_enable"),
                                         Row::nested<CreateFlowGroupInput::Match>("match_criteria", kFlowMatchFields)};
constexpr FieldRow kFlowGroup[] = {Row::number<FlowTableInput::Type>("table_type"),
                                   Row::number<FlowTableInput::Table>("table_id"),
                                   Row::number<FlowTableInput::Group>("group_id")};
constexpr ValueName kActions[] = {{FlowEntryInput::kDrop, "drop"}, {FlowEntryInput::kForward, "forward"}};
constexpr ValueName kDestinations[] = {{FlowEntryInput::kToTable, "table"}, {FlowEntryInput::kToReceiver, "TIR"}};
constexpr FieldRow kDestination[] = {Row::bits<FlowEntryInput::DestinationType>("type", kDestinations),
                                     Row::number<FlowEntryInput::Destination>("id")};
constexpr FieldTable kDestinationFields{kDestination};
constexpr FieldRow kSetFlowEntry[] = {
    Row::number<FlowTableInput::Type>("table_type"),
    Row::number<FlowTableInput::Table>("table_id"),
    Row::bits<FlowEntryInput::ModifyMask>("modify_enable_mask"),
    Row::number<FlowEntryInput::Index>("flow_index"),
    Row::number<FlowEntryInput::Group>("group_id"),
    Row::bits<FlowEntryInput::FlowTag>("flow_tag"),
    Row::bits<FlowEntryInput::Action>("action", kActions),
    Row::bits<FlowEntryInput::Destinations>("destination_list_size"),
    Row::nested<FlowEntryInput::Value>("match_value", kFlowMatchFields),
    Row::entries("destination", FlowEntryInput::kDestinations, FlowEntryInput::kDestinationSize, kDestinationFields)};
constexpr FieldRow kFlowEntry[] = {Row::number<FlowTableInput::Type>("table_type"),
                                   Row::number<FlowTableInput::Table>("table_id"),
                                   Row::number<FlowEntryInput::Index>("flow_index")};

// In the order of the opcodes' values, for the search below.
constexpr CommandFields kTables[] = {
    {Opcode::kQueryHcaCapabilities, {}, kCapabilities},
    {Opcode::kQueryAdapter, {}, kAdapterOut},
    {Opcode::kInitHca, {}, {}},
    {Opcode::kTeardownHca, kTeardownIn, kTeardownOut},
    {Opcode::kEnableHca, kFunction, {}},
    {Opcode::kDisableHca, kFunction, {}},
    {Opcode::kQueryPages, kFunction, kQueryPagesOut},
    {Opcode::kManagePages, kManagePagesIn, kManagePagesOut},
    {Opcode::kSetHcaCapabilities, kCapabilities, {}},
    {Opcode::kQueryIssi, {}, kIssiOut},
    {Opcode::kSetIssi, kIssiIn, {}},
    {Opcode::kSetDriverVersion, kDriverVersion, {}},
    {Opcode::kCreateMemoryKey, kCreateMkey, kMkeyIndex},
    {Opcode::kQueryMemoryKey, kMkeyIndex, kQueryMkey},
    {Opcode::kDestroyMemoryKey, kMkeyIndex, {}},
    {Opcode::kQuerySpecialContexts, {}, kSpecialContexts},
    {Opcode::kAllocDeviceMemory, kAllocMemicIn, kAllocMemicOut},
    {Opcode::kDeallocDeviceMemory, kDeallocMemic, {}},
    {Opcode::kCreateEq, kCreateEq, kEqn},
    {Opcode::kDestroyEq, kEqn, {}},
    {Opcode::kQueryEq, kEqn, kQueryEq},
    {Opcode::kGenerateEvent, kGenerateEvent, {}},
    {Opcode::kCreateCq, kCreateCq, kCqn},
    {Opcode::kDestroyCq, kCqn, {}},
    {Opcode::kQueryCq, kCqn, kQueryCq},
    {Opcode::kModifyCq, kModifyCq, {}},
    {Opcode::kCreateQp, kCreateQp, kQpn},
    {Opcode::kDestroyQp, kQpn, {}},
    {Opcode::kResetToInit, kModifyQp, {}},
    {Opcode::kInitToReadyToReceive, kModifyQp, {}},
    {Opcode::kReadyToReceiveToReadyToSend, kModifyQp, {}},
    {Opcode::kReadyToSendToReadyToSend, kModifyQp, {}},
    {Opcode::kSendQueueErrorToReadyToSend, kModifyQp, {}},
    {Opcode::kToError, kQpn, {}},
    {Opcode::kReadyToSendToDrain, kModifyQp, {}},
    {Opcode::kDrainToReadyToSend, kModifyQp, {}},
    {Opcode::kToReset, kQpn, {}},
    {Opcode::kQueryQp, kQpn, kQueryQp},
    {Opcode::kDrainedToReadyToSend, kModifyQp, {}},
    {Opcode::kMadInterface, kMadIn, kMadOut},
    {Opcode::kInitToInit, kModifyQp, {}},
    {Opcode::kDrainToDrain, kModifyQp, {}},
    {Opcode::kCreateSrq, kCreateSrq, kSrqn},
    {Opcode::kDestroySrq, kSrqn, {}},
    {Opcode::kQuerySrq, kSrqn, kQuerySrq},
    {Opcode::kArmReceiveQueue, kArmSrq, {}},
    {Opcode::kCreateXrcSrq, kCreateSrq, kXrcSrqn},
    {Opcode::kDestroyXrcSrq, kXrcSrqn, {}},
    {Opcode::kQueryXrcSrq, kXrcSrqn, kQuerySrq},
    {Opcode::kArmXrcSrq, kArmSrq, {}},
    {Opcode::kCreateDct, kCreateDct, kDctn},
    {Opcode::kDestroyDct, kDctn, {}},
    {Opcode::kDrainDct, kDctn, {}},
    {Opcode::kQueryDct, kDctn, kQueryDct},
    {Opcode::kCreateXrq, kCreateXrq, kXrqn},
    {Opcode::kDestroyXrq, kXrqn, {}},
    {Opcode::kQueryXrq, kXrqn, kQueryXrq},
    {Opcode::kQueryVportState, kVportIn, kVportStateOut},
    {Opcode::kQueryHcaVportContext, kVportIn, kVportOut},
    {Opcode::kModifyHcaVportContext, kVportModify, {}},
    {Opcode::kQueryHcaVportGid, kVportGidIn, kVportGidOut},
    {Opcode::kQueryHcaVportPkey, kVportPkeyIn, kVportPkeyOut},
    {Opcode::kAllocPd, {}, kPdn},
    {Opcode::kDeallocPd, kPdn, {}},
    {Opcode::kAllocUar, {}, kUar},
    {Opcode::kDeallocUar, kUar, {}},
    {Opcode::kAccessRegister, kRegisterIn, kRegisterOut},
    {Opcode::kAttachToMulticast, kMulticast, {}},
    {Opcode::kDetachFromMulticast, kMulticast, {}},
    {Opcode::kNop, {}, {}},
    {Opcode::kAllocXrcd, {}, kXrcd},
    {Opcode::kDeallocXrcd, kXrcd, {}},
    {Opcode::kAllocTransportDomain, {}, kTransportDomain},
    {Opcode::kDeallocTransportDomain, kTransportDomain, {}},
    {Opcode::kCreateTir, kCreateTir, kTirn},
    {Opcode::kDestroyTir, kTirn, {}},
    {Opcode::kCreateSq, kCreateSq, kSqn},
    {Opcode::kModifySq, kModifySq, {}},
    {Opcode::kDestroySq, kSqn, {}},
    {Opcode::kQuerySq, kSqn, kQuerySq},
    {Opcode::kCreateRq, kCreateRq, kRqn},
    {Opcode::kModifyRq, kModifyRq, {}},
    {Opcode::kDestroyRq, kRqn, {}},
    {Opcode::kQueryRq, kRqn, kQueryRq},
    {Opcode::kCreateRmp, kCreateRmp, kRmpn},
    {Opcode::kModifyRmp, kModifyRmp, {}},
    {Opcode::kDestroyRmp, kRmpn, {}},
    {Opcode::kQueryRmp, kRmpn, kQueryRmp},
    {Opcode::kCreateTis, kCreateTis, kTisn},
    {Opcode::kDestroyTis, kTisn, {}},
    {Opcode::kCreateRqt, kCreateRqt, kRqtn},
    {Opcode::kModifyRqt, kModifyRqt, {}},
    {Opcode::kDestroyRqt, kRqtn, {}},
    {Opcode::kCreateFlowTable, kCreateFlowTable, kTableId},
    {Opcode::kDestroyFlowTable, kFlowTable, {}},
    {Opcode::kCreateFlowGroup, kCreateFlowGroup, kGroupId},
    {Opcode::kDestroyFlowGroup, kFlowGroup, {}},
    {Opcode::kSetFlowTableEntry, kSetFlowEntry, {}},
    {Opcode::kDeleteFlowTableEntry, kFlowEntry, {}},
    {Opcode::kCreateUserMemory, kCreateUmemIn, kUmemId},
    {Opcode::kDestroyUserMemory, kUmemId, {}},
};

constexpr bool isSorted() {
  for (std::size_t n = 1; n < std::size(kTables); ++n) {
    if (!(kTables[n - 1].opcode < kTables[n].opcode)) return false;
  }
  return true;
}
static_assert(isSorted(), "in the order of the opcodes' values");

}  // namespace

const CommandFields* findCommandFields(CommandOpcode opcode) {
  const auto* const found =
      std::lower_bound(std::begin(kTables), std::end(kTables), opcode,
                       [](const CommandFields& entry, CommandOpcode wanted) { return entry.opcode < wanted; });
  return found != std::end(kTables) && found->opcode == opcode ? found : nullptr;
}

}  // namespace hca::wire
