// Room for the packets of one port.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/units.h"
#include "models/kernel/calendar.h"
#include "models/kernel/ring_queue.h"
#include "models/kernel/timer.h"

namespace hca::adapter {

/// Told that a packet fits again after it did not.
class EgressRoomListener {
 public:
  virtual void onEgressRoom() = 0;

 protected:
  ~EgressRoomListener() = default;
};

/// The bytes under way to one port: from the start of their fetch until their last bit has left. Each port has its own,
/// so that a slow one holds up nobody else.
class EgressBuffer {
 public:
  EgressBuffer(kernel::Calendar& calendar, Bytes size);
  EgressBuffer(const EgressBuffer&) = delete;
  EgressBuffer& operator=(const EgressBuffer&) = delete;

  /// Whether another full packet fits. If not, `waiter.onEgressRoom` follows once.
  [[nodiscard]] bool hasRoom(EgressRoomListener& waiter);
  void reserve(std::uint32_t bytes) { reserved_ += bytes; }
  /// The last of `bytes` leaves at `when`, which is not before those of earlier calls.
  void releaseAt(Time when, std::uint32_t bytes);
  /// They will not be sent.
  void release(std::uint32_t bytes);

 private:
  struct Release {
    Time when;
    std::uint32_t bytes;
  };
  void onRoomTimer();
  void releaseLeft();

  kernel::Calendar& calendar_;
  Bytes size_;
  kernel::RingQueue<Release> releases_;       // packets given to the port whose last bit has not left
  std::int64_t reserved_ = 0;                 // bytes under way
  std::vector<EgressRoomListener*> blocked_;  // in the order in which they asked
  std::vector<EgressRoomListener*> woken_;    // those whom `onRoomTimer` calls
  kernel::Timer<EgressBuffer> roomTimer_;
};

}  // namespace hca::adapter
