#include "tools/dump/hex_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hca::dump {
namespace {

// The sample of every form: 0x10, 0x11, ... 0x2F.
std::vector<std::uint8_t> counting(std::size_t size = 32) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(0x10 + i);
  return bytes;
}

struct Sample {
  const char* name;
  const char* text;
};

class HexForms : public testing::TestWithParam<Sample> {};

TEST_P(HexForms, GiveTheSameBytes) {
  const HexResult read = readDump(GetParam().text);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.bytes, counting());
}

INSTANTIATE_TEST_SUITE_P(
    Samples, HexForms,
    testing::Values(
        Sample{"plain_bytes",
               "10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f\n20 21 22 23 24 25 26 27 28 29 2A 2B "
               "2c 2d 2e 2f\n"},
        Sample{"plain_run", "101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"},
        Sample{"commas",
               "0x10,0x11,0x12,0x13,0x14,0x15,0x16,0x17,0x18,0x19,0x1a,0x1b,0x1c,0x1d,0x1e,0x1f,\n"
               "0x20,0x21,0x22,0x23,0x24,0x25,0x26,0x27,0x28,0x29,0x2a,0x2b,0x2c,0x2d,0x2e,0x2f\n"},
        // libmlx5's dump_cqe: four words a line, most significant byte first.
        Sample{"libmlx5", "10111213 14151617 18191a1b 1c1d1e1f\n20212223 24252627 28292a2b 2c2d2e2f\n"},
        Sample{"three_bytes_first", "101112 131415 161718 191a1b 1c1d1e 1f2021 222324 252627 28292a 2b2c2d 2e2f"},
        Sample{"xxd",
               "00000000: 1011 1213 1415 1617 1819 1a1b 1c1d 1e1f  ................\n"
               "00000010: 2021 2223 2425 2627 2829 2a2b 2c2d 2e2f   !\"#$%&'()*+,-./\n"},
        Sample{"print_hex_dump",
               "[   12.500000] infiniband mlx5_0: dump 00000000: 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f\n"
               "[   12.500001] infiniband mlx5_0: dump 00000010: 20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d 2e 2f\n"},
        Sample{"hexdump_canonical",
               "00000000  10 11 12 13 14 15 16 17  18 19 1a 1b 1c 1d 1e 1f  |................|\n"
               "00000010  20 21 22 23 24 25 26 27  28 29 2a 2b 2c 2d 2e 2f  | !\"#$%&'()*+,-./|\n00000020\n"},
        Sample{"hexdump",
               "0000000 1110 1312 1514 1716 1918 1b1a 1d1c 1f1e\n"
               "0000010 2120 2322 2524 2726 2928 2b2a 2d2c 2f2e\n0000020\n"},
        Sample{"od_bytes",
               "0000000 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f\n"
               "0000020 20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d 2e 2f\n0000040\n"},
        Sample{"od_hex_addresses",
               "000000 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f\n"
               "000010 20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d 2e 2f\n000020\n"},
        Sample{"od_words_of_four",
               "0000000 13121110 17161514 1b1a1918 1f1e1d1c\n"
               "0000020 23222120 27262524 2b2a2928 2f2e2d2c\n0000040\n"},
        Sample{"od_octal",
               "0000000 010420 011422 012424 013426 014430 015432 016434 017436\n"
               "0000020 020440 021442 022444 023446 024450 025452 026454 027456\n0000040\n"}),
    [](const testing::TestParamInfo<Sample>& sample) { return std::string(sample.param.name); });

TEST(HexReader, AStarRepeatsALineUpToTheNextAddress) {
  const std::vector<std::uint8_t> zeros(64, 0);
  const std::string line = " 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00";
  EXPECT_EQ(readDump("00000000 " + line + "  |................|\n*\n00000040\n").bytes, zeros);
  EXPECT_EQ(readDump("0000000" + line + "\n*\n0000100\n").bytes, zeros) << "od counts in octal";
  EXPECT_EQ(readDump("0000000 0000 0000 0000 0000 0000 0000 0000 0000\n*\n0000040\n").bytes, zeros)
      << "hexdump does not";
}

TEST(HexReader, TakesBinaryAsItIs) {
  const std::string binary("\x00\x01\xff", 3);
  EXPECT_EQ(readDump(binary).bytes, (std::vector<std::uint8_t>{0, 1, 0xFF}));
}

TEST(HexReader, NamesTheLineOfWhatIsWrong) {
  EXPECT_EQ(readDump("00 01\n02 0g\n").error, "line 2: '0g' is no hexadecimal byte");
  EXPECT_EQ(readDump("00 01\n\n023\n").error, "line 3: '023' is no hexadecimal byte: odd number of digits");
  EXPECT_EQ(readDump("hello\n").error, "line 1: 'hello' is no hexadecimal byte");
  EXPECT_EQ(readDump("00000000: 0001\n00000010: 0203\n").error,
            "line 2: address 00000010 does not follow on the line before: bytes are missing or double");
  EXPECT_EQ(readDump("00000000: 0001\nnonsense\n").error, "line 2: no 'address: bytes' as in the lines before");
  EXPECT_EQ(readDump("*\n").error, "line 1: '*' with no line before it");
  EXPECT_EQ(readDump("00000000: 0001\n*\n00000003: 00\n").error,
            "line 3: the address behind a '*' is no whole number of lines further");
  EXPECT_EQ(readDump("00000000: 0001\n*\n").error,
            "line 2: the dump ends behind a '*': the line with the last address is missing");
  EXPECT_TRUE(readDump("00000000: 0001\n*\n").bytes.empty());
}

}  // namespace
}  // namespace hca::dump
