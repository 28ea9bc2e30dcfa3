#include "sim/config/config_sources.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "sim/config/text_file.h"

namespace hca::config {

namespace fs = std::filesystem;

namespace {

constexpr const char* kInclude = "include";

class Gatherer {
 public:
  // `from` is where the file is named: the include line, or the file itself if it came from the command line.
  void addFile(const fs::path& path, const Origin& from, const std::string& key) {
    std::error_code ignored;
    const fs::path identity = fs::weakly_canonical(path, ignored);
    if (isOpen(identity)) return giveUp(from, key, "closes a cycle: " + cycle(path), {});
    std::string reason;
    const std::optional<std::string> text = readTextFile(path, reason);
    if (!text) return giveUp(from, key, "'" + path.string() + "' " + reason, nearestFile(path, ".ini"));
    open_.emplace_back(identity, path.string());
    addText(*text, path);
    open_.pop_back();
  }

  void addSettings(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings) addSetting(setting);
  }

  GatheredSources take() { return std::move(gathered_); }

 private:
  void complain(const Origin& origin, const std::string& key, std::string what, std::string nearest) {
    gathered_.problems.push_back({origin, key, std::move(what), std::move(nearest)});
  }

  void giveUp(const Origin& origin, const std::string& key, std::string what, std::string nearest) {
    gathered_.complete = false;
    complain(origin, key, std::move(what), std::move(nearest));
  }

  void addText(const std::string& text, const fs::path& path) {
    ScannedFile file = scanIni(text, path.string());
    std::move(file.problems.begin(), file.problems.end(), std::back_inserter(gathered_.problems));
    const bool empty = file.headers.empty() && file.assignments.empty() && file.problems.empty();
    if (empty) giveUp({path.string(), 1}, "file", "is empty: it has no section", {});
    Layer layer{path.string(), std::move(file.headers), {}};
    for (Assignment& assignment : file.assignments) {
      if (!assignment.section.empty()) {
        if (assignment.key == kInclude) {
          complain(assignment.origin, kInclude, "must stand before the first section", {});
        } else {
          layer.assignments.push_back(std::move(assignment));
        }
      } else if (assignment.key == kInclude) {
        addFile((path.parent_path() / assignment.value).lexically_normal(), assignment.origin, kInclude);
      } else {
        complain(assignment.origin, assignment.key, "stands before the first section", {});
      }
    }
    gathered_.layers.push_back(std::move(layer));
  }

  void addSetting(const Setting& setting) {
    const Origin origin{setting.option + ' ' + setting.assignment, 0};
    const std::size_t equals = setting.assignment.find('=');
    const std::string name = setting.assignment.substr(0, equals);
    const std::size_t dot = name.rfind('.');
    if (equals == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 == name.size()) {
      return complain(origin, name, "is not of the form section.key=value", {});
    }
    Layer layer{setting.option, {}, {}};
    const std::string section = name.substr(0, dot);
    layer.headers.push_back({section, origin});
    layer.assignments.push_back({section, name.substr(dot + 1), setting.assignment.substr(equals + 1), origin});
    gathered_.layers.push_back(std::move(layer));
  }

  [[nodiscard]] bool isOpen(const fs::path& identity) const {
    return std::any_of(open_.begin(), open_.end(), [&](const auto& file) { return file.first == identity; });
  }
  [[nodiscard]] std::string cycle(const fs::path& last) const {
    std::string text;
    for (const auto& file : open_) text += file.second + " -> ";
    return text + last.string();
  }

  GatheredSources gathered_;
  std::vector<std::pair<fs::path, std::string>> open_;
};

}  // namespace

GatheredSources gatherSources(const std::vector<std::string>& files, const std::vector<Setting>& settings) {
  Gatherer gatherer;
  for (const std::string& file : files) gatherer.addFile(file, {file, 1}, "file");
  gatherer.addSettings(settings);
  return gatherer.take();
}

}  // namespace hca::config
