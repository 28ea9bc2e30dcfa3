// A folder of configuration files for one test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/config/config_loader.h"

namespace hca::config {

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("hcasim_config_" + std::to_string(getpid()) + '_' + std::string(info->name()));
    std::filesystem::create_directories(folder_);
  }
  ~ConfigTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path(name);
  }
  /// Loads `text` as main.ini.
  LoadedConfig load(const std::string& text, const std::vector<Setting>& settings = {}) const {
    return loadConfig({write("main.ini", text)}, settings);
  }
  /// The problems of `loaded`, one a line, without the folder's name.
  [[nodiscard]] std::vector<std::string> lines(const LoadedConfig& loaded) const {
    std::vector<std::string> texts;
    for (const Problem& problem : loaded.problems) {
      std::string text = describe(problem);
      const std::string prefix = folder_.string() + '/';
      for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
      texts.push_back(text);
    }
    return texts;
  }
  [[nodiscard]] std::vector<std::string> problems(const std::string& text,
                                                  const std::vector<Setting>& settings = {}) const {
    return lines(load(text, settings));
  }

  std::filesystem::path folder_;
};

/// A flow that needs no more keys.
constexpr const char* kWork = "[flow.a]\niters = 10\n";

}  // namespace hca::config
