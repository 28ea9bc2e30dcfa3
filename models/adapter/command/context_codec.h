// Between the bytes of contexts and their decoded attributes.
#pragma once

#include "models/adapter/completion/cq_attributes.h"
#include "models/adapter/event/eq_attributes.h"
#include "models/adapter/receive_queue/srq_attributes.h"
#include "models/adapter/transport/qp_attributes.h"
#include "models/base/byte_view.h"
#include "models/wire/ethernet_commands.h"

namespace hca::adapter {

// Each `context` has at least the kSize bytes of its wire structure (models/wire/..._context.h). Decoding never fails:
// a value without a meaning is kept as it is, for the table to refuse. Page lists, translation entries and the event
// bitmap lie beside the context and are not touched; the page size and offset are.

[[nodiscard]] CqAttributes decodeCqContext(ByteView context);
void encodeCqContext(const CqAttributes& attributes, MutableByteView context);

[[nodiscard]] EqAttributes decodeEqContext(ByteView context);
void encodeEqContext(const EqAttributes& attributes, MutableByteView context);

/// An MTU code outside 1..5 decodes as 0 bytes.
[[nodiscard]] QpAttributes decodeQpContext(ByteView context);
void encodeQpContext(const QpAttributes& attributes, MutableByteView context);

/// A basic or XRC shared receive queue; `kind` stays to be set.
[[nodiscard]] SrqAttributes decodeSrqContext(ByteView context);
void encodeSrqContext(const SrqAttributes& attributes, MutableByteView context);

/// A receive memory pool: a shared receive queue of kind kMemoryPool.
[[nodiscard]] SrqAttributes decodeRmpContext(ByteView context);
void encodeRmpContext(const SrqAttributes& attributes, MutableByteView context);

/// A tag-matching queue: a shared receive queue of kind kTagMatching.
[[nodiscard]] SrqAttributes decodeXrqContext(ByteView context);
void encodeXrqContext(const SrqAttributes& attributes, MutableByteView context);

/// A send or receive queue of raw packets; which of the two, is for the caller to say.
[[nodiscard]] QpAttributes decodeEthernetQueueContext(ByteView context);
/// The state of a raw packet queue: one that failed by itself is in error, too.
[[nodiscard]] wire::WorkQueueState workQueueState(QpState state);
void encodeEthernetQueueContext(const QpAttributes& attributes, MutableByteView context);

}  // namespace hca::adapter
