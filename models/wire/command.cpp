#include "models/wire/command.h"

namespace hca::wire {
namespace {

constexpr std::uint8_t kSignedSum = 0xFF;

ByteView controlPart(const MailboxBlock& block) {
  return bytesOf(block).subview(kMailboxDataSize, sizeof block - kMailboxDataSize - 1);
}

}  // namespace

std::uint8_t xor8(ByteView bytes) {
  std::uint8_t sum = 0;
  for (const std::uint8_t byte : bytes) sum = static_cast<std::uint8_t>(sum ^ byte);
  return sum;
}

void sign(CommandEntry& entry) {
  entry.signature = 0;
  entry.signature = static_cast<std::uint8_t>(~xor8(bytesOf(entry)));
}

bool isSigned(const CommandEntry& entry) { return xor8(bytesOf(entry)) == kSignedSum; }

void sign(MailboxBlock& block) {
  block.controlSignature = 0;
  block.controlSignature = static_cast<std::uint8_t>(~xor8(controlPart(block)));
  block.signature = 0;
  block.signature = static_cast<std::uint8_t>(~xor8(bytesOf(block)));
}

bool isSigned(const MailboxBlock& block) {
  return xor8(controlPart(block)) == kSignedSum && xor8(bytesOf(block)) == kSignedSum;
}

const char* name(DeliveryStatus status) {
  switch (status) {
    case DeliveryStatus::kOk:
      return "ok";
    case DeliveryStatus::kSignatureError:
      return "signature error";
    case DeliveryStatus::kTokenError:
      return "token error";
    case DeliveryStatus::kBadBlockNumber:
      return "bad block number";
    case DeliveryStatus::kOutputPointerAlignment:
      return "output pointer not aligned";
    case DeliveryStatus::kInputPointerAlignment:
      return "input pointer not aligned";
    case DeliveryStatus::kFirmwareError:
      return "adapter fault";
    case DeliveryStatus::kInputLengthError:
      return "input length error";
    case DeliveryStatus::kOutputLengthError:
      return "output length error";
    case DeliveryStatus::kReservedFieldNotClear:
      return "reserved field not clear";
    case DeliveryStatus::kBadDescriptorType:
      return "bad descriptor type";
  }
  return "unknown delivery status";
}

}  // namespace hca::wire
