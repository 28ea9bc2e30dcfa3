// The bytes of a completion queue entry.
#pragma once

#include <cstdint>

#include "models/adapter/completion/completion_port.h"
#include "models/adapter/completion/cq_attributes.h"
#include "models/base/byte_view.h"
#include "models/wire/cqe.h"

namespace hca::adapter {

/// What is written of one entry: `length` bytes from `offset` into the entry on. The owner byte is always the last.
struct CqeImage {
  wire::WideCqe wide;  ///< the second half alone counts where `length` is 64
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  [[nodiscard]] ByteView view() const { return bytesOf(wide).subview(sizeof wide - length, length); }
};

/// Bytes from one entry to the next.
constexpr std::uint32_t strideBytes(CqeStride stride) {
  if (stride == CqeStride::k32) return wire::kShortCqeSize;
  return stride == CqeStride::k64 ? 64 : 128;
}

/// Builds the entries of one queue.
///
/// With a stride of 128 the 64-byte CQE proper is the entry's second half. The first half is written only when it has
/// something to carry (inline data of more than 32 bytes), or always if the entries are padded.
/// Of a stride of 32 the second half of the CQE is all there is.
///
/// The signature byte is 0, because signatures are not modelled; in queues of the enhanced compression layout it holds
/// the number of the pass, by which software tells new entries from old ones.
///
/// After an error the work request, its status, the vendor error and the queue pair are defined (ibv_poll_cq(3)): user
/// index, WQE counter, opcodes, syndromes and queue pair number of the entry. All else is filled as asked for.
class CqeBuilder {
 public:
  /// What fills the undefined fields of an error entry on demand.
  static constexpr std::uint8_t kPoison = 0xA5;

  CqeBuilder(CqeStride stride, unsigned logSize, bool withValidity = false, bool poison = false)
      : stride_(stride), logSize_(logSize), withValidity_(withValidity), filling_(poison ? kPoison : 0) {}

  /// The entry with free-running number `index`; `timestamp` in ticks of the adapter's time stamp clock.
  /// Inline data: up to 32 bytes in any entry, up to 64 with a stride of 128.
  void build(const CompletionRecord& record, std::uint64_t index, std::uint64_t timestamp, CqeImage& image) const;

  /// Makes the entry the title of a block of `count` completions in the basic compression layout.
  static void makeTitle(std::uint32_t count, CqeImage& image);

  /// Whether the entry counts as solicited: a responder's completion of a message with the SE bit, or any error.
  [[nodiscard]] static bool isSolicited(const CompletionRecord& record);

 private:
  CqeStride stride_;
  unsigned logSize_;
  bool withValidity_;
  std::uint8_t filling_;  // of what an error entry leaves undefined
};

/// Whether entries of the queue are valid by the pass in their signature byte: the enhanced compression layout.
[[nodiscard]] constexpr bool usesValidity(const CqAttributes& attributes) {
  return attributes.compression && attributes.compressionLayout != 0;
}

}  // namespace hca::adapter
