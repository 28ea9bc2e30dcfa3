#include "sim/vfio/function_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "verbs_shim/channel/futex.h"

namespace hca::vfio {

using channel::FunctionArea;
using channel::FunctionKind;
using channel::FunctionSlot;
using channel::SlotState;
using channel::VectorDescriptors;

FunctionClient::FunctionClient(int connection, pid_t process, HostFunctions& functions)
    : connection_(connection),
      functions_(functions),
      memory_(process),
      area_("hcasim-functions"),
      isCalling_(FunctionArea::kSlots) {}

FunctionClient::~FunctionClient() {
  *isThere_ = false;
  memory_.end();
  while (!open_.empty()) close(open_.begin()->first);
  ::close(connection_);
}

// It says something only before a request that belongs to it.
bool FunctionClient::isGone() const {
  pollfd peer{connection_, POLLIN, 0};
  return ::poll(&peer, 1, 0) > 0 && (peer.revents & (POLLHUP | POLLERR)) != 0;
}

void FunctionClient::flush() {
  endSlice();
  beginSlice();
}

void FunctionClient::collect(std::vector<std::uint32_t>& slots) {
  const std::uint32_t used = std::min(__atomic_load_n(&area_->used, __ATOMIC_ACQUIRE), FunctionArea::kSlots);
  for (std::uint32_t i = 0; i < used; ++i) {
    if (isCalling_[i]) continue;
    const std::uint32_t state = __atomic_load_n(&area_->slots[i].state, __ATOMIC_ACQUIRE);
    if (state == static_cast<std::uint32_t>(SlotState::kSubmitted)) slots.push_back(i);
  }
}

void FunctionClient::serve(std::uint32_t slot) {
  // A copy: the process could change it while it is looked at.
  const Request request = area_->slots[slot].request;
  isCalling_[slot] = true;
  Reply reply{};
  constexpr int kLater = -1;
  try {
    reply.error = request.length > channel::kLongestAccess ? EINVAL : dispatch(slot, request, reply);
  } catch (const std::bad_alloc&) {
    reply.error = ENOMEM;
  }
  if (reply.error == kLater) return;
  const bool hasBytes = request.kind == FunctionKind::kReadConfig || request.kind == FunctionKind::kDescribe;
  answer(slot, reply, hasBytes ? channel::kLongestAccess : 0);
}

void FunctionClient::answer(std::uint32_t slot, const Reply& reply, std::uint32_t bytes) {
  FunctionSlot& shared = area_->slots[slot];
  std::memcpy(static_cast<void*>(&shared.reply), &reply, offsetof(Reply, bytes));
  std::memcpy(shared.reply.bytes, reply.bytes, bytes);
  isCalling_[slot] = false;
  __atomic_store_n(&shared.state, static_cast<std::uint32_t>(SlotState::kAnswered), __ATOMIC_RELEASE);
  channel::futexWake(&shared.state);
}

int FunctionClient::dispatch(std::uint32_t slot, const Request& request, Reply& reply) {
  switch (request.kind) {
    case FunctionKind::kDescribe:
      return describe(request, reply);
    case FunctionKind::kNewDomain:
      return newDomain(reply);
    case FunctionKind::kEndDomain:
      return endDomain(request.object);
    case FunctionKind::kMap:
      return map(request);
    case FunctionKind::kUnmap:
      return unmap(request, reply);
    case FunctionKind::kOpen:
      return open(request);
    default:
      return dispatchOpen(slot, request, reply);
  }
}

// Requests of a function that the process has open.
int FunctionClient::dispatchOpen(std::uint32_t slot, const Request& request, Reply& reply) {
  const auto at = open_.find(request.object);
  if (at == open_.end()) return EBADF;
  PassthroughFunction& function = functions_.function(request.object);
  switch (request.kind) {
    case FunctionKind::kClose:
      close(request.object);
      return 0;
    case FunctionKind::kReadConfig:
      return function.readConfig(request.argument[0], {reply.bytes, request.length});
    case FunctionKind::kWriteConfig:
      return function.writeConfig(request.argument[0], {request.bytes, request.length});
    case FunctionKind::kReadBar:
      return readBar(slot, request);
    case FunctionKind::kWriteBar:
      return function.writeBar(static_cast<unsigned>(std::min<std::uint64_t>(request.argument[0], UINT32_MAX)),
                               request.argument[1], {request.bytes, request.length});
    case FunctionKind::kReset:
      return function.reset();
    case FunctionKind::kSetVectors:
      return setVectors(request, *at->second);
    case FunctionKind::kDisableVectors:
      return disableVectors(request.object, *at->second);
    case FunctionKind::kTriggerVector:
      return triggerVector(request, *at->second);
    default:
      return EINVAL;
  }
}

int FunctionClient::describe(const Request& request, Reply& reply) {
  if (request.object >= functions_.count()) return ENODEV;
  const PassthroughFunction& function = functions_.function(request.object);
  channel::FunctionDescription description{};
  for (unsigned bar = 0; bar < PassthroughFunction::kBars; ++bar) description.barSize[bar] = function.barSize(bar);
  description.configSize = VirtualConfiguration::kSize;
  description.vectors = function.vectors();
  std::memcpy(reply.bytes, &description, sizeof description);
  return 0;
}

DmaDomain* FunctionClient::domain(std::uint32_t number) {
  const auto at = domains_.find(number);
  return at == domains_.end() ? nullptr : at->second.get();
}

int FunctionClient::newDomain(Reply& reply) {
  constexpr std::size_t kMost = 64;
  if (domains_.size() >= kMost) return ENOSPC;
  reply.value = nextDomain_;
  domains_.emplace(nextDomain_++, std::make_unique<DmaDomain>(memory_));
  return 0;
}

int FunctionClient::endDomain(std::uint32_t number) {
  if (domain(number) == nullptr) return EBADF;
  for (const auto& [function, open] : open_) {
    if (open->domain == number) return EBUSY;
  }
  flush();
  domains_.erase(number);
  return 0;
}

int FunctionClient::map(const Request& request) {
  constexpr std::size_t kMost = 65535;  // Linux drivers/vfio/vfio_iommu_type1.c, dma_entry_limit
  DmaDomain* into = domain(request.object);
  if (into == nullptr) return EBADF;
  if (into->mappings() >= kMost) return ENOSPC;
  const DmaDomain::Access access{(request.length & channel::kMapRead) != 0, (request.length & channel::kMapWrite) != 0};
  return into->map(request.argument[0], request.argument[1], request.argument[2], access);
}

// The process may use its memory for something else from now on.
int FunctionClient::unmap(const Request& request, Reply& reply) {
  DmaDomain* from = domain(request.object);
  if (from == nullptr) return EBADF;
  flush();
  if (request.argument[0] == 0 && request.argument[1] == 0) {
    reply.value = from->unmapAll();
    return 0;
  }
  return from->unmap(request.argument[0], request.argument[1], reply.value);
}

int FunctionClient::open(const Request& request) {
  if (request.object >= functions_.count()) return ENODEV;
  const auto number = static_cast<std::uint32_t>(std::min<std::uint64_t>(request.argument[0], UINT32_MAX));
  DmaDomain* own = domain(number);
  if (own == nullptr) return EINVAL;
  PassthroughFunction& function = functions_.function(request.object);
  if (function.isOpen()) return EBUSY;
  auto opened = std::make_unique<OpenFunction>(*this, number, function.vectors());
  function.open(*opened);
  functions_.attach(request.object, &own->space());
  open_.emplace(request.object, std::move(opened));
  return 0;
}

void FunctionClient::close(std::uint32_t function) {
  functions_.function(function).close();
  functions_.attach(function, nullptr);
  open_.erase(function);
}

int FunctionClient::readBar(std::uint32_t slot, const Request& request) {
  const auto bar = static_cast<unsigned>(std::min<std::uint64_t>(request.argument[0], UINT32_MAX));
  const auto arrived = [this, slot, isThere = isThere_](ByteView bytes) {
    if (!*isThere) return;
    flush();  // a completion passes no write that came before it
    Reply reply{};
    std::memcpy(reply.bytes, bytes.data(), std::min<std::size_t>(bytes.size(), sizeof reply.bytes));
    answer(slot, reply, static_cast<std::uint32_t>(bytes.size()));
  };
  const int error = functions_.function(request.object).readBar(bar, request.argument[1], request.length, arrived);
  constexpr int kLater = -1;
  return error == 0 ? kLater : error;
}

namespace {

// The next message with descriptors; false if there is none, or one that isn't as it should be.
bool receiveSome(int connection, VectorDescriptors& named, std::vector<EventDescriptor>& events) {
  iovec data{&named, sizeof named};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * VectorDescriptors::kMost)];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0) return false;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
      events.emplace_back(descriptor);
    }
  }
  return length == static_cast<ssize_t>(sizeof named) && (message.msg_flags & MSG_CTRUNC) == 0 &&
         named.count == events.size() && named.count <= VectorDescriptors::kMost;
}

}  // namespace

bool FunctionClient::receiveEvents(std::uint64_t count, std::map<std::uint32_t, EventDescriptor>& events) const {
  std::uint64_t received = 0;
  bool areFine = true;
  while (received < count) {
    VectorDescriptors named{};
    std::vector<EventDescriptor> some;
    if (!receiveSome(connection_, named, some)) return false;
    if (some.empty()) return false;
    received += some.size();
    for (std::size_t i = 0; i < some.size(); ++i) {
      areFine = areFine && some[i].isEventFile();
      events[named.vector[i]] = std::move(some[i]);
    }
  }
  return areFine;
}

int FunctionClient::setVectors(const Request& request, OpenFunction& open) {
  std::map<std::uint32_t, EventDescriptor> events;
  if (!receiveEvents(request.argument[2], events)) return EINVAL;
  const std::uint64_t most = open.events.size();
  if (request.argument[0] > most || request.argument[1] > most) return EINVAL;
  const auto first = static_cast<std::uint32_t>(request.argument[0]);
  std::vector<bool> raises(request.argument[1]);
  for (const auto& [vector, event] : events) {
    if (vector >= first && vector - first < raises.size()) raises[vector - first] = true;
  }
  if (const int error = functions_.function(request.object).connectVectors(first, raises); error != 0) return error;
  for (std::uint32_t i = 0; i < raises.size(); ++i) open.events[first + i] = std::move(events[first + i]);
  return 0;
}

int FunctionClient::disableVectors(std::uint32_t function, OpenFunction& open) {
  const int error = functions_.function(function).disableVectors();
  if (error == 0) open.events = std::vector<EventDescriptor>(open.events.size());
  return error;
}

int FunctionClient::triggerVector(const Request& request, const OpenFunction& open) const {
  if (request.argument[0] >= open.events.size()) return EINVAL;
  open.events[request.argument[0]].signal();
  return 0;
}

}  // namespace hca::vfio
