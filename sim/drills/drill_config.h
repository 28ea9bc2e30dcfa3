// Keys of a [drill.NAME] section.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "models/adapter/command/command_result.h"
#include "models/base/config_key.h"
#include "models/base/units.h"
#include "models/wire/command.h"

namespace hca::sim {

enum class DrillKind : std::uint8_t {
  kNone,
  kCommandTimeout,
  kCommandLate,
  kCommandStatus,
  kCommandDelivery,
  kLostInterrupt,
  kExtraInterrupt,
  kEqOverflow,
  kCqError,
  kLinkFlap,
  kReset,
  kRemoval,
  kHealth,
  kHealthCounter,
};

/// One fault that an adapter has on purpose, so that somebody sees what software makes of it. What each kind does is in
/// docs/drills.md and in drill_kinds.h, which also says which keys it has.
struct DrillConfig {
  DrillKind kind = DrillKind::kNone;
  std::uint32_t host = 0;
  std::uint32_t adapter = 0;
  Time at{};
  std::uint32_t after = 0;
  std::uint32_t count = 1;
  Time duration{};
  std::string opcode;
  adapter::CommandStatus status = adapter::CommandStatus::kInternalError;
  wire::DeliveryStatus delivery = wire::DeliveryStatus::kFirmwareError;
  std::uint32_t syndrome = 0;
  std::uint32_t vector = 0;
  std::uint32_t eq = 0;
  std::uint32_t cq = 0;
  std::uint32_t port = 1;
  bool fatal = true;
  bool resetRequest = false;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    constexpr Time kLongest = milliseconds(3'600'000);
    key("kind", self.kind, "What goes wrong: see docs/drills.md, or hcasim drill --list");
    key("host", self.host, range(0U, 1023U), "Host whose adapter it happens to");
    key("adapter", self.adapter, range(0U, 7U), "Adapter of that host");
    key("at", self.at, range(Time(0), kLongest),
        "When, simulated time from the beginning; what waits for commands, interrupts or events waits from then on");
    key("after", self.after, range(0U, 1'000'000'000U),
        "Of commands, interrupts or events that it would concern so many are spared first");
    key("count", self.count, range(1U, 1'000'000'000U),
        "Commands, interrupts or events that it then concerns; interrupts that are sent; times that a link goes down");
    key("duration", self.duration, range(Time(0), kLongest),
        "How long: a command is late, a link down, a function gone, a health counter still; 0s: for ever (a late "
        "command: it must be given)");
    key("opcode", self.opcode, "Command that it concerns, as the stock driver names it: CREATE_CQ (empty: any)");
    key("status", self.status, "Answer to the command");
    key("delivery", self.delivery, "Delivery status of the command");
    key("syndrome", self.syndrome, range(0U, ~0U),
        "Beside status: any number; cq_error: 1 overrun, 2 access violation (0: 1); health: 1 firmware, 7 processor, 8 "
        "hardware, 12 event queue overrun, 13 event queue, 16 temperature (0: 1)");
    key("vector", self.vector, range(0U, 2047U),
        "MSI-X vector. The driver role has commands and asynchronous events on 0 and completion vector n on 1 + n; "
        "Linux 6.1 has completion vector n on n, and the others behind them");
    key("eq", self.eq, range(0U, 255U),
        "Event queue: 1 commands, 2 asynchronous events, 3 page requests, 4 the first completion vector. Of an "
        "interrupt: that of this queue (0: vector says which); else 0: the one that asynchronous events go to");
    key("cq", self.cq, range(0U, (1U << 24) - 1), "Completion queue (0: of those that exist the highest number)");
    key("port", self.port, range(1U, 2U), "Port of the adapter");
    key("fatal", self.fatal,
        "The adapter fails for good and raises an event; otherwise its health buffer alone says so");
    key("reset_request", self.resetRequest, "The health buffer asks the driver to reset the function");
  }
};

constexpr const char* kDrillSection = "drill";
constexpr const char* kDrillDoc = "One fault that an adapter has on purpose";

}  // namespace hca::sim

namespace hca::config {

template <>
struct EnumNames<sim::DrillKind> {
  static constexpr std::pair<const char*, sim::DrillKind> kNames[] = {
      {"none", sim::DrillKind::kNone},
      {"command_timeout", sim::DrillKind::kCommandTimeout},
      {"command_late", sim::DrillKind::kCommandLate},
      {"command_status", sim::DrillKind::kCommandStatus},
      {"command_delivery", sim::DrillKind::kCommandDelivery},
      {"lost_interrupt", sim::DrillKind::kLostInterrupt},
      {"extra_interrupt", sim::DrillKind::kExtraInterrupt},
      {"eq_overflow", sim::DrillKind::kEqOverflow},
      {"cq_error", sim::DrillKind::kCqError},
      {"link_flap", sim::DrillKind::kLinkFlap},
      {"reset", sim::DrillKind::kReset},
      {"removal", sim::DrillKind::kRemoval},
      {"health", sim::DrillKind::kHealth},
      {"health_counter", sim::DrillKind::kHealthCounter}};
};
template <>
struct EnumNames<adapter::CommandStatus> {
  using Status = adapter::CommandStatus;
  static constexpr std::pair<const char*, Status> kNames[] = {{"internal_error", Status::kInternalError},
                                                              {"bad_operation", Status::kBadOperation},
                                                              {"bad_parameter", Status::kBadParameter},
                                                              {"bad_system_state", Status::kBadSystemState},
                                                              {"bad_resource", Status::kBadResource},
                                                              {"resource_busy", Status::kResourceBusy},
                                                              {"exceed_limit", Status::kExceedLimit},
                                                              {"bad_resource_state", Status::kBadResourceState},
                                                              {"bad_index", Status::kBadIndex},
                                                              {"no_resources", Status::kNoResources},
                                                              {"bad_qp_state", Status::kBadQpState},
                                                              {"bad_packet", Status::kBadPacket},
                                                              {"bad_size", Status::kBadSize},
                                                              {"bad_input_length", Status::kBadInputLength},
                                                              {"bad_output_length", Status::kBadOutputLength}};
};
template <>
struct EnumNames<wire::DeliveryStatus> {
  using Status = wire::DeliveryStatus;
  static constexpr std::pair<const char*, Status> kNames[] = {
      {"signature_error", Status::kSignatureError},
      {"token_error", Status::kTokenError},
      {"bad_block_number", Status::kBadBlockNumber},
      {"output_pointer_alignment", Status::kOutputPointerAlignment},
      {"input_pointer_alignment", Status::kInputPointerAlignment},
      {"firmware_error", Status::kFirmwareError},
      {"input_length_error", Status::kInputLengthError},
      {"output_length_error", Status::kOutputLengthError},
      {"reserved_field_not_clear", Status::kReservedFieldNotClear},
      {"bad_descriptor_type", Status::kBadDescriptorType}};
};

}  // namespace hca::config
