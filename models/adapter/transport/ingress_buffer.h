// What has arrived at a port and waits for its way to host memory.
#pragma once

#include "models/base/units.h"
#include "models/network/packet_receiver.h"
#include "models/pcie/dma_port.h"

namespace hca::adapter {

/// Hands packets on at once: what waits, waits as posted writes before the PCI Express link. As soon as these and what
/// is on the way to the port would fill the buffer, the neighbour has to hold back, by the credits of an InfiniBand
/// link or by the pause frames of an Ethernet that is set up for RoCE. Size 0: never.
class IngressBuffer final : public network::PacketReceiver {
 public:
  IngressBuffer(const pcie::DmaPort& dma, Bytes size) : dma_(dma), size_(size) {}

  void connect(network::PacketReceiver& next) { next_ = &next; }

  void onPacket(network::Packet& packet) override { next_->onPacket(packet); }
  void expect(const network::Packet& packet) override { next_->expect(packet); }
  [[nodiscard]] Time hasRoomAt(Time earliest, Bytes onTheWay) const override {
    const Time drained = dma_.drainedAt();
    const bool isAlmostEmpty = drained <= earliest && onTheWay <= size_;
    if (isAlmostEmpty || size_ == Bytes()) return earliest;
    return later(earliest, drained + dma_.drainTime(onTheWay) - dma_.drainTime(size_));
  }

 private:
  const pcie::DmaPort& dma_;
  Bytes size_;
  network::PacketReceiver* next_ = nullptr;
};

}  // namespace hca::adapter
