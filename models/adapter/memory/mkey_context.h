// Memory key contexts: between their bytes and attributes.
#pragma once

#include "models/adapter/memory/mkey_attributes.h"
#include "models/base/byte_view.h"
#include "models/wire/memory_key_context.h"

namespace hca::adapter {

/// Of wire::MemoryKeyContext::kSize bytes. Translations are not part of the context.
[[nodiscard]] MkeyAttributes decodeMkeyContext(ByteView context);
void encodeMkeyContext(const MkeyAttributes& attributes, MutableByteView context);

/// Row `n` of a list of wire::KeyPieceSegment; a row of zero bytes is padding.
[[nodiscard]] KeyPiece decodeKeyPiece(ByteView list, std::size_t n);
/// Page `n` of a list of wire::TranslationEntry.
[[nodiscard]] BusAddress decodeTranslation(ByteView list, std::size_t n);

}  // namespace hca::adapter
