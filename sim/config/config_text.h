// A configuration as text: the effective values, and the reference of all keys.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.h"

namespace hca::config {

/// A section's full name and its keys with their values, in the order of declaration.
using SectionText = std::pair<std::string, std::vector<std::pair<std::string, std::string>>>;

/// Every effective value. A section of one host lists only the keys that differ from the section for all hosts.
[[nodiscard]] std::vector<SectionText> effectiveSections(const Config& config);

/// `effectiveSections` as a file that reads back to the same configuration; with each key's explanation if wanted.
[[nodiscard]] std::string effectiveIni(const Config& config, bool withDocs);

/// All sections and keys as Markdown, configs/REFERENCE.md.
[[nodiscard]] std::string referenceMarkdown();

}  // namespace hca::config
