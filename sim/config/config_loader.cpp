#include "sim/config/config_loader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sim/config/config_checks.h"
#include "sim/config/config_values.h"
#include "sim/config/section_catalog.h"
#include "sim/config/section_reader.h"
#include "sim/config/size_files.h"

namespace hca::config {

namespace {

struct SectionAt {
  SectionName name;
  std::string text;
  Origin origin;
};

class Loader {
 public:
  Loader(const std::vector<std::string>& files, const std::vector<Setting>& settings, Work work)
      : gathered_(gatherSources(files, settings)),
        firstFile_(files.empty() ? std::string("config") : files.back()),
        work_(work) {}

  LoadedConfig run() {
    loaded_.problems = std::move(gathered_.problems);
    for (Layer& layer : gathered_.layers) keepKnown(layer);
    std::for_each(gathered_.layers.rbegin(), gathered_.layers.rend(),
                  [this](const Layer& layer) { values_.store(layer.assignments); });
    readGlobalSections();
    readHosts();
    if (loaded_.config.run.strictNotify) applyStrictNotify();
    readNamed(kFlowSection, loaded_.config.flows, &NamedFlow::flow);
    readNamed(sim::kDmaSection, loaded_.config.dma, &NamedDma::dma);
    readNamed(sim::kDrillSection, loaded_.config.drills, &NamedDrill::drill);
    readSizeFiles(loaded_.config, values_, loaded_.problems);
    checkValues();
    sortProblems();
    return std::move(loaded_);
  }

 private:
  void complain(const Origin& origin, const std::string& key, std::string what, std::string nearest) {
    loaded_.problems.push_back({origin, key, std::move(what), std::move(nearest)});
  }

  // Drops what no section declares, with a complaint: about the section once, then about keys.
  void keepKnown(Layer& layer) {
    std::map<std::string, std::optional<SectionName>> names;
    for (const SectionHeader& header : layer.headers) {
      if (names.count(header.section) != 0) continue;
      std::string nearest;
      names[header.section] = catalog_.resolve(header.section, nearest);
      if (names[header.section]) {
        sections_.push_back({*names[header.section], header.section, header.origin});
      } else {
        complain(header.origin, '[' + header.section + ']', "is no known section", std::move(nearest));
      }
    }
    std::vector<Assignment> known;
    for (Assignment& assignment : layer.assignments) {
      const std::optional<SectionName>& name = names[assignment.section];
      if (name && knows(*name->schema, assignment)) known.push_back(std::move(assignment));
    }
    layer.assignments = std::move(known);
  }

  bool knows(const SectionSchema& schema, const Assignment& assignment) {
    for (const KeySchema& key : schema.keys) {
      if (key.name == assignment.key) return true;
    }
    complain(assignment.origin, assignment.key, "is no known key of [" + assignment.section + ']',
             catalog_.nearestKey(schema, assignment.key));
    return false;
  }

  void readGlobalSections() {
    forEachGlobalSection(loaded_.config, [this](const char* name, auto& section, const char*) {
      readSection(name, section, values_, loaded_.problems);
    });
    forEachHostSection(loaded_.config.allHosts, [this](const char* name, auto& section, const char*) {
      readSection(name, section, values_, loaded_.problems);
    });
  }

  [[nodiscard]] auto readerFor(const SectionPlace& place) {
    return [this, place](const char* name, auto& section, const char*) {
      readSection(sectionPath(place, name), section, values_, loaded_.problems);
    };
  }

  void readHosts() {
    const std::uint32_t count = loaded_.config.host.count;
    for (std::uint32_t i = 0; i < count; ++i) {
      HostSections& host = loaded_.config.hosts.emplace_back(loaded_.config.allHosts);
      host.host = static_cast<const OneHostConfig&>(loaded_.config.host);
      SectionPlace place;
      place.host = i;
      readSection(sectionPath(place, {}), host.host, values_, loaded_.problems);
      forEachHostSection(host, readerFor(place));
      readAdapters(host, place);
    }
    for (const SectionAt& section : sections_) checkPlace(section);
  }

  // Only what stands somewhere is kept apart: a fabric may have a thousand hosts.
  void readAdapters(HostSections& host, SectionPlace place) {
    const bool hasOwn = std::any_of(sections_.begin(), sections_.end(), [&](const SectionAt& section) {
      return section.name.place.host == place.host && section.name.place.adapter;
    });
    for (std::uint32_t a = 0; hasOwn && a < host.host.adapters; ++a) {
      AdapterSections& adapter = host.adapters.emplace_back(host);
      place.adapter = a;
      place.port.reset();
      forEachAdapterSection(adapter, readerFor(place));
      for (std::uint32_t port = 1; port <= adapter.adapter.device.ports; ++port) {
        place.port = port;
        forEachPortSection(adapter.ports.emplace_back(adapter), readerFor(place));
      }
    }
  }

  // Whether the part that a section names is there.
  void checkPlace(const SectionAt& section) {
    const SectionPlace& place = section.name.place;
    const std::vector<HostSections>& hosts = loaded_.config.hosts;
    const auto complainAbout = [&](const std::string& what, std::size_t first, std::size_t last) {
      complain(section.origin, '[' + section.text + ']',
               "names " + what + " numbered " + std::to_string(first) + " to " + std::to_string(last), {});
    };
    if (!place.host) return;
    if (*place.host >= hosts.size()) {
      return complainAbout("a host that isn't there: hosts are", 0, hosts.size() - 1);
    }
    const HostSections& host = hosts[*place.host];
    if (!place.adapter) return;
    if (*place.adapter >= host.host.adapters) {
      return complainAbout("an adapter that isn't there: those of this host are", 0, host.host.adapters - 1);
    }
    const std::uint32_t ports = host.adapterSections(*place.adapter).adapter.device.ports;
    if (place.port && (*place.port == 0 || *place.port > ports)) {
      complainAbout("a port that isn't there: those of this adapter are", 1, ports);
    }
  }

  void applyStrictNotify() {
    makeStrict(loaded_.config.allHosts);
    for (HostSections& host : loaded_.config.hosts) {
      makeStrict(host);
      for (AdapterSections& adapter : host.adapters) makeStrict(adapter);
    }
  }

  // Under this rule a program must know that its arm has arrived.
  static void makeStrict(AdapterSections& adapter) {
    adapter.adapter.completion.armRule = adapter::ArmRule::kIbSpec;
    adapter.driver.confirm_arm = true;
  }

  template <class Named, class Section>
  void readNamed(const char* kind, std::vector<Named>& all, Section Named::*values) {
    for (const SectionAt& section : sections_) {
      const std::string& name = section.name.name;
      const bool known = std::any_of(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
      if (section.name.schema->name != kind || known) continue;
      Named& one = all.emplace_back();
      one.name = name;
      readSection(section.text, one.*values, values_, loaded_.problems);
    }
  }

  void checkValues() {
    ConfigChecker checker(loaded_.config, values_, loaded_.problems);
    for (const SectionAt& section : sections_) checker.addSection(section.text, section.origin);
    checker.run();
    if (work_ == Work::kNeeded && gathered_.complete && loaded_.config.flows.empty() && loaded_.config.dma.empty()) {
      complain({firstFile_, 1}, "[flow.NAME]", "is missing: there is nothing to do", {});
    }
  }

  void sortProblems() {
    std::map<std::string, std::size_t> rank;
    for (const Problem& problem : loaded_.problems) rank.insert({problem.origin.source, rank.size()});
    std::stable_sort(loaded_.problems.begin(), loaded_.problems.end(), [&](const Problem& a, const Problem& b) {
      return std::pair(rank[a.origin.source], a.origin.line) < std::pair(rank[b.origin.source], b.origin.line);
    });
  }

  SectionCatalog catalog_;
  GatheredSources gathered_;
  std::string firstFile_;
  Work work_;
  std::vector<SectionAt> sections_;
  ConfigValues values_;
  LoadedConfig loaded_;
};

}  // namespace

LoadedDrill loadDrill(const Config& config, const std::string& name, const std::vector<Assignment>& keys) {
  LoadedDrill loaded{{name, {}}, {}};
  const std::string section = std::string(sim::kDrillSection) + '.' + name;
  const SectionCatalog catalog;
  std::string nearest;
  const SectionSchema& schema = *catalog.resolve(section, nearest)->schema;
  ConfigValues values;
  std::vector<Assignment> known;
  for (Assignment assignment : keys) {
    assignment.section = section;
    const bool isKnown = std::any_of(schema.keys.begin(), schema.keys.end(),
                                     [&](const KeySchema& key) { return key.name == assignment.key; });
    if (isKnown) {
      known.push_back(std::move(assignment));
    } else {
      loaded.problems.push_back({assignment.origin, assignment.key, "is no known key of a drill",
                                 catalog.nearestKey(schema, assignment.key)});
    }
  }
  values.store(known);
  readSection(section, loaded.drill.drill, values, loaded.problems);
  Config one = config;
  one.drills = {loaded.drill};
  ConfigChecker(one, values, loaded.problems).checkDrills();
  return loaded;
}

LoadedConfig loadConfig(const std::vector<std::string>& files, const std::vector<Setting>& settings, Work work) {
  return Loader(files, settings, work).run();
}

}  // namespace hca::config
