// Who has which XRC domain open.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/adapter/memory/number_table.h"
#include "sim/driver/owner_table.h"

namespace hca::driver {

/// XRC domains of one device. Programs that name the same file share a domain (ibv_open_xrcd(3)); each open is one hold
/// of it. Objects keep the holds of their owner.
class XrcDomains {
 public:
  using Number = adapter::XrcdNumber;
  /// Programs that name this one share nothing.
  static constexpr std::uint64_t kNoFile = 0;

  /// The domain that somebody opened with this file.
  [[nodiscard]] std::optional<Number> ofFile(std::uint64_t file) const;
  /// One more hold of a domain, or the first.
  void hold(OwnerId owner, Number domain, std::uint64_t file);
  [[nodiscard]] bool holds(OwnerId owner, Number domain) const;
  /// Whether it is the only hold that `owner` has, and objects of it need the domain.
  [[nodiscard]] bool isNeeded(OwnerId owner, Number domain) const;
  /// Whether nobody else holds it.
  [[nodiscard]] bool isLast(Number domain) const;
  /// Returns the file of the domain. Precondition: holds(owner, domain).
  std::uint64_t drop(OwnerId owner, Number domain);
  /// Some domain that `owner` holds.
  [[nodiscard]] std::optional<Number> firstOf(OwnerId owner) const;

  void addObject(ObjectKind kind, std::uint32_t number, OwnerId owner, Number domain) {
    objects_.emplace(std::pair(kind, number), std::pair(owner, domain));
  }
  /// Whether somebody has this object in `domain`.
  [[nodiscard]] bool isOf(ObjectKind kind, std::uint32_t number, Number domain) const {
    const auto at = objects_.find({kind, number});
    return at != objects_.end() && at->second.second == domain;
  }
  /// Of an object that several have open: `owner` has it once less.
  void releaseObject(ObjectKind kind, std::uint32_t number, OwnerId owner);
  void removeObject(ObjectKind kind, std::uint32_t number) { objects_.erase({kind, number}); }

  [[nodiscard]] std::size_t count() const { return domains_.size(); }

 private:
  struct Domain {
    std::uint64_t file = kNoFile;
    std::vector<OwnerId> holders;
  };
  std::map<Number, Domain> domains_;
  std::multimap<std::pair<ObjectKind, std::uint32_t>, std::pair<OwnerId, Number>> objects_;
};

}  // namespace hca::driver
