// Commands for objects, on an adapter that was brought up.
#pragma once

#include <vector>

#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {

class ObjectCommandsTest : public CommandFixture {
 protected:
  ObjectCommandsTest() {
    bringUp();
    pd_ = allocate(wire::CommandOpcode::kAllocPd);
    uar_ = allocate(wire::CommandOpcode::kAllocUar);
  }

  std::vector<std::uint8_t> mkeyInput(std::size_t pages) {
    auto input = makeInput(wire::CommandOpcode::kCreateMemoryKey, 0x110 + (pages + 1) / 2 * 16);
    using Context = wire::MemoryKeyContext;
    const MutableByteView context = wire::CreateMemoryKeyInput::Context::mutableView(input);
    Context::AccessModeLow::set(context, 1);
    Context::LocalRead::set(context, true);
    Context::RemoteWrite::set(context, true);
    Context::Qp::set(context, Context::kAnyQp);
    Context::Variant::set(context, 0x77);
    Context::ProtectionDomain::set(context, pd_);
    Context::StartAddress::set(context, 0x7F00'0000'0100);
    Context::Length::set(context, pages * 4096 - 0x100);
    Context::LogPageSize::set(context, 12);
    wire::CreateMemoryKeyInput::TranslationOctwords::set(input, static_cast<std::uint32_t>((pages + 1) / 2));
    for (std::size_t n = 0; n < pages; ++n) {
      wire::CreateMemoryKeyInput::Translations::set(input, n, 0x4000'0000 + n * 0x10000 + 3);  // rights in low bits
    }
    return input;
  }
  std::vector<std::uint8_t> cqInput(std::uint32_t eq) {
    auto input = makeInput(wire::CommandOpcode::kCreateCq, 0x118);
    const MutableByteView context = wire::CreateCqInput::Context::mutableView(input);
    wire::CompletionQueueContext::LogSize::set(context, 5);
    wire::CompletionQueueContext::UarPage::set(context, uar_);
    wire::CompletionQueueContext::EventQueue::set(context, eq);
    wire::CompletionQueueContext::PageOffset::set(context, 8);
    wire::CompletionQueueContext::DoorbellRecord::set(context, 0x5008);
    wire::CreateCqInput::Pages::set(input, 0, 0x9000);
    return input;
  }
  std::vector<std::uint8_t> qpInput() {
    auto input = makeInput(wire::CommandOpcode::kCreateQp, 0x120);
    const MutableByteView context = wire::CreateQpInput::Context::mutableView(input);
    wire::QueuePairContext::ProtectionDomain::set(context, pd_);
    wire::QueuePairContext::UarPage::set(context, uar_);
    wire::QueuePairContext::LogSendQueueSize::set(context, 6);
    wire::QueuePairContext::LogReceiveQueueSize::set(context, 4);
    wire::QueuePairContext::SendCq::set(context, 0x80);
    wire::QueuePairContext::ReceiveCq::set(context, 0x81);
    wire::CreateQpInput::Pages::set(input, 0, 0xA000);
    wire::CreateQpInput::Pages::set(input, 1, 0xB000);
    return input;
  }

  std::uint32_t pd_ = 0;
  std::uint32_t uar_ = 0;
};

}  // namespace hca::adapter::test
