// Contexts and registers of ports.
#include "models/wire/context_tables.h"
#include "models/wire/device_commands.h"
#include "models/wire/vport_context.h"

namespace hca::wire {
namespace {

using Row = FieldRow;

constexpr ValueName kPhysicalStates[] = {{2, "polling"}, {3, "disabled"}, {5, "link up"}};
constexpr ValueName kPortStates[] = {{1, "down"}, {2, "initialise"}, {3, "armed"}, {4, "active"}};

using Vport = HcaVportContext;
constexpr FieldRow kHcaVportRows[] = {
    Row::bits<Vport::FieldSelect>("field_select"),
    Row::bits<Vport::SmVirtualizationAware>("sm_virt_aware"),
    Row::bits<Vport::HasSmi>("has_smi"),
    Row::bits<Vport::HasRaw>("has_raw"),
    Row::bits<Vport::GrhRequired>("grh_required"),
    Row::bits<Vport::PortPhysicalState>("port_physical_state", kPhysicalStates),
    Row::bits<Vport::StatePolicy>("vport_state_policy"),
    Row::bits<Vport::PortState>("port_state", kPortStates),
    Row::bits<Vport::VportState>("vport_state"),
    Row::word64<Vport::SystemImageGuid>("system_image_guid"),
    Row::word64<Vport::PortGuid>("port_guid"),
    Row::word64<Vport::NodeGuid>("node_guid"),
    Row::bits<Vport::CapabilityMask1>("cap_mask1"),
    Row::bits<Vport::CapabilityMask1Select>("cap_mask1_field_select"),
    Row::bits<Vport::CapabilityMask2>("cap_mask2"),
    Row::bits<Vport::CapabilityMask2Select>("cap_mask2_field_select"),
    Row::bits<Vport::Lid>("lid"),
    Row::bits<Vport::InitTypeReply>("init_type_reply"),
    Row::bits<Vport::Lmc>("lmc"),
    Row::bits<Vport::SubnetTimeout>("subnet_timeout"),
    Row::bits<Vport::SmLid>("sm_lid"),
    Row::bits<Vport::SmServiceLevel>("sm_sl"),
    Row::bits<Vport::QkeyViolations>("qkey_violation_counter"),
    Row::bits<Vport::PkeyViolations>("pkey_violation_counter"),
};

using Pmtu = PortMtuRegister;
constexpr FieldRow kPmtuRows[] = {
    Row::bits<Pmtu::LocalPort>("local_port"),
    Row::bits<Pmtu::MaxMtu>("max_mtu"),
    Row::bits<Pmtu::AdminMtu>("admin_mtu"),
    Row::bits<Pmtu::OperationalMtu>("oper_mtu"),
};

using Ptys = PortTypeSpeedRegister;
constexpr FieldRow kPtysRows[] = {
    Row::bits<Ptys::LocalPort>("local_port"),
    Row::bits<Ptys::ProtocolMask>("proto_mask"),
    Row::bits<Ptys::EthernetCapability>("eth_proto_capability"),
    Row::bits<Ptys::EthernetAdmin>("eth_proto_admin"),
    Row::bits<Ptys::EthernetOperational>("eth_proto_oper"),
    Row::bits<Ptys::IbWidthCapability>("ib_link_width_capability"),
    Row::bits<Ptys::IbProtocolCapability>("ib_proto_capability"),
    Row::bits<Ptys::IbWidthAdmin>("ib_link_width_admin"),
    Row::bits<Ptys::IbProtocolAdmin>("ib_proto_admin"),
    Row::bits<Ptys::IbWidthOperational>("ib_link_width_oper"),
    Row::bits<Ptys::IbProtocolOperational>("ib_proto_oper"),
    Row::bits<Ptys::ConnectorType>("connector_type"),
};

using Pvlc = PortVirtualLanesRegister;
constexpr FieldRow kPvlcRows[] = {
    Row::bits<Pvlc::LocalPort>("local_port"),
    Row::bits<Pvlc::HardwareCapability>("vl_hw_cap"),
    Row::bits<Pvlc::Admin>("vl_admin"),
    Row::bits<Pvlc::Operational>("vl_operational"),
};

constexpr ValueName kUpDown[] = {{1, "up"}, {2, "down"}};

using Paos = PortAdministrationRegister;
constexpr FieldRow kPaosRows[] = {
    Row::bits<Paos::LocalPort>("local_port"),
    Row::bits<Paos::AdminStatus>("admin_status", kUpDown),
    Row::bits<Paos::OperationalStatus>("oper_status", kUpDown),
};

constexpr FieldRow kNodeDescriptionRows[] = {Row::text<NodeDescriptionRegister::Text>("desc")};
constexpr FieldRow kHostEndiannessRows[] = {Row::bits<HostEndiannessRegister::Endianness>("he")};

using Dtor = DefaultTimeoutsRegister;
constexpr FieldRow kDtorRows[] = {
    Row::bits<Dtor::PcieToggle>("pcie_toggle_to"),     Row::bits<Dtor::HealthPoll>("health_poll_to"),
    Row::bits<Dtor::FullDump>("full_crdump_to"),       Row::bits<Dtor::FirmwareReset>("fw_reset_to"),
    Row::bits<Dtor::FlushOnError>("flush_on_err_to"),  Row::bits<Dtor::PciSyncUpdate>("pci_sync_update_to"),
    Row::bits<Dtor::Teardown>("tear_down_to"),         Row::bits<Dtor::Reactivate>("fsm_reactivate_to"),
    Row::bits<Dtor::ReclaimPages>("reclaim_pages_to"), Row::bits<Dtor::ReclaimVirtualPages>("reclaim_vfs_pages_to"),
};

constexpr NamedTable kPmtu{"pmtu", kPmtuRows};
constexpr NamedTable kPtys{"ptys", kPtysRows};
constexpr NamedTable kPvlc{"pvlc", kPvlcRows};
constexpr NamedTable kPaos{"paos", kPaosRows};
constexpr NamedTable kNodeDescription{"node_desc", kNodeDescriptionRows};
constexpr NamedTable kDtor{"dtor", kDtorRows};
constexpr NamedTable kHostEndianness{"host_endianness", kHostEndiannessRows};

}  // namespace

const FieldTable kHcaVportFields{kHcaVportRows};

const NamedTable* registerOf(ByteView input) {
  if (input.size() < AccessRegisterInput::kSize) return nullptr;
  switch (static_cast<RegisterId>(AccessRegisterInput::Register::get(input))) {
    case RegisterId::kPortMtu:
      return &kPmtu;
    case RegisterId::kPortTypeSpeed:
      return &kPtys;
    case RegisterId::kPortVirtualLanes:
      return &kPvlc;
    case RegisterId::kPortAdministration:
      return &kPaos;
    case RegisterId::kNodeDescription:
      return &kNodeDescription;
    case RegisterId::kDefaultTimeouts:
      return &kDtor;
    case RegisterId::kHostEndianness:
      return &kHostEndianness;
    default:
      return nullptr;
  }
}

}  // namespace hca::wire
