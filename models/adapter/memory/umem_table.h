// User memory of an adapter.
#pragma once

#include <map>
#include <utility>

#include "models/adapter/memory/number_table.h"
#include "models/adapter/memory/page_list.h"

namespace hca::adapter {

using UmemNumber = Id<struct UmemNumberTag>;  ///< 24 bits

/// A buffer that was registered as a list of pages.
struct Umem {
  PageList pages;
  bool writable = false;  ///< all of it
};

/// Buffers by number. Number 0 is not handed out.
class UmemTable {
 public:
  explicit UmemTable(std::uint32_t count)
      : numbers_(1, count, {Syndrome::kUnknownUmem, Syndrome::kUmemInUse, Syndrome::kUmemLimit}) {}

  CommandResult create(Umem umem, UmemNumber& number) {
    const CommandResult result = numbers_.allocate(number);
    if (result.ok()) umems_[number] = std::move(umem);
    return result;
  }
  CommandResult destroy(UmemNumber number) {
    const CommandResult result = numbers_.release(number);
    if (result.ok()) umems_.erase(number);
    return result;
  }
  /// nullptr if there is none of that number.
  [[nodiscard]] const Umem* find(UmemNumber number) const {
    const auto at = umems_.find(number);
    return at == umems_.end() ? nullptr : &at->second;
  }
  [[nodiscard]] std::uint32_t size() const { return numbers_.size(); }
  void reset() {
    numbers_.reset();
    umems_.clear();
  }

 private:
  NumberTable<UmemNumber> numbers_;
  std::map<UmemNumber, Umem> umems_;
};

}  // namespace hca::adapter
