#include "sim/observers/stage_names.h"

namespace hca::observers {

const char* name(observe::Stage stage) {
  using observe::Stage;
  switch (stage) {
    case Stage::kPosted:
      return "posted";
    case Stage::kDoorbellArrived:
      return "doorbell_arrived";
    case Stage::kWqeFetched:
      return "wqe_fetched";
    case Stage::kScheduled:
      return "scheduled";
    case Stage::kPayloadFetched:
      return "payload_fetched";
    case Stage::kFirstPacketSent:
      return "first_packet_sent";
    case Stage::kLastPacketSent:
      return "last_packet_sent";
    case Stage::kLastPacketArrived:
      return "last_packet_arrived";
    case Stage::kPayloadPlaced:
      return "payload_placed";
    case Stage::kAcknowledged:
      return "acknowledged";
    case Stage::kCqeIssued:
      return "cqe_issued";
    case Stage::kCqeVisible:
      return "cqe_visible";
    case Stage::kPolled:
      return "polled";
  }
  return "unknown";
}

}  // namespace hca::observers
