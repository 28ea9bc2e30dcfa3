// Files that a configuration names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace hca::config {

/// The whole file; or nothing, and `reason` completes the sentence about it.
[[nodiscard]] std::optional<std::string> readTextFile(const std::filesystem::path& path, std::string& reason);

/// The file of the same folder, with this extension, whose name is most like that of `path`; empty if none is.
[[nodiscard]] std::string nearestFile(const std::filesystem::path& path, const std::string& extension);

}  // namespace hca::config
