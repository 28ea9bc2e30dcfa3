#include "sim/cosim/uverbs/uverbs_file.h"

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <ctime>
#include <utility>

#include "models/wire/eqe.h"
#include "models/wire/mmio_map.h"
#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/mmap_offset.h"

namespace hca::cosim {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kClockPage = wire::InitSegment::kInternalTimerHigh / kPage;
constexpr std::uint64_t kClockInfoPage = std::uint64_t{1} << 32;  // no page of the BAR

// enum ib_event_type
enum VerbsEvent : std::uint32_t {
  kCqError = 0,
  kQpFatal = 1,
  kQpRequestError = 2,
  kQpAccessError = 3,
  kCommunicationEstablished = 4,
  kSendQueueDrained = 5,
  kPathMigrated = 6,
  kPathMigrationError = 7,
  kDeviceFatal = 8,
  kPortActive = 9,
  kPortError = 10,
  kLidChange = 11,
  kPkeyChange = 12,
  kSrqError = 14,
  kSrqLimit = 15,
  kLastWqe = 16,
  kClientReregister = 17,
  kGidChange = 18,
  kWqFatal = 19,
};

std::optional<std::uint32_t> queuePairEvent(wire::EventType type) {
  switch (type) {
    case wire::EventType::kCommunicationEstablished:
      return kCommunicationEstablished;
    case wire::EventType::kSendQueueDrained:
      return kSendQueueDrained;
    case wire::EventType::kPathMigrated:
      return kPathMigrated;
    case wire::EventType::kPathMigrationFailed:
      return kPathMigrationError;
    case wire::EventType::kWorkQueueCatastrophicError:
      return kQpFatal;
    case wire::EventType::kWorkQueueInvalidRequest:
      return kQpRequestError;
    case wire::EventType::kWorkQueueAccessError:
      return kQpAccessError;
    case wire::EventType::kSrqLastWqe:
      return kLastWqe;
    default:
      return std::nullopt;
  }
}

std::optional<std::uint32_t> portEvent(std::uint8_t subType) {
  switch (static_cast<wire::PortChange>(subType)) {
    case wire::PortChange::kDown:
      return kPortError;
    case wire::PortChange::kActive:
      return kPortActive;
    case wire::PortChange::kLidChanged:
      return kLidChange;
    case wire::PortChange::kPkeyChanged:
      return kPkeyChange;
    case wire::PortChange::kGuidChanged:
      return kGidChange;
    case wire::PortChange::kClientReregister:
      return kClientReregister;
    default:
      return std::nullopt;
  }
}

template <class Object>
std::shared_ptr<Object> byNumber(const HandleTable<Object>& table, std::uint32_t number) {
  for (const auto& [handle, object] : table.all()) {
    if (object->number.value() == number) return object;
  }
  return nullptr;
}

template <class Object>
std::uint32_t handleOf(const HandleTable<Object>& table, const Object& wanted) {
  for (const auto& [handle, object] : table.all()) {
    if (object.get() == &wanted) return handle;
  }
  return 0;
}

}  // namespace

UverbsFile::UverbsFile(const Surroundings& surroundings, EventListener& listener)
    : surroundings_(surroundings), listener_(listener), context_{surroundings_.driver,
                                                                 surroundings_.config,
                                                                 surroundings_.device,
                                                                 surroundings_.environment.space,
                                                                 surroundings_.shares,
                                                                 surroundings_.driver.addClient(*this, "program")} {}

// Linux drivers/infiniband/hw/mlx5/main.c, mlx5_ib_mmap.
void UverbsFile::mapPage(std::uint64_t length, std::uint64_t offset, std::function<void(const MappedPage&)> done) {
  if (offset % kPage != 0) return done({EINVAL});
  const MmapOffset wanted = MmapOffset::decode(offset);
  if (wanted.command == MLX5_IB_MMAP_DEVICE_MEM) return done(mapDeviceMemory(length, wanted.index));
  if (length != kPage) return done({EINVAL});
  switch (wanted.command) {
    case MLX5_IB_MMAP_REGULAR_PAGE:
    case MLX5_IB_MMAP_WC_PAGE:
    case MLX5_IB_MMAP_NC_PAGE:
      if (context_.blueFlame == nullptr) return done({EINVAL});
      if (wanted.index >= context_.blueFlame->total() / BlueFlameRegisters::kPerPage) return done({EINVAL});
      return done({0, channel::PageKind::kRegisters, registers(context_.uars[wanted.index].value())});
    case kUarObjects: {
      const auto uar = context_.uarObjects.find(wanted.index);
      if (uar == nullptr) return done({EINVAL});
      return done({0, channel::PageKind::kRegisters, registers(uar->number.value())});
    }
    case MLX5_IB_MMAP_ALLOC_WC:
      return allocateDynamic(std::move(done));
    case MLX5_IB_MMAP_CORE_CLOCK:
      return done({0, channel::PageKind::kRegisters, registers(kClockPage)});
    case MLX5_IB_MMAP_CLOCK_INFO:
      return done({0, channel::PageKind::kMemory, kClockInfoPage});
    default:
      return done({EINVAL});
  }
}

UverbsFile::MappedPage UverbsFile::mapDeviceMemory(std::uint64_t length, std::uint64_t index) const {
  const std::uint64_t page = context_.driver.capabilities().deviceMemory.start / kPage + index;
  const auto dm = context_.dmOn(page);
  const bool fits = dm != nullptr && dm->firstPage() == page && length <= (dm->endPage() - page) * kPage;
  if (!fits || length == 0) return {EINVAL};
  return {0, channel::PageKind::kRegisters, registers(page)};
}

// The program counts these pages on, in the order in which it maps them.
void UverbsFile::allocateDynamic(std::function<void(const MappedPage&)> done) {
  if (context_.blueFlame == nullptr) return done({EINVAL});
  ++underWay_;
  context_.driver.allocateUar(context_.owner, [this, done = std::move(done)](const driver::Answer<UarIndex>& answer) {
    if (answer.ok()) context_.uars.push_back(answer.value);
    done({errnoOf(answer.result), channel::PageKind::kRegisters, registers(answer.value.value())});
    end();
  });
}

// By this page the library turns time stamps of the adapter into wall-clock time.
int UverbsFile::fillPage(CallingProcess& process, std::uint64_t page, std::uint64_t address) {
  if (page != kClockInfoPage) return EINVAL;
  constexpr std::uint64_t kBillion = 1'000'000'000;
  constexpr unsigned kShift = 20;
  const adapter::AdapterClock& clock = context_.device.clock;
  const auto frequency = static_cast<std::uint64_t>(clock.frequency().count());
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  mlx5_ib_clock_info info{};
  info.nsec = static_cast<std::uint64_t>(wall.tv_sec) * kBillion + static_cast<std::uint64_t>(wall.tv_nsec);
  info.cycles = clock.ticks(surroundings_.environment.calendar.now());
  info.mult = static_cast<std::uint32_t>((kBillion << kShift) / frequency);
  info.shift = kShift;
  info.mask = clock.mask();
  info.overflow_period = ~std::uint64_t{0};
  return process.memory().copyOut(address, bytesOf(info)) ? 0 : EFAULT;
}

std::uint64_t UverbsFile::registers(std::uint64_t page) const {
  return RegisterPage{context_.device.adapter, page}.encoded();
}

bool UverbsFile::mayAccess(const RegisterPage& which) const {
  const std::uint64_t page = which.page;
  if (which.adapter != context_.device.adapter) return false;
  if (wire::isDeviceMemoryOffset(page * kPage)) return context_.dmOn(page) != nullptr;
  return page == kClockPage || (page <= UINT32_MAX && context_.hasUar(UarIndex(static_cast<std::uint32_t>(page))));
}

void UverbsFile::command(const std::shared_ptr<CallingProcess>& process, std::uint64_t code, std::uint64_t address,
                         std::optional<OfferedPipe> pipe, std::shared_ptr<CommandNotes> notes, CommandCall::Done done) {
  ++underWay_;
  dispatchCommand(context_, code, address, process, pipe, std::move(notes), [this, done = std::move(done)](int error) {
    done(error);
    end();
  });
}

// The last thing that a command does: afterwards this object may be gone.
void UverbsFile::end() {
  if (--underWay_ == 0 && closing_) release(std::exchange(closing_, nullptr));
}

void UverbsFile::close(std::function<void()> done) {
  if (underWay_ == 0) return release(std::move(done));
  closing_ = std::move(done);
}

void UverbsFile::release(std::function<void()> done) {
  context_.driver.releaseOwner(context_.owner, [this, done = std::move(done)] {
    context_.xrcds.clear();
    done();
  });
}

void UverbsFile::onCompletionEvent(CqNumber number, host::Core& core) {
  const auto cq = byNumber(context_.cqs, number.value());
  if (cq == nullptr || cq->channel == nullptr) return;
  ++cq->events.completion;
  listener_.onEventReported("COMPLETION cq=" + std::to_string(handleOf(context_.cqs, *cq)));
  cq->channel->push(bytesOf(ib_uverbs_comp_event_desc{cq->userHandle}));
  listener_.onEventReadable(&core);
}

void UverbsFile::pushAsync(std::uint32_t type, std::uint64_t element) {
  if (context_.asyncEvents == nullptr) return;
  listener_.onEventReported("ASYNC type=" + std::to_string(type));
  context_.asyncEvents->push(bytesOf(ib_uverbs_async_event_desc{element, type, 0}));
  listener_.onEventReadable(nullptr);
}

void UverbsFile::reportToQp(std::uint8_t type, std::uint32_t number) {
  const auto event = queuePairEvent(static_cast<wire::EventType>(type));
  if (!event) return;
  // A program may have an XRC target open more than once.
  for (const auto& [handle, qp] : context_.qps.all()) {
    const bool isIts = qp->number.value() == number;
    const bool isItsRawQueue = qp->raw != nullptr && qp->raw->receiveQueue == QpNumber(number);
    if (!isIts && !isItsRawQueue) continue;
    ++qp->events.async;
    pushAsync(*event, qp->userHandle);
  }
  if (const auto wq = byNumber(context_.wqs, number); wq != nullptr) {
    ++wq->events.async;
    pushAsync(kWqFatal, wq->userHandle);
  }
}

void UverbsFile::onAsyncEvent(std::uint8_t type, std::uint8_t subType, std::uint32_t object, std::uint8_t) {
  switch (static_cast<wire::EventType>(type)) {
    case wire::EventType::kCqError:
      if (const auto cq = byNumber(context_.cqs, object)) {
        ++cq->events.async;
        pushAsync(kCqError, cq->userHandle);
      }
      return;
    case wire::EventType::kSrqCatastrophicError:
    case wire::EventType::kSrqLimit:
      if (const auto srq = byNumber(context_.srqs, object)) {
        ++srq->events.async;
        pushAsync(static_cast<wire::EventType>(type) == wire::EventType::kSrqLimit ? kSrqLimit : kSrqError,
                  srq->userHandle);
      }
      return;
    case wire::EventType::kPortChange:
      if (const auto event = portEvent(subType)) pushAsync(*event, object);
      return;
    case wire::EventType::kInternalError:
      return pushAsync(kDeviceFatal, 0);
    default:
      reportToQp(type, object);
  }
}

}  // namespace hca::cosim
