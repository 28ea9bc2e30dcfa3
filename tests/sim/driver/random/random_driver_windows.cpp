// Memory windows of the random driver: bound, used by the peer, and given back by it or taken back.
#include "tests/sim/driver/random/random_driver_state.h"

namespace hca::test {

using driver::SendOpcode;
using driver::VerbsError;

// A window that was bound belongs to the queue pair that bound it, which is gone.
void RandomDriver::renewWindow(Side& side) {
  driver::ThreadClient& client = *side.host->client;
  Window& window = side.window;
  side.host->pool.giveBack(window.address);
  const driver::MwHandle old = window.handle;
  const bool exists = window.exists;
  window = Window{};
  ++controlCalls_;
  const auto allocate = [this, &client, &window] {
    client.allocateMw(driver::WindowType::kType2, [this, &window](const driver::MwAllocated& allocated) {
      --controlCalls_;
      if (allocated.error != VerbsError::kNone) return fail("a memory window was refused");
      window.exists = true;
      window.handle = allocated.handle;
      window.key = allocated.key;
      window.state = WindowState::kFree;
    });
  };
  if (!exists) return allocate();
  client.deallocateMw(old, [this, allocate](VerbsError error) {
    if (error != VerbsError::kNone) return fail("a memory window can't be deallocated");
    allocate();
  });
}

// Makes some requests of a reliable connection ones that have to do with windows.
void RandomDriver::chooseWindowVerb(Side& side, WorkRecord& record, RandomNumbers& random) {
  if (side.connection->type != driver::QpType::kRc) return;
  const Window& own = side.window;
  const Window& peers = peerOf(side).window;
  if (own.state == WindowState::kFree && random.percent(8)) {
    record.opcode = SendOpcode::kBindWindow;
  } else if (own.state == WindowState::kBound && own.uses == 0 && random.percent(3)) {
    record.opcode = SendOpcode::kLocalInvalidate;
  } else if (record.opcode == SendOpcode::kSend && peers.state == WindowState::kBound && random.percent(30)) {
    record.opcode = SendOpcode::kSendInvalidate;
  } else if ((record.opcode == SendOpcode::kWrite || record.opcode == SendOpcode::kRead) &&
             peers.state == WindowState::kBound && peers.pieces < Window::kPieces && random.percent(50)) {
    record.viaWindow = true;
  }
}

void RandomDriver::addWindowRequest(Side& side, const WorkRecord& record, driver::SendWorkRequest& request) {
  Window& own = side.window;
  Window& peers = peerOf(side).window;
  if (record.viaWindow) {
    request.remoteKey = peers.key;
    ++peers.uses;
  }
  switch (record.opcode) {
    case SendOpcode::kBindWindow:
      bindWindow(*side.host, own, request);
      break;
    case SendOpcode::kLocalInvalidate:
      own.state = WindowState::kChanging;
      request.immediateOrKey = own.key.value();
      break;
    case SendOpcode::kSendInvalidate:
      peers.state = WindowState::kChanging;
      // A read behind whose responses the key went could not be repeated.
      request.fence = true;
      break;
    default:
      break;
  }
}

void RandomDriver::bindWindow(Host& host, Window& window, driver::SendWorkRequest& request) {
  constexpr std::uint32_t kVariant = 0xFF;
  host.pool.giveBack(window.address);
  window.address = window.nextAddress;
  window.nextAddress = 0;
  window.pieces = 0;
  window.state = WindowState::kChanging;
  request.bind.window = window.key;
  window.key = MemoryKey((window.key.value() & ~kVariant) | ((window.key.value() + 1) & kVariant));
  request.bind.newKey = window.key;
  request.bind.region = host.memory.localKey;
  request.bind.address = window.address;
  request.bind.length = SlotPool::kLarge;
  request.bind.access = static_cast<std::uint32_t>(driver::MemoryAccess::kRemoteWrite) |
                        static_cast<std::uint32_t>(driver::MemoryAccess::kRemoteRead);
}

// A request left its queue. `succeeded`: for certain.
void RandomDriver::noteWindowDone(Side& side, const WorkRecord& record, bool succeeded) {
  if (record.viaWindow) --peerOf(side).window.uses;
  const bool binds = record.opcode == SendOpcode::kBindWindow;
  if (!binds && record.opcode != SendOpcode::kLocalInvalidate) return;
  side.window.state = !succeeded ? WindowState::kUnknown : binds ? WindowState::kBound : WindowState::kFree;
  side.window.wasBound = true;
}

}  // namespace hca::test
