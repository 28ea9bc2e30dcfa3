// A program with libmlx5's own VFIO driver: opens the device, makes objects with DEVX, waits for events, takes it all
// down again. Says "fine" if everything was as it should be.
#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Opcodes and layouts: Linux include/linux/mlx5/mlx5_ifc.h.
constexpr unsigned kQueryHcaCap = 0x100, kQueryAdapter = 0x101, kAllocPd = 0x800, kCreateEq = 0x301;

int failures = 0;

void check(bool isTrue, const char* what) {
  if (isTrue) return;
  ++failures;
  std::fprintf(stderr, "devx_objects: %s: %s\n", what, std::strerror(errno));
}

void setOpcode(std::uint8_t* in, unsigned opcode, unsigned modifier) {
  in[0] = static_cast<std::uint8_t>(opcode >> 8);
  in[1] = static_cast<std::uint8_t>(opcode);
  in[6] = static_cast<std::uint8_t>(modifier >> 8);
  in[7] = static_cast<std::uint8_t>(modifier);
}

ibv_context* openDevice(const char* address) {
  mlx5dv_vfio_context_attr attributes{};
  attributes.pci_name = address;
  ibv_device** list = mlx5dv_get_vfio_device_list(&attributes);
  if (list == nullptr) return nullptr;
  ibv_context* context = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  return context;
}

void queryCapabilities(ibv_context* context) {
  std::uint8_t in[16] = {}, out[16 + 4096] = {};
  setOpcode(in, kQueryHcaCap, 1);
  check(mlx5dv_devx_general_cmd(context, in, sizeof in, out, sizeof out) == 0, "QUERY_HCA_CAP");
  check(out[0] == 0, "status of QUERY_HCA_CAP");
  setOpcode(in, kQueryAdapter, 0);
  check(mlx5dv_devx_general_cmd(context, in, sizeof in, out, sizeof out) == 0, "QUERY_ADAPTER");
  // One that nobody knows is refused, with a status.
  setOpcode(in, 0xFFF, 0);
  check(mlx5dv_devx_general_cmd(context, in, sizeof in, out, 16) != 0 && out[0] != 0, "an unknown command");
}

void protectionDomain(ibv_context* context) {
  std::uint8_t in[16] = {}, out[16] = {};
  setOpcode(in, kAllocPd, 0);
  mlx5dv_devx_obj* domain = mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out);
  check(domain != nullptr, "ALLOC_PD");
  if (domain != nullptr) check(mlx5dv_devx_obj_destroy(domain) == 0, "DEALLOC_PD");
}

void memory(ibv_context* context) {
  constexpr std::size_t kLength = 64 * 1024;
  void* buffer = std::aligned_alloc(4096, kLength);
  mlx5dv_devx_umem* umem = mlx5dv_devx_umem_reg(context, buffer, kLength, IBV_ACCESS_LOCAL_WRITE);
  check(umem != nullptr, "umem");
  if (umem != nullptr) check(mlx5dv_devx_umem_dereg(umem) == 0, "umem_dereg");
  std::free(buffer);
}

void eventQueue(ibv_context* context) {
  mlx5dv_devx_uar* uar = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);
  mlx5dv_devx_msi_vector* vector = mlx5dv_devx_alloc_msi_vector(context);
  check(uar != nullptr, "alloc_uar");
  check(vector != nullptr, "alloc_msi_vector");
  if (uar == nullptr || vector == nullptr) return;
  std::uint8_t in[0x110] = {}, out[16] = {};
  setOpcode(in, kCreateEq, 0);
  const std::uint32_t sizeAndUar = htobe32(6U << 24 | uar->page_id);
  std::memcpy(in + 0x10 + 0x0C, &sizeAndUar, sizeof sizeAndUar);
  in[0x10 + 0x17] = static_cast<std::uint8_t>(vector->vector);
  mlx5dv_devx_eq* queue = mlx5dv_devx_create_eq(context, in, sizeof in, out, sizeof out);
  check(queue != nullptr, "CREATE_EQ");
  if (queue != nullptr) check(mlx5dv_devx_destroy_eq(queue) == 0, "DESTROY_EQ");
  check(mlx5dv_devx_free_msi_vector(vector) == 0, "free_msi_vector");
  mlx5dv_devx_free_uar(uar);
}

}  // namespace

int main(int argc, char** argv) {
  ibv_context* context = openDevice(argc > 1 ? argv[1] : "0000:aa:00.0");
  if (context == nullptr) {
    std::fprintf(stderr, "devx_objects: the device can't be opened: %s\n", std::strerror(errno));
    return 1;
  }
  queryCapabilities(context);
  protectionDomain(context);
  memory(context);
  eventQueue(context);
  const int events = mlx5dv_vfio_get_events_fd(context);
  check(events >= 0, "get_events_fd");
  check(mlx5dv_vfio_process_events(context) == 0, "process_events");
  check(ibv_close_device(context) == 0, "close_device");
  if (failures == 0) std::printf("devx_objects: fine\n");
  return failures == 0 ? 0 : 1;
}
