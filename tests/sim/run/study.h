// A curve of configs/ by two of its points: a study run twice with one key changed.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/report/result_json.h"
#include "tests/sim/run/shipped_config.h"

namespace hca::test {

using Json = nlohmann::json;
using Settings = std::vector<std::string>;

// The result of a run in a process of its own: SystemC elaborates once a process.
inline Json runApart(const std::string& config, const Settings& settings) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = report::toJson(runShipped(config, settings));
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0) _exit(1);
      at += static_cast<std::size_t>(written);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return Json::parse(text);
}

// "flows.NAME.message_rate", "dma.NAME.latency_ns.p50", "caches.qp_context.misses" (of host 0), "cqs.1.events"
inline double figure(const Json& result, const std::string& path) {
  const Json* at = &result;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string step = path.substr(begin, end - begin);
    begin = end + 1;
    if (!at->is_array()) {
      at = &at->at(step);
      continue;
    }
    if (step.find_first_not_of("0123456789") == std::string::npos) {
      at = &at->at(std::stoul(step));
      continue;
    }
    const auto found = std::find_if(at->begin(), at->end(), [&](const Json& one) { return one.at("name") == step; });
    if (found == at->end()) throw std::runtime_error("no " + step + " in " + path);
    at = &*found;
  }
  return at->get<double>();
}

enum class Compare { kRatio, kDifference };

struct Shape {
  const char* name;
  const char* config;
  Settings settings;  ///< of the first run
  Settings changed;   ///< of the second run, beside these; the same run if empty
  const char* first;
  const char* second;
  Compare compare;
  double low;  ///< of second / first, or second - first
  double high;
};

inline std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.name; }

class StudyTest : public ::testing::TestWithParam<Shape> {};

inline std::string nameOf(const ::testing::TestParamInfo<Shape>& info) { return info.param.name; }

}  // namespace hca::test
