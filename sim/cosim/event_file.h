// A completion channel or a device's asynchronous events, as the program reads them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "models/base/byte_view.h"

namespace hca::cosim {

/// A pipe whose read end is the program's descriptor, so that poll, epoll and non-blocking reads are the kernel's. Each
/// event is one record of a fixed size.
class EventFile {
 public:
  /// Opens both ends for itself by the numbers that they have in process `processId`; nullptr if that fails.
  static std::shared_ptr<EventFile> open(int processId, int writeEnd, int readEnd, std::size_t recordSize);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  void push(ByteView record);
  /// Takes the unread events out for which `isGone` holds; returns their number. The others stay in order.
  std::size_t purge(const std::function<bool(ByteView record)>& isGone);
  /// Moves what had no room into the pipe.
  void flush();
  /// Whether the program has something to read.
  [[nodiscard]] bool isReadable() const;

 private:
  EventFile(int writeEnd, int readEnd, std::size_t recordSize);

  int writeEnd_;
  int readEnd_;
  std::size_t recordSize_;
  std::deque<std::vector<std::uint8_t>> waiting_;  // behind a full pipe
};

}  // namespace hca::cosim
