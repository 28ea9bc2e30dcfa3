// Who owns which object.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/base/ids.h"
#include "sim/driver/driver_role.h"

namespace hca::driver {

/// In the order in which they may be destroyed.
enum class ObjectKind : std::uint8_t { kQp, kSrq, kXrcSrq, kXrq, kCq, kMemoryWindow, kMemoryKey, kPd, kUar, kCount };

/// Objects by kind and number, with their owners. Numbers of one kind are unique on a device.
class OwnerTable {
 public:
  OwnerId addClient(DriverClient& client, const char* name);
  /// The client is told nothing any more; its objects stay.
  void silence(OwnerId owner);
  void removeClient(OwnerId owner);
  /// nullptr once silenced or removed.
  [[nodiscard]] DriverClient* client(OwnerId owner) const;
  /// Every client, in the order of their owner numbers.
  [[nodiscard]] std::vector<DriverClient*> clients() const;
  [[nodiscard]] std::vector<OwnerId> owners() const;

  void add(OwnerId owner, ObjectKind kind, std::uint32_t number);
  void remove(ObjectKind kind, std::uint32_t number);
  [[nodiscard]] bool owns(OwnerId owner, ObjectKind kind, std::uint32_t number) const;
  /// Client that owns an object; nullptr if nobody does.
  [[nodiscard]] DriverClient* clientOf(ObjectKind kind, std::uint32_t number) const;
  /// Same as clientOf for a CQ: this one is on the data path.
  [[nodiscard]] DriverClient* clientOfCq(CqNumber cq) const {
    return cq.value() < cqClients_.size() ? cqClients_[cq.value()] : nullptr;
  }
  /// Some object of `owner`, in the order in which objects may be destroyed (queue pairs first).
  struct Object {
    ObjectKind kind;
    std::uint32_t number;
  };
  [[nodiscard]] std::optional<Object> firstOf(OwnerId owner) const;
  [[nodiscard]] std::size_t count(ObjectKind kind) const { return objects_[static_cast<std::size_t>(kind)].size(); }

 private:
  struct Client {
    DriverClient* client;
    std::string name;
  };
  std::map<OwnerId, Client> clients_;
  std::map<std::uint32_t, OwnerId> objects_[static_cast<std::size_t>(ObjectKind::kCount)];
  std::vector<DriverClient*> cqClients_;  // by number
  std::uint32_t nextOwner_ = 1;
};

}  // namespace hca::driver
