// The TLM-2.0 protocol on the sockets of a PCI Express link.
#pragma once

#include <tlm>

namespace hca::pcie {

/// Generic payload plus PcieExtension, the phases of the base protocol, and these rules. They differ from the base
/// protocol's (IEEE 1666-2011, 15.2), so the sockets are of a type of their own and don't bind to its sockets by
/// mistake.
///
/// **Sockets.** Requests travel on the forward path, everything about them on the backward path of the same socket. An
/// adapter sends DMA and interrupt messages to `Link::endpoint_target_socket` and gets register accesses from
/// `Link::endpoint_initiator_socket`; a host sends register accesses to `Link::host_target_socket` and gets DMA from
/// `Link::host_initiator_socket`. Anybody's model of either side can be bound.
///
/// **Payload.** Command, address, data pointer, length; no byte enables, no streaming, no DMI. One transaction is one
/// burst: its TLPs are consecutive pieces of [address, address + length), cut as PcieExtension::pieceSize and 4 KiB
/// say. A payload without data pointer (PcieExtension::timingOnly) moves no data. A write's data is read, and a read's
/// buffer filled, by the receiver.
///
/// **Ownership.** The sender allocates from a pool with a memory manager and holds one reference: for a write until its
/// nb_transport_fw returned (with `notify`: until BEGIN_RESP), for a read until BEGIN_RESP came. Whoever else keeps the
/// pointer beyond a call acquires it.
///
/// **Time.** A call means sc_time_stamp() + delay. The delay counts: the simulation runs ahead of sc_time_stamp() where
/// no SystemC event is pending. The link gives a receiver its TLPs ahead of their time, in the order of their times.
///
/// **Phases** of the non-blocking transport:
///
/// | phase | path | from | meaning |
/// | --- | --- | --- | --- |
/// | BEGIN_REQ | forward | requester | the request, whole at the receiver at the time of the call; any number may be
/// under way. The link accepts every request (TLM_ACCEPTED) and queues it | | END_REQ | backward | completer | the
/// request left the receiver's buffers: its credits go back. As return value TLM_UPDATED, or later by a call | |
/// BEGIN_RESP | backward | completer | read: the data is in the buffer and the response status set; the completions,
/// whole at the requester at the time of the call. Write with `notify`, or write that failed: it took effect at the
/// time of the call (no TLP: takes no time on the link) | | END_RESP | forward | requester | read alone: the
/// completions left the requester's buffers. As return value TLM_COMPLETED of BEGIN_RESP, or later by a call |
///
/// TLM_COMPLETED as an answer to BEGIN_REQ says END_REQ, and for a read BEGIN_RESP too, at the returned delay.
/// Blocking transport carries configuration accesses alone, from host to adapter; it takes no time and never waits.
struct ProtocolTypes {
  using tlm_payload_type = tlm::tlm_generic_payload;
  using tlm_phase_type = tlm::tlm_phase;
};

using ForwardInterface = tlm::tlm_fw_transport_if<ProtocolTypes>;
using BackwardInterface = tlm::tlm_bw_transport_if<ProtocolTypes>;
using InitiatorSocket = tlm::tlm_initiator_socket<64, ProtocolTypes>;
using TargetSocket = tlm::tlm_target_socket<64, ProtocolTypes>;

/// Tag of the end of a socket that acts through the calendar alone and notifies no SystemC event. A link that is bound
/// to anybody else looks after each call whether a SystemC event is pending earlier than the calendar's horizon.
class CalendarPeer {
 public:
  virtual ~CalendarPeer() = default;
};

}  // namespace hca::pcie
