#include "sim/config/section_catalog.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "sim/config/config.h"
#include "sim/config/nearest_name.h"
#include "sim/config/text_scan.h"

namespace hca::config {

namespace {

constexpr std::string_view kHostPrefix = "host.";

// "3.adapter.completion" -> 3 and "adapter.completion". Leading zeros and anything else are refused.
struct HostPart {
  std::uint32_t number;
  std::string rest;
};
std::optional<HostPart> hostPart(std::string_view text) {
  HostPart part{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part.number);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || (length > 1 && text.front() == '0')) return std::nullopt;
  if (length == text.size()) return part;
  if (text[length] != '.') return std::nullopt;
  part.rest = std::string(text.substr(length + 1));
  return part;
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
  forEachHostSection(host, [this](const char* name, const auto& section, const char* doc) {
    sections_.push_back(schemaOf<std::decay_t<decltype(section)>>(name, Scope::kPerHost, doc));
  });
  sections_.push_back(schemaOf<sim::FlowConfig>(kFlowSection, Scope::kNamed, kFlowDoc));
  sections_.push_back(schemaOf<sim::DmaConfig>(sim::kDmaSection, Scope::kNamed, sim::kDmaDoc));
}

const SectionSchema* SectionCatalog::find(const std::string& name) const {
  for (const SectionSchema& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

std::optional<SectionName> SectionCatalog::resolve(const std::string& name, std::string& nearest) const {
  nearest.clear();
  for (const char* named : {kFlowSection, sim::kDmaSection}) {
    const std::string prefix = std::string(named) + '.';
    if (!startsWith(name, prefix) || name.size() == prefix.size()) continue;
    const std::string own = name.substr(prefix.size());
    if (own.find('.') == std::string::npos) return SectionName{find(named), std::nullopt, own};
    nearest = prefix + own.substr(0, own.find('.'));
    return std::nullopt;
  }
  if (startsWith(name, kHostPrefix)) {
    const auto part = hostPart(std::string_view(name).substr(kHostPrefix.size()));
    const SectionSchema* schema = part ? find(part->rest) : nullptr;
    if (schema != nullptr && schema->scope == Scope::kPerHost) return SectionName{schema, part->number, {}};
    const std::string prefix = std::string(kHostPrefix) + std::to_string(part ? part->number : 0) + '.';
    nearest = nearestSection(name, prefix);
    return std::nullopt;
  }
  const SectionSchema* schema = find(name);
  if (schema != nullptr && schema->scope != Scope::kNamed) return SectionName{schema, std::nullopt, {}};
  nearest = nearestSection(name, {});
  return std::nullopt;
}

// With a prefix: among the sections that may be given for one host.
std::string SectionCatalog::nearestSection(const std::string& name, const std::string& prefix) const {
  std::vector<std::string> names;
  for (const SectionSchema& section : sections_) {
    if (section.scope == Scope::kNamed && prefix.empty()) {
      if (section.name == name) return name + ".NAME";
      names.push_back(section.name + ".NAME");
    }
    if (section.scope == Scope::kPerHost || (section.scope == Scope::kGlobal && prefix.empty())) {
      names.push_back(prefix + section.name);
    }
  }
  return nearestName(name, names);
}

std::string SectionCatalog::nearestKey(const SectionSchema& schema, const std::string& key) const {
  const std::string own = nearestName(key, keyNames(schema));
  if (isMisspelling(key, own)) return own;
  for (const SectionSchema& other : sections_) {
    const std::vector<std::string> names = keyNames(other);
    const bool known = std::find(names.begin(), names.end(), key) != names.end();
    if (known) return other.name + (other.scope == Scope::kNamed ? ".NAME." : ".") + key;
  }
  return own;
}

}  // namespace hca::config
