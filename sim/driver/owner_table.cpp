#include "sim/driver/owner_table.h"

#include <algorithm>

namespace hca::driver {
namespace {

constexpr std::size_t index(ObjectKind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

OwnerId OwnerTable::addClient(DriverClient& client, const char* name) {
  const OwnerId owner(nextOwner_++);
  clients_.emplace(owner, Client{&client, name});
  return owner;
}

void OwnerTable::silence(OwnerId owner) {
  const auto at = clients_.find(owner);
  if (at == clients_.end() || at->second.client == nullptr) return;
  std::replace(cqClients_.begin(), cqClients_.end(), at->second.client, static_cast<DriverClient*>(nullptr));
  at->second.client = nullptr;
}

void OwnerTable::removeClient(OwnerId owner) { clients_.erase(owner); }

DriverClient* OwnerTable::client(OwnerId owner) const {
  const auto at = clients_.find(owner);
  return at == clients_.end() ? nullptr : at->second.client;
}

std::vector<DriverClient*> OwnerTable::clients() const {
  std::vector<DriverClient*> all;
  for (const auto& [owner, client] : clients_) {
    if (client.client != nullptr) all.push_back(client.client);
  }
  return all;
}

std::vector<OwnerId> OwnerTable::owners() const {
  std::vector<OwnerId> all;
  for (const auto& [owner, client] : clients_) all.push_back(owner);
  return all;
}

void OwnerTable::add(OwnerId owner, ObjectKind kind, std::uint32_t number) {
  objects_[index(kind)].emplace(number, owner);
  if (kind != ObjectKind::kCq) return;
  if (number >= cqClients_.size()) cqClients_.resize(number + 1);
  cqClients_[number] = client(owner);
}

void OwnerTable::remove(ObjectKind kind, std::uint32_t number) {
  objects_[index(kind)].erase(number);
  if (kind == ObjectKind::kCq && number < cqClients_.size()) cqClients_[number] = nullptr;
}

bool OwnerTable::release(OwnerId owner, ObjectKind kind, std::uint32_t number) {
  const auto [first, last] = objects_[index(kind)].equal_range(number);
  const auto at = std::find_if(first, last, [owner](const auto& object) { return object.second == owner; });
  if (at != last) objects_[index(kind)].erase(at);
  return objects_[index(kind)].count(number) != 0;
}

bool OwnerTable::owns(OwnerId owner, ObjectKind kind, std::uint32_t number) const {
  const auto [first, last] = objects_[index(kind)].equal_range(number);
  return std::any_of(first, last, [owner](const auto& object) { return object.second == owner; });
}

std::vector<DriverClient*> OwnerTable::clientsOf(ObjectKind kind, std::uint32_t number) const {
  std::vector<DriverClient*> found;
  const auto [first, last] = objects_[index(kind)].equal_range(number);
  for (auto at = first; at != last; ++at) {
    DriverClient* const each = client(at->second);
    const bool isNew = each != nullptr && std::find(found.begin(), found.end(), each) == found.end();
    if (isNew) found.push_back(each);
  }
  return found;
}

std::optional<OwnerTable::Object> OwnerTable::firstOf(OwnerId owner) const {
  for (std::size_t kind = 0; kind < index(ObjectKind::kCount); ++kind) {
    const auto& objects = objects_[kind];
    const auto at =
        std::find_if(objects.begin(), objects.end(), [owner](const auto& object) { return object.second == owner; });
    if (at != objects.end()) return Object{static_cast<ObjectKind>(kind), at->first};
  }
  return std::nullopt;
}

}  // namespace hca::driver
