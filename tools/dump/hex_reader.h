// Bytes out of a dump.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hca::dump {

/// What was read, or what is wrong with it: `error` is then "line N: ..." (no line for a binary input) and `bytes` is
/// empty.
struct HexResult {
  std::vector<std::uint8_t> bytes;
  std::string error;
};

/// The bytes that `text` stands for. The form is recognised by the first line:
/// - plain hexadecimal: bytes or words most significant byte first, blanks, commas and 0x as one likes (also the four
///   words a line that libmlx5 writes to its debug file);
/// - xxd, and the kernel's print_hex_dump: `00000000: 0011 2233 ...  text`;
/// - hexdump -C: `00000000  00 11 ...  |text|`;
/// - hexdump and od: an address of six or seven digits, then bytes (od -t x1) or words of 2, 4 or 8 bytes in the byte
///   order of this machine (hexdump, od -x, od -t x4); od's default, octal words, too.
/// A line `*` repeats the line before it up to the next address. Addresses must follow on each other.
/// Input with a byte that no text has is taken as it is.
[[nodiscard]] HexResult readDump(std::string_view text);

}  // namespace hca::dump
