// The commands of the verbs device, by the object that they are about.
#pragma once

#include "sim/cosim/uverbs/command_call.h"
#include "sim/cosim/uverbs/uverbs_context.h"

namespace hca::cosim {

using CommandHandler = void (*)(UverbsContext& context, const Call& call);

// device_commands.cpp
void getContext(UverbsContext& context, const Call& call);
void queryContext(UverbsContext& context, const Call& call);
void allocateAsyncEvents(UverbsContext& context, const Call& call);
void queryDevice(UverbsContext& context, const Call& call);
void queryDeviceExtended(UverbsContext& context, const Call& call);

// uar_commands.cpp
void allocateUarObject(UverbsContext& context, const Call& call);
void destroyUarObject(UverbsContext& context, const Call& call);

// port_commands.cpp
void queryPort(UverbsContext& context, const Call& call);
void queryPortExtended(UverbsContext& context, const Call& call);
void queryPortOfDevice(UverbsContext& context, const Call& call);
void queryGidTable(UverbsContext& context, const Call& call);
void queryGidEntry(UverbsContext& context, const Call& call);

// pd_commands.cpp
void allocatePd(UverbsContext& context, const Call& call);
void queryPd(UverbsContext& context, const Call& call);
void deallocatePd(UverbsContext& context, const Call& call);
void createAh(UverbsContext& context, const Call& call);
void destroyAh(UverbsContext& context, const Call& call);

// xrc_commands.cpp
void openXrcd(UverbsContext& context, const Call& call);
void closeXrcd(UverbsContext& context, const Call& call);
void openQp(UverbsContext& context, const Call& call);

// mr_commands.cpp
void registerMr(UverbsContext& context, const Call& call);
void reregisterMr(UverbsContext& context, const Call& call);
void deregisterMr(UverbsContext& context, const Call& call);
void queryMr(UverbsContext& context, const Call& call);
void allocateMw(UverbsContext& context, const Call& call);
void deallocateMw(UverbsContext& context, const Call& call);

// dm_commands.cpp
void allocateDm(UverbsContext& context, const Call& call);
void queryDm(UverbsContext& context, const Call& call);
void freeDm(UverbsContext& context, const Call& call);
void registerDmMr(UverbsContext& context, const Call& call);

// cq_commands.cpp
void createCompletionChannel(UverbsContext& context, const Call& call);
void createCq(UverbsContext& context, const Call& call);
void createCqNative(UverbsContext& context, const Call& call);
void createCqExtended(UverbsContext& context, const Call& call);
void resizeCq(UverbsContext& context, const Call& call);
void modifyCq(UverbsContext& context, const Call& call);
void destroyCq(UverbsContext& context, const Call& call);
void destroyCqNative(UverbsContext& context, const Call& call);

// srq_commands.cpp
void createSrq(UverbsContext& context, const Call& call);
void createSrqExtended(UverbsContext& context, const Call& call);
void createSrqNative(UverbsContext& context, const Call& call);
void destroySrqNative(UverbsContext& context, const Call& call);
void modifySrq(UverbsContext& context, const Call& call);
void querySrq(UverbsContext& context, const Call& call);
void destroySrq(UverbsContext& context, const Call& call);

// qp_commands.cpp
void createQp(UverbsContext& context, const Call& call);
void createQpExtended(UverbsContext& context, const Call& call);
void createQpNative(UverbsContext& context, const Call& call);
void destroyQpNative(UverbsContext& context, const Call& call);
void destroyQp(UverbsContext& context, const Call& call);

// multicast_commands.cpp
void attachMulticast(UverbsContext& context, const Call& call);
void detachMulticast(UverbsContext& context, const Call& call);

// wq_commands.cpp
void createWq(UverbsContext& context, const Call& call);
void modifyWq(UverbsContext& context, const Call& call);
void destroyWq(UverbsContext& context, const Call& call);
void createSpread(UverbsContext& context, const Call& call);
void destroySpread(UverbsContext& context, const Call& call);

// flow_commands.cpp
void createFlow(UverbsContext& context, const Call& call);
void destroyFlow(UverbsContext& context, const Call& call);
void createFlowMatcher(UverbsContext& context, const Call& call);
void destroyFlowMatcher(UverbsContext& context, const Call& call);
void createFlowNative(UverbsContext& context, const Call& call);

// qp_state_commands.cpp
void modifyQp(UverbsContext& context, const Call& call);
void modifyQpExtended(UverbsContext& context, const Call& call);
void queryQp(UverbsContext& context, const Call& call);

}  // namespace hca::cosim
