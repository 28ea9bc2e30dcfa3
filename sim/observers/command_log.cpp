#include "sim/observers/command_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "models/wire/decode_fields.h"
#include "sim/logging/time_text.h"
#include "sim/report/json_time.h"

namespace hca::observers {
namespace {

using adapter::CommandRecord;
using wire::DecodedField;
using Json = nlohmann::ordered_json;
using Fields = std::vector<DecodedField>;
using Use = wire::FieldRow::Use;

bool isJsonName(const std::string& path) {
  const std::string ending = ".jsonl";
  return path.size() >= ending.size() && path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

// ---- text

std::string repeatableText(const DecodedField& field, const NameAddress& nameAddress) {
  if (field.use == Use::kBusAddress || field.use == Use::kPageCount) return {};
  if (field.use != Use::kVirtualAddress) return fmt::format(" {}={}", field.name, wire::valueText(field));
  const std::string region = nameAddress(field.value);
  return fmt::format(" {}={}", field.name, region.empty() ? "other" : region);
}

std::string fieldsText(const Fields& fields, const NameAddress& nameAddress) {
  if (!nameAddress) return wire::fieldsText(fields);
  std::string text;
  for (const DecodedField& field : fields) text += repeatableText(field, nameAddress);
  return text;
}

std::string outcomeText(const CommandRecord& record, const NameAddress& nameAddress) {
  if (record.delivery != wire::DeliveryStatus::kOk) {
    return fmt::format("not executed: delivery status {:#x} ({})", static_cast<unsigned>(record.delivery),
                       wire::name(record.delivery));
  }
  if (record.result.ok()) {
    return "OK" + fieldsText(wire::decodeCommandOutput(record.input, record.output), nameAddress);
  }
  return fmt::format("{} syndrome={:#x} ({})", wire::driverName(record.result.status),
                     static_cast<unsigned>(record.result.syndrome), adapter::name(record.result.syndrome));
}

std::string nameText(const CommandRecord& record) {
  if (record.input.empty()) return "command";
  const std::string name = record.name;
  return name == "unknown" ? fmt::format("opcode={:#x}", static_cast<unsigned>(record.opcode)) : name;
}

// ---- JSON

Json valueJson(const DecodedField& field) {
  switch (field.kind) {
    case DecodedField::Kind::kNumber:
      break;
    case DecodedField::Kind::kBytes:
    case DecodedField::Kind::kText:
      return field.text;
    case DecodedField::Kind::kList:
      return {{"count", field.count}, {"first", field.first}, {"last", field.last}};
  }
  if (field.use == Use::kSigned) return static_cast<std::int32_t>(static_cast<std::uint32_t>(field.value));
  return field.value;
}

Json fieldsJson(const Fields& fields) {
  Json json = Json::object();
  for (const DecodedField& field : fields) json[field.name] = valueJson(field);
  return json;
}

void addOutcome(Json& json, const CommandRecord& record) {
  json["status"] = wire::driverName(record.result.status);
  json["status_value"] = static_cast<unsigned>(record.result.status);
  if (record.result.ok()) {
    json["out"] = fieldsJson(wire::decodeCommandOutput(record.input, record.output));
    return;
  }
  json["syndrome"] = static_cast<unsigned>(record.result.syndrome);
  json["syndrome_text"] = adapter::name(record.result.syndrome);
}

}  // namespace

std::string commandText(const CommandRecord& record, const NameAddress& nameAddress) {
  if (record.rejection && record.delivery == wire::DeliveryStatus::kOk) {
    return fmt::format("rejected: {}", adapter::name(*record.rejection));
  }
  const std::string fields = fieldsText(wire::decodeCommandInput(record.input), nameAddress);
  return fmt::format("{}{} -> {} ({})", nameText(record), fields, outcomeText(record, nameAddress),
                     record.answered - record.rung);
}

std::string commandLine(const CommandRecord& record) {
  const std::string slot = record.slot ? fmt::format("slot {}", *record.slot) : "-";
  return fmt::format("{:>14} us  host {} adapter {} {:<7}  {}", microsecondsText(record.answered), record.host.value(),
                     record.adapter.value(), slot, commandText(record));
}

std::string commandJson(const CommandRecord& record) {
  Json json{{"rung_ns", report::nanosecondsJson(record.rung)},
            {"answered_ns", report::nanosecondsJson(record.answered)},
            {"host", record.host.value()},
            {"adapter", record.adapter.value()}};
  if (record.slot) json["slot"] = *record.slot;
  if (record.rejection) json["rejection"] = adapter::name(*record.rejection);
  if (record.delivery != wire::DeliveryStatus::kOk) {
    json["delivery"] = wire::name(record.delivery);
    json["delivery_value"] = static_cast<unsigned>(record.delivery);
  }
  if (!record.input.empty()) {
    json["opcode"] = record.name;
    json["opcode_value"] = static_cast<unsigned>(record.opcode);
    json["in"] = fieldsJson(wire::decodeCommandInput(record.input));
  }
  if (!record.rejection) addOutcome(json, record);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

CommandLog::CommandLog(observe::Probes& probes, const std::string& path)
    : file_("log-commands", path), writesJson_(isJsonName(path)) {
  probes.command.attach([this](const observe::CommandEvent& event) {
    file_.write(writesJson_ ? commandJson(*event.record) : commandLine(*event.record));
  });
}

}  // namespace hca::observers
