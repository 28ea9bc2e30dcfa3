// The handlers of all commands, by the file that has them.
#pragma once

#include <functional>

#include "models/adapter/command/command_call.h"
#include "models/adapter/command/command_device.h"

namespace hca::adapter::commands {

// device_commands.cpp
CommandResult enableHca(CommandDevice& device, const CommandCall& call);
CommandResult disableHca(CommandDevice& device, const CommandCall& call);
CommandResult queryIssi(CommandDevice& device, const CommandCall& call);
CommandResult setIssi(CommandDevice& device, const CommandCall& call);
CommandResult initHca(CommandDevice& device, const CommandCall& call);
CommandResult teardownHca(CommandDevice& device, const CommandCall& call);
CommandResult queryAdapter(CommandDevice& device, const CommandCall& call);
CommandResult querySpecialContexts(CommandDevice& device, const CommandCall& call);
CommandResult setDriverVersion(CommandDevice& device, const CommandCall& call);
CommandResult nop(CommandDevice& device, const CommandCall& call);

// page_commands.cpp
CommandResult queryPages(CommandDevice& device, const CommandCall& call);
CommandResult managePages(CommandDevice& device, const CommandCall& call);

// capability_commands.cpp
CommandResult queryCapabilities(CommandDevice& device, const CommandCall& call);
CommandResult setCapabilities(CommandDevice& device, const CommandCall& call);

// register_commands.cpp
CommandResult accessRegister(CommandDevice& device, const CommandCall& call);

// port_commands.cpp
CommandResult queryVportContext(CommandDevice& device, const CommandCall& call);
CommandResult queryVportGid(CommandDevice& device, const CommandCall& call);
CommandResult queryVportPkey(CommandDevice& device, const CommandCall& call);
CommandResult queryVportState(CommandDevice& device, const CommandCall& call);
CommandResult modifyVportContext(CommandDevice& device, const CommandCall& call);

// mad_commands.cpp
CommandResult answerMad(CommandDevice& device, const CommandCall& call);

// number_commands.cpp
CommandResult allocatePd(CommandDevice& device, const CommandCall& call);
CommandResult deallocatePd(CommandDevice& device, const CommandCall& call);
CommandResult allocateUar(CommandDevice& device, const CommandCall& call);
CommandResult deallocateUar(CommandDevice& device, const CommandCall& call);
CommandResult createUmem(CommandDevice& device, const CommandCall& call);
CommandResult destroyUmem(CommandDevice& device, const CommandCall& call);
CommandResult allocateXrcd(CommandDevice& device, const CommandCall& call);
CommandResult deallocateXrcd(CommandDevice& device, const CommandCall& call);
CommandResult allocateTransportDomain(CommandDevice& device, const CommandCall& call);
CommandResult deallocateTransportDomain(CommandDevice& device, const CommandCall& call);

// mkey_commands.cpp
CommandResult createMkey(CommandDevice& device, const CommandCall& call);
CommandResult allocateDeviceMemory(CommandDevice& device, const CommandCall& call);
CommandResult deallocateDeviceMemory(CommandDevice& device, const CommandCall& call);
CommandResult createDct(CommandDevice& device, const CommandCall& call);
CommandResult destroyDct(CommandDevice& device, const CommandCall& call);
CommandResult drainDct(CommandDevice& device, const CommandCall& call);
CommandResult queryDct(CommandDevice& device, const CommandCall& call);
CommandResult destroyMkey(CommandDevice& device, const CommandCall& call);
CommandResult queryMkey(CommandDevice& device, const CommandCall& call);

// eq_commands.cpp
CommandResult createEq(CommandDevice& device, const CommandCall& call);
CommandResult destroyEq(CommandDevice& device, const CommandCall& call);
CommandResult queryEq(CommandDevice& device, const CommandCall& call);

// cq_commands.cpp
CommandResult createCq(CommandDevice& device, const CommandCall& call);
CommandResult destroyCq(CommandDevice& device, const CommandCall& call);
CommandResult queryCq(CommandDevice& device, const CommandCall& call);
CommandResult modifyCq(CommandDevice& device, const CommandCall& call);
void prepareModifyCq(CommandDevice& device, ByteView input, std::function<void()> ready);

// qp_commands.cpp
CommandResult createQp(CommandDevice& device, const CommandCall& call);
CommandResult destroyQp(CommandDevice& device, const CommandCall& call);
CommandResult queryQp(CommandDevice& device, const CommandCall& call);
/// Every transition with a context; which one follows from the opcode.
CommandResult modifyQp(CommandDevice& device, const CommandCall& call);
/// 2RST and 2ERR: a number and no context.
CommandResult stopQp(CommandDevice& device, const CommandCall& call);
CommandResult attachMulticast(CommandDevice& device, const CommandCall& call);
CommandResult detachMulticast(CommandDevice& device, const CommandCall& call);

// srq_commands.cpp
CommandResult createSrq(CommandDevice& device, const CommandCall& call);
CommandResult destroySrq(CommandDevice& device, const CommandCall& call);
CommandResult querySrq(CommandDevice& device, const CommandCall& call);
CommandResult createXrq(CommandDevice& device, const CommandCall& call);
CommandResult queryXrq(CommandDevice& device, const CommandCall& call);
CommandResult armSrq(CommandDevice& device, const CommandCall& call);
CommandResult createRmp(CommandDevice& device, const CommandCall& call);
CommandResult queryRmp(CommandDevice& device, const CommandCall& call);
CommandResult modifyRmp(CommandDevice& device, const CommandCall& call);

// ethernet_queue_commands.cpp
CommandResult createSq(CommandDevice& device, const CommandCall& call);
CommandResult modifySq(CommandDevice& device, const CommandCall& call);
CommandResult destroySq(CommandDevice& device, const CommandCall& call);
CommandResult createRq(CommandDevice& device, const CommandCall& call);
CommandResult modifyRq(CommandDevice& device, const CommandCall& call);
CommandResult destroyRq(CommandDevice& device, const CommandCall& call);
CommandResult queryEthernetQueue(CommandDevice& device, const CommandCall& call);

// receiver_commands.cpp
CommandResult createTir(CommandDevice& device, const CommandCall& call);
CommandResult destroyTir(CommandDevice& device, const CommandCall& call);
CommandResult createTis(CommandDevice& device, const CommandCall& call);
CommandResult destroyTis(CommandDevice& device, const CommandCall& call);
CommandResult createRqt(CommandDevice& device, const CommandCall& call);
CommandResult modifyRqt(CommandDevice& device, const CommandCall& call);
CommandResult destroyRqt(CommandDevice& device, const CommandCall& call);

// flow_commands.cpp
CommandResult createFlowTable(CommandDevice& device, const CommandCall& call);
CommandResult destroyFlowTable(CommandDevice& device, const CommandCall& call);
CommandResult createFlowGroup(CommandDevice& device, const CommandCall& call);
CommandResult destroyFlowGroup(CommandDevice& device, const CommandCall& call);
CommandResult setFlowEntry(CommandDevice& device, const CommandCall& call);
CommandResult deleteFlowEntry(CommandDevice& device, const CommandCall& call);

}  // namespace hca::adapter::commands
