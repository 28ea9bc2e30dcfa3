#include "sim/cosim/uverbs/ioctl_request.h"

#include <algorithm>
#include <cerrno>

namespace hca::cosim {
namespace {

// Longest single attribute: a list of steering rules or a table of GIDs is far below.
constexpr std::size_t kLongest = 65535;

template <class Struct>
MutableByteView mutableBytesOf(Struct& object) {
  return {reinterpret_cast<std::uint8_t*>(&object), sizeof object};
}

}  // namespace

int IoctlRequest::read(ProgramMemory& memory, std::uint64_t address) {
  memory_ = &memory;
  address_ = address;
  if (!memory.copyIn(address, mutableBytesOf(header_))) return EFAULT;
  if (header_.reserved1 != 0 || header_.reserved2 != 0) return EPROTONOSUPPORT;
  const std::size_t wanted = sizeof header_ + header_.attributes * sizeof(ib_uverbs_attr);
  if (header_.attributes > kMostAttributes || header_.length != wanted) return EINVAL;
  attributes_.resize(header_.attributes);
  if (attributes_.empty()) return 0;
  auto* raw = reinterpret_cast<std::uint8_t*>(attributes_.data());
  return memory.copyIn(address + sizeof header_, {raw, attributes_.size() * sizeof(ib_uverbs_attr)}) ? 0 : EFAULT;
}

const ib_uverbs_attr* IoctlRequest::find(unsigned id) const {
  const auto at = std::find_if(attributes_.begin(), attributes_.end(),
                               [id](const ib_uverbs_attr& attribute) { return attribute.attr_id == id; });
  return at == attributes_.end() ? nullptr : &*at;
}

bool IoctlRequest::hasUnknown(const std::vector<unsigned>& known) const {
  return std::any_of(attributes_.begin(), attributes_.end(), [&](const ib_uverbs_attr& attribute) {
    const bool mustBeKnown = (attribute.flags & UVERBS_ATTR_F_MANDATORY) != 0;
    return mustBeKnown && std::find(known.begin(), known.end(), attribute.attr_id) == known.end();
  });
}

std::optional<std::uint64_t> IoctlRequest::number(unsigned id) const {
  const ib_uverbs_attr* attribute = find(id);
  if (attribute == nullptr) return std::nullopt;
  return std::uint64_t{attribute->data};
}

std::vector<std::uint8_t> IoctlRequest::bytes(unsigned id) const {
  const ib_uverbs_attr* attribute = find(id);
  if (attribute == nullptr || attribute->len == 0) return {};
  std::vector<std::uint8_t> data(attribute->len);
  if (attribute->len <= kInline) {
    const std::uint64_t value = attribute->data;
    std::memcpy(data.data(), &value, data.size());
    return data;
  }
  if (!memory_->copyIn(attribute->data, data)) return {};
  return data;
}

std::size_t IoctlRequest::room(unsigned id) const {
  const ib_uverbs_attr* attribute = find(id);
  return attribute == nullptr ? 0 : std::min<std::size_t>(attribute->len, kLongest);
}

bool IoctlRequest::writeBack(const ib_uverbs_attr& attribute) {
  const auto place = static_cast<std::size_t>(&attribute - attributes_.data());
  return memory_->copyOut(address_ + sizeof header_ + place * sizeof attribute, bytesOf(attribute));
}

bool IoctlRequest::answer(unsigned id, ByteView bytes) {
  const ib_uverbs_attr* attribute = find(id);
  if (attribute == nullptr) return true;
  const std::size_t length = std::min<std::size_t>(attribute->len, bytes.size());
  if (length != 0 && !memory_->copyOut(attribute->data, bytes.subview(0, length))) return false;
  ib_uverbs_attr& changed = attributes_[static_cast<std::size_t>(attribute - attributes_.data())];
  changed.flags |= UVERBS_ATTR_F_VALID_OUTPUT;
  return writeBack(changed);
}

bool IoctlRequest::answerInline(unsigned id, std::uint64_t value) {
  const ib_uverbs_attr* attribute = find(id);
  if (attribute == nullptr) return false;
  ib_uverbs_attr& changed = attributes_[static_cast<std::size_t>(attribute - attributes_.data())];
  changed.data = value;
  return writeBack(changed);
}

}  // namespace hca::cosim
