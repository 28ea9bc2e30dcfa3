#include "models/wire/decode_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "models/wire/command_fields.h"

namespace hca::wire {
namespace {

using Bytes = std::vector<std::uint8_t>;
/// Byte offset and the dword there, as the public headers lay them out: nothing of the project's own layout is used.
using Dwords = std::initializer_list<std::pair<std::size_t, std::uint32_t>>;

Bytes assemble(std::size_t size, Dwords dwords) {
  Bytes bytes(size);
  for (const auto& [offset, value] : dwords) {
    for (unsigned i = 0; i < 4; ++i) bytes.at(offset + i) = static_cast<std::uint8_t>(value >> (24 - 8 * i));
  }
  return bytes;
}

std::string inputText(std::size_t size, Dwords dwords) {
  return fieldsText(decodeCommandInput(assemble(size, dwords)));
}

std::string outputText(std::uint32_t opcode, std::size_t size, Dwords dwords) {
  return fieldsText(decodeCommandOutput(assemble(16, {{0, opcode << 16}}), assemble(size, dwords)));
}

TEST(DecodeCommand, PagesAreSummarised) {
  EXPECT_EQ(inputText(0x28, {{0, 0x01080000}, {4, 1}, {0xC, 3}, {0x14, 0x1000}, {0x1C, 0x3000}, {0x24, 0x9000}}),
            " op_mod=1 input_num_entries=3 pas=[3: 0x1000 .. 0x9000]");
  EXPECT_EQ(outputText(0x108, 0x40, {{8, 1}, {0x10, 1}, {0x14, 0x1000}}), " output_num_entries=1 pas=[1: 0x100001000]")
      << "room that isn't used is no page";
  EXPECT_EQ(outputText(0x107, 16, {{0xC, 0xFFFFFFF6}}), " num_pages=-10");
}

TEST(DecodeCommand, NumbersOfObjects) {
  EXPECT_EQ(outputText(0x800, 16, {{8, 0x12}}), " pd=0x12");
  EXPECT_EQ(inputText(16, {{0, 0x08010000}, {8, 0x12}}), " pd=0x12");
  EXPECT_EQ(outputText(0x802, 16, {{8, 0x40}}), " uar=0x40");
  EXPECT_EQ(outputText(0x80E, 16, {{8, 7}}), " xrcd=7");
  EXPECT_EQ(outputText(0x816, 16, {{8, 3}}), " transport_domain=3");
  EXPECT_EQ(outputText(0x301, 16, {{8, 5}}), " eq_number=5");
  EXPECT_EQ(inputText(16, {{0, 0x05010000}, {8, 0}}), " qpn=0") << "a number is told even if it is zero";
}

TEST(DecodeCommand, MemoryKey) {
  EXPECT_EQ(inputText(0x120, {{0, 0x02000000},
                              {0x10, 0x00003D00},  // rw, rr, lw, lr, mode 1
                              {0x14, 0xFFFFFF77},
                              {0x1C, 0x00000009},
                              {0x20, 0x00007F00},
                              {0x24, 0x00000100},
                              {0x2C, 0x00002000},
                              {0x44, 1},
                              {0x48, 0x0000000C},
                              {0x60, 1},
                              {0x114, 0x40000003},
                              {0x11C, 0x40010003}}),
            " mkc.access_mode_1_0=1(translated) mkc.rw=1 mkc.rr=1 mkc.lw=1 mkc.lr=1 mkc.pd=9 mkc.qpn=0xffffff "
            "mkc.mkey_7_0=0x77 mkc.start_addr=0x7f0000000100 mkc.len=0x2000 mkc.log_page_size=0xc "
            "mkc.translations_octword_size=1 translations_octword_actual_size=1 klm_pas_mtt=[2: 0x40000003 .. "
            "0x40010003]");
  EXPECT_EQ(outputText(0x200, 16, {{8, 0x12345}}), " mkey_index=0x12345");
}

TEST(DecodeCommand, EventQueue) {
  EXPECT_EQ(inputText(0x118, {{0, 0x03010000},
                              {0x10, 0x00000900},
                              {0x1C, 0x08000040},
                              {0x24, 0x00000002},
                              {0x5C, 0x00000400},
                              {0x114, 0x7000}}),
            " eqc.st=9(armed) eqc.log_eq_size=8 eqc.intr=2 eqc.uar_page=0x40 event_bitmask=[1: 0x400] pas=[1: 0x7000]");
}

TEST(DecodeCommand, CompletionQueue) {
  EXPECT_EQ(inputText(0x118, {{0, 0x04000000},
                              {0x10, 0x00224000},  // stride 1, overrun ignored, compression
                              {0x18, 0x00000200},
                              {0x1C, 0x08000041},
                              {0x20, 0x00100004},
                              {0x24, 0x00000004},
                              {0x28, 0x01000000},
                              {0x48, 0x00000001},
                              {0x4C, 0x00005008},
                              {0x114, 0x9000}}),
            " cqc.log_cq_size=8 cqc.cqe_sz=1(128 B) cqc.uar_page=0x41 cqc.c_eqn=4 cqc.oi=1 cqc.cq_period=0x10 "
            "cqc.cq_max_count=4 cqc.cqe_comp_en=1 cqc.page_offset=8 cqc.log_page_size=1 cqc.dbr_addr=0x100005008 "
            "pas=[1: 0x9000]");
  EXPECT_EQ(outputText(0x400, 16, {{8, 0x81}}), " cqn=0x81");
  EXPECT_EQ(inputText(0x110, {{0, 0x04030000}, {4, 1}, {8, 0x81}, {0xC, 7}, {0x1C, 0x09000000}}),
            " op_mod=1 cqn=0x81 modify_field_select=7 cqc.log_cq_size=9 cqc.uar_page=0 cqc.c_eqn=0");
}

TEST(DecodeCommand, QueuePair) {
  // RTR2RTS: opt_param_mask at 0x10, the context at 0x18, its primary path at 0x30.
  EXPECT_EQ(inputText(0x110, {{0, 0x05040000},
                              {8, 0x40},
                              {0x10, 0x0000004E},
                              {0x18, 0x30001800},  // RTS, migrated
                              {0x1C, 0x00000003},
                              {0x20, 0xBE215000},  // mtu 5, 2^30, log_rq 4, stride 1, log_sq 10
                              {0x28, 0x00000081},
                              {0x34, 0x00800007},  // grh, rlid
                              {0x38, 0x70010040},
                              {0x40, 0xFE800000},
                              {0x4C, 0x00000001},
                              {0x54, 0x03010000},
                              {0x88, 0x10C6E000},
                              {0x94, 0x00000082},
                              {0xB4, 0x00000083}}),
            " qpn=0x40 opt_param_mask=0x4e qpc.state=3(RTS) qpc.st=0(RC) qpc.pm_state=3(migrated) qpc.pd=3 "
            "qpc.mtu=5(4096 B) qpc.log_msg_max=0x1e qpc.log_rq_size=4 qpc.log_rq_stride=1 qpc.log_sq_size=0xa "
            "qpc.uar_page=0 qpc.user_index=0x81 qpc.primary_address_path.vhca_port_num=1 "
            "qpc.primary_address_path.rlid=7 qpc.primary_address_path.sl=3 qpc.primary_address_path.grh=1 "
            "qpc.primary_address_path.rgid_rip=fe800000000000000000000000000001 "
            "qpc.primary_address_path.src_addr_index=1 qpc.primary_address_path.hop_limit=0x40 "
            "qpc.primary_address_path.ack_timeout=0xe qpc.log_ack_req_freq=1 qpc.log_sra_max=6 qpc.retry_count=6 "
            "qpc.rnr_retry=7 qpc.cqn_snd=0x82 qpc.cqn_rcv=0x83");
}

TEST(DecodeCommand, SharedReceiveQueues) {
  EXPECT_EQ(inputText(0x118, {{0, 0x07050000},
                              {0x10, 0x06000000},
                              {0x14, 0x01000002},
                              {0x18, 0x00000081},
                              {0x28, 0x00000003},
                              {0x3C, 0x5000},
                              {0x114, 0x9000}}),
            " srqc.log_srq_size=6 srqc.log_rq_stride=1 srqc.xrcd=2 srqc.cqn=0x81 srqc.pd=3 srqc.db_record_addr=0x5000 "
            "pas=[1: 0x9000]");
  EXPECT_EQ(inputText(0x118, {{0, 0x090C0000},
                              {0x20, 0x00100000},
                              {0x50, 0x10000000},
                              {0x58, 0x00000003},
                              {0x64, 0x5000},
                              {0x70, 0x00050006},
                              {0x114, 0x9000}}),
            " rmpc.state=1(ready) rmpc.wq.wq_type=1(cyclic) rmpc.wq.pd=3 rmpc.wq.dbr_addr=0x5000 "
            "rmpc.wq.log_wq_stride=5 rmpc.wq.log_wq_sz=6 pas=[1: 0x9000]");
  EXPECT_EQ(inputText(0x158, {{0, 0x07170000},
                              {0x10, 0x00000101},
                              {0x18, 0x00000081},
                              {0x30, 0x50000000},
                              {0x98, 0x00000003},
                              {0x154, 0x9000}}),
            " xrqc.topology=1 xrqc.offload=1 xrqc.cqn=0x81 xrqc.log_matching_list_sz=5 xrqc.wq.pd=3 pas=[1: 0x9000]");
}

TEST(DecodeCommand, DynamicallyConnectedTarget) {
  EXPECT_EQ(inputText(0x50, {{0, 0x07100000},
                             {0x18, 0x81},
                             {0x1C, 0x000C0000},
                             {0x24, 0x11},
                             {0x28, 0x03},
                             {0x34, 0x1234},
                             {0x38, 0x05010000}}),
            " dctc.cqn=0x81 dctc.srqn_xrqn=0x11 dctc.pd=3 dctc.rre=1 dctc.rwe=1 dctc.dc_access_key=0x1234 "
            "dctc.mtu=5(4096 B) dctc.port=1");
}

TEST(DecodeCommand, RawPacketQueues) {
  EXPECT_EQ(inputText(0x118, {{0, 0x09080000},
                              {0x20, 0x30000000},  // scatter_fcs, vsd
                              {0x28, 0x81},
                              {0x58, 0x03},
                              {0x70, 0x00060005},
                              {0x114, 0x9000}}),
            " rqc.scatter_fcs=1 rqc.vsd=1 rqc.cqn=0x81 rqc.wq.pd=3 rqc.wq.log_wq_stride=6 rqc.wq.log_wq_sz=5 "
            "pas=[1: 0x9000]");
  EXPECT_EQ(inputText(0x118, {{0, 0x09040000}, {0x28, 0x81}, {0x40, 0x00010000}, {0x4C, 0x07}, {0x58, 0x03}}),
            " sqc.cqn=0x81 sqc.tis_lst_sz=1 sqc.tis_num_0=7 sqc.wq.pd=3");
  EXPECT_EQ(inputText(0x110, {{0, 0x09000000}, {0x3C, 0x12}, {0x44, 0x22000004}}),
            " inline_rqn=0x12 rx_hash_fn=2 self_lb_block=2 transport_domain=4");
  EXPECT_EQ(inputText(0x118, {{0, 0x09160000}, {0x34, 4}, {0x38, 2}, {0x110, 0x12}, {0x114, 0x13}}),
            " rqt_max_size=4 rqt_actual_size=2 rq_num=[2: 0x12 .. 0x13]");
  EXPECT_EQ(inputText(0xC0, {{0, 0x09120000}, {0x44, 4}}), " transport_domain=4");
}

TEST(DecodeCommand, FlowRules) {
  EXPECT_EQ(inputText(0x40, {{0, 0x09300000}, {0x18, 0x00030004}}), " table_type=0 level=3 log_size=4");
  EXPECT_EQ(inputText(0x240, {{0, 0x09330000}, {0x14, 2}, {0x24, 15}, {0x3C, 1}, {0x48, 0xFFFFFFFF}}),
            " table_type=0 table_id=2 start_flow_index=0 end_flow_index=0xf match_criteria_enable=1 "
            "match_criteria.dmac_47_16=0xffffffff");
  EXPECT_EQ(inputText(0x350, {{0, 0x09360000},
                              {0x14, 2},
                              {0x20, 5},
                              {0x44, 1},
                              {0x48, 0x77},
                              {0x4C, 4},
                              {0x50, 2},
                              {0x88, 0x02000000},
                              {0x340, 0x02000012},
                              {0x348, 0x01000003}}),
            " table_type=0 table_id=2 flow_index=5 group_id=1 flow_tag=0x77 action=4(forward) "
            "destination_list_size=2 match_value.dmac_47_16=0x2000000 destination[0].type=2(TIR) "
            "destination[0].id=0x12 destination[1].type=1(table) destination[1].id=3");
}

TEST(DecodeCommand, MulticastAndDeviceMemory) {
  EXPECT_EQ(inputText(0x20, {{0, 0x08060000}, {8, 0x40}, {0x10, 0xFF120000}, {0x1C, 5}}),
            " qpn=0x40 multicast_gid=ff120000000000000000000000000005");
  EXPECT_EQ(inputText(0x20, {{0, 0x02050000}, {0xC, 2}, {0x14, 0x1F00000}, {0x18, 0x20000}, {0x1C, 0x100}}),
            " log_memic_addr_alignment=2 range_start_addr=0x1f00000 range_size=0x20000 memic_size=0x100");
}

TEST(DecodeCommand, WhatAnOutputHoldsFollowsFromTheInput) {
  // QUERY_HCA_CAP: [15:1] of op_mod is the set.
  const Bytes general = assemble(16, {{0, 0x01000000}, {4, 1}});
  EXPECT_EQ(fieldsText(decodeCommandOutput(general, assemble(0x1010, {{0x20, 0x000A0012}, {0x44, 0x00000101}}))),
            " hca_cap.log_max_qp_sz=0xa hca_cap.log_max_qp=0x12 hca_cap.port_type=1(Ethernet) hca_cap.num_ports=1");
  const Bytes memory = assemble(16, {{0, 0x01000000}, {4, 0x1F}});
  EXPECT_EQ(fieldsText(decodeCommandOutput(memory, assemble(0x1010, {{0x10, 0x80000000}}))), " device_mem_cap.memic=1");
  const Bytes unknown = assemble(16, {{0, 0x01000000}, {4, 0x3E}});
  EXPECT_EQ(fieldsText(decodeCommandOutput(unknown, assemble(0x1010, {{0x10, 0x80000000}}))), " at_0x10=0x80000000");
  // ACCESS_REG: PMTU.
  const Bytes mtu = assemble(0x20, {{0, 0x08050000}, {4, 1}, {8, 0x5003}, {0x10, 0x00010000}});
  EXPECT_EQ(fieldsText(decodeCommandInput(mtu)), " op_mod=1 register_id=0x5003 pmtu.local_port=1");
  EXPECT_EQ(fieldsText(decodeCommandOutput(mtu, assemble(0x20, {{0x10, 0x00010000}, {0x14, 0x10000000}}))),
            " pmtu.local_port=1 pmtu.max_mtu=0x1000");
}

TEST(DecodeCommand, PortContextAndTables) {
  EXPECT_EQ(outputText(0x762, 0x210, {{0x30, 0x00005044}, {0x44, 0xFFFE0001}, {0x70, 0x00070000}}),
            " hca_vport_context.port_physical_state=5(link up) hca_vport_context.port_state=4(active) "
            "hca_vport_context.vport_state=4 hca_vport_context.port_guid=0xfffe0001 hca_vport_context.lid=7");
  EXPECT_EQ(outputText(0x764, 0x30, {{0xC, 0x00020000}, {0x10, 0xFE800000}, {0x1C, 1}, {0x2C, 2}}),
            " gids_num=2 gid=[2: fe800000000000000000000000000001 .. 00000000000000000000000000000002]");
  EXPECT_EQ(outputText(0x765, 0x14, {{0x10, 0xFFFF}}), " pkey=[1: 0xffff]");
}

TEST(DecodeCommand, NothingIsLost) {
  EXPECT_EQ(inputText(0x18, {{0, 0x0BAD0002}, {4, 0x00010003}, {0x10, 0x12345678}}),
            " uid=2 op_mod=3 at_0x04=0x10000 at_0x10=0x12345678")
      << "an opcode without a table";
  EXPECT_EQ(inputText(16, {{0, 0x04010000}, {8, 0xFF000081}, {0xC, 1}}), " cqn=0x81 at_0x08=0xff000000 at_0x0c=1")
      << "bits that no field has";
  Bytes many(0x200, 0xFF);
  const auto fields = decodeCommandInput(many);
  EXPECT_EQ(fields.back().name, "further_dwords") << "but not without end";
}

TEST(DecodeCommand, ShortBytesAreDecodedAsFarAsTheyGo) {
  for (std::size_t size = 0; size < 0x120; ++size) {
    Bytes bytes(size, 0xFF);
    if (size >= 2) bytes[0] = 0x04, bytes[1] = 0x00;
    EXPECT_NO_THROW((void)decodeCommandInput(bytes)) << size;
    EXPECT_NO_THROW((void)decodeCommandOutput(bytes, bytes)) << size;
  }
  EXPECT_EQ(inputText(0x14, {{0, 0x04000000}, {0x10, 0x00020000}}), " cqc.oi=1");
}

TEST(DecodeCommand, ARefusedOneReturnsNothing) { EXPECT_EQ(outputText(0x400, 16, {{0, 0x03000000}, {4, 0x303}}), ""); }

TEST(DecodeCommand, ZerosAreKeptOnDemand) {
  const auto fields = decodeCommandInput(assemble(16, {{0, 0x01040000}}), Zeros::kKeep);
  EXPECT_EQ(fieldsText(fields), " function_id=0");
}

TEST(CommandFieldTables, AreInTheOrderOfTheirOpcodes) {
  std::size_t found = 0;
  for (unsigned opcode = 0; opcode <= 0xFFFF; ++opcode) {
    const CommandFields* tables = findCommandFields(static_cast<CommandOpcode>(opcode));
    if (tables == nullptr) continue;
    ++found;
    EXPECT_STRNE(name(tables->opcode), "unknown") << opcode;
  }
  EXPECT_GE(found, 95U) << "the search finds all of them";
}

/// Every table that commands lead to, once: no field twice, none over another.
void checkTable(const FieldTable& table, std::vector<const FieldRow*>& seen) {
  if (std::find(seen.begin(), seen.end(), table.rows) != seen.end()) return;
  seen.push_back(table.rows);
  Bytes claimed(0x1200);
  for (std::size_t i = 0; i < table.count; ++i) {
    const FieldRow& row = table.rows[i];
    if (row.table != nullptr) checkTable(*row.table, seen);
    if (row.kind != FieldRow::Kind::kBits && row.kind != FieldRow::Kind::kWord64) continue;
    const unsigned high = row.kind == FieldRow::Kind::kBits ? row.high : 31;
    for (unsigned bit = row.low; bit <= high; ++bit) {
      std::uint8_t& byte = claimed.at(row.offset + 3 - bit / 8);
      EXPECT_EQ(byte >> (bit % 8) & 1, 0) << row.name << " lies over another";
      byte = static_cast<std::uint8_t>(byte | 1U << (bit % 8));
    }
    for (std::size_t j = 0; j < i; ++j) EXPECT_STRNE(row.name, table.rows[j].name);
  }
}

TEST(CommandFieldTables, HaveNoFieldTwice) {
  std::vector<const FieldRow*> seen;
  for (unsigned opcode = 0; opcode <= 0xFFFF; ++opcode) {
    const CommandFields* tables = findCommandFields(static_cast<CommandOpcode>(opcode));
    if (tables == nullptr) continue;
    checkTable(tables->input, seen);
    checkTable(tables->output, seen);
  }
  EXPECT_GT(seen.size(), 60U);
}

}  // namespace
}  // namespace hca::wire
