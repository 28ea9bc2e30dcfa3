// How work requests and packets change memory keys.
#pragma once

#include <cstdint>

#include "models/base/byte_view.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// Why a key stays as it is.
enum class KeyFault : std::uint8_t {
  kNone,
  kUnknownKey,    ///< no such index, or a valid key with another variant byte
  kNotUpdatable,  ///< its context doesn't allow it: umr_en, or en_rinval for a peer's request
  kWrongPd,
  kWrongQp,     ///< bound to another queue pair, or to be bound to one
  kWrongState,  ///< free where it must not be, or the reverse
  kInUse,       ///< other keys are made of it
  kTooLong,     ///< more translations than it has room for
  kBadPiece,    ///< names a key that is unknown, free, of another domain or queue pair, or one too deep
  kOutOfRange,  ///< the translations don't cover it, or a piece leaves its key
  kDenied,      ///< would give a right that a piece's key lacks
};

/// A UMR: sets fields of a key's context and replaces translations. A window is bound and unbound this way.
struct KeyUpdate {
  MemoryKey key;  ///< of a free key the variant byte means nothing
  PdNumber pd;    ///< of the queue pair
  QpNumber qp;
  bool isPrivileged = false;  ///< of the driver's queue pair: the key may be of any domain, and may change it
  bool mustBeFree = false;
  bool mustBeValid = false;
  bool mustBeOwn = false;    ///< bound to this very queue pair
  std::uint64_t mask = 0;    ///< wire::key_mask: the fields that change
  ByteView context;          ///< wire::MemoryKeyContext
  ByteView translations;     ///< what replaces the key's, in the form of its mode; a multiple of 16 bytes
  bool partial = false;      ///< pages outside of `translations`, or pieces before `offset`, stay
  std::uint64_t offset = 0;  ///< where `translations` go, in 16-byte units
};

/// Frees a key: nothing is reached by it until an update makes it valid again.
struct KeyInvalidation {
  MemoryKey key;
  PdNumber pd;
  QpNumber qp;
  bool remote = false;  ///< a peer asks for it
};

class MemoryKeyPort {
 public:
  /// Takes effect at once or, with a fault, not at all.
  virtual KeyFault update(const KeyUpdate& update) = 0;
  virtual KeyFault invalidate(const KeyInvalidation& request) = 0;

 protected:
  ~MemoryKeyPort() = default;
};

}  // namespace hca::adapter
