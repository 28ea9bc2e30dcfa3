// Rings of work queues as tools/cqe_dump shows them.
#include <gtest/gtest.h>

#include <string>

#include "tests/tools/dump/dump_run.h"

namespace hca::dump {
namespace {

using test::contains;
using test::run;

const std::string kNothing(128, '0');

// RDMA WRITE of two pieces at block 0xfffe (64 bytes), signaled and fenced by an initiator-small fence.
const std::string kWrite =
    "00fffe08 00001a04 00000028 00000000 00000000 00100000 00000abc 00000000\n"
    "00000040 00000111 00000000 00002000 00000080 00000222 00000000 00003000\n";
// SEND of 5 inline bytes at block 0xffff, solicited.
const std::string kInlineSend =
    "00ffff0a 00001a02 0000000a 00000000 80000005 68656c6c 6f000000 00000000\n"
    "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n";

TEST(SendQueueDump, NamesControlRemoteAndDataSegments) {
  const auto dumped = run({"--queue", "sq", "--index", "0xfffe"}, kWrite + kInlineSend);
  EXPECT_EQ(dumped.exitCode, 0) << dumped.error;
  for (const char* field :
       {"index 65534 slot 0: RDMA_WRITE, 64 bytes", "wqe_index: 65534", "qpn: 0x1a", "ds: 4", "fence: 1", "ce: 2",
        "se: no", "raddr: 0x100000", "rkey: 0xabc", "byte_count: 64", "lkey: 0x111", "addr: 0x2000", "lkey: 0x222",
        "index 65535 slot 1: SEND, 32 bytes", "se: yes", "byte_count: 5", "bytes: 68656c6c 6f"}) {
    EXPECT_TRUE(contains(dumped.out, field)) << field << "\n" << dumped.out;
  }
}

TEST(SendQueueDump, AnOlderPassIsNotPosted) {
  const auto dumped = run({"--queue", "sq", "--index", "0"}, kWrite + kInlineSend);
  EXPECT_TRUE(contains(dumped.out, "index 0 slot 0: not posted in this pass (its block index is 65534")) << dumped.out;
}

TEST(SendQueueDump, AWqeGoesOverTheEndOfTheRing) {
  // NOP of 5 units at block 3 of a ring of 4: its second block is slot 0.
  const std::string nop = "00000300 00001a05 00000008 00000000" + std::string(96, '0') + "\n";
  const std::string second = "000000ab 00000000 00000000 00000000" + std::string(96, '0') + "\n";
  const auto dumped = run({"--queue", "sq", "--index", "3"}, second + kNothing + "\n" + kNothing + "\n" + nop);
  EXPECT_TRUE(contains(dumped.out, "index 3 slot 3: NOP, 80 bytes")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "other_segments")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "000000ab")) << dumped.out;
  EXPECT_FALSE(contains(dumped.out, "index 4 ")) << dumped.out;
}

TEST(SendQueueDump, NamesAtomicOperands) {
  const auto dumped = run({"--queue", "sq"},
                          "00000011 00001a04 00000008 00000000 00000000 00200000 00000abc 00000000\n"
                          "00000000 00000007 00000000 00000009 00000008 00000111 00000000 00002000\n");
  EXPECT_TRUE(contains(dumped.out, "swap_add: 0x7\n      compare: 0x9")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "lkey: 0x111")) << dumped.out;
}

TEST(ReceiveQueueDump, ReadsUpToTheTerminator) {
  const std::string entry = "00000040 00000111 00000000 00002000 00000000 00000100 00000000 00000000\n";
  const auto dumped = run({"--queue", "rq", "--entry-size", "32"}, entry + entry);
  EXPECT_TRUE(contains(dumped.out, "index 1 slot 1: 2 segments")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "addr: 0x2000\n    end of the list")) << dumped.out;
}

TEST(ReceiveQueueDump, ASharedOneNamesTheNextEntry) {
  const auto dumped = run({"--queue", "srq", "--entry-size", "32"},
                          "00000003 00000000 00000000 00000000 00000040 00000111 00000000 00002000\n");
  EXPECT_TRUE(contains(dumped.out, "index 0 slot 0: next 3, 1 segments")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "byte_count: 64")) << dumped.out;
}

}  // namespace
}  // namespace hca::dump
