// All sections, and what a section's name in a file means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/section_path.h"
#include "sim/config/section_schema.h"

namespace hca::config {

/// A section name as written, taken apart.
struct SectionName {
  const SectionSchema* schema = nullptr;
  SectionPlace place;  ///< of [host.N.*]
  std::string name;    ///< of [flow.NAME], [dma.NAME] or [drill.NAME]
};

class SectionCatalog {
 public:
  SectionCatalog();

  [[nodiscard]] const std::vector<SectionSchema>& sections() const { return sections_; }
  /// Nothing, if there is no such section; `nearest` is then the name that was probably meant.
  [[nodiscard]] std::optional<SectionName> resolve(const std::string& name, std::string& nearest) const;
  /// The nearest known key of `schema`. If another section has a nearer one, that, as "section.key".
  [[nodiscard]] std::string nearestKey(const SectionSchema& schema, const std::string& key) const;

 private:
  [[nodiscard]] const SectionSchema* find(const std::string& name) const;
  [[nodiscard]] std::optional<SectionName> resolveOfHost(const std::string& name, std::string& nearest) const;
  [[nodiscard]] std::optional<SectionName> resolveOfAdapter(const SectionPlace& place, const std::string& rest) const;
  [[nodiscard]] std::string nearestSection(const std::string& name, const SectionPlace& place) const;

  std::vector<SectionSchema> sections_;
};

}  // namespace hca::config
