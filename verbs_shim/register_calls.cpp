// Register accesses as messages of a program that uses verbs.
#include <string.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/register_bus.h"

namespace hca::shim {
namespace {

void setRegister(channel::Request& request, channel::Kind kind, uint64_t page, uint32_t offset, uint32_t length) {
  clear(request, kind);
  request.argument[0] = page;
  request.argument[1] = offset;
  request.length = length;
}

}  // namespace

void writeRegister(uint64_t page, uint32_t offset, const uint8_t* bytes, uint32_t length) {
  channel::Request request;
  setRegister(request, channel::Kind::kRegisterWrite, page, offset, length);
  memcpy(request.bytes, bytes, length);
  channel::Reply reply{};
  (void)call(request, reply);
}

uint64_t readRegister(uint64_t page, uint32_t offset, uint32_t length) {
  channel::Request request;
  setRegister(request, channel::Kind::kRegisterRead, page, offset, length);
  channel::Reply reply{};
  return call(request, reply) == 0 ? reply.value[0] : ~uint64_t{0};
}

}  // namespace hca::shim
