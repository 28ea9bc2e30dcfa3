// The kernel driver of one adapter.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/device_life.h"
#include "sim/driver/device_memory_pages.h"
#include "sim/driver/driver_config.h"
#include "sim/driver/driver_environment.h"
#include "sim/driver/driver_role.h"
#include "sim/driver/ethernet_driver.h"
#include "sim/driver/flow_tables.h"
#include "sim/driver/health_watch.h"
#include "sim/driver/key_updater.h"
#include "sim/driver/owner_table.h"
#include "sim/driver/xrc_domains.h"
#include "sim/driver/xrc_resources.h"

namespace hca::driver {

/// DriverRole over the PCI-function boundary: nothing but configuration space, BAR accesses, memory and interrupts.
class KernelDriver final : public DriverRole, private EthernetDriver, private EventTarget {
 public:
  KernelDriver(const DriverEnvironment& environment, const DriverConfig& config);
  KernelDriver(const KernelDriver&) = delete;
  KernelDriver& operator=(const KernelDriver&) = delete;

  void start(std::function<void(adapter::CommandResult)> ready) override;
  /// Releases what clients left first.
  void stop(std::function<void(adapter::CommandResult)> done) override;

  OwnerId addClient(DriverClient& client, const char* name) override;
  /// The client gets no event any more, from this call on.
  void releaseOwner(OwnerId owner, std::function<void()> done) override;

  void allocatePd(OwnerId owner, Done<PdNumber> done) override;
  void deallocatePd(OwnerId owner, PdNumber pd, Done<int> done) override;
  void allocateUar(OwnerId owner, Done<UarIndex> done) override;
  void deallocateUar(OwnerId owner, UarIndex uar, Done<int> done) override;
  void createMkey(OwnerId owner, const adapter::MkeyAttributes& attributes, Done<MemoryKey> done) override;
  void destroyMkey(OwnerId owner, MemoryKey key, Done<int> done) override;
  void updateMkey(OwnerId owner, MemoryKey key, std::uint64_t mask, const adapter::MkeyAttributes& attributes,
                  Done<int> done) override;
  void allocateMw(OwnerId owner, PdNumber pd, WindowType type, Done<MemoryKey> done) override;
  void deallocateMw(OwnerId owner, MemoryKey key, Done<int> done) override;
  void allocateDeviceMemory(OwnerId owner, std::uint64_t length, unsigned logAlignment,
                            Done<std::uint64_t> done) override;
  void freeDeviceMemory(OwnerId owner, std::uint64_t start, Done<int> done) override;
  void createCq(OwnerId owner, const adapter::CqAttributes& attributes, std::uint32_t vector,
                Done<CqNumber> done) override;
  void destroyCq(OwnerId owner, CqNumber cq, Done<int> done) override;
  void modifyCqModeration(OwnerId owner, CqNumber cq, std::uint16_t count, std::uint16_t period,
                          Done<int> done) override;
  void resizeCq(OwnerId owner, CqNumber cq, const adapter::CqAttributes& ring, Done<int> done) override;
  void queryCq(OwnerId owner, CqNumber cq, Done<adapter::CqAttributes> done) override;
  void openXrcd(OwnerId owner, std::uint64_t file, Done<adapter::XrcdNumber> done) override;
  void closeXrcd(OwnerId owner, adapter::XrcdNumber domain, Done<int> done) override;
  void createSrq(OwnerId owner, const adapter::SrqAttributes& attributes, Done<SrqNumber> done) override;
  void armSrq(OwnerId owner, SrqNumber srq, std::uint16_t limit, Done<int> done) override;
  void querySrq(OwnerId owner, SrqNumber srq, Done<adapter::SrqAttributes> done) override;
  void destroySrq(OwnerId owner, SrqNumber srq, Done<int> done) override;
  void createQp(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done) override;
  void openQp(OwnerId owner, adapter::XrcdNumber domain, QpNumber qp, Done<int> done) override;
  void modifyQp(OwnerId owner, QpNumber qp, adapter::QpTransition transition, std::uint32_t optionalMask,
                const adapter::QpAttributes& attributes, Done<int> done) override;
  void queryQp(OwnerId owner, QpNumber qp, Done<adapter::QpAttributes> done) override;
  void destroyQp(OwnerId owner, QpNumber qp, Done<int> done) override;
  void createDct(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done) override;
  void destroyDct(OwnerId owner, QpNumber target, Done<int> done) override;
  void attachMulticast(OwnerId owner, QpNumber qp, const network::Gid& group, Done<int> done) override;
  void detachMulticast(OwnerId owner, QpNumber qp, const network::Gid& group, Done<int> done) override;

  [[nodiscard]] EthernetDriver* ethernet() override;

  [[nodiscard]] std::uint32_t completionVectors() const override { return life_.completionVectors(); }
  [[nodiscard]] const DeviceCapabilities& capabilities() const override { return life_.capabilities(); }
  void ringDoorbell(UarIndex uar, std::uint32_t offset, ByteView bytes) override;
  void readBack(std::function<void()> done) override;

  /// The completion vector whose event queue interrupts through MSI-X entry `vector`; none for the vector of commands
  /// and asynchronous events.
  [[nodiscard]] std::optional<std::uint32_t> completionVectorOf(InterruptVector vector) const {
    return life_.completionVectorOf(vector);
  }
  /// Objects of a kind that clients own now.
  [[nodiscard]] std::size_t objects(ObjectKind kind) const { return owners_.count(kind); }
  /// XRC domains that clients hold, and those of the driver itself.
  [[nodiscard]] std::size_t xrcDomains() const { return domains_.count(); }
  /// Pages of host memory that the adapter holds.
  [[nodiscard]] std::size_t pagesGiven() const { return life_.pagesGiven(); }
  /// Called after each change of a port, when what changed is known here and before clients learn of it.
  void setPortListener(std::function<void(std::uint8_t port)> listener) { portListener_ = std::move(listener); }
  /// Where goes what the driver says; see DriverLog.
  void setLogSink(std::function<void(const std::string& line)> sink) { log_.setSink(std::move(sink)); }
  /// Something may go wrong with the adapter: commands without an answer are given up from now on, and its health is
  /// looked at for a while.
  void keepWatch();
  /// Whether the adapter failed for good.
  [[nodiscard]] bool hasFailed() const { return hasFailed_; }
  /// Completion and asynchronous entries that named an object nobody owns.
  [[nodiscard]] std::uint64_t strayEvents() const { return strayEvents_; }

 private:
  static constexpr adapter::CommandResult kNotYours{adapter::CommandStatus::kBadResource, adapter::Syndrome::kNone};

  using Refused = std::function<void(adapter::CommandResult)>;

  void allocateTransportDomain(OwnerId owner, Done<adapter::TransportDomainNumber> done) override;
  void createSendInterface(OwnerId owner, adapter::TransportDomainNumber domain, Done<std::uint32_t> done) override;
  void createSendQueue(OwnerId owner, const adapter::QpAttributes& attributes, std::uint32_t sendInterface,
                       Done<QpNumber> done) override;
  void createReceiveQueue(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done) override;
  void modifyWorkQueue(OwnerId owner, EthernetObject kind, QpNumber queue, const WorkQueueChange& change,
                       Done<int> done) override;
  void queryWorkQueue(OwnerId owner, EthernetObject kind, QpNumber queue, Done<wire::WorkQueueState> done) override;
  void createSpread(OwnerId owner, const std::vector<QpNumber>& queues, Done<std::uint32_t> done) override;
  void createReceiver(OwnerId owner, const ReceiverAttributes& attributes, Done<std::uint32_t> done) override;
  void createFlow(OwnerId owner, const FlowAttributes& attributes, Done<std::uint32_t> done) override;
  void destroyEthernet(OwnerId owner, EthernetObject kind, std::uint32_t number, Done<int> done) override;

  void onCompletionEntry(CqNumber cq, host::Core& core) override;
  void onCommandEntry(std::uint32_t slots) override;
  void onPageRequestEntry(std::uint16_t function, std::int32_t pages) override;
  void onAsyncEntry(const wire::Eqe& eqe) override;

  void execute(CommandBytes input, std::size_t outputLength, CommandQueue::Done done);
  void create(OwnerId owner, ObjectKind kind, CommandBytes input,
              std::function<void(adapter::CommandResult, std::uint32_t)> done);
  void destroy(OwnerId owner, ObjectKind kind, std::uint32_t number, Done<int> done);
  void destroyAtOnce(ObjectKind kind, std::uint32_t number, Done<int> done);
  void drainDct(std::uint32_t number, Done<int> done);
  void onDctDrained(std::uint32_t number);
  void giveDrainsUp();
  void onFatal();
  [[nodiscard]] CommandBytes destroyCommand(ObjectKind kind, std::uint32_t number) const;
  void forget(ObjectKind kind, std::uint32_t number);
  void allocateOnPages(OwnerId owner, std::uint32_t length, unsigned logAlignment, std::uint32_t from,
                       Done<std::uint64_t> done);
  void changeGroup(wire::CommandOpcode opcode, OwnerId owner, QpNumber qp, const network::Gid& group, Done<int> done);
  [[nodiscard]] ObjectKind srqKindOf(OwnerId owner, SrqNumber srq) const;
  void createXrcSrq(OwnerId owner, const adapter::SrqAttributes& attributes, Done<SrqNumber> done);
  void createXrcQp(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done);
  [[nodiscard]] bool isShared(std::uint32_t qp) const { return owners_.holds(ObjectKind::kQp, qp) > 1; }
  void closeQp(OwnerId owner, QpNumber qp, Done<int> done);
  void releaseDomains(OwnerId owner, std::function<void()> done);
  void releaseAll(std::function<void()> done);

  DriverEnvironment environment_;
  DriverConfig config_;
  DmaMemory memory_;
  OwnerTable owners_;
  DriverLog log_;
  DeviceLife life_;
  HealthWatch health_;
  DeviceMemoryPages deviceMemory_;
  /// Of a target that is to go.
  struct Drain {
    bool isDrained = false;      // the event came
    std::function<void()> then;  // set when the command is answered
  };
  std::map<std::uint32_t, Drain> drains_;
  XrcDomains domains_;
  XrcResources xrcResources_;
  KeyUpdater keyUpdater_;
  FlowTables flowTables_;
  std::map<std::uint64_t, std::vector<std::function<void()>>> openingFiles_;  // who waits for a domain being made
  std::uint64_t strayEvents_ = 0;
  std::function<void(std::uint8_t)> portListener_;
  bool hasFailed_ = false;  // said so by an event
};

}  // namespace hca::driver
