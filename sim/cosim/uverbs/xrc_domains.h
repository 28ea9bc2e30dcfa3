// XRC domains that programs of one host share through a file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "sim/driver/dma_memory.h"
#include "sim/driver/driver_role.h"

namespace hca::cosim {

/// By the file's identity. A domain lives until the last program has closed it; it belongs to no program, so that the
/// one that made it may end first.
class XrcDomains final : private driver::DriverClient {
 public:
  using File = std::pair<dev_t, ino_t>;
  using Opened = std::function<void(int error, adapter::XrcdNumber number)>;

  XrcDomains(driver::DriverRole& driver, host::BusAddressSpace& space);

  /// What stands in a queue pair's context for what an XRC queue pair has not (Linux drivers/infiniband/hw/mlx5/main.c,
  /// mlx5_ib_dev_res_init).
  struct Reserved {
    PdNumber pd;
    CqNumber cq;
    adapter::XrcdNumber domain;
  };
  /// Made when it is first asked for.
  void reserve(std::function<void(int error, const Reserved& reserved)> done);

  /// As open(2): `flags` with O_CREAT makes one, with O_EXCL insists on it.
  void open(const File& file, std::uint32_t flags, Opened opened);
  void close(const File& file);

 private:
  struct Domain {
    adapter::XrcdNumber number;
    std::uint32_t users = 0;
  };
  using Prepared = std::function<void(int error)>;
  void reservePd(Prepared done);
  void reserveCq(Prepared done);
  void reserveDomain(Prepared done);
  void onCompletionEvent(CqNumber, host::Core&) override {}
  void onAsyncEvent(std::uint8_t, std::uint8_t, std::uint32_t, std::uint8_t) override {}

  driver::DriverRole& driver_;
  driver::DmaMemory memory_;
  OwnerId owner_;
  Reserved reserved_;
  bool isReserved_ = false;
  std::map<File, Domain> domains_;
};

}  // namespace hca::cosim
