// What the commands of raw packet queues make besides the queues themselves.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "models/adapter/memory/index_allocator.h"
#include "models/adapter/memory/number_table.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// Receivers, senders, flow tables with their groups and entries, by number. Numbers start at 1.
struct EthernetObjects {
  static constexpr std::uint32_t kMost = 1U << 16;

  struct Receiver {
    QpNumber queue;
    TransportDomainNumber domain;
    std::uint32_t rules = 0;  ///< entries that lead to it
  };
  struct Group {
    std::uint32_t first = 0, last = 0;  ///< indices of its entries
    std::array<std::uint8_t, 0x40> mask{};
  };
  struct Entry {
    std::uint64_t rule = 0;  ///< QpDirectory::addFlow
    std::uint32_t receiver = 0;
    std::uint32_t group = 0;
  };
  struct Table {
    std::uint32_t level = 0;
    std::uint64_t size = 0;
    std::map<std::uint32_t, Group> groups;
    std::map<std::uint32_t, Entry> entries;  // by flow index
  };

  std::map<std::uint32_t, Receiver> receivers;
  std::map<std::uint32_t, TransportDomainNumber> senders;
  std::map<std::uint32_t, Table> tables;
  IndexAllocator receiverNumbers{1, kMost}, senderNumbers{1, kMost}, tableNumbers{1, kMost}, groupNumbers{1, kMost};

  void reset() { *this = EthernetObjects(); }
};

}  // namespace hca::adapter
