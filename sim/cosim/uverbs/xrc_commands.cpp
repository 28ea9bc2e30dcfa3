// XRC domains, and targets that others made.
#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"

namespace hca::cosim {
namespace {

// Descriptor `fd` of the program, as the file that it is.
std::optional<SharedFiles::File> fileOf(const CallingProcess& process, std::uint32_t fd) {
  struct stat file {};
  const std::string path = "/proc/" + std::to_string(process.number()) + "/fd/" + std::to_string(fd);
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  return SharedFiles::File(file.st_dev, file.st_ino);
}

void open(UverbsContext& context, const Call& call, const SharedFiles::Identity& file) {
  const std::uint64_t identity = file == nullptr ? 0 : *file;
  context.driver.openXrcd(context.owner, identity,
                          [&context, call, file](const driver::Answer<adapter::XrcdNumber>& answer) {
                            if (!answer.ok()) return call->finish(errnoOf(answer.result));
                            auto xrcd = std::make_shared<UserXrcd>();
                            xrcd->number = answer.value;
                            xrcd->file = file;
                            ib_uverbs_open_xrcd_resp own{};
                            own.xrcd_handle = context.xrcds.add(xrcd);
                            call->noteAnswer("xrcd_handle", own.xrcd_handle);
                            call->answerCore(own);
                            call->finish(0);
                          });
}

}  // namespace

// With a file as open(2): O_CREAT makes a domain, O_EXCL insists on it (Linux drivers/infiniband/core/uverbs_cmd.c,
// ib_uverbs_open_xrcd).
void openXrcd(UverbsContext& context, const Call& call) {
  constexpr std::uint32_t kNoFile = ~0U;
  const auto wanted = call->core<ib_uverbs_open_xrcd>();
  if (wanted.fd == kNoFile) return open(context, call, nullptr);
  const auto file = fileOf(*call->process, wanted.fd);
  if (!file) return call->finish(EBADF);
  const SharedFiles::Identity known = context.shares.files.find(*file);
  if (known == nullptr) {
    return (wanted.oflags & O_CREAT) == 0 ? call->finish(EAGAIN) : open(context, call, context.shares.files.add(*file));
  }
  if ((wanted.oflags & O_EXCL) != 0) return call->finish(EINVAL);
  open(context, call, known);
}

void closeXrcd(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_close_xrcd>().xrcd_handle;
  call->note("xrcd_handle", handle);
  const auto xrcd = context.xrcds.find(handle);
  if (xrcd == nullptr) return call->finish(EINVAL);
  if (xrcd->users != 0) return call->finish(EBUSY);
  context.driver.closeXrcd(context.owner, xrcd->number, [&context, call, handle](const driver::Answer<int>& answer) {
    if (answer.ok()) context.xrcds.remove(handle);
    call->finish(errnoOf(answer.result));
  });
}

// Linux drivers/infiniband/core/uverbs_cmd.c, ib_uverbs_open_qp.
void openQp(UverbsContext& context, const Call& call) {
  constexpr std::uint8_t kXrcReceive = 10;
  const auto wanted = call->core<ib_uverbs_open_qp>();
  call->note("xrcd_handle", wanted.pd_handle);
  call->note("qpn", wanted.qpn);
  call->note("qp_type", wanted.qp_type);
  const auto xrcd = context.xrcds.find(wanted.pd_handle);
  const QpNumber number(wanted.qpn & 0xFFFFFF);
  const auto known = context.shares.targets.find(context.device.adapter, number);
  const bool isThere = xrcd != nullptr && known != nullptr && wanted.qpn == number.value();
  if (!isThere || wanted.qp_type != kXrcReceive) return call->finish(EINVAL);
  const auto qp = std::make_shared<UserQp>();
  qp->number = number;
  qp->userHandle = wanted.user_handle;
  qp->type = kXrcReceive;
  qp->attributes = known->attributes;
  qp->set = known->set;
  qp->xrcd = xrcd;
  context.driver.openQp(context.owner, xrcd->number, number, [&context, call, qp](const driver::Answer<int>& answer) {
    if (!answer.ok()) return call->finish(errnoOf(answer.result));
    ++qp->xrcd->users;
    context.shares.targets.add(context.device.adapter, qp);
    ib_uverbs_create_qp_resp own{};
    own.qp_handle = context.qps.add(qp);
    own.qpn = qp->number.value();
    call->noteAnswer("qp_handle", own.qp_handle);
    call->answerCore(own);
    call->finish(0);
  });
}

}  // namespace hca::cosim
