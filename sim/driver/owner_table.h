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
enum class ObjectKind : std::uint8_t {
  kQp,
  kDct,
  kFlow,
  kReceiver,
  kSpread,
  kSendQueue,
  kReceiveQueue,
  kSendInterface,
  kTransportDomain,
  kSrq,
  kXrcSrq,
  kXrq,
  kCq,
  kMemoryWindow,
  kMemoryKey,
  kDeviceMemory,
  kPd,
  kUar,
  kCount
};

/// Objects by kind and number, with their owners, of which most have one. Numbers of one kind are unique on a device.
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

  /// Once more for an object that several clients have open.
  void add(OwnerId owner, ObjectKind kind, std::uint32_t number);
  /// Takes one hold of `owner` away; whether others are left.
  bool release(OwnerId owner, ObjectKind kind, std::uint32_t number);
  /// With every hold.
  void remove(ObjectKind kind, std::uint32_t number);
  [[nodiscard]] std::size_t holds(ObjectKind kind, std::uint32_t number) const {
    return objects_[static_cast<std::size_t>(kind)].count(number);
  }
  [[nodiscard]] bool owns(OwnerId owner, ObjectKind kind, std::uint32_t number) const;
  /// Clients that own an object, each once.
  [[nodiscard]] std::vector<DriverClient*> clientsOf(ObjectKind kind, std::uint32_t number) const;
  /// The client that owns a CQ, or nullptr: this one is on the data path.
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
  std::multimap<std::uint32_t, OwnerId> objects_[static_cast<std::size_t>(ObjectKind::kCount)];
  std::vector<DriverClient*> cqClients_;  // by number
  std::uint32_t nextOwner_ = 1;
};

}  // namespace hca::driver
