// One software thread with an open device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/host/software_thread.h"
#include "models/kernel/inbox.h"
#include "models/kernel/object_slab.h"
#include "models/kernel/ring_queue.h"
#include "models/kernel/timer.h"
#include "models/observe/probes.h"
#include "sim/driver/client_objects.h"
#include "sim/driver/dma_memory.h"
#include "sim/driver/doorbell_records.h"
#include "sim/driver/driver_config.h"
#include "sim/driver/driver_environment.h"
#include "sim/driver/driver_role.h"
#include "sim/driver/verbs_client.h"

namespace hca::driver {

/// VerbsClient whose data path does what libmlx5 does: rings in its own memory, doorbell records, doorbell registers in
/// its own UAR page, alternating between the halves of a BlueFlame register.
class ThreadClient final : public VerbsClient,
                           private DriverClient,
                           private EntryWaiter,
                           private host::MemoryWatcher,
                           private kernel::CalendarClient {
 public:
  /// Runs on core `core` (modulo the number of cores) and uses port `port` of the adapter. All references must outlive
  /// the client; the driver is up.
  ThreadClient(const DriverEnvironment& environment, DriverRole& driver, const DriverConfig& config,
               observe::Probes& probes, std::size_t core, std::string name, std::uint8_t port = 1);
  ~ThreadClient() override;
  ThreadClient(const ThreadClient&) = delete;
  ThreadClient& operator=(const ThreadClient&) = delete;

  [[nodiscard]] HostIndex host() const override { return environment_.host; }
  [[nodiscard]] AdapterIndex adapter() const override { return environment_.adapter; }
  [[nodiscard]] Lid lid() const override { return devicePort().lid; }
  [[nodiscard]] AddressHandle address() const override;
  [[nodiscard]] const std::string& name() const { return name_; }

  std::uint64_t allocate(std::uint64_t length, std::uint64_t alignment) override;
  void release(std::uint64_t address) override;
  std::uint8_t* bytes(std::uint64_t address, std::uint64_t length) override;

  void open(std::function<void(VerbsError)> done) override;
  void registerMemory(std::uint64_t address, std::uint64_t length, std::uint32_t access,
                      std::function<void(MrRegistered)> done) override;
  void deregisterMemory(MrHandle handle, std::function<void(VerbsError)> done) override;
  void allocateMw(WindowType type, std::function<void(MwAllocated)> done) override;
  void deallocateMw(MwHandle window, std::function<void(VerbsError)> done) override;
  void createCq(const CqRequest& request, std::function<void(CqCreated)> done) override;
  void destroyCq(CqHandle cq, std::function<void(VerbsError)> done) override;
  void resizeCq(CqHandle cq, std::int32_t cqe, std::function<void(CqResized)> done) override;
  void modifyCq(CqHandle cq, std::uint16_t count, std::uint16_t period, std::function<void(VerbsError)> done) override;
  void openXrcd(std::uint64_t file, std::function<void(XrcdOpened)> done) override;
  void closeXrcd(XrcdHandle domain, std::function<void(VerbsError)> done) override;
  void createSrq(const SrqRequest& request, std::function<void(SrqCreated)> done) override;
  void modifySrq(SrqHandle srq, std::uint32_t limit, std::function<void(VerbsError)> done) override;
  void destroySrq(SrqHandle srq, std::function<void(VerbsError)> done) override;
  void createQp(const QpRequest& request, CqHandle sendCq, CqHandle receiveCq,
                std::function<void(QpCreated)> done) override;
  void connect(QpHandle qp, const QpPeer& peer, const ConnectionAttributes& attributes,
               std::function<void(VerbsError)> done) override;
  void modifyToError(QpHandle qp, std::function<void(VerbsError)> done) override;
  void destroyQp(QpHandle qp, std::function<void(VerbsError)> done) override;
  void attachMulticast(QpHandle qp, const network::Gid& group, std::function<void(VerbsError)> done) override;
  void detachMulticast(QpHandle qp, const network::Gid& group, std::function<void(VerbsError)> done) override;

  PostResult postSend(QpHandle qp, const std::vector<SendWorkRequest>& list) override;
  PostResult bindMw(QpHandle qp, MwHandle window, const MwBinding& binding) override;
  [[nodiscard]] MemoryKey windowKey(MwHandle window) const override { return mws_[window.value()]->key; }
  PostResult postReceive(QpHandle qp, const std::vector<ReceiveWorkRequest>& list) override;
  PostResult postSrqReceive(SrqHandle srq, const std::vector<ReceiveWorkRequest>& list) override;
  std::size_t poll(CqHandle cq, std::size_t max, std::vector<WorkCompletion>& out) override;
  void arm(CqHandle cq, bool solicitedOnly) override;

  [[nodiscard]] Time threadTime() const override { return thread_.time(); }
  void compute(Time span) override { thread_.charge(span); }
  void afterCost(Step next) override;
  void afterArm(Step next) override;
  void whenNotEmpty(const std::vector<CqHandle>& cqs, std::function<void(CqHandle)> next) override;
  void whenNotEmptyUntil(const std::vector<CqHandle>& cqs, Time deadline, std::function<void(CqHandle)> next) override;
  void whenByte(std::uint64_t address, std::uint8_t value, Step next) override;
  void waitForEvent(std::function<void(CqHandle)> next) override;
  void acknowledge(CqHandle cq, std::uint32_t events) override;
  void sleepFor(Time span, Step next) override;

  void onAsyncEvent(std::function<void(std::uint8_t type, std::uint32_t object)> handler) override;
  [[nodiscard]] observe::WorkRequestId lastPosted(QpHandle qp, observe::WorkQueue queue) const override;
  [[nodiscard]] observe::WorkRequestId lastPosted(SrqHandle srq) const override;

  /// Owner of this client's objects at the driver.
  [[nodiscard]] OwnerId owner() const { return owner_; }
  /// Bytes of memory that rings, records and buffers hold now.
  [[nodiscard]] std::uint64_t allocatedBytes() { return memory_.memory().allocatedBytes(); }
  /// Completion events for queues without a channel.
  [[nodiscard]] std::uint64_t eventsWithoutChannel() const { return eventsWithoutChannel_; }

 private:
  enum Token : std::uint64_t { kStep, kEntryFound, kByteFound, kEvent };
  /// A register access on its way out of the core.
  struct RegisterAccess {
    enum class Kind : std::uint8_t { kSend, kArm, kReadBack };
    Kind kind = Kind::kSend;
    QpHandle qp;                        // of a send doorbell
    const std::uint8_t* wqe = nullptr;  // the same: its last WQE
    std::uint32_t bytes = 0;            // of a BlueFlame copy; 0: the first eight bytes of the WQE
    std::uint32_t offset = 0;           // in the UAR page
    std::uint64_t word = 0;             // of an arm
  };

  void onCompletionEvent(CqNumber cq, host::Core& core) override;
  void onAsyncEvent(std::uint8_t type, std::uint8_t subType, std::uint32_t object, std::uint8_t syndrome) override;
  void onEntryWritten(ClientCq& cq) override;
  void expectEntry(const ClientCq& cq, std::uint64_t end) override;
  void onMemoryWritten(BusAddress address, std::uint64_t length) override;
  void onCalendar(std::uint64_t token) override;
  void issue(RegisterAccess& access);
  void copyBlueFlame(const ClientQp& qp, const RegisterAccess& access);

  // Control path.
  [[nodiscard]] bool memoryRequestValid(std::uint64_t address, std::uint64_t length, std::uint32_t access);
  [[nodiscard]] adapter::MkeyAttributes mkeyAttributes(const ClientMr& mr, std::uint32_t access);
  [[nodiscard]] VerbsError checkCq(const CqRequest& request) const;
  void finishCreateCq(std::unique_ptr<ClientCq> cq, const Answer<CqNumber>& answer,
                      const std::function<void(CqCreated)>& done);
  void finishDestroyCq(ClientCq& cq);
  void endRound(ClientCq& cq);
  VerbsError finishResizeCq(ClientCq& cq, const DmaBuffer& buffer, unsigned logSize);
  void finishCreateSrq(ClientSrq& srq, const Answer<SrqNumber>& answer, const std::function<void(SrqCreated)>& done);
  bool setXrc(const SrqRequest& request, ClientSrq& srq, adapter::SrqAttributes& attributes);
  [[nodiscard]] VerbsError prepareQp(const QpRequest& request, CqHandle sendCq, CqHandle receiveCq, ClientQp& qp) const;
  void finishCreateQp(ClientQp& qp, const Answer<QpNumber>& answer, const std::function<void(QpCreated)>& done);
  void disposeQp(ClientQp& qp);
  void dropCompletions(const ClientQp& qp, CqHandle cq);
  [[nodiscard]] adapter::QpAttributes qpAttributes(const ClientQp& qp) const;
  void setPath(const QpPeer& peer, adapter::AddressPath& path) const;

  // Data path.
  PostResult post(ClientQp& qp, const SendWorkRequest* requests, std::size_t count);
  [[nodiscard]] VerbsError checkBind(const WindowBind& bind) const;
  void ringSendDoorbell(ClientQp& qp, std::size_t requests, bool inlined);
  bool completeSharedEntry(const ClientCq& cq, const wire::Cqe& cqe, std::vector<WorkCompletion>& out);
  bool completeEntry(const ClientCq& cq, const wire::Cqe& cqe, std::vector<WorkCompletion>& out);
  template <class Ring>
  void takeInlineData(const ClientCq& cq, const wire::Cqe& cqe, const Ring& ring, WorkCompletion& completion);
  void reportCompletion(const ClientCq& cq, const observe::WorkRequestId& request, const WorkCompletion& completion);
  void reportEmpty(ClientCq& cq);
  void reportCq(observe::CqAction action, const ClientCq& cq);
  void reportStage(observe::Stage stage, const observe::WorkRequestId& request);
  ReceiveRing::Retired retireReceive(ClientQp& qp, std::uint16_t wqeCounter, observe::WorkRequestId& request);
  void stopSpinning();
  void onDeadline();
  void takeEvent();
  [[nodiscard]] observe::WorkRequestId requestId(const ClientQp& qp, observe::WorkQueue queue,
                                                 std::uint64_t index) const;
  [[nodiscard]] observe::WorkRequestId requestId(const ClientSrq& srq, std::uint64_t index) const;
  [[nodiscard]] ClientCq& cqOf(CqHandle handle) { return *cqs_[handle.value()]; }
  [[nodiscard]] ClientQp& qpOf(QpHandle handle) const { return *qps_.find(handle.value()); }
  [[nodiscard]] const DevicePort& devicePort() const { return driver_.capabilities().port(port_); }
  [[nodiscard]] const host::CpuConfig& cost() const { return environment_.cpu.config(); }

  DriverEnvironment environment_;
  DriverRole& driver_;
  observe::Probes& probes_;
  std::string name_;
  std::uint8_t port_;
  bool preferBlueFlame_;
  bool confirmArm_;
  unsigned largestLogPage_;
  DmaMemory memory_;
  DoorbellRecords records_;
  host::SoftwareThread thread_;
  kernel::Inbox<ThreadClient, RegisterAccess> registerAccesses_;
  kernel::Timer<ThreadClient> deadline_;  // of a wait under way
  OwnerId owner_;
  UarIndex uar_;
  PdNumber pd_;

  std::vector<std::unique_ptr<ClientCq>> cqs_;  // by handle; empty: destroyed
  std::vector<std::unique_ptr<ClientXrcd>> xrcds_;
  std::vector<std::unique_ptr<ClientSrq>> srqs_;
  kernel::ObjectSlab<ClientQp> qps_;
  std::uint32_t nextQp_ = 0;  // handles given out
  std::vector<std::unique_ptr<ClientMr>> mrs_;
  std::vector<std::unique_ptr<ClientMw>> mws_;
  std::vector<ClientCq*> cqsByNumber_;
  std::uint8_t nextKeyVariant_ = 0;
  std::uint32_t blueFlameHalf_ = 0;  // offset of the half that the next doorbell uses

  Step step_;
  std::function<void(CqHandle)> cqStep_;
  std::vector<ScatterGather> scatterList_;  // of the completion being polled
  std::function<void(std::uint8_t, std::uint32_t)> asyncHandler_;
  const std::vector<CqHandle>* spinning_ = nullptr;  // queues that are polled in turn
  CqHandle found_;
  kernel::RingQueue<CqHandle> channel_;  // events delivered and not taken
  bool waitsForEvent_ = false;
  std::uint64_t eventsWithoutChannel_ = 0;

  std::uint64_t byteAddress_ = 0;
  BusAddress byteBus_;
  const std::uint8_t* byte_ = nullptr;
  std::uint8_t byteValue_ = 0;
  bool waitsForByte_ = false;
};

}  // namespace hca::driver
