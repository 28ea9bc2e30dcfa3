#include "sim/workload/client_hosts.h"

#include <algorithm>

#include "sim/workload/weighted_mix.h"

namespace hca::sim {
namespace {

constexpr std::uint64_t kMostHosts = 1024;

/// "3" or "5-7".
bool parseRange(const std::string& text, std::uint64_t& first, std::uint64_t& last) {
  const std::size_t dash = text.find('-');
  if (!parseWeight(trimmed(text.substr(0, dash)), first)) return false;
  last = first;
  if (dash != std::string::npos && !parseWeight(trimmed(text.substr(dash + 1)), last)) return false;
  return first <= last && last < kMostHosts;
}

}  // namespace

ClientHosts parseClientHosts(const std::string& text) {
  ClientHosts clients;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = trimmed(text.substr(at, end - at));
    at = end + 1;
    std::uint64_t first = 0, last = 0;
    if (!parseRange(part, first, last)) {
      clients.problem = '\'' + part + "' is no list of hosts, such as 1, 3-8";
      return clients;
    }
    for (auto host = static_cast<std::uint32_t>(first); host <= last; ++host) {
      if (std::find(clients.hosts.begin(), clients.hosts.end(), host) != clients.hosts.end()) {
        clients.problem = "names host " + std::to_string(host) + " twice";
        return clients;
      }
      clients.hosts.push_back(host);
    }
  }
  return clients;
}

std::vector<std::uint32_t> clientHostsOf(const FlowConfig& flow) {
  if (flow.clients.empty()) return {flow.client};
  return parseClientHosts(flow.clients).hosts;
}

}  // namespace hca::sim
