// Contexts and keys of raw packet queues.
#include "models/wire/context_tables.h"
#include "models/wire/ethernet_commands.h"

namespace hca::wire {
namespace {

using Row = FieldRow;

constexpr ValueName kWorkQueueStates[] = {{0, "reset"}, {1, "ready"}, {3, "error"}};

using Queue = EthernetQueueContext;
constexpr FieldRow kSqcRows[] = {
    Row::bits<Queue::State>("state", kWorkQueueStates),
    Row::bits<Queue::UserIndex>("user_index"),
    Row::number<Queue::Cq>("cqn"),
    Row::bits<Queue::TisCount>("tis_lst_sz"),
    Row::bits<Queue::Tis>("tis_num_0"),
    Row::nested<Queue::WorkQueue>("wq", kWqFields),
};
constexpr FieldRow kRqcRows[] = {
    Row::bits<Queue::State>("state", kWorkQueueStates),
    Row::bits<Queue::ScatterFcs>("scatter_fcs"),
    Row::bits<Queue::VlanStripDisable>("vsd"),
    Row::bits<Queue::UserIndex>("user_index"),
    Row::number<Queue::Cq>("cqn"),
    Row::nested<Queue::WorkQueue>("wq", kWqFields),
};

using Match = FlowMatch;
constexpr FieldRow kFlowMatchRows[] = {
    Row::bits<Match::SourceHigh>("smac_47_16"),
    Row::bits<Match::SourceLow>("smac_15_0"),
    Row::bits<Match::DestinationHigh>("dmac_47_16"),
    Row::bits<Match::DestinationLow>("dmac_15_0"),
    Row::bits<Match::Type>("ethertype"),
    Row::bits<Match::Priority>("first_prio"),
    Row::bits<Match::DropEligible>("first_cfi"),
    Row::bits<Match::Vlan>("first_vid"),
    Row::bits<Match::Tagged>("cvlan_tag"),
    Row::bits<Match::Protocol>("ip_protocol"),
    Row::bits<Match::Dscp>("ip_dscp"),
    Row::bits<Match::Ecn>("ip_ecn"),
    Row::bits<Match::Fragment>("frag"),
    Row::bits<Match::IpVersion>("ip_version"),
    Row::bits<Match::TcpFlags>("tcp_flags"),
    Row::bits<Match::TcpSource>("tcp_sport"),
    Row::bits<Match::TcpDestination>("tcp_dport"),
    Row::bits<Match::HopLimit>("ttl_hoplimit"),
    Row::bits<Match::UdpSource>("udp_sport"),
    Row::bits<Match::UdpDestination>("udp_dport"),
    Row::bytes<Match::NetworkSource>("src_ipv4_src_ipv6"),
    Row::bytes<Match::NetworkDestination>("dst_ipv4_dst_ipv6"),
    Row::bits<Match::FlowLabel>("outer_ipv6_flow_label"),
};

}  // namespace

const FieldTable kSqcFields{kSqcRows};
const FieldTable kRqcFields{kRqcRows};
const FieldTable kFlowMatchFields{kFlowMatchRows};

}  // namespace hca::wire
