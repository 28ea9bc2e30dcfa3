// Checks that need more than one key.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/config/config_values.h"
#include "sim/config/problem.h"
#include "sim/config/section_path.h"

namespace hca::config {

/// Looks for values that are fine one by one and don't fit together. A key that was complained about already is left
/// out, and so is whatever depends on it.
class ConfigChecker {
 public:
  ConfigChecker(const Config& config, const ConfigValues& values, Problems& problems)
      : config_(config), values_(values), problems_(problems) {}

  /// Tells where `section` was named; the last call for a name counts.
  void addSection(const std::string& section, const Origin& origin) { sections_[section] = origin; }

  void run();
  /// Those alone.
  void checkDrills();

 private:
  void checkLink();
  void checkAdapters(std::uint32_t host);
  void checkPcie(const SectionPlace& place, const pcie::PcieConfig& link);
  void checkDeviceMemory(const SectionPlace& place, const adapter::MemoryConfig& memory);
  void checkFaults(const SectionPlace& place, const network::FaultConfig& faults);
  void checkPort(const SectionPlace& place, const adapter::PortConfig& port);
  void checkMemory(std::uint32_t host);
  void checkFlow(const NamedFlow& named);
  void checkWork(const NamedFlow& named);
  void checkHosts(const NamedFlow& named);
  void checkPorts(const NamedFlow& named);
  void checkCore(const NamedFlow& named, std::uint32_t host, std::uint32_t core, const char* key);
  void checkSizes(const NamedFlow& named);
  [[nodiscard]] bool everyAdapterHasShortEntries() const;
  void checkDepths(const NamedFlow& named);
  void checkVector(const NamedFlow& named);
  void checkOrder(const NamedFlow& named);
  void checkDma(const NamedDma& named);
  void checkDrill(const NamedDrill& named);
  /// False, after a complaint, if `host` has no such adapter; a host that isn't there was complained about.
  bool checkAdapter(const std::string& section, const char* key, std::uint32_t host, std::uint32_t adapter);
  /// The chain of `after(one)` among `all` must name what is there, and end.
  template <class Named, class After>
  void checkAfter(const std::vector<Named>& all, const Named& named, const std::string& section,
                  const std::string& kind, After&& after);
  /// The section that gave a host, adapter or port its value of a key: "host.N.pcie" or "pcie".
  [[nodiscard]] std::string givenSection(SectionPlace place, const std::string& section, const std::string& key) const;
  [[nodiscard]] bool isBad(const std::string& section, const std::string& key) const;
  /// Complains about a key, at the place where it was set, else at its section.
  void complain(const std::string& section, const std::string& key, std::string what, std::string nearest = {});
  void complain(const NamedFlow& named, const std::string& key, std::string what, std::string nearest = {});

  const Config& config_;
  const ConfigValues& values_;
  Problems& problems_;
  std::map<std::string, Origin> sections_;
};

}  // namespace hca::config
