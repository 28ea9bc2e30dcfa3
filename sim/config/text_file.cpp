#include "sim/config/text_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "sim/config/nearest_name.h"

namespace hca::config {

namespace fs = std::filesystem;

std::string nearestFile(const fs::path& path, const std::string& extension) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == extension) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::string nearest = nearestName(path.filename().string(), names);
  return isMisspelling(path.filename().string(), nearest) ? nearest : std::string();
}

std::optional<std::string> readTextFile(const fs::path& path, std::string& reason) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    reason = "is a folder";
    return std::nullopt;
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.is_open() && !stream.bad()) return text;
  reason = std::string("can't be read: ") + std::strerror(errno == 0 ? EIO : errno);
  return std::nullopt;
}

}  // namespace hca::config
