// XRC domains.
#include <sys/stat.h>

#include <string>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"

namespace hca::cosim {
namespace {

// Descriptor `fd` of the program, as the file that it is.
std::optional<XrcDomains::File> fileOf(const UverbsContext& context, std::uint32_t fd) {
  struct stat file {};
  const std::string path = "/proc/" + std::to_string(context.processId) + "/fd/" + std::to_string(fd);
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  return XrcDomains::File(file.st_dev, file.st_ino);
}

void finishOpen(UverbsContext& context, const Call& call, adapter::XrcdNumber number,
                std::optional<XrcDomains::File> file) {
  auto xrcd = std::make_shared<UserXrcd>();
  xrcd->number = number;
  xrcd->file = file;
  ib_uverbs_open_xrcd_resp own{};
  own.xrcd_handle = context.xrcds.add(xrcd);
  call->answerCore(own);
  call->finish(0);
}

}  // namespace

void openXrcd(UverbsContext& context, const Call& call) {
  constexpr std::uint32_t kNoFile = ~0U;
  const auto wanted = call->core<ib_uverbs_open_xrcd>();
  if (wanted.fd == kNoFile) {
    context.driver.allocateXrcd(context.owner, [&context, call](const driver::Answer<adapter::XrcdNumber>& answer) {
      if (!answer.ok()) return call->finish(errnoOf(answer.result));
      finishOpen(context, call, answer.value, std::nullopt);
    });
    return;
  }
  const auto file = fileOf(context, wanted.fd);
  if (!file) return call->finish(EBADF);
  context.sharedDomains.open(*file, wanted.oflags, [&context, call, file](int error, adapter::XrcdNumber number) {
    if (error != 0) return call->finish(error);
    finishOpen(context, call, number, file);
  });
}

void closeXrcd(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_close_xrcd>().xrcd_handle;
  const auto xrcd = context.xrcds.find(handle);
  if (xrcd == nullptr) return call->finish(EINVAL);
  if (xrcd->users != 0) return call->finish(EBUSY);
  if (xrcd->file) {
    context.sharedDomains.close(*xrcd->file);
    context.xrcds.remove(handle);
    return call->finish(0);
  }
  context.driver.deallocateXrcd(context.owner, xrcd->number,
                                [&context, call, handle](const driver::Answer<int>& answer) {
                                  if (answer.ok()) context.xrcds.remove(handle);
                                  call->finish(errnoOf(answer.result));
                                });
}

}  // namespace hca::cosim
