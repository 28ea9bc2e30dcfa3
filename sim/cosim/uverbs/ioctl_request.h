// One ioctl of the verbs device, as its attributes.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/byte_view.h"
#include "sim/cosim/program_memory.h"

namespace hca::cosim {

/// Linux include/uapi/rdma/rdma_user_ioctl_cmds.h: a header and attributes, whose data of up to eight bytes are inline.
/// Everything comes from a program and is taken for what it is: bytes that may be wrong.
class IoctlRequest {
 public:
  /// 0, or the errno with which the kernel refuses what lies at `address`.
  int read(ProgramMemory& memory, std::uint64_t address);

  [[nodiscard]] unsigned object() const { return header_.object; }
  [[nodiscard]] unsigned method() const { return header_.method; }
  [[nodiscard]] bool has(unsigned id) const { return find(id) != nullptr; }
  /// An attribute that must be understood and isn't in `known`.
  [[nodiscard]] bool hasUnknown(const std::vector<unsigned>& known) const;

  /// An inline number, an object's handle or a descriptor; nothing if it isn't there.
  [[nodiscard]] std::optional<std::uint64_t> number(unsigned id) const;
  /// What the program handed over, inline or by its address; empty if it isn't there or can't be read.
  [[nodiscard]] std::vector<std::uint8_t> bytes(unsigned id) const;
  /// Bytes that the program has room for.
  [[nodiscard]] std::size_t room(unsigned id) const;
  /// Answers up to `room` bytes; false if the program's memory refused. Nobody asked: true.
  bool answer(unsigned id, ByteView bytes);
  /// Answers in the attribute itself: a new object's handle or descriptor.
  bool answerInline(unsigned id, std::uint64_t value);

 private:
  static constexpr std::size_t kMostAttributes = 64;
  static constexpr std::size_t kInline = 8;
  [[nodiscard]] const ib_uverbs_attr* find(unsigned id) const;
  bool writeBack(const ib_uverbs_attr& attribute);

  ProgramMemory* memory_ = nullptr;
  std::uint64_t address_ = 0;
  /// ib_uverbs_ioctl_hdr without the attributes behind it.
  struct Header {
    std::uint16_t length, object, method, attributes;
    std::uint64_t reserved1;
    std::uint32_t driver, reserved2;
  };
  static_assert(sizeof(Header) == sizeof(ib_uverbs_ioctl_hdr));
  Header header_{};
  std::vector<ib_uverbs_attr> attributes_;
};

}  // namespace hca::cosim
