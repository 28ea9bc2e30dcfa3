#include "sim/cosim/uverbs/command_dispatcher.h"

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "sim/cosim/uverbs/command_handlers.h"

namespace hca::cosim {
namespace {

// Of commands in the form of a write.
CommandHandler handlerOf(std::uint32_t command) {
  constexpr std::uint32_t kExtended = IB_USER_VERBS_CMD_FLAG_EXTENDED;
  switch (command) {
    case IB_USER_VERBS_CMD_QUERY_DEVICE:
      return queryDevice;
    case IB_USER_VERBS_EX_CMD_QUERY_DEVICE | kExtended:
      return queryDeviceExtended;
    case IB_USER_VERBS_CMD_QUERY_PORT:
      return queryPort;
    case IB_USER_VERBS_CMD_ALLOC_PD:
      return allocatePd;
    case IB_USER_VERBS_CMD_DEALLOC_PD:
      return deallocatePd;
    case IB_USER_VERBS_CMD_CREATE_AH:
      return createAh;
    case IB_USER_VERBS_CMD_DESTROY_AH:
      return destroyAh;
    case IB_USER_VERBS_CMD_REG_MR:
      return registerMr;
    case IB_USER_VERBS_CMD_REREG_MR:
      return reregisterMr;
    case IB_USER_VERBS_CMD_DEREG_MR:
      return deregisterMr;
    case IB_USER_VERBS_CMD_ALLOC_MW:
      return allocateMw;
    case IB_USER_VERBS_CMD_DEALLOC_MW:
      return deallocateMw;
    case IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL:
      return createCompletionChannel;
    case IB_USER_VERBS_CMD_CREATE_CQ:
      return createCq;
    case IB_USER_VERBS_EX_CMD_CREATE_CQ | kExtended:
      return createCqExtended;
    case IB_USER_VERBS_CMD_RESIZE_CQ:
      return resizeCq;
    case IB_USER_VERBS_EX_CMD_MODIFY_CQ | kExtended:
      return modifyCq;
    case IB_USER_VERBS_CMD_DESTROY_CQ:
      return destroyCq;
    case IB_USER_VERBS_CMD_CREATE_SRQ:
      return createSrq;
    case IB_USER_VERBS_CMD_CREATE_XSRQ:
      return createSrqExtended;
    case IB_USER_VERBS_CMD_MODIFY_SRQ:
      return modifySrq;
    case IB_USER_VERBS_CMD_QUERY_SRQ:
      return querySrq;
    case IB_USER_VERBS_CMD_DESTROY_SRQ:
      return destroySrq;
    case IB_USER_VERBS_CMD_CREATE_QP:
      return createQp;
    case IB_USER_VERBS_EX_CMD_CREATE_QP | kExtended:
      return createQpExtended;
    case IB_USER_VERBS_CMD_MODIFY_QP:
      return modifyQp;
    case IB_USER_VERBS_EX_CMD_MODIFY_QP | kExtended:
      return modifyQpExtended;
    case IB_USER_VERBS_CMD_QUERY_QP:
      return queryQp;
    case IB_USER_VERBS_CMD_DESTROY_QP:
      return destroyQp;
    case IB_USER_VERBS_CMD_ATTACH_MCAST:
      return attachMulticast;
    case IB_USER_VERBS_CMD_DETACH_MCAST:
      return detachMulticast;
    case IB_USER_VERBS_CMD_OPEN_XRCD:
      return openXrcd;
    case IB_USER_VERBS_CMD_CLOSE_XRCD:
      return closeXrcd;
    default:
      return nullptr;
  }
}

// A command in the form of attributes, with all of them.
struct Method {
  unsigned object;
  unsigned method;
  CommandHandler handler;
  std::vector<unsigned> attributes;
};

const std::vector<Method>& methods() {
  static const std::vector<Method> all = {
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_GET_CONTEXT,
       getContext,
       {UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, UVERBS_ATTR_UHW_IN,
        UVERBS_ATTR_UHW_OUT}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_CONTEXT,
       queryContext,
       {UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT,
        MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX}},
      {UVERBS_OBJECT_PD,
       MLX5_IB_METHOD_PD_QUERY,
       queryPd,
       {MLX5_IB_ATTR_QUERY_PD_HANDLE, MLX5_IB_ATTR_QUERY_PD_RESP_PDN}},
      {MLX5_IB_OBJECT_UAR,
       MLX5_IB_METHOD_UAR_OBJ_ALLOC,
       allocateUarObject,
       {MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET,
        MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID}},
      {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, destroyUarObject, {MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_PORT,
       queryPortExtended,
       {UVERBS_ATTR_QUERY_PORT_PORT_NUM, UVERBS_ATTR_QUERY_PORT_RESP}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_GID_TABLE,
       queryGidTable,
       {UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS,
        UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_GID_ENTRY,
       queryGidEntry,
       {UVERBS_ATTR_QUERY_GID_ENTRY_PORT, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS,
        UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY}},
      {UVERBS_OBJECT_ASYNC_EVENT,
       UVERBS_METHOD_ASYNC_EVENT_ALLOC,
       allocateAsyncEvents,
       {UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE}},
      {UVERBS_OBJECT_CQ,
       UVERBS_METHOD_CQ_CREATE,
       createCqNative,
       {UVERBS_ATTR_CREATE_CQ_HANDLE, UVERBS_ATTR_CREATE_CQ_CQE, UVERBS_ATTR_CREATE_CQ_USER_HANDLE,
        UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, UVERBS_ATTR_CREATE_CQ_FLAGS,
        UVERBS_ATTR_CREATE_CQ_RESP_CQE, UVERBS_ATTR_CREATE_CQ_EVENT_FD, UVERBS_ATTR_UHW_IN, UVERBS_ATTR_UHW_OUT}},
      {UVERBS_OBJECT_CQ,
       UVERBS_METHOD_CQ_DESTROY,
       destroyCqNative,
       {UVERBS_ATTR_DESTROY_CQ_HANDLE, UVERBS_ATTR_DESTROY_CQ_RESP}},
      {UVERBS_OBJECT_QP,
       UVERBS_METHOD_QP_CREATE,
       createQpNative,
       {UVERBS_ATTR_CREATE_QP_HANDLE, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, UVERBS_ATTR_CREATE_QP_PD_HANDLE,
        UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE,
        UVERBS_ATTR_CREATE_QP_USER_HANDLE, UVERBS_ATTR_CREATE_QP_CAP, UVERBS_ATTR_CREATE_QP_TYPE,
        UVERBS_ATTR_CREATE_QP_FLAGS, UVERBS_ATTR_CREATE_QP_EVENT_FD, UVERBS_ATTR_CREATE_QP_RESP_CAP,
        UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, UVERBS_ATTR_UHW_IN, UVERBS_ATTR_UHW_OUT}},
      {UVERBS_OBJECT_QP,
       UVERBS_METHOD_QP_DESTROY,
       destroyQpNative,
       {UVERBS_ATTR_DESTROY_QP_HANDLE, UVERBS_ATTR_DESTROY_QP_RESP}},
      {UVERBS_OBJECT_MR,
       UVERBS_METHOD_QUERY_MR,
       queryMr,
       {UVERBS_ATTR_QUERY_MR_HANDLE, UVERBS_ATTR_QUERY_MR_RESP_LKEY, UVERBS_ATTR_QUERY_MR_RESP_RKEY,
        UVERBS_ATTR_QUERY_MR_RESP_LENGTH, UVERBS_ATTR_QUERY_MR_RESP_IOVA}},
  };
  return all;
}

void invokeWrite(UverbsContext& context, const Call& call) {
  const auto command = call->ioctl.number(UVERBS_ATTR_WRITE_CMD);
  if (!command) return call->finish(EINVAL);
  const CommandHandler handler = handlerOf(static_cast<std::uint32_t>(*command));
  if (handler == nullptr) return call->finish(EOPNOTSUPP);
  handler(context, call);
}

}  // namespace

void dispatchCommand(UverbsContext& context, std::uint64_t code, std::uint64_t address, std::optional<OfferedPipe> pipe,
                     CommandCall::Done done) {
  if (code != RDMA_VERBS_IOCTL) return done(ENOTTY);
  IoctlRequest request;
  if (const int error = request.read(context.memory, address); error != 0) return done(error);
  const auto call = std::make_shared<CommandCall>(request, pipe, std::move(done));
  if (request.object() == UVERBS_OBJECT_DEVICE && request.method() == UVERBS_METHOD_INVOKE_WRITE) {
    return invokeWrite(context, call);
  }
  for (const Method& each : methods()) {
    if (each.object != request.object() || each.method != request.method()) continue;
    if (request.hasUnknown(each.attributes)) return call->finish(EPROTONOSUPPORT);
    return each.handler(context, call);
  }
  // The library then tries the older form, or tells its caller that there is no such thing.
  call->finish(EPROTONOSUPPORT);
}

}  // namespace hca::cosim
