// Targets of dynamic connections. Linux drivers/infiniband/hw/mlx5/qpc.c, mlx5_core_create_dct and
// mlx5_core_destroy_dct.
#include <utility>

#include "models/wire/dct_context.h"
#include "sim/driver/kernel_driver.h"

namespace hca::driver {

void KernelDriver::createDct(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done) {
  create(owner, ObjectKind::kDct, createDctCommand(attributes),
         [done = std::move(done)](adapter::CommandResult result, std::uint32_t number) {
           done({result, QpNumber(number)});
         });
}

void KernelDriver::destroyDct(OwnerId owner, QpNumber target, Done<int> done) {
  destroy(owner, ObjectKind::kDct, target.value(), std::move(done));
}

// Command and event come in either order.
void KernelDriver::drainDct(std::uint32_t number, Done<int> done) {
  drains_[number] = {};
  execute(objectCommand(wire::CommandOpcode::kDrainDct, number), wire::ObjectCommand::kSize,
          [this, number, done = std::move(done)](const CommandReply& reply) {
            if (!reply.result.ok()) {
              drains_.erase(number);
              return hasFailed_ ? destroyAtOnce(ObjectKind::kDct, number, done) : done({reply.result});
            }
            drains_[number].then = [this, number, done] { destroyAtOnce(ObjectKind::kDct, number, done); };
            if (drains_[number].isDrained) onDctDrained(number);
          });
}

void KernelDriver::onDctDrained(std::uint32_t number) {
  const auto at = drains_.find(number);
  if (at == drains_.end()) {
    ++strayEvents_;
    return;
  }
  at->second.isDrained = true;
  if (!at->second.then) return;
  const std::function<void()> then = std::move(at->second.then);
  drains_.erase(at);
  then();
}

// A device that failed tells of no drained target any more.
void KernelDriver::giveDrainsUp() {
  for (auto& [number, drain] : std::exchange(drains_, {})) {
    if (drain.then) drain.then();
  }
}

}  // namespace hca::driver
