// Rings of completion and event queues as tools/cqe_dump shows them. The bytes are assembled by hand.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/tools/dump/dump_run.h"

namespace hca::dump {
namespace {

using test::contains;
using test::run;

// Receive of an immediate on queue pair 0x4b, as in tests/models/wire/cqe_test.cpp; the last byte is left to the
// caller.
std::string receive(const std::string& validityAndOwner) {
  return "00000007 00000000 00000000 01020304 05810000 beef0003 120000d4 07300123\n"
         "00112233 cafebabe 01020003 00001000 01020304 05060708 0000004b abcd" +
         validityAndOwner + "\n";
}
const std::string kZeros32 = "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n";
/// Flushed send of queue pair 0x1a.
std::string flushed(const std::string& owner) {
  return kZeros32 + "00000005 00000000 00000000 00000000 00000000 0000f905 0a00001a 000300" + owner + "\n";
}
const std::string kInvalid = kZeros32 + "00000000 00000000 00000000 00000000 00000000 00000000 00000000 000000f0\n";
const std::string kResize = kZeros32 + "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000050\n";

TEST(CqeDump, NamesEveryFieldOfAnEntry) {
  const auto dumped = run({"--index", "1"}, receive("5a33"));
  EXPECT_EQ(dumped.exitCode, 0) << dumped.error;
  for (const char* field : {"index 1 slot 0: valid",
                            "tunnelled: 0x0",
                            "wqe_id: 7",
                            "coalescing: 00000000 00000000",
                            "rss_hash_result: 0x1020304",
                            "rss_hash_type: 0x5",
                            "ml_path: 0x81",
                            "check_sum: 0xbeef",
                            "slid: 0x3",
                            "rqpn: 0xd4",
                            "sl: 2",
                            "grh_in_buffer: yes",
                            "grh_in_cqe: no",
                            "hds_ip_ext: 0x7",
                            "l4_l3_hdr_type: 0x30",
                            "vlan_info: 0x123",
                            "srqn_uidx: 0x112233",
                            "lro_num_seg: 0",
                            "imm_inval_pkey: 0xcafebabe",
                            "app: 0x1",
                            "app_op: 0x2 (tag expected)",
                            "app_info: 0x3",
                            "byte_cnt: 4096",
                            "timestamp: 0x102030405060708",
                            "send_opcode: 0x0 (NOP)",
                            "qpn: 0x4b",
                            "wqe_counter: 43981",
                            "signature: 0x5a",
                            "opcode: 0x3 (responder SEND_IMM)",
                            "format: 0x0 (plain)",
                            "solicited: yes",
                            "owner: 1"}) {
    EXPECT_TRUE(contains(dumped.out, field)) << field << "\n" << dumped.out;
  }
}

TEST(CqeDump, NamesTheSyndromeOfAnError) {
  const auto dumped = run({}, flushed("d2"));
  for (const char* field :
       {"syndrome: 0x5 (work request flushed)", "vendor_err_synd: 0xf9", "hw_err_synd: 0x0", "srqn_uidx: 0x5",
        "qpn: 0x1a", "wqe_counter: 3", "send_opcode: 0xa (SEND)", "opcode: 0xd (requester error)"}) {
    EXPECT_TRUE(contains(dumped.out, field)) << field << "\n" << dumped.out;
  }
  EXPECT_FALSE(contains(dumped.out, "byte_cnt")) << "an error entry has none";
}

TEST(CqeDump, NamesTheFieldsOfASignatureError) {
  const auto dumped = run({},
                          "00000000 00000000 00000000 00000000 00000011 00000012 00000013 00000014\n"
                          "20000102 00000abc 00000000 00000200 00000000 00000000 00000033 000000c0\n");
  for (const char* field : {"expected_trans_sig: 0x11", "actual_reftag: 0x14", "syndrome: 0x2000", "mkey: 0xabc",
                            "err_offset: 0x200", "qpn: 0x33", "opcode: 0xc (signature error)"}) {
    EXPECT_TRUE(contains(dumped.out, field)) << field << "\n" << dumped.out;
  }
}

// The ring of two is in its second pass at slot 0 and in its first at slot 1: the consumer index says whose they are.
TEST(CqeDump, OwnershipDependsOnTheConsumerIndex) {
  const std::string ring = receive("0033") + flushed("d2");
  const auto before = run({"--brief", "--index", "1"}, ring);
  EXPECT_TRUE(contains(before.out, "index 1 slot 1: valid\n  requester error qp 0x1a")) << before.out;
  EXPECT_TRUE(contains(before.out, "index 2 slot 0: valid\n  responder SEND_IMM qp 0x4b")) << before.out;
  const auto after = run({"--brief", "--index", "3"}, ring);
  EXPECT_TRUE(contains(after.out, "index 3 slot 1: the adapter's: owner bit 0 is of another pass")) << after.out;
  const auto wrapped = run({"--brief", "--index", "0xffffff"}, ring);
  EXPECT_TRUE(contains(wrapped.out, "index 16777215 slot 1: the adapter's")) << wrapped.out;
  EXPECT_TRUE(contains(wrapped.out, "index 16777216 slot 0: the adapter's")) << "owner 0 in that pass " << wrapped.out;
}

TEST(CqeDump, TellsInvalidAndResizeEntries) {
  const auto dumped = run({}, kResize + kInvalid);
  EXPECT_TRUE(contains(dumped.out, "opcode: 0x5 (resize)")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "index 1 slot 1: the adapter's: opcode invalid\n")) << dumped.out;
}

TEST(CqeDump, ShowsTheInlineDataOfANarrowEntry) {
  const auto dumped = run({},
                          "61626364 00000000 00000000 00000000 00000000 00000000 00000000 000000ff\n"
                          "00000001 00000000 00000000 00000004 00000000 00000000 0000004b 00010024\n");
  EXPECT_TRUE(contains(dumped.out, "inline_data: 61626364 00000000")) << dumped.out;
  EXPECT_FALSE(contains(dumped.out, "rqpn")) << "the data are where it would be";
}

TEST(CqeDump, ShowsBothHalvesOfAWideEntry) {
  const auto dumped =
      run({"--entry-size", "128"},
          "71727374 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n" + kZeros32 + receive("0038"));
  EXPECT_TRUE(contains(dumped.out, "inline_data: 71727374")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "format: 0x2 (inline 64)")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "rqpn: 0xd4")) << dumped.out;
}

/// Title of three receives, count in the byte count, then one array; the fourth slot is a hole with old content.
std::string basicSession() {
  return "00000000 00000000 00000000 00000000 00000000 00000000 000000d4 00000000\n"
         "00000005 00000000 00000000 00000003 00000000 00000009 0000004b fffe002c\n"
         "00aa0000 00000040 00bb0000 00000041 00cc0000 00000042 00000000 00000000\n" +
         kZeros32 + receive("0030") + kInvalid;
}

TEST(CqeDump, ExpandsTheBasicLayout) {
  const auto dumped = run({"--layout", "basic", "--mini-format", "checksum"}, basicSession());
  EXPECT_TRUE(contains(dumped.out, "index 0 slot 0: valid: title of a compressed session of 3")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "index 2 slot 2: restored from mini CQE 2 of slot 1")) << dumped.out;
  for (const char* field : {"check_sum: 0xaa", "check_sum: 0xbb", "check_sum: 0xcc", "byte_cnt: 64", "byte_cnt: 65",
                            "byte_cnt: 66", "wqe_counter: 65534", "wqe_counter: 65535", "wqe_counter: 0\n"}) {
    EXPECT_TRUE(contains(dumped.out, field)) << field << "\n" << dumped.out;
  }
  EXPECT_TRUE(contains(dumped.out, "index 3 slot 3: the adapter's: opcode invalid")) << dumped.out;
  EXPECT_FALSE(contains(dumped.out, "beef")) << "a hole's old content is nobody's";
  EXPECT_TRUE(contains(run({}, basicSession()).out, "say which layout with --layout"));
}

TEST(CqeDump, CountsTheStridesOfAStridingQueue) {
  std::string session = basicSession();
  const std::string packets = "00aa0000 00000040 00bb0000 00000041 00cc0000 00000042";
  session.replace(session.find(packets), packets.size(), "00aa0000 00030040 00bb0000 00020041 00cc0000 80050000");
  const auto dumped = run({"--layout", "basic", "--mini-format", "checksum", "--striding"}, session);
  for (const char* field : {"wqe_counter: 65534", "wqe_counter: 1\n", "wqe_counter: 3\n", "packet_length: 64",
                            "consumed_strides: 3", "packet_length: 65", "consumed_strides: 5\n    filler: yes"}) {
    EXPECT_TRUE(contains(dumped.out, field)) << field << "\n" << dumped.out;
  }
}

TEST(CqeDump, SaysWhenATitleCanNotBe) {
  std::string damaged = basicSession();
  damaged.replace(damaged.find("00000003"), 8, "00000005");
  const auto dumped = run({"--layout", "basic"}, damaged);
  EXPECT_TRUE(contains(dumped.out, "title of 5 completions, of which the ring has no room: damaged")) << dumped.out;
}

/// The 257th pass: the validity byte is 0 again. A plain title, a block of two requester's minis, a hole, an old entry.
std::string enhancedSession() {
  return "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
         "00000005 00000000 00000000 00000000 00000000 00000009 0a00004b 00070000\n"
         "00080800 00000000 00091000 00000020 00000000 00000000 00000000 00000000\n"
         "00000000 00000000 00000000 00000000 00000000 00000000 00000000 0000001c\n" +
         receive("ff30") + receive("ff30");
}

TEST(CqeDump, ExpandsTheEnhancedLayout) {
  const auto dumped = run({"--layout", "enhanced", "--index", "1024"}, enhancedSession());
  EXPECT_TRUE(contains(dumped.out, "index 1024 slot 0: valid\n  requester SEND qp 0x4b counter 7")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "index 1025 slot 1: valid: compressed block of 2")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "requester RDMA_WRITE qp 0x4b counter 8")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "requester RDMA_READ qp 0x4b counter 9 bytes 32")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "index 1027 slot 3: the adapter's: validity byte 255, this pass has 0"))
      << dumped.out;
  EXPECT_FALSE(contains(dumped.out, "beef")) << dumped.out;
  const auto behindTitle = run({"--layout", "enhanced", "--index", "1025"}, enhancedSession());
  EXPECT_TRUE(contains(behindTitle.out, "its title was consumed")) << behindTitle.out;
}

TEST(CqeDump, ReadsAnEventQueue) {
  const std::string cqError =
      "00040000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
      "00000007 00000000 00000001 00000000 00000000 00000000 00000000 00000000\n";
  const std::string completion = kZeros32 + "00000000 00000000 00000000 00000000 00000000 00000000 00000005 00000001\n";
  const auto dumped = run({"--queue", "eq"}, cqError + completion);
  for (const char* field : {"index 0 slot 0: valid", "type: 0x4 (CQ error)", "cqn: 0x7", "syndrome: 0x1 (overrun)",
                            "index 1 slot 1: the adapter's; last in it: completion cq 0x5"}) {
    EXPECT_TRUE(contains(dumped.out, field)) << field << "\n" << dumped.out;
  }
  const auto later = run({"--queue", "eq", "--index", "3"}, cqError + completion);
  EXPECT_TRUE(contains(later.out, "index 3 slot 1: valid\n  completion cq 0x5")) << later.out;
  EXPECT_TRUE(contains(later.out, "cqn: 0x5")) << later.out;
}

TEST(CqeDump, AQueueEventNamesItsObject) {
  const auto dumped = run({"--queue", "eq"},
                          "00130000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
                          "00000000 00000000 00000000 00000000 00000000 01000000 00000044 00000000\n");
  EXPECT_TRUE(contains(dumped.out, "type: 0x13 (SRQ last WQE)")) << dumped.out;
  EXPECT_TRUE(contains(dumped.out, "queue_type: 1\n    qp_srq_n: 0x44")) << dumped.out;
}

TEST(CqeDump, PartOfARingIsEnoughIfItsSizeIsGiven) {
  const auto dumped = run({"--entries", "4", "--brief"}, flushed("d2") + kInvalid + kInvalid);
  EXPECT_TRUE(contains(dumped.out, "index 3 slot 3: not in the dump")) << dumped.out;
  const auto unknown = run({}, flushed("d2") + kInvalid + kInvalid);
  EXPECT_EQ(unknown.exitCode, 2);
  EXPECT_TRUE(contains(unknown.error, "say how many with --entries")) << unknown.error;
}

TEST(CqeDump, ReadsFiles) {
  const std::string path = testing::TempDir() + "hcasim_cqe_dump_test." + std::to_string(getpid()) + ".hex";
  std::ofstream(path) << flushed("d2");
  EXPECT_TRUE(contains(run({path, "--brief"}, "").out, "work request flushed"));
  std::remove(path.c_str());
  EXPECT_TRUE(contains(run({path}, "").error, path + ": can't be opened"));
}

struct Bad {
  std::vector<std::string> arguments;
  const char* error;
};

TEST(CqeDump, RefusesBadInput) {
  const Bad kCases[] = {
      {{"--queue", "xq"}, "--queue: 'xq' is none of cq, eq, sq, rq, srq"},
      {{"--index", "1x"}, "--index: '1x' is no number of 32 bits"},
      {{"--index"}, "--index needs a value"},
      {{"--entries", "3"}, "--entries: 3 is no power of two"},
      {{"--entry-size", "96"}, "--entry-size: such a queue has no entries of 96 bytes"},
      {{"--queue", "eq", "--entry-size", "128"}, "--entry-size: such a queue has no entries of 128 bytes"},
      {{"--entry-size", "128", "--layout", "basic"}, "--layout: entries of 128 bytes are not compressed"},
      {{"--colour", "red"}, "unknown option --colour"},
      {{"a", "b"}, "one file at a time"},
      {{}, "standard input: 2 bytes are no whole number of entries of 64 bytes"},
  };
  for (const Bad& bad : kCases) {
    const auto dumped = run(bad.arguments, "00 00");
    EXPECT_EQ(dumped.exitCode, 2) << bad.error;
    EXPECT_TRUE(contains(dumped.error, bad.error)) << dumped.error;
    EXPECT_EQ(dumped.out, "");
  }
  EXPECT_TRUE(contains(run({}, "").error, "standard input: no bytes in it"));
  EXPECT_TRUE(contains(run({}, "00\nzz\n").error, "standard input: line 2: 'zz' is no hexadecimal byte"));
  EXPECT_EQ(run({"--help"}, "").exitCode, 0);
}

}  // namespace
}  // namespace hca::dump
