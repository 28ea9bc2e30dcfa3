#include "models/adapter/event/eqe_builder.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <utility>

#include "models/base/byte_view.h"

namespace hca::adapter {
namespace {

using Bytes = std::array<std::uint8_t, 64>;

Bytes bytes(const EventRecord& event, bool owner = false) {
  const wire::Eqe eqe = buildEqe(event, owner);
  Bytes image{};
  std::copy(bytesOf(eqe).begin(), bytesOf(eqe).end(), image.begin());
  return image;
}

/// An entry that is zero but for these bytes.
Bytes only(std::initializer_list<std::pair<std::size_t, std::uint8_t>> set) {
  Bytes image{};
  for (const auto& [at, value] : set) image[at] = value;
  return image;
}

TEST(EqeBuilder, Completion) {
  EventRecord event;
  event.object = 0x123456;
  EXPECT_EQ(bytes(event, true), only({{0x39, 0x12}, {0x3A, 0x34}, {0x3B, 0x56}, {0x3F, 1}}));
}

TEST(EqeBuilder, CqError) {
  EventRecord event;
  event.type = EventType::kCqError;
  event.object = 0x123456;
  event.syndrome = 2;
  EXPECT_EQ(bytes(event), only({{0x01, 0x04}, {0x21, 0x12}, {0x22, 0x34}, {0x23, 0x56}, {0x2B, 2}}));
}

TEST(EqeBuilder, QueuePairEvents) {
  for (const auto type :
       {EventType::kPathMigrated, EventType::kCommunicationEstablished, EventType::kSqDrained,
        EventType::kWqCatastrophic, EventType::kPathMigrationFailed, EventType::kWqInvalidRequest,
        EventType::kWqAccessError, EventType::kSrqCatastrophic, EventType::kSrqLastWqe, EventType::kSrqLimit}) {
    EventRecord event;
    event.type = type;
    event.object = 0x00ABCD;
    EXPECT_EQ(bytes(event), only({{0x01, static_cast<std::uint8_t>(type)}, {0x3A, 0xAB}, {0x3B, 0xCD}}));
  }
}

TEST(EqeBuilder, Command) {
  EventRecord event;
  event.type = EventType::kCommand;
  event.value = 0x80000001;
  EXPECT_EQ(bytes(event), only({{0x01, 0x0A}, {0x20, 0x80}, {0x23, 0x01}}));
}

TEST(EqeBuilder, PageRequestIsSigned) {
  EventRecord event;
  event.type = EventType::kPageRequest;
  event.object = 0x0102;
  event.value = static_cast<std::uint64_t>(-2);
  EXPECT_EQ(bytes(event),
            only({{0x01, 0x0B}, {0x22, 0x01}, {0x23, 0x02}, {0x24, 0xFF}, {0x25, 0xFF}, {0x26, 0xFF}, {0x27, 0xFE}}));
}

TEST(EqeBuilder, PortChange) {
  EventRecord event;
  event.type = EventType::kPortChange;
  event.subType = 4;
  event.object = 2;
  EXPECT_EQ(bytes(event), only({{0x01, 0x09}, {0x03, 4}, {0x28, 0x20}}));
}

TEST(EqeBuilder, InternalErrorHasNoData) {
  EventRecord event;
  event.type = EventType::kInternalError;
  event.object = 7;
  EXPECT_EQ(bytes(event), only({{0x01, 0x08}}));
}

}  // namespace
}  // namespace hca::adapter
