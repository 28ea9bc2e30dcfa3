// Packets in striding receive queues: each takes strides of an entry, behind those of the packet before it. DPDK
// drivers/net/mlx5/mlx5_rx.c, mlx5_rx_burst_mprq; Linux drivers/net/ethernet/mellanox/mlx5/core/en_rx.c,
// mlx5e_handle_rx_cqe_mpwrq.
#include "models/adapter/responder/responder.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/adapter/transport/vendor_errors.h"

namespace hca::adapter {

// A packet lies in one entry: where the rest of this one is too short, the next is begun.
Responder::Outcome Responder::takeStrides(QueuePair& qp, const network::Packet& packet) {
  const StridingLayout& layout = qp.attributes.striding;
  StridingPosition& position = qp.receive.striding;
  const std::uint32_t needed = layout.stridesOf(packet.payloadLength);
  if (position.isOpen && position.used + needed > layout.count()) fillStrides(qp);
  if (!position.isOpen) {
    if (ports_.receiveQueue.take(qp, position.wqe) != ReceiveQueueEngine::Take::kTaken) return Outcome::kWait;
    position.isOpen = true;
    position.used = 0;
  }
  position.taken = needed;
  qp.responder.receive = position.wqe;
  qp.responder.hasReceive = true;
  qp.responder.placeAt = position.used << layout.logSize;
  if (needed <= layout.count()) return Outcome::kDone;
  return failReceive(qp, packet, CqeSyndrome::kLocalLength, vendor_error::kLocalLength, aeth::kNakInvalidRequest);
}

// Tells that nothing more will come into the entry.
void Responder::fillStrides(QueuePair& qp) {
  StridingPosition& position = qp.receive.striding;
  qp.responder.receive = position.wqe;
  CompletionRecord record = receiveRecord(qp);
  record.opcode = CqeOpcode::kResponderSend;
  record.isFiller = true;
  position.taken = qp.attributes.striding.count() - position.used;
  describeStrides(qp, record);
  ports_.completions.complete(record);
}

void Responder::describeStrides(QueuePair& qp, CompletionRecord& record) {
  StridingPosition& position = qp.receive.striding;
  record.wqeId = position.wqe.counter;
  record.wqeCounter = static_cast<std::uint16_t>(position.used);
  record.strides = static_cast<std::uint16_t>(position.taken);
  position.used += position.taken;
  position.isOpen = position.used < qp.attributes.striding.count();
}

}  // namespace hca::adapter
