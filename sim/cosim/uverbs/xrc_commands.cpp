// XRC domains.
#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"

namespace hca::cosim {

// A domain that is shared through a file would be one of several processes: not yet.
void openXrcd(UverbsContext& context, const Call& call) {
  constexpr std::uint32_t kNoFile = ~0U;
  if (call->core<ib_uverbs_open_xrcd>().fd != kNoFile) return call->finish(EOPNOTSUPP);
  context.driver.allocateXrcd(context.owner, [&context, call](const driver::Answer<adapter::XrcdNumber>& answer) {
    if (!answer.ok()) return call->finish(errnoOf(answer.result));
    auto xrcd = std::make_shared<UserXrcd>();
    xrcd->number = answer.value;
    ib_uverbs_open_xrcd_resp own{};
    own.xrcd_handle = context.xrcds.add(xrcd);
    call->answerCore(own);
    call->finish(0);
  });
}

void closeXrcd(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_close_xrcd>().xrcd_handle;
  const auto xrcd = context.xrcds.find(handle);
  if (xrcd == nullptr) return call->finish(EINVAL);
  if (xrcd->users != 0) return call->finish(EBUSY);
  context.driver.deallocateXrcd(context.owner, xrcd->number,
                                [&context, call, handle](const driver::Answer<int>& answer) {
                                  if (answer.ok()) context.xrcds.remove(handle);
                                  call->finish(errnoOf(answer.result));
                                });
}

}  // namespace hca::cosim
