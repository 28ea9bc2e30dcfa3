#include "sim/config/section_catalog.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <type_traits>

#include "sim/config/config.h"
#include "sim/config/nearest_name.h"
#include "sim/config/text_scan.h"

namespace hca::config {

namespace {

constexpr std::string_view kHostPrefix = "host.";
constexpr std::string_view kAdapterPrefix = "adapter.";
constexpr std::string_view kPortPrefix = "port.";
constexpr const char* kPortSection = "adapter.port";

// "3.adapter.completion" -> 3 and "adapter.completion". Leading zeros and anything else are refused.
struct NumberPart {
  std::uint32_t number;
  std::string rest;
};
std::optional<NumberPart> numberPart(std::string_view text) {
  NumberPart part{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part.number);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || (length > 1 && text.front() == '0')) return std::nullopt;
  if (length == text.size()) return part;
  if (text[length] != '.') return std::nullopt;
  part.rest = std::string(text.substr(length + 1));
  return part;
}

// The same behind `prefix`.
std::optional<NumberPart> numberBehind(std::string_view prefix, std::string_view text) {
  if (!startsWith(text, prefix)) return std::nullopt;
  return numberPart(text.substr(prefix.size()));
}

std::vector<std::string> keyNames(const SectionSchema& schema) {
  std::vector<std::string> names;
  for (const KeySchema& key : schema.keys) names.push_back(key.name);
  return names;
}

}  // namespace

SectionCatalog::SectionCatalog() {
  const Config config;
  const HostSections host;
  forEachGlobalSection(config, [this](const char* name, const auto& section, const char* doc) {
    sections_.push_back(schemaOf<std::decay_t<decltype(section)>>(name, Scope::kGlobal, doc));
  });
  sections_.push_back(schemaOf<OneHostConfig>(kOneHostSection, Scope::kOneHost, kOneHostDoc));
  std::set<std::string> ofAdapter;
  std::set<std::string> ofPort;
  forEachAdapterSection(host, [&](const char* name, const auto&, const char*) { ofAdapter.insert(name); });
  forEachPortSection(host, [&](const char* name, const auto&, const char*) { ofPort.insert(name); });
  forEachHostSection(host, [&](const char* name, const auto& section, const char* doc) {
    const Scope scope = ofPort.count(name) != 0      ? Scope::kPerPort
                        : ofAdapter.count(name) != 0 ? Scope::kPerAdapter
                                                     : Scope::kPerHost;
    sections_.push_back(schemaOf<std::decay_t<decltype(section)>>(name, scope, doc));
  });
  sections_.push_back(schemaOf<sim::FlowConfig>(kFlowSection, Scope::kNamed, kFlowDoc));
  sections_.push_back(schemaOf<sim::DmaConfig>(sim::kDmaSection, Scope::kNamed, sim::kDmaDoc));
  sections_.push_back(schemaOf<sim::DrillConfig>(sim::kDrillSection, Scope::kNamed, sim::kDrillDoc));
}

const SectionSchema* SectionCatalog::find(const std::string& name) const {
  for (const SectionSchema& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

std::optional<SectionName> SectionCatalog::resolve(const std::string& name, std::string& nearest) const {
  nearest.clear();
  for (const char* named : {kFlowSection, sim::kDmaSection, sim::kDrillSection}) {
    const std::string prefix = std::string(named) + '.';
    if (!startsWith(name, prefix) || name.size() == prefix.size()) continue;
    const std::string own = name.substr(prefix.size());
    if (own.find('.') == std::string::npos) return SectionName{find(named), {}, own};
    nearest = prefix + own.substr(0, own.find('.'));
    return std::nullopt;
  }
  if (startsWith(name, kHostPrefix)) return resolveOfHost(name, nearest);
  const SectionSchema* schema = find(name);
  const bool isKnown = schema != nullptr && schema->scope != Scope::kNamed && schema->scope != Scope::kOneHost;
  if (isKnown) return SectionName{schema, {}, {}};
  nearest = nearestSection(name, {});
  return std::nullopt;
}

std::optional<SectionName> SectionCatalog::resolveOfHost(const std::string& name, std::string& nearest) const {
  SectionPlace place;
  place.host = 0;
  if (const auto part = numberBehind(kHostPrefix, name)) {
    place.host = part->number;
    if (part->rest.empty() && name.back() != '.') return SectionName{find(kOneHostSection), place, {}};
    const SectionSchema* schema = find(part->rest);
    if (schema != nullptr && isOfHost(schema->scope)) return SectionName{schema, place, {}};
    if (const auto adapter = numberBehind(kAdapterPrefix, part->rest)) {
      place.adapter = adapter->number;
      if (auto found = resolveOfAdapter(place, adapter->rest)) return found;
    }
  }
  nearest = nearestSection(name, place);
  return std::nullopt;
}

// `rest` stands behind "host.N.adapter.A.".
std::optional<SectionName> SectionCatalog::resolveOfAdapter(const SectionPlace& place, const std::string& rest) const {
  if (const auto port = numberBehind(kPortPrefix, rest)) {
    SectionPlace own = place;
    own.port = port->number;
    const SectionSchema* schema = find(port->rest.empty() && rest.back() != '.' ? kPortSection : port->rest);
    const bool isWhole = port->rest != kPortSection;
    if (schema == nullptr || schema->scope != Scope::kPerPort || !isWhole) return std::nullopt;
    return SectionName{schema, own, {}};
  }
  const SectionSchema* schema = find(std::string(kAdapterPrefix) + rest);
  if (schema == nullptr && !startsWith(rest, kAdapterPrefix)) schema = find(rest);
  if (schema == nullptr || !isOfAdapter(schema->scope)) return std::nullopt;
  return SectionName{schema, place, {}};
}

// Among the sections that may stand for `place`.
std::string SectionCatalog::nearestSection(const std::string& name, const SectionPlace& place) const {
  std::vector<std::string> names;
  for (const SectionSchema& section : sections_) {
    if (section.scope == Scope::kNamed && !place.host) {
      if (section.name == name) return name + ".NAME";
      names.push_back(section.name + ".NAME");
    }
    const bool fits = place.adapter ? isOfAdapter(section.scope)
                                    : isOfHost(section.scope) || (section.scope == Scope::kGlobal && !place.host);
    if (fits) names.push_back(sectionPath(place, section.name));
  }
  return nearestName(name, names);
}

std::string SectionCatalog::nearestKey(const SectionSchema& schema, const std::string& key) const {
  std::string own = nearestName(key, keyNames(schema));
  if (isMisspelling(key, own)) return own;
  for (const SectionSchema& other : sections_) {
    const std::vector<std::string> names = keyNames(other);
    const bool known = std::find(names.begin(), names.end(), key) != names.end();
    if (known) return other.name + (other.scope == Scope::kNamed ? ".NAME." : ".") + key;
  }
  return own;
}

}  // namespace hca::config
