// What the commands of raw packet queues make besides the queues themselves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "models/adapter/memory/index_allocator.h"
#include "models/adapter/memory/number_table.h"
#include "models/adapter/transport/qp_directory.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// Indirection tables ("spreads"), receivers, senders, flow tables with their groups and entries, by number. Numbers
/// start at 1.
struct EthernetObjects {
  static constexpr std::uint32_t kMost = 1U << 16;
  static constexpr std::uint32_t kLogMaxSpread = 9;  ///< queues of an indirection table

  struct Spread {
    std::shared_ptr<std::vector<QpNumber>> queues;
    std::uint32_t receivers = 0;  ///< that use it
  };
  struct Receiver {
    std::shared_ptr<const FlowTarget> target;
    std::uint32_t spread = 0;  ///< its indirection table; 0: a queue of its own
    std::uint32_t rules = 0;   ///< entries that lead to it
  };
  struct Group {
    std::uint32_t first = 0, last = 0;  ///< indices of its entries
    FlowKey mask{};
  };
  struct Entry {
    std::uint64_t rule = 0;  ///< QpDirectory::addFlow
    std::uint32_t group = 0;
    std::vector<std::uint32_t> receivers;
    FlowRule description;
  };
  struct Table {
    std::uint32_t level = 0;
    std::uint64_t size = 0;
    std::map<std::uint32_t, Group> groups;
    std::map<std::uint32_t, Entry> entries;  // by flow index
  };

  std::map<std::uint32_t, Spread> spreads;
  std::map<std::uint32_t, Receiver> receivers;
  std::map<std::uint32_t, TransportDomainNumber> senders;
  std::map<QpNumber, std::uint32_t> sendQueues;  // which sender each uses
  std::map<std::uint32_t, Table> tables;
  IndexAllocator spreadNumbers{1, kMost}, receiverNumbers{1, kMost}, senderNumbers{1, kMost}, tableNumbers{1, kMost},
      groupNumbers{1, kMost};

  void reset() { *this = EthernetObjects(); }
};

}  // namespace hca::adapter
