#include "sim/config/config_text.h"

#include <algorithm>

#include "sim/config/section_catalog.h"
#include "sim/config/section_schema.h"
#include "sim/drills/drill_kinds.h"

namespace hca::config {

namespace {

using KeyTexts = std::vector<std::pair<std::string, std::string>>;

std::vector<SectionText> hostKeys(const OneHostConfig& host) {
  return {SectionText(std::string(), keyTexts<OneHostConfig>(host))};
}
/// Visitor that collects the sections of one part.
auto collectorInto(std::vector<SectionText>& texts) {
  return [&texts](const char* name, const auto& section, const char*) { texts.emplace_back(name, keyTexts(section)); };
}
std::vector<SectionText> hostTexts(const HostSections& host) {
  std::vector<SectionText> texts;
  forEachHostSection(host, collectorInto(texts));
  return texts;
}
std::vector<SectionText> adapterTexts(const AdapterSections& adapter) {
  std::vector<SectionText> texts;
  forEachAdapterSection(adapter, collectorInto(texts));
  return texts;
}
std::vector<SectionText> portTexts(const PortSections& port) {
  std::vector<SectionText> texts;
  forEachPortSection(port, collectorInto(texts));
  return texts;
}

// Keys of `own` whose value isn't that of `common`; both list the same keys.
KeyTexts difference(const KeyTexts& own, const KeyTexts& common) {
  KeyTexts different;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].second != common[i].second) different.push_back(own[i]);
  }
  return different;
}

// Appends what the sections of a part, `own`, have other than those of the larger part around it.
void addDifferences(const SectionPlace& place, const std::vector<SectionText>& own,
                    const std::vector<SectionText>& common, std::vector<SectionText>& texts) {
  for (std::size_t i = 0; i < own.size(); ++i) {
    KeyTexts different = difference(own[i].second, common[i].second);
    if (!different.empty()) texts.emplace_back(sectionPath(place, own[i].first), std::move(different));
  }
}

void addAdapters(const HostSections& host, SectionPlace place, std::vector<SectionText>& texts) {
  const std::vector<SectionText> common = adapterTexts(host);
  for (std::uint32_t a = 0; a < host.adapters.size(); ++a) {
    const AdapterSections& adapter = host.adapters[a];
    place.adapter = a;
    place.port.reset();
    addDifferences(place, adapterTexts(adapter), common, texts);
    const std::vector<SectionText> commonOfPorts = portTexts(adapter);
    for (std::uint32_t port = 1; port <= adapter.ports.size(); ++port) {
      place.port = port;
      addDifferences(place, portTexts(adapter.portSections(port)), commonOfPorts, texts);
    }
  }
}

// Keys that mean something to its kind: the others may not be written down.
KeyTexts drillTexts(const sim::DrillConfig& drill) {
  std::vector<std::string> known{"kind", "host", "adapter", "at"};
  if (drill.kind != sim::DrillKind::kNone) {
    for (const char* key : sim::infoOf(drill.kind).keys) known.emplace_back(key);
  }
  KeyTexts texts;
  for (auto& text : keyTexts(drill)) {
    if (std::find(known.begin(), known.end(), text.first) != known.end()) texts.push_back(std::move(text));
  }
  return texts;
}

std::string quotedIfNeeded(const std::string& value) {
  const bool plain =
      !value.empty() && value.find_first_of("#;") == std::string::npos && value.front() != ' ' && value.back() != ' ';
  return plain ? value : '"' + value + '"';
}

const KeySchema* findKey(const SectionCatalog& catalog, const std::string& section, const std::string& key) {
  std::string nearest;
  const auto name = catalog.resolve(section, nearest);
  if (!name) return nullptr;
  for (const KeySchema& schema : name->schema->keys) {
    if (schema.name == key) return &schema;
  }
  return nullptr;
}

std::string facts(const KeySchema& key) {
  const std::string fallback = key.fallback.empty() ? std::string("empty") : key.fallback;
  return key.kind + (key.range.empty() ? "" : ", " + key.range) + ", default " + fallback;
}

std::string escaped(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

// With the names for one host, one adapter and one port.
std::string partsHeading(const SectionSchema& section) {
  const auto withLetters = [&](SectionPlace place) {
    std::string text = sectionPath(place, section.name);
    for (const auto& [number, letter] :
         {std::pair("host.0", "host.N"), {"adapter.0", "adapter.A"}, {"port.0", "port.P"}}) {
      const auto at = text.find(number);
      if (at != std::string::npos) text.replace(at, std::string(number).size(), letter);
    }
    return "`[" + text + "]`";
  };
  std::string text = withLetters({}) + ", " + withLetters({0, {}, {}}) + ", " + withLetters({0, 0, {}});
  return section.scope == Scope::kPerPort ? text + ", " + withLetters({0, 0, 0}) : text;
}

std::string heading(const SectionSchema& section) {
  switch (section.scope) {
    case Scope::kGlobal:
    case Scope::kOneHost:
      return "`[" + section.name + "]`";
    case Scope::kPerHost:
      return "`[" + section.name + "]`, `[host.N." + section.name + "]`";
    case Scope::kPerAdapter:
    case Scope::kPerPort:
      return partsHeading(section);
    case Scope::kNamed:
      return "`[" + section.name + ".NAME]`";
  }
  return {};
}

std::string sectionMarkdown(const SectionSchema& section) {
  std::string text = "\n## " + heading(section) + "\n\n" + section.doc + ".\n\n";
  text += "| key | kind | default | range | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const KeySchema& key : section.keys) {
    text += "| `" + key.name + "` | " + key.kind + " | " + (key.fallback.empty() ? "" : '`' + key.fallback + '`') +
            " | " + escaped(key.range) + " | " + escaped(key.doc) + " |\n";
  }
  return text;
}

constexpr const char* kReferenceHead = R"(# Configuration reference

Written by `hcasim config reference`; a test compares the two. Don't edit it by hand.

A configuration is a text file of `[section]` lines and `key = value` lines. `#` and `;` start a comment; a value that
holds one of them stands in double quotes. `include = other.ini` before the first section reads another file first; its
path is relative to the file that names it. Of several values for a key the strongest counts: `--set section.key=value`
on the command line, then the file named last on the command line, then the files that it includes.

A section such as `[pcie]` holds for all hosts. `[host.N.pcie]` holds for host N alone, `[host.N.adapter.A.pcie]` for
its adapter A alone (`[host.N.adapter.A.completion]` where all adapters have `[adapter.completion]`),
`[host.N.adapter.A.port.P.link.faults]` for port P of that adapter alone. Of these the one that says more is stronger,
wherever it stands. Hosts and adapters are numbered from 0, ports from 1.

`[flow.NAME]`, `[dma.NAME]` and `[drill.NAME]` may be given any number of times; NAME is free.

| kind | how it is written |
| --- | --- |
| time | decimal number with ps, ns, us, ms or s: `1.5us`; `unlimited` where the range allows it |
| size | with B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024): `4KiB` |
| rate | with bps, kbps, Mbps, Gbps or Tbps: `100Gbps` |
| frequency | with Hz, kHz, MHz or GHz: `1GHz` |
| count, clock cycles, entries | a whole number: `128` |
| ratio | a decimal number: `0.25` |
| yes or no | `yes`, `true`, `on`, `no`, `false` or `off` |
| word | one of the words under "range" |
| text | anything |
)";

}  // namespace

std::vector<SectionText> effectiveSections(const Config& config) {
  std::vector<SectionText> texts;
  forEachGlobalSection(
      config, [&](const char* name, const auto& section, const char*) { texts.emplace_back(name, keyTexts(section)); });
  const std::vector<SectionText> common = hostTexts(config.allHosts);
  texts.insert(texts.end(), common.begin(), common.end());
  for (std::size_t i = 0; i < config.hosts.size(); ++i) {
    SectionPlace place;
    place.host = static_cast<std::uint32_t>(i);
    addDifferences(place, hostKeys(config.hosts[i].host), hostKeys(config.host), texts);
    addDifferences(place, hostTexts(config.hosts[i]), common, texts);
    addAdapters(config.hosts[i], place, texts);
  }
  for (const NamedFlow& named : config.flows) {
    texts.emplace_back(std::string(kFlowSection) + '.' + named.name, keyTexts(named.flow));
  }
  for (const NamedDma& named : config.dma) {
    texts.emplace_back(std::string(sim::kDmaSection) + '.' + named.name, keyTexts(named.dma));
  }
  for (const NamedDrill& named : config.drills) {
    texts.emplace_back(std::string(sim::kDrillSection) + '.' + named.name, drillTexts(named.drill));
  }
  return texts;
}

std::string effectiveIni(const Config& config, bool withDocs) {
  const SectionCatalog catalog;
  std::string text;
  for (const auto& [section, keys] : effectiveSections(config)) {
    text += (text.empty() ? "[" : "\n[") + section + "]\n";
    for (const auto& [key, value] : keys) {
      const KeySchema* schema = withDocs ? findKey(catalog, section, key) : nullptr;
      if (schema != nullptr) text += "# " + schema->doc + " (" + facts(*schema) + ")\n";
      text += key + " = " + quotedIfNeeded(value) + '\n';
    }
  }
  return text;
}

std::string referenceMarkdown() {
  std::string text = kReferenceHead;
  const SectionCatalog catalog;
  for (const SectionSchema& section : catalog.sections()) text += sectionMarkdown(section);
  return text;
}

}  // namespace hca::config
