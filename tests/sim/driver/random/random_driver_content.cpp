// Whether the bytes of the random driver's messages are where they belong.
#include "tests/sim/driver/random/message_bytes.h"
#include "tests/sim/driver/random/random_driver_state.h"

namespace hca::test {

// Writes posted before request `before` are in the peer's memory.
void RandomDriver::checkWrites(Side& writer, std::uint64_t before) {
  while (!writer.writes.empty() && writer.writes.front().id < before) {
    const WorkRecord& write = writer.writes.front();
    checkBytes(*peerOf(writer).host, write.remote, write.id, write.length, "written");
    writer.writes.pop_front();
  }
}

void RandomDriver::checkBytes(Host& host, std::uint64_t address, std::uint64_t id, std::uint32_t length,
                              const char* what) {
  if (length == 0) return;
  const std::uint8_t* bytes = host.client->bytes(address, length);
  for (std::uint32_t i = 0; i < length; ++i) {
    if (bytes[i] == patternByte(id, i)) continue;
    return fail("request " + std::to_string(id) + ": byte " + std::to_string(i) + " " + what + " is wrong");
  }
}

}  // namespace hca::test
