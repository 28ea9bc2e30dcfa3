// Where the driver puts flow rules.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "models/adapter/memory/index_allocator.h"
#include "sim/driver/command_queue.h"
#include "sim/driver/ethernet_driver.h"
#include "sim/driver/object_commands.h"
#include "sim/driver/sequence.h"

namespace hca::driver {

/// A flow table for each priority that has rules; each match is a group of one entry. The stock driver shares groups
/// among rules that look at the same fields (Linux drivers/net/ethernet/mellanox/mlx5/core/fs_core.c); frames are
/// steered alike. As there, rules that match the same are one entry, whose frames go to all their receivers.
class FlowTables {
 public:
  using Execute = std::function<void(CommandBytes, std::size_t outputLength, CommandQueue::Done)>;
  explicit FlowTables(Execute execute) : execute_(std::move(execute)) {}

  /// The answer's number names the rule. kFlowConflict if a rule that matches the same has another tag or action.
  void add(const FlowAttributes& flow, Done<std::uint32_t> done);
  void remove(std::uint32_t number, Done<int> done);
  /// Destroys every table; there must be no rule.
  void release(std::function<void()> done);

 private:
  static constexpr std::uint32_t kLogSize = 16;
  static constexpr std::uint32_t kLastLevel = EthernetDriver::kLastPriority + 1;
  struct Table {
    std::uint32_t number = 0;  ///< 0: is being made
    adapter::IndexAllocator entries{0, 1U << kLogSize};
    std::vector<Sequence::Next> waiting;
  };
  struct Entry {
    std::uint32_t level = 0, group = 0, index = 0;
    FlowAttributes flow;  ///< with the receivers of all its rules
  };
  struct Rule {
    std::shared_ptr<Entry> entry;
    std::vector<std::uint32_t> receivers;
  };

  void ensureTable(std::uint32_t level, const Sequence::Next& next);
  void run(CommandBytes input, const Sequence::Next& next);
  void runForNumber(CommandBytes input, std::uint32_t& number, const Sequence::Next& next);
  [[nodiscard]] CommandBytes groupCommand(const Entry& entry) const;
  [[nodiscard]] CommandBytes entryCommand(const Entry& entry, bool changes) const;
  [[nodiscard]] CommandBytes onEntry(wire::CommandOpcode opcode, const Entry& entry) const;
  void dropGroup(const Entry& entry, const Sequence::Next& next);
  [[nodiscard]] std::shared_ptr<Entry> find(std::uint32_t level, const FlowAttributes& flow) const;
  void join(const std::shared_ptr<Entry>& entry, const FlowAttributes& flow, Done<std::uint32_t> done);
  void forget(std::uint32_t number);
  std::uint32_t remember(const std::shared_ptr<Entry>& entry, const FlowAttributes& flow);

  Execute execute_;
  std::map<std::uint32_t, Table> tables_;  // by level
  std::map<std::uint32_t, Rule> rules_;
  std::uint32_t lastRule_ = 0;
};

}  // namespace hca::driver
