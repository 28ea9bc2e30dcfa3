#include "sim/cosim/uverbs/command_dispatcher.h"

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/cosim/uverbs/command_handlers.h"

namespace hca::cosim {
namespace {

// A command in the form of a write.
struct WriteCommand {
  std::uint32_t number;
  const char* name;
  CommandHandler handler;
};

const WriteCommand* writeCommand(std::uint32_t number) {
  constexpr std::uint32_t kExtended = IB_USER_VERBS_CMD_FLAG_EXTENDED;
  static const WriteCommand all[] = {
      {IB_USER_VERBS_CMD_QUERY_DEVICE, "QUERY_DEVICE", queryDevice},
      {IB_USER_VERBS_EX_CMD_QUERY_DEVICE | kExtended, "EX_QUERY_DEVICE", queryDeviceExtended},
      {IB_USER_VERBS_CMD_QUERY_PORT, "QUERY_PORT", queryPort},
      {IB_USER_VERBS_CMD_ALLOC_PD, "ALLOC_PD", allocatePd},
      {IB_USER_VERBS_CMD_DEALLOC_PD, "DEALLOC_PD", deallocatePd},
      {IB_USER_VERBS_CMD_CREATE_AH, "CREATE_AH", createAh},
      {IB_USER_VERBS_CMD_DESTROY_AH, "DESTROY_AH", destroyAh},
      {IB_USER_VERBS_CMD_REG_MR, "REG_MR", registerMr},
      {IB_USER_VERBS_CMD_REREG_MR, "REREG_MR", reregisterMr},
      {IB_USER_VERBS_CMD_DEREG_MR, "DEREG_MR", deregisterMr},
      {IB_USER_VERBS_CMD_ALLOC_MW, "ALLOC_MW", allocateMw},
      {IB_USER_VERBS_CMD_DEALLOC_MW, "DEALLOC_MW", deallocateMw},
      {IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "CREATE_COMP_CHANNEL", createCompletionChannel},
      {IB_USER_VERBS_CMD_CREATE_CQ, "CREATE_CQ", createCq},
      {IB_USER_VERBS_EX_CMD_CREATE_CQ | kExtended, "EX_CREATE_CQ", createCqExtended},
      {IB_USER_VERBS_CMD_RESIZE_CQ, "RESIZE_CQ", resizeCq},
      {IB_USER_VERBS_EX_CMD_MODIFY_CQ | kExtended, "EX_MODIFY_CQ", modifyCq},
      {IB_USER_VERBS_CMD_DESTROY_CQ, "DESTROY_CQ", destroyCq},
      {IB_USER_VERBS_CMD_CREATE_SRQ, "CREATE_SRQ", createSrq},
      {IB_USER_VERBS_CMD_CREATE_XSRQ, "CREATE_XSRQ", createSrqExtended},
      {IB_USER_VERBS_CMD_MODIFY_SRQ, "MODIFY_SRQ", modifySrq},
      {IB_USER_VERBS_CMD_QUERY_SRQ, "QUERY_SRQ", querySrq},
      {IB_USER_VERBS_CMD_DESTROY_SRQ, "DESTROY_SRQ", destroySrq},
      {IB_USER_VERBS_CMD_CREATE_QP, "CREATE_QP", createQp},
      {IB_USER_VERBS_EX_CMD_CREATE_QP | kExtended, "EX_CREATE_QP", createQpExtended},
      {IB_USER_VERBS_CMD_OPEN_QP, "OPEN_QP", openQp},
      {IB_USER_VERBS_CMD_MODIFY_QP, "MODIFY_QP", modifyQp},
      {IB_USER_VERBS_EX_CMD_MODIFY_QP | kExtended, "EX_MODIFY_QP", modifyQpExtended},
      {IB_USER_VERBS_CMD_QUERY_QP, "QUERY_QP", queryQp},
      {IB_USER_VERBS_CMD_DESTROY_QP, "DESTROY_QP", destroyQp},
      {IB_USER_VERBS_CMD_ATTACH_MCAST, "ATTACH_MCAST", attachMulticast},
      {IB_USER_VERBS_CMD_DETACH_MCAST, "DETACH_MCAST", detachMulticast},
      {IB_USER_VERBS_EX_CMD_CREATE_WQ | kExtended, "EX_CREATE_WQ", createWq},
      {IB_USER_VERBS_EX_CMD_MODIFY_WQ | kExtended, "EX_MODIFY_WQ", modifyWq},
      {IB_USER_VERBS_EX_CMD_DESTROY_WQ | kExtended, "EX_DESTROY_WQ", destroyWq},
      {IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL | kExtended, "EX_CREATE_RWQ_IND_TBL", createSpread},
      {IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL | kExtended, "EX_DESTROY_RWQ_IND_TBL", destroySpread},
      {IB_USER_VERBS_EX_CMD_CREATE_FLOW | kExtended, "EX_CREATE_FLOW", createFlow},
      {IB_USER_VERBS_EX_CMD_DESTROY_FLOW | kExtended, "EX_DESTROY_FLOW", destroyFlow},
      {IB_USER_VERBS_CMD_OPEN_XRCD, "OPEN_XRCD", openXrcd},
      {IB_USER_VERBS_CMD_CLOSE_XRCD, "CLOSE_XRCD", closeXrcd},
  };
  const auto* const end = std::end(all);
  const auto* const found = std::find_if(std::begin(all), end, [=](const auto& each) { return each.number == number; });
  return found == end ? nullptr : found;
}

// A command in the form of attributes, with all of them.
struct Method {
  unsigned object;
  unsigned method;
  const char* name;
  CommandHandler handler;
  std::vector<unsigned> attributes;
};

const std::vector<Method>& methods() {
  static const std::vector<Method> all = {
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_GET_CONTEXT,
       "GET_CONTEXT",
       getContext,
       {UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, UVERBS_ATTR_UHW_IN,
        UVERBS_ATTR_UHW_OUT}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_CONTEXT,
       "QUERY_CONTEXT",
       queryContext,
       {UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT,
        MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX}},
      {UVERBS_OBJECT_PD,
       MLX5_IB_METHOD_PD_QUERY,
       "MLX5_PD_QUERY",
       queryPd,
       {MLX5_IB_ATTR_QUERY_PD_HANDLE, MLX5_IB_ATTR_QUERY_PD_RESP_PDN}},
      {MLX5_IB_OBJECT_UAR,
       MLX5_IB_METHOD_UAR_OBJ_ALLOC,
       "MLX5_UAR_OBJ_ALLOC",
       allocateUarObject,
       {MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET,
        MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID}},
      {MLX5_IB_OBJECT_UAR,
       MLX5_IB_METHOD_UAR_OBJ_DESTROY,
       "MLX5_UAR_OBJ_DESTROY",
       destroyUarObject,
       {MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_PORT,
       "QUERY_PORT",
       queryPortExtended,
       {UVERBS_ATTR_QUERY_PORT_PORT_NUM, UVERBS_ATTR_QUERY_PORT_RESP}},
      {UVERBS_OBJECT_DEVICE,
       MLX5_IB_METHOD_QUERY_PORT,
       "MLX5_QUERY_PORT",
       queryPortOfDevice,
       {MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, MLX5_IB_ATTR_QUERY_PORT}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_GID_TABLE,
       "QUERY_GID_TABLE",
       queryGidTable,
       {UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS,
        UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_GID_ENTRY,
       "QUERY_GID_ENTRY",
       queryGidEntry,
       {UVERBS_ATTR_QUERY_GID_ENTRY_PORT, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS,
        UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY}},
      {UVERBS_OBJECT_ASYNC_EVENT,
       UVERBS_METHOD_ASYNC_EVENT_ALLOC,
       "ASYNC_EVENT_ALLOC",
       allocateAsyncEvents,
       {UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE}},
      {UVERBS_OBJECT_CQ,
       UVERBS_METHOD_CQ_CREATE,
       "CREATE_CQ",
       createCqNative,
       {UVERBS_ATTR_CREATE_CQ_HANDLE, UVERBS_ATTR_CREATE_CQ_CQE, UVERBS_ATTR_CREATE_CQ_USER_HANDLE,
        UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, UVERBS_ATTR_CREATE_CQ_FLAGS,
        UVERBS_ATTR_CREATE_CQ_RESP_CQE, UVERBS_ATTR_CREATE_CQ_EVENT_FD, UVERBS_ATTR_UHW_IN, UVERBS_ATTR_UHW_OUT}},
      {UVERBS_OBJECT_CQ,
       UVERBS_METHOD_CQ_DESTROY,
       "DESTROY_CQ",
       destroyCqNative,
       {UVERBS_ATTR_DESTROY_CQ_HANDLE, UVERBS_ATTR_DESTROY_CQ_RESP}},
      {UVERBS_OBJECT_SRQ,
       UVERBS_METHOD_SRQ_CREATE,
       "CREATE_SRQ",
       createSrqNative,
       {UVERBS_ATTR_CREATE_SRQ_HANDLE, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE,
        UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, UVERBS_ATTR_CREATE_SRQ_MAX_WR,
        UVERBS_ATTR_CREATE_SRQ_MAX_SGE, UVERBS_ATTR_CREATE_SRQ_LIMIT, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS,
        UVERBS_ATTR_CREATE_SRQ_TYPE, UVERBS_ATTR_CREATE_SRQ_EVENT_FD, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR,
        UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, UVERBS_ATTR_UHW_IN,
        UVERBS_ATTR_UHW_OUT}},
      {UVERBS_OBJECT_SRQ,
       UVERBS_METHOD_SRQ_DESTROY,
       "DESTROY_SRQ",
       destroySrqNative,
       {UVERBS_ATTR_DESTROY_SRQ_HANDLE, UVERBS_ATTR_DESTROY_SRQ_RESP}},
      {UVERBS_OBJECT_QP,
       UVERBS_METHOD_QP_CREATE,
       "CREATE_QP",
       createQpNative,
       {UVERBS_ATTR_CREATE_QP_HANDLE, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, UVERBS_ATTR_CREATE_QP_PD_HANDLE,
        UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE,
        UVERBS_ATTR_CREATE_QP_USER_HANDLE, UVERBS_ATTR_CREATE_QP_CAP, UVERBS_ATTR_CREATE_QP_TYPE,
        UVERBS_ATTR_CREATE_QP_FLAGS, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, UVERBS_ATTR_CREATE_QP_EVENT_FD,
        UVERBS_ATTR_CREATE_QP_RESP_CAP, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, UVERBS_ATTR_UHW_IN, UVERBS_ATTR_UHW_OUT}},
      {UVERBS_OBJECT_QP,
       UVERBS_METHOD_QP_DESTROY,
       "DESTROY_QP",
       destroyQpNative,
       {UVERBS_ATTR_DESTROY_QP_HANDLE, UVERBS_ATTR_DESTROY_QP_RESP}},
      {MLX5_IB_OBJECT_FLOW_MATCHER,
       MLX5_IB_METHOD_FLOW_MATCHER_CREATE,
       "MLX5_FLOW_MATCHER_CREATE",
       createFlowMatcher,
       {MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK,
        MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA,
        MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE}},
      {MLX5_IB_OBJECT_FLOW_MATCHER,
       MLX5_IB_METHOD_FLOW_MATCHER_DESTROY,
       "MLX5_FLOW_MATCHER_DESTROY",
       destroyFlowMatcher,
       {MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE}},
      {UVERBS_OBJECT_FLOW,
       MLX5_IB_METHOD_CREATE_FLOW,
       "MLX5_CREATE_FLOW",
       createFlowNative,
       {MLX5_IB_ATTR_CREATE_FLOW_HANDLE, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP,
        MLX5_IB_ATTR_CREATE_FLOW_MATCHER, MLX5_IB_ATTR_CREATE_FLOW_TAG, MLX5_IB_ATTR_CREATE_FLOW_FLAGS}},
      {UVERBS_OBJECT_MR,
       UVERBS_METHOD_QUERY_MR,
       "QUERY_MR",
       queryMr,
       {UVERBS_ATTR_QUERY_MR_HANDLE, UVERBS_ATTR_QUERY_MR_RESP_LKEY, UVERBS_ATTR_QUERY_MR_RESP_RKEY,
        UVERBS_ATTR_QUERY_MR_RESP_LENGTH, UVERBS_ATTR_QUERY_MR_RESP_IOVA}},
      {UVERBS_OBJECT_MR,
       UVERBS_METHOD_DM_MR_REG,
       "REG_DM_MR",
       registerDmMr,
       {UVERBS_ATTR_REG_DM_MR_HANDLE, UVERBS_ATTR_REG_DM_MR_OFFSET, UVERBS_ATTR_REG_DM_MR_LENGTH,
        UVERBS_ATTR_REG_DM_MR_PD_HANDLE, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, UVERBS_ATTR_REG_DM_MR_DM_HANDLE,
        UVERBS_ATTR_REG_DM_MR_RESP_LKEY, UVERBS_ATTR_REG_DM_MR_RESP_RKEY}},
      {UVERBS_OBJECT_DM,
       UVERBS_METHOD_DM_ALLOC,
       "ALLOC_DM",
       allocateDm,
       {UVERBS_ATTR_ALLOC_DM_HANDLE, UVERBS_ATTR_ALLOC_DM_LENGTH, UVERBS_ATTR_ALLOC_DM_ALIGNMENT,
        MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX,
        MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE}},
      {UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, "FREE_DM", freeDm, {UVERBS_ATTR_FREE_DM_HANDLE}},
      {UVERBS_OBJECT_DM,
       MLX5_IB_METHOD_DM_QUERY,
       "MLX5_DM_QUERY",
       queryDm,
       {MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET,
        MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH}},
  };
  return all;
}

void invokeWrite(UverbsContext& context, const Call& call) {
  const auto command = call->ioctl.number(UVERBS_ATTR_WRITE_CMD);
  if (!command) return call->finish(EINVAL);
  const WriteCommand* known = writeCommand(static_cast<std::uint32_t>(*command));
  if (known == nullptr) {
    call->note("command", *command);
    return call->finish(EOPNOTSUPP);
  }
  call->setName(known->name);
  known->handler(context, call);
}

}  // namespace

void dispatchCommand(UverbsContext& context, std::uint64_t code, std::uint64_t address,
                     std::shared_ptr<CallingProcess> process, std::optional<OfferedPipe> pipe,
                     std::shared_ptr<CommandNotes> notes, CommandCall::Done done) {
  if (code != RDMA_VERBS_IOCTL) return done(ENOTTY);
  IoctlRequest request;
  if (const int error = request.read(process->memory(), address); error != 0) return done(error);
  const auto call = std::make_shared<CommandCall>(std::move(process), request, pipe, std::move(notes), std::move(done));
  if (request.object() == UVERBS_OBJECT_DEVICE && request.method() == UVERBS_METHOD_INVOKE_WRITE) {
    return invokeWrite(context, call);
  }
  for (const Method& each : methods()) {
    if (each.object != request.object() || each.method != request.method()) continue;
    if (request.hasUnknown(each.attributes)) return call->finish(EPROTONOSUPPORT);
    call->setName(each.name);
    return each.handler(context, call);
  }
  call->note("object", request.object());
  call->note("method", request.method());
  // The library then tries the older form, or tells its caller that there is no such thing.
  call->finish(EPROTONOSUPPORT);
}

}  // namespace hca::cosim
