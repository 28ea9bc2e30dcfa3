#include "sim/drills/drill_kinds.h"

#include <algorithm>
#include <cstring>

namespace hca::sim {
namespace {

constexpr std::uint32_t kOpcodeEnd = 0x1000;

bool hasOpcode(const DrillKindInfo& info) {
  return std::any_of(info.keys.begin(), info.keys.end(),
                     [](const char* key) { return std::strcmp(key, "opcode") == 0; });
}

std::optional<DrillProblem> opcodeProblem(const DrillConfig& drill) {
  if (drill.opcode.empty() || opcodeOf(drill.opcode)) return std::nullopt;
  return DrillProblem{"opcode", '\'' + drill.opcode + "' is no command of the adapter"};
}

// What is not always wrong, but for this kind.
void checkValues(const DrillConfig& drill, std::vector<DrillProblem>& problems) {
  const bool isInterrupt = drill.kind == DrillKind::kLostInterrupt || drill.kind == DrillKind::kExtraInterrupt;
  if (isInterrupt && drill.eq != 0 && drill.vector != 0) {
    problems.push_back({"eq", "stands beside vector, and either says all"});
  }
  constexpr std::uint32_t kMostHealth = 255;
  if (drill.kind == DrillKind::kCommandLate && drill.duration == Time(0)) {
    problems.push_back({"duration", "is missing: how late the answer comes, such as 5s"});
  }
  if (drill.kind == DrillKind::kCqError && drill.syndrome > 2) {
    problems.push_back({"syndrome", std::to_string(drill.syndrome) + " is none: 1 overrun, 2 access violation"});
  }
  if (drill.kind == DrillKind::kHealth && drill.syndrome > kMostHealth) {
    problems.push_back({"syndrome", std::to_string(drill.syndrome) + " is none of the health buffer: 1 to 255"});
  }
  if (drill.kind == DrillKind::kLinkFlap && drill.count > 1 && drill.duration == Time(0)) {
    problems.push_back({"duration", "is missing: a link goes down more than once only if it comes up between"});
  }
}

}  // namespace

const std::vector<DrillKindInfo>& drillKinds() {
  static const std::vector<DrillKindInfo> kKinds = {
      {DrillKind::kCommandTimeout,
       "command_timeout",
       {"opcode", "after", "count"},
       "reads a command and does nothing: the owner bit is never handed back",
       "gives it up after 60 s (or what the adapter tells, adapter.command.command_timeout) and 5 s more: "
       "'... timeout. Will cause a leak of a command resource'; the caller gets ETIMEDOUT"},
      {DrillKind::kCommandLate,
       "command_late",
       {"opcode", "after", "count", "duration"},
       "executes and answers a command later by duration; others go on meanwhile",
       "waits; if it had given the command up: 'Command completion arrived after timeout'"},
      {DrillKind::kCommandStatus,
       "command_status",
       {"opcode", "after", "count", "status", "syndrome"},
       "answers a command by a status and a syndrome without executing it",
       "says '... failed, status bad parameter(0x3), syndrome (0x...)'; the caller gets the status's errno"},
      {DrillKind::kCommandDelivery,
       "command_delivery",
       {"opcode", "after", "count", "delivery"},
       "answers a command by a delivery status without executing it",
       "gives the caller EIO, without a word"},
      {DrillKind::kLostInterrupt,
       "lost_interrupt",
       {"vector", "eq", "after", "count"},
       "believes an MSI-X message sent that never arrives: the event queue does not fire again until it is armed",
       "that of commands: after the time-out of a command 'Recovered 1 EQEs on cmd_eq' and '... recovered after "
       "timeout'; others: whoever waits for completion events waits until the next one"},
      {DrillKind::kExtraInterrupt,
       "extra_interrupt",
       {"vector", "eq", "count"},
       "sends an MSI-X message that nothing caused",
       "finds no entry, arms the queue, and goes on"},
      {DrillKind::kEqOverflow,
       "eq_overflow",
       {"eq", "after", "count"},
       "finds an event queue full: the event is lost, the health buffer says 'event queue overrun' (12)",
       "does not notice the lost event; the devlink health reporter fw has the syndrome"},
      {DrillKind::kCqError,
       "cq_error",
       {"cq", "syndrome"},
       "puts a completion queue in error and raises an event; nothing is written into it any more, queue pairs fail",
       "says 'CQ error on CQN 0x..., syndrome 0x1' and gives the program IBV_EVENT_CQ_ERR"},
      {DrillKind::kLinkFlap,
       "link_flap",
       {"port", "count", "duration"},
       "loses the link of a port, at both ends, and gets it back after duration",
       "gives programs IBV_EVENT_PORT_ERR and IBV_EVENT_PORT_ACTIVE"},
      {DrillKind::kReset,
       "reset",
       {},
       "starts its firmware anew: objects are gone, the interface reads as disabled, configuration space stays",
       "says 'Fatal error 3 detected' at its next look at the health, gives programs IBV_EVENT_DEVICE_FATAL, and "
       "recovers"},
      {DrillKind::kRemoval,
       "removal",
       {"duration"},
       "is gone from PCIe: reads give all ones; after duration it is back as after power-on",
       "says 'Fatal error 1 detected', gives programs IBV_EVENT_DEVICE_FATAL, waits for the function, and recovers"},
      {DrillKind::kHealth,
       "health",
       {"syndrome", "fatal", "reset_request"},
       "says in its health buffer what is wrong; if fatal, queue pairs are gone and an event is raised",
       "reports to devlink; with reset_request 'Fatal error 5 detected', 'Health issue observed, ...', and recovers"},
      {DrillKind::kHealthCounter,
       "health_counter",
       {"duration"},
       "stops counting in its health counter",
       "says 'device's health compromised - reached miss count'"},
  };
  return kKinds;
}

const DrillKindInfo& infoOf(DrillKind kind) {
  const auto& kinds = drillKinds();
  return *std::find_if(kinds.begin(), kinds.end(), [kind](const DrillKindInfo& info) { return info.kind == kind; });
}

std::vector<DrillProblem> drillProblems(const DrillConfig& drill, const std::vector<std::string>& givenKeys) {
  if (drill.kind == DrillKind::kNone) {
    return {{"kind", "is missing: what is to go wrong, such as command_timeout (hcasim drill --list tells all)"}};
  }
  const DrillKindInfo& info = infoOf(drill.kind);
  std::vector<std::string> known(info.keys.begin(), info.keys.end());
  for (const char* always : {"kind", "host", "adapter", "at"}) known.emplace_back(always);
  std::vector<DrillProblem> problems;
  for (const std::string& key : givenKeys) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    problems.push_back({key, std::string("means nothing to a drill of kind ") + info.name});
  }
  if (hasOpcode(info)) {
    if (auto problem = opcodeProblem(drill)) problems.push_back(*problem);
  }
  checkValues(drill, problems);
  return problems;
}

std::vector<std::string> opcodeNames() {
  std::vector<std::string> names;
  for (std::uint32_t code = 0; code < kOpcodeEnd; ++code) {
    const std::string name = wire::name(static_cast<wire::CommandOpcode>(code));
    if (name != "unknown") names.push_back(name);
  }
  return names;
}

std::optional<wire::CommandOpcode> opcodeOf(const std::string& name) {
  for (std::uint32_t code = 0; code < kOpcodeEnd; ++code) {
    const auto opcode = static_cast<wire::CommandOpcode>(code);
    if (name == wire::name(opcode) && name != "unknown") return opcode;
  }
  return std::nullopt;
}

const char* name(DrillKind kind) { return kind == DrillKind::kNone ? "none" : infoOf(kind).name; }

}  // namespace hca::sim
