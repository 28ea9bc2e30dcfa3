// Names of the sections of one host, one adapter and one port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hca::config {

/// The part of a fabric that a section is about; nothing set: all hosts. An adapter is within its host, a port, counted
/// from 1, within its adapter.
struct SectionPlace {
  std::optional<std::uint32_t> host;
  std::optional<std::uint32_t> adapter;
  std::optional<std::uint32_t> port;
};

/// Name of section `section` ("pcie", "adapter.completion") for one part alone: "host.1.pcie",
/// "host.1.adapter.0.completion", "host.1.adapter.0.port.2.link.faults". [adapter.port] of one port has nothing behind
/// the number.
[[nodiscard]] inline std::string sectionPath(const SectionPlace& place, const std::string& section) {
  const std::string adapterPrefix = "adapter.";
  if (!place.host) return section;
  std::string host = "host." + std::to_string(*place.host);
  if (section.empty()) return host;
  if (!place.adapter) return host + '.' + section;
  const bool isAdapters = section.compare(0, adapterPrefix.size(), adapterPrefix) == 0;
  const std::string own = isAdapters ? section.substr(adapterPrefix.size()) : section;
  const std::string adapter = host + ".adapter." + std::to_string(*place.adapter) + '.';
  if (!place.port) return adapter + own;
  const std::string port = adapter + "port." + std::to_string(*place.port);
  return section == "adapter.port" ? port : port + '.' + own;
}

}  // namespace hca::config
