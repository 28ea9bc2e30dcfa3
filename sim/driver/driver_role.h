// What the kernel driver does, on top of the PCI-function boundary.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "models/adapter/completion/cq_attributes.h"
#include "models/adapter/memory/mkey_attributes.h"
#include "models/adapter/memory/number_table.h"
#include "models/adapter/receive_queue/srq_attributes.h"
#include "models/adapter/transport/qp_attributes.h"
#include "models/adapter/transport/qp_directory.h"
#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "sim/driver/device_capabilities.h"
#include "sim/driver/verbs_types.h"

namespace hca::host {
class Core;
}

namespace hca::driver {

/// Answer of a command: status and syndrome as the adapter gave them, plus what it returned.
template <class Value>
struct Answer {
  adapter::CommandResult result;
  Value value{};
  [[nodiscard]] bool ok() const { return result.ok(); }
};
template <class Value>
using Done = std::function<void(Answer<Value>)>;

/// Gets the events of objects that a client created.
class DriverClient {
 public:
  /// A completion EQE named `cq`; runs in the interrupt handler on `core`, after its CPU cost.
  virtual void onCompletionEvent(CqNumber cq, host::Core& core) = 0;
  /// An asynchronous EQE named an object of this client, or a port or the device.
  virtual void onAsyncEvent(std::uint8_t type, std::uint8_t subType, std::uint32_t object, std::uint8_t syndrome) = 0;

 protected:
  ~DriverClient() = default;
};

class EthernetDriver;

/// One driver instance for one adapter function. Asynchronous: commands queue for the adapter's command interface and
/// answer through callbacks at the time at which software sees the answer. Many clients share it; each has an owner
/// tag, and `releaseOwner` destroys what that owner left behind, in dependency order.
class DriverRole {
 public:
  virtual ~DriverRole() = default;

  /// Brings the device up: enable, ISSI, pages, capabilities, init, UAR, event queues, interrupts.
  /// `ready(result)` runs when the last event queue is armed, or with the first command that failed.
  virtual void start(std::function<void(adapter::CommandResult)> ready) = 0;
  /// Tears everything down in the order of the stock driver's unload; afterwards the adapter holds no page.
  virtual void stop(std::function<void(adapter::CommandResult)> done) = 0;

  virtual OwnerId addClient(DriverClient& client, const char* name) = 0;
  virtual void releaseOwner(OwnerId owner, std::function<void()> done) = 0;

  virtual void allocatePd(OwnerId owner, Done<PdNumber> done) = 0;
  virtual void deallocatePd(OwnerId owner, PdNumber pd, Done<int> done) = 0;
  virtual void allocateUar(OwnerId owner, Done<UarIndex> done) = 0;
  virtual void deallocateUar(OwnerId owner, UarIndex uar, Done<int> done) = 0;
  virtual void createMkey(OwnerId owner, const adapter::MkeyAttributes& attributes, Done<MemoryKey> done) = 0;
  virtual void destroyMkey(OwnerId owner, MemoryKey key, Done<int> done) = 0;
  /// Changes a key that `attributes.updatable` was set for, by a work request of the driver's own; the key stays. Of
  /// the wanted `attributes` those in `mask` (wire::key_mask) and the translation count; without pages it stays. More
  /// pages than its `translationOctwords` have room for are kBadParameter, and so is what the adapter refuses.
  virtual void updateMkey(OwnerId owner, MemoryKey key, std::uint64_t mask, const adapter::MkeyAttributes& attributes,
                          Done<int> done) = 0;
  /// A memory window that is bound to nothing.
  virtual void allocateMw(OwnerId owner, PdNumber pd, WindowType type, Done<MemoryKey> done) = 0;
  virtual void deallocateMw(OwnerId owner, MemoryKey key, Done<int> done) = 0;
  /// At least `length` bytes of the adapter's device memory, on pages of their own, at a multiple of 2^logAlignment;
  /// the answer is their place in BAR0. kBadParameter for what the adapter can never give, kExceedLimit while it hasn't
  /// got it.
  virtual void allocateDeviceMemory(OwnerId owner, std::uint64_t length, unsigned logAlignment,
                                    Done<std::uint64_t> done) = 0;
  /// kResourceBusy while memory keys are of it.
  virtual void freeDeviceMemory(OwnerId owner, std::uint64_t start, Done<int> done) = 0;
  /// The event queue follows from `vector` (completion vector, 0..completionVectors()-1).
  virtual void createCq(OwnerId owner, const adapter::CqAttributes& attributes, std::uint32_t vector,
                        Done<CqNumber> done) = 0;
  virtual void destroyCq(OwnerId owner, CqNumber cq, Done<int> done) = 0;
  virtual void modifyCqModeration(OwnerId owner, CqNumber cq, std::uint16_t count, std::uint16_t period,
                                  Done<int> done) = 0;
  /// `ring`: stride, logSize and ring pages count. When `done` runs, a resize entry ends the old ring.
  virtual void resizeCq(OwnerId owner, CqNumber cq, const adapter::CqAttributes& ring, Done<int> done) = 0;
  virtual void queryCq(OwnerId owner, CqNumber cq, Done<adapter::CqAttributes> done) = 0;
  /// Opens the XRC domain that belongs to `file`, the same for every client that names it; 0: one of its own.
  virtual void openXrcd(OwnerId owner, std::uint64_t file, Done<adapter::XrcdNumber> done) = 0;
  /// Refused as busy while the client has objects in the domain and no other hold of it.
  virtual void closeXrcd(OwnerId owner, adapter::XrcdNumber domain, Done<int> done) = 0;
  /// A basic shared receive queue, which is a receive memory pool: of `attributes` what such a pool has. Or an XRC one,
  /// of a domain that the client holds, or one that matches tags.
  virtual void createSrq(OwnerId owner, const adapter::SrqAttributes& attributes, Done<SrqNumber> done) = 0;
  virtual void armSrq(OwnerId owner, SrqNumber srq, std::uint16_t limit, Done<int> done) = 0;
  virtual void querySrq(OwnerId owner, SrqNumber srq, Done<adapter::SrqAttributes> done) = 0;
  virtual void destroySrq(OwnerId owner, SrqNumber srq, Done<int> done) = 0;
  /// An XRC queue pair with a send queue is an initiator, one without is a target, of a domain that the client holds;
  /// what neither has a use for, the driver fills in.
  virtual void createQp(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done) = 0;
  /// Opens an XRC target that another client made in a domain that this one holds, too. It has the target's events from
  /// now on and may do with it what its maker may; the target goes when the last of them destroys it.
  virtual void openQp(OwnerId owner, adapter::XrcdNumber domain, QpNumber qp, Done<int> done) = 0;
  virtual void modifyQp(OwnerId owner, QpNumber qp, adapter::QpTransition transition, std::uint32_t optionalMask,
                        const adapter::QpAttributes& attributes, Done<int> done) = 0;
  virtual void queryQp(OwnerId owner, QpNumber qp, Done<adapter::QpAttributes> done) = 0;
  /// A queue pair that is destroyed leaves its groups.
  virtual void destroyQp(OwnerId owner, QpNumber qp, Done<int> done) = 0;
  /// A target of dynamic connections: of `attributes` what such a target has. Its initiators are queue pairs.
  virtual void createDct(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done) = 0;
  /// Ends its connections first.
  virtual void destroyDct(OwnerId owner, QpNumber target, Done<int> done) = 0;
  virtual void attachMulticast(OwnerId owner, QpNumber qp, const network::Gid& group, Done<int> done) = 0;
  virtual void detachMulticast(OwnerId owner, QpNumber qp, const network::Gid& group, Done<int> done) = 0;

  /// Raw packets; nullptr where ports aren't Ethernet, and before the device is up.
  [[nodiscard]] virtual EthernetDriver* ethernet() { return nullptr; }

  /// Completion vectors, that is completion event queues (num_comp_vectors); 0 before the device is up.
  [[nodiscard]] virtual std::uint32_t completionVectors() const = 0;
  /// Limits and features; valid once the device is up.
  [[nodiscard]] virtual const DeviceCapabilities& capabilities() const = 0;
  /// Virtual or bus addresses are the caller's business; doorbells go through here so that their CPU cost and trace
  /// are in one place. `bytes`: 8 for a register, a multiple of 64 for a BlueFlame copy.
  virtual void ringDoorbell(UarIndex uar, std::uint32_t offset, ByteView bytes) = 0;
  /// Reads a register that programs may map (the clock). The read pushes earlier doorbells to the adapter, and its
  /// answer pushes what the adapter wrote before it into memory; `done` runs when it is back at the core.
  virtual void readBack(std::function<void()> done) = 0;
};

}  // namespace hca::driver
