// Memory keys: protection check and translation.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/command/command_result.h"
#include "models/adapter/memory/cache_port.h"
#include "models/adapter/memory/device_memory.h"
#include "models/adapter/memory/index_allocator.h"
#include "models/adapter/memory/memory_config.h"
#include "models/adapter/memory/memory_key_port.h"
#include "models/adapter/memory/mkey_attributes.h"
#include "models/adapter/memory/number_table.h"
#include "models/adapter/memory/translator.h"

namespace hca::adapter {

/// Index part of a key; the low byte of the key is the variant that software chose.
using MkeyIndex = Id<struct MkeyIndexTag>;  ///< 24 bits
[[nodiscard]] constexpr MkeyIndex indexOf(MemoryKey key) { return MkeyIndex(key.value() >> 8); }
[[nodiscard]] constexpr MemoryKey makeKey(MkeyIndex index, std::uint8_t variant) {
  return MemoryKey((index.value() << 8) | variant);
}
[[nodiscard]] constexpr std::uint8_t variantOf(MemoryKey key) { return static_cast<std::uint8_t>(key.value()); }

/// The keys below this index are never handed out: key 0x100 ends a scatter list (public mlx5dv.h,
/// MLX5_INVALID_LKEY), and a zero key must match nothing.
constexpr std::uint32_t kFirstMkeyIndex = 16;

/// All memory keys of one adapter. SystemC-free; acts at once.
class MkeyTable final : public Translator, public MemoryKeyPort {
 public:
  /// Keys hold their protection domain in `pds`. All references outlive the table.
  MkeyTable(const MemoryConfig& config, PdTable& pds, CachePort& cache);

  /// Keys may be of this memory; without it none is.
  void connect(DeviceMemory& memory) { deviceMemory_ = &memory; }

  /// Checks mode, protection domain, range and pages; `index` is set on success. The key's variant byte is
  /// `attributes.variant`.
  CommandResult create(const MkeyAttributes& attributes, MkeyIndex& index);
  /// kResourceBusy while other keys are made of it (bound windows).
  CommandResult destroy(MkeyIndex index);
  CommandResult query(MkeyIndex index, MkeyAttributes& attributes) const;

  Translation translate(const AccessRequest& request, std::vector<Segment>& segments) override;

  KeyFault update(const KeyUpdate& update) override;
  KeyFault invalidate(const KeyInvalidation& request) override;

  /// Live keys.
  [[nodiscard]] std::uint32_t size() const { return live_; }
  /// No key exists, as at construction. The protection domains must be reset with it.
  void reset();

 private:
  struct Entry {
    bool live = false;
    std::uint8_t rights = 0;  // bit n: enumerator n of Access
    MkeyAttributes attributes;
    std::uint32_t users = 0;  // pieces of other keys that are of this one
  };

  [[nodiscard]] CommandResult check(const MkeyAttributes& attributes) const;
  [[nodiscard]] CommandResult checkPages(const MkeyAttributes& attributes) const;
  [[nodiscard]] CommandResult checkDeviceMemory(const MkeyAttributes& attributes) const;
  [[nodiscard]] const Entry* find(MkeyIndex index) const;
  [[nodiscard]] Entry* find(MkeyIndex index) {
    return const_cast<Entry*>(static_cast<const MkeyTable*>(this)->find(index));
  }
  void appendPieces(const MkeyAttributes& attributes, const AccessRequest& request, std::vector<Segment>& segments,
                    Translation& result);
  [[nodiscard]] static std::uint8_t rightsMask(const AccessRights& rights);
  [[nodiscard]] static AccessFault examine(const Entry& entry, const AccessRequest& request);
  [[nodiscard]] static bool inRange(const MkeyAttributes& attributes, std::uint64_t address, std::uint64_t length);
  static void appendPhysical(const AccessRequest& request, std::vector<Segment>& segments);
  void appendTranslated(const Entry& entry, const AccessRequest& request, std::vector<Segment>& segments);

  // Work requests.
  [[nodiscard]] static KeyFault admit(const Entry* entry, const KeyUpdate& update);
  [[nodiscard]] KeyFault applyFields(const KeyUpdate& update, MkeyAttributes& attributes) const;
  [[nodiscard]] KeyFault applyTranslations(const KeyUpdate& update, MkeyAttributes& attributes) const;
  [[nodiscard]] KeyFault checkPieces(const MkeyAttributes& attributes, QpNumber qp) const;
  [[nodiscard]] KeyFault checkPiece(const MkeyAttributes& whole, const KeyPiece& piece, QpNumber qp) const;
  [[nodiscard]] unsigned levelsOf(const MkeyAttributes& attributes) const;
  void replace(Entry& entry, MkeyAttributes attributes);
  void use(const std::vector<KeyPiece>& pieces);
  void unuse(const std::vector<KeyPiece>& pieces);

  MemoryConfig config_;
  PdTable& pds_;
  CachePort& cache_;
  DeviceMemory* deviceMemory_ = nullptr;
  IndexAllocator indices_;
  std::vector<Entry> entries_;  // by index - kFirstMkeyIndex
  std::uint32_t live_ = 0;
};

}  // namespace hca::adapter
