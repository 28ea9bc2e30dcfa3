// What a program asks of a port.
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "sim/cosim/uverbs/command_handlers.h"

namespace hca::cosim {
namespace {

// InfiniBand volume 1, 14.2.5.6 (PortInfo), and what a ConnectX-5 shows.
constexpr std::uint8_t kDown = 1, kActive = 4;
constexpr std::uint8_t kPolling = 2, kLinkUp = 5;
constexpr std::uint8_t kWidth4x = 2;
constexpr std::uint32_t kLongestMessage = 1U << 30;

std::uint8_t mtuCode(std::uint32_t bytes) {
  std::uint8_t code = 1;
  while ((128U << code) < bytes) ++code;
  return code;
}

ib_uverbs_query_port_resp describePort(const UverbsContext& context, std::uint64_t port) {
  constexpr std::uint8_t kMtu4096 = 5;
  constexpr std::uint8_t kInfiniBand = 1, kEthernet = 2;
  const DeviceDescription& device = context.device;
  ib_uverbs_query_port_resp answer{};
  answer.port_cap_flags = device.isRoce ? 0x04010000 : 0x2651E848;
  answer.max_msg_sz = kLongestMessage;
  answer.gid_tbl_len = device.gidRoom();
  answer.pkey_tbl_len = device.partitionRoom();
  const driver::DevicePort& now = context.driver.capabilities().port(static_cast<std::uint8_t>(port));
  answer.lid = device.isRoce ? 0 : now.lid.value();
  answer.lmc = device.isRoce ? 0 : device.port(port).identity.lmc;
  answer.sm_lid = device.isRoce ? 0 : 1;
  answer.state = now.active ? kActive : kDown;
  answer.max_mtu = kMtu4096;
  answer.active_mtu = mtuCode(device.mtu);
  answer.max_vl_num = device.isRoce ? 0 : 4;
  answer.subnet_timeout = device.isRoce ? 0 : 18;
  answer.active_width = kWidth4x;
  answer.active_speed = static_cast<std::uint8_t>(device.port(port).speed.code);
  answer.phys_state = now.active ? kLinkUp : kPolling;
  answer.link_layer = device.isRoce ? kEthernet : kInfiniBand;
  answer.flags = device.isRoce ? IB_UVERBS_QPF_GRH_REQUIRED : 0;
  return answer;
}

// GIDs may change; how many there are doesn't.
ib_uverbs_gid_entry entryOf(const UverbsContext& context, std::uint32_t port, std::uint32_t index) {
  constexpr std::uint32_t kInfiniBand = 0, kRoceV2 = 2;
  ib_uverbs_gid_entry entry{};
  const network::Gid& gid = context.driver.capabilities().port(static_cast<std::uint8_t>(port)).gids[index];
  std::memcpy(entry.gid, gid.data(), sizeof entry.gid);
  entry.gid_index = index;
  entry.port_num = port;
  entry.gid_type = context.device.port(port).gids[index].isRoceV2 ? kRoceV2 : kInfiniBand;
  return entry;
}

}  // namespace

void queryPort(UverbsContext& context, const Call& call) {
  const std::uint8_t port = call->core<ib_uverbs_query_port>().port_num;
  call->note("port_num", port);
  if (!context.device.hasPort(port)) return call->finish(EINVAL);
  call->answerCore(describePort(context, port));
  call->finish(0);
}

void queryPortExtended(UverbsContext& context, const Call& call) {
  const auto number = call->ioctl.number(UVERBS_ATTR_QUERY_PORT_PORT_NUM);
  if (!number || !context.device.hasPort(*number & 0xFF)) return call->finish(EINVAL);
  call->note("port_num", *number & 0xFF);
  ib_uverbs_query_port_resp_ex answer{};
  answer.legacy_resp = describePort(context, *number & 0xFF);
  call->answerAttribute(UVERBS_ATTR_QUERY_PORT_RESP, answer);
  call->finish(0);
}

void queryGidTable(UverbsContext& context, const Call& call) {
  const auto size = call->ioctl.number(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
  if (!size || *size < sizeof(ib_uverbs_gid_entry)) return call->finish(EINVAL);
  const std::uint64_t room = call->ioctl.room(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES) / *size;
  if (room == 0) return call->finish(EINVAL);
  const auto ofPort = static_cast<std::uint32_t>(context.device.gidCount());
  const std::uint64_t count = std::min<std::uint64_t>(room, ofPort * context.device.ports.size());
  std::vector<std::uint8_t> table(count * *size);
  for (std::uint32_t i = 0; i < count; ++i) {
    const ib_uverbs_gid_entry entry = entryOf(context, 1 + i / ofPort, i % ofPort);
    std::memcpy(table.data() + i * *size, &entry, sizeof entry);
  }
  if (!call->ioctl.answer(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, table)) return call->finish(EFAULT);
  call->answerAttribute(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, count);
  call->finish(0);
}

void queryGidEntry(UverbsContext& context, const Call& call) {
  const auto port = call->ioctl.number(UVERBS_ATTR_QUERY_GID_ENTRY_PORT);
  const auto index = call->ioctl.number(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
  if (!port || !index || !context.device.hasPort(*port & 0xFFFFFFFF)) return call->finish(EINVAL);
  const std::uint64_t wanted = *index & 0xFFFFFFFF;
  if (wanted >= context.device.gidRoom()) return call->finish(EINVAL);
  if (wanted >= context.device.gidCount()) return call->finish(ENODATA);
  call->answerAttribute(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
                        entryOf(context, static_cast<std::uint32_t>(*port), static_cast<std::uint32_t>(wanted)));
  call->finish(0);
}

// mlx5dv_query_port: there is no embedded switch whose ports it would describe (Linux
// drivers/infiniband/hw/mlx5/std_types.c, MLX5_IB_METHOD_QUERY_PORT).
void queryPortOfDevice(UverbsContext& context, const Call& call) {
  const std::uint64_t port = call->ioctl.number(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM).value_or(0) & 0xFFFFFFFF;
  if (port == 0 || port > context.driver.capabilities().ports.size()) return call->finish(EINVAL);
  call->answerAttribute(MLX5_IB_ATTR_QUERY_PORT, mlx5_ib_uapi_query_port{});
  call->finish(0);
}

}  // namespace hca::cosim
