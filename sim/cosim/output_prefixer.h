// The output of several programs on one terminal.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hca::cosim {

/// Passes what programs print on line by line, each with a prefix; lines of two programs never mix.
class OutputPrefixer {
 public:
  explicit OutputPrefixer(std::ostream& out);
  /// Waits until every program has closed its output.
  ~OutputPrefixer();
  OutputPrefixer(const OutputPrefixer&) = delete;
  OutputPrefixer& operator=(const OutputPrefixer&) = delete;

  /// The descriptor for a program's output; to be closed here once the program has it. All before `start`.
  [[nodiscard]] int add(const std::string& prefix);
  void start();

 private:
  struct Source {
    int descriptor;
    std::string prefix;
    std::string rest;  // of a line under way
  };
  void run();
  void pass(Source& source, const char* bytes, std::size_t length);

  std::ostream& out_;
  std::vector<Source> sources_;
  std::thread thread_;
};

}  // namespace hca::cosim
