#include "sim/driver/xrc_domains.h"

#include <algorithm>

namespace hca::driver {

std::optional<XrcDomains::Number> XrcDomains::ofFile(std::uint64_t file) const {
  if (file == kNoFile) return std::nullopt;
  for (const auto& [number, domain] : domains_) {
    if (domain.file == file) return number;
  }
  return std::nullopt;
}

void XrcDomains::hold(OwnerId owner, Number domain, std::uint64_t file) {
  domains_[domain].file = file;
  domains_[domain].holders.push_back(owner);
}

bool XrcDomains::holds(OwnerId owner, Number domain) const {
  const auto at = domains_.find(domain);
  if (at == domains_.end()) return false;
  const std::vector<OwnerId>& holders = at->second.holders;
  return std::find(holders.begin(), holders.end(), owner) != holders.end();
}

bool XrcDomains::isNeeded(OwnerId owner, Number domain) const {
  const auto at = domains_.find(domain);
  if (at == domains_.end()) return false;
  const auto holds = std::count(at->second.holders.begin(), at->second.holders.end(), owner);
  return holds == 1 && std::any_of(objects_.begin(), objects_.end(),
                                   [&](const auto& object) { return object.second == std::pair(owner, domain); });
}

bool XrcDomains::isLast(Number domain) const {
  const auto at = domains_.find(domain);
  return at != domains_.end() && at->second.holders.size() == 1;
}

std::uint64_t XrcDomains::drop(OwnerId owner, Number domain) {
  std::vector<OwnerId>& holders = domains_[domain].holders;
  const std::uint64_t file = domains_[domain].file;
  holders.erase(std::find(holders.begin(), holders.end(), owner));
  if (holders.empty()) domains_.erase(domain);
  return file;
}

std::optional<XrcDomains::Number> XrcDomains::firstOf(OwnerId owner) const {
  for (const auto& [number, domain] : domains_) {
    if (holds(owner, number)) return number;
  }
  return std::nullopt;
}

void XrcDomains::releaseObject(ObjectKind kind, std::uint32_t number, OwnerId owner) {
  const auto [first, last] = objects_.equal_range({kind, number});
  const auto at = std::find_if(first, last, [owner](const auto& object) { return object.second.first == owner; });
  if (at != last) objects_.erase(at);
}

}  // namespace hca::driver
