// A log file of lines.
#pragma once

#include <string>

namespace hca::observers {

/// Lines are written one by one: whatever ends the program, what came before is in the file. They are added to what is
/// in it: programs of one run follow each other, and whoever asks for the file starts it.
class LineFile {
 public:
  /// Throws std::runtime_error, which names `option`, if the file can't be opened.
  LineFile(const std::string& option, const std::string& path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// `line` without its end. If it can't be written (a full disk), that is logged as an error, once.
  void write(std::string line);

 private:
  void complain();

  const std::string name_;
  int file_;
  bool isGood_ = true;
};

}  // namespace hca::observers
