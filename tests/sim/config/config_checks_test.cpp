#include <gmock/gmock.h>

#include "tests/sim/config/config_test_files.h"

namespace hca::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using ConfigChecksTest = ConfigTest;

TEST_F(ConfigChecksTest, HostsAndCoresOfAFlow) {
  EXPECT_THAT(problems("[host.1.cpu]\ncores = 2\n[flow.a]\niters = 1\nclient_core = 7\nserver_core = 1\n"), IsEmpty());
  EXPECT_THAT(problems("[host.1.cpu]\ncores = 2\n[flow.a]\niters = 1\nclient_core = 8\nserver_core = 2\n"),
              ElementsAre("main.ini:5: client_core: 8 is no core of host 0: cores are numbered 0 to 7",
                          "main.ini:6: server_core: 2 is no core of host 1: cores are numbered 0 to 1"));
  EXPECT_THAT(problems("[flow.a]\niters = 1\nclient = 2\n"),
              ElementsAre("main.ini:3: client: 2 is no host: hosts are numbered 0 to 1"));
  EXPECT_THAT(problems("[flow.a]\niters = 1\nserver = 0\nserver_core = 1\n"), IsEmpty()) << "inside one adapter";
  EXPECT_THAT(problems("[flow.a]\niters = 1\nserver = 0\nclient = 1\n"), IsEmpty());
}

TEST_F(ConfigChecksTest, ClientsOfAFlow) {
  const std::string flow = "[host]\ncount = 4\n[host.3.cpu]\ncores = 2\n[flow.a]\niters = 1\nserver = 0\n";
  EXPECT_THAT(problems(flow + "clients = 1-3\n"), IsEmpty());
  EXPECT_THAT(problems(flow + "clients = 2-4\n"),
              ElementsAre("main.ini:8: clients: 4 is no host: hosts are numbered 0 to 3"));
  EXPECT_THAT(problems(flow + "clients = 1, x\n"),
              ElementsAre("main.ini:8: clients: 'x' is no list of hosts, such as 1, 3-8"));
  EXPECT_THAT(problems(flow + "clients = 1-3\nclient = 2\n"),
              ElementsAre("main.ini:9: client: stands beside clients, which says it all"));
  EXPECT_THAT(problems(flow + "clients = 1-3\nclient_core = 2\n"),
              ElementsAre("main.ini:9: client_core: 2 is no core of host 3: cores are numbered 0 to 1"));
  EXPECT_THAT(problems(flow + "clients = 1-3\ncomp_vector = 2\n"),
              ElementsAre("main.ini:9: comp_vector: 2 is no completion vector of host 3: they are numbered 0 to 1"));
}

TEST_F(ConfigChecksTest, Sizes) {
  for (const char* mtu : {"256B", "512B", "1KiB", "2KiB", "4096B"}) {
    EXPECT_THAT(problems("[flow.a]\niters = 1\nmtu = " + std::string(mtu) + '\n'), IsEmpty());
  }
  EXPECT_THAT(problems("[flow.a]\niters = 1\nmtu = 1500B\ncqe_size = 96B\n"),
              ElementsAre("main.ini:3: mtu: 1500B is no MTU: 256B, 512B, 1KiB, 2KiB or 4KiB",
                          "main.ini:4: cqe_size: 96B is no size of a completion entry: 64B or 128B"));
  EXPECT_THAT(problems("[flow.a]\niters = 1\ncqe_pad = yes\n"),
              ElementsAre("main.ini:3: cqe_pad: entries of 64B have nothing to pad: cqe_size = 128B"));
  EXPECT_THAT(problems("[flow.a]\niters = 1\ncqe_size = 128B\ncqe_pad = yes\n"), IsEmpty());
  EXPECT_THAT(problems("[flow.a]\niters = 1\ncqe_size = 32B\n"),
              ElementsAre("main.ini:3: cqe_size: entries of 32B are none of a real adapter: "
                          "adapter.completion.cqe_32 = yes makes them"));
  EXPECT_THAT(problems("[flow.a]\niters = 1\ncqe_size = 32B\n[adapter.completion]\ncqe_32 = yes\n"), IsEmpty());
  EXPECT_THAT(problems("[flow.a]\niters = 1\ncqe_size = 128B\ncqe_compression = basic\n"),
              ElementsAre("main.ini:4: cqe_compression: only entries of 64B can be compressed"));
}

TEST_F(ConfigChecksTest, DeviceMemoryIsOfWholePages) {
  const std::string flow = "[flow.a]\niters = 1\n";
  EXPECT_THAT(problems(flow + "[adapter.memory]\ndevice_memory = 0B\n"), IsEmpty());
  EXPECT_THAT(problems(flow + "[adapter.memory]\ndevice_memory = 4096B\n"), IsEmpty());
  EXPECT_THAT(problems(flow + "[adapter.memory]\ndevice_memory = 4097B\n"),
              testing::Each(testing::HasSubstr("main.ini:4: device_memory: 4097B is no multiple of 4KiB")));
}

TEST_F(ConfigChecksTest, MtuOfLinkAndFlow) {
  EXPECT_THAT(problems("[link]\nmtu = 2KiB\n[flow.a]\niters = 1\nmtu = 2KiB\n"), IsEmpty());
  EXPECT_THAT(problems("[link]\nmtu = 2KiB\n[flow.a]\niters = 1\n"),
              ElementsAre("main.ini:3: mtu: 4KiB is more than the link carries (2KiB)"));
  EXPECT_THAT(problems("[link]\nmtu = 1500B\n[flow.a]\niters = 1\n"),
              ElementsAre("main.ini:2: mtu: 1500B is no MTU: 256B, 512B, 1KiB, 2KiB or 4KiB"));
}

TEST_F(ConfigChecksTest, PacketNumbersOfFaults) {
  const std::string flow = "[flow.a]\niters = 1\n";
  EXPECT_THAT(problems("[link.faults]\nlose = 3, 10-12\nhold = 1\n" + flow), IsEmpty());
  EXPECT_THAT(problems("[link.faults]\nlose = 12-10\n" + flow),
              ElementsAre("main.ini:2: lose: '12-10' is no list of packet numbers from 1 on, such as 3, 10-12"));
  EXPECT_THAT(problems("[link.faults]\nlose = 3\n[host.1.link.faults]\nhold = 0\n" + flow),
              ElementsAre("main.ini:4: hold: '0' is no list of packet numbers from 1 on, such as 3, 10-12"));
}

TEST_F(ConfigChecksTest, KeysOfPorts) {
  const std::string flow = "[flow.a]\niters = 1\n";
  EXPECT_THAT(problems("[adapter.port]\npkeys = 0xffff, 0x8001, 0\nguid_at = 1ms\nnew_guid = 0x12\nlid_at = 1ms\n"
                       "new_lid = 64\npkeys_at = 1ms\nnew_pkeys = 0x1\n" +
                       flow),
              IsEmpty());
  EXPECT_THAT(
      problems("[adapter.port]\npkeys = 8001\n" + flow),
      ElementsAre("main.ini:2: pkeys: '8001' is no list of up to 128 partition keys, such as 0xffff, 0x8001, 0, "
                  "0x7002"));
  EXPECT_THAT(problems("[adapter.port]\npkeys_at = 1ms\n[host.1.adapter.port]\nguid_at = 1ms\nnew_guid = 0\n" + flow),
              ElementsAre("main.ini:2: pkeys_at: needs new_pkeys, such as 0xffff, 0x8001",
                          "main.ini:4: guid_at: needs new_guid, such as 0x0200c0ffee000001, not '0'"));
  EXPECT_THAT(problems("[link]\nlmc = 1\n[adapter.port]\nlid_at = 1ms\nnew_lid = 3\n" + flow),
              ElementsAre("main.ini:4: lid_at: needs new_lid, a multiple of 2^lmc, not 3"));
  EXPECT_THAT(problems("[link]\nlayer = roce_v2\n[adapter.port]\npkeys = 0x8001\nreregister_at = 1ms\n" + flow),
              Contains(HasSubstr("pkeys: is for InfiniBand ports: [link] layer = infiniband")));
}

TEST_F(ConfigChecksTest, Depths) {
  EXPECT_THAT(problems("[flow.a]\niters = 1\ntx_depth = 4\ncq_mod = 4\npost_list = 4\n"), IsEmpty());
  EXPECT_THAT(problems("[flow.a]\niters = 1\ntx_depth = 4\ncq_mod = 5\npost_list = 6\n"),
              ElementsAre("main.ini:4: cq_mod: 5 is more than tx_depth (4): the queue would fill without a completion",
                          "main.ini:5: post_list: 6 is more than tx_depth (4)"));
}

TEST_F(ConfigChecksTest, CompletionVectors) {
  const std::string flow = "[flow.a]\niters = 1\ncomp_vector = ";
  EXPECT_THAT(problems("[cpu]\ncores = 4\n" + flow + "3\n"), IsEmpty());
  EXPECT_THAT(problems("[cpu]\ncores = 4\n" + flow + "4\n"),
              ElementsAre("main.ini:5: comp_vector: 4 is no completion vector of host 0: they are numbered 0 to 3"));
  EXPECT_THAT(problems("[host.1.driver]\nnum_comp_vectors = 2\n" + flow + "2\n"),
              ElementsAre("main.ini:5: comp_vector: 2 is no completion vector of host 1: they are numbered 0 to 1"));
  EXPECT_THAT(problems("[adapter.event]\nvectors = 3\n" + flow + "2\n"),
              ElementsAre("main.ini:5: comp_vector: 2 is no completion vector of host 0: they are numbered 0 to 1"));
}

TEST_F(ConfigChecksTest, OneInterruptIsTooFew) {
  EXPECT_THAT(
      problems("[adapter.event]\nvectors = 1\n" + std::string(kWork)),
      ElementsAre("main.ini:3: comp_vector: 0 is no completion vector of host 0: [adapter.event] vectors leaves it "
                  "none"));
}

TEST_F(ConfigChecksTest, PcieSizes) {
  EXPECT_THAT(problems("[pcie]\nmps = 384B\n[host.1.pcie]\nmrrs = 768B\nrcb = 96B\n" + std::string(kWork)),
              ElementsAre("main.ini:2: mps: 384B is no power of two", "main.ini:4: mrrs: 768B is no power of two",
                          "main.ini:5: rcb: 96B is no power of two"));
}

// The far side looks for the last byte of a write in memory.
TEST_F(ConfigChecksTest, LatencyOfWritesNeedsMovedPayload) {
  const std::string flow = "[flow.a]\nkind = latency\nverb = write\niters = 1\n";
  EXPECT_THAT(problems(flow), IsEmpty());
  EXPECT_THAT(problems("[run]\npayload = timing\n" + flow),
              ElementsAre("main.ini:5: verb: waits for a byte of the message, which [run] payload = timing doesn't "
                          "move"));
}

TEST_F(ConfigChecksTest, RulesOfAFlowsKind) {
  EXPECT_THAT(problems("[flow.a]\nkind = latency\niters = 1\nqps = 2\n"),
              ElementsAre("main.ini:4: qps: is for kind = bandwidth; the other kinds use one queue pair"));
  EXPECT_THAT(problems("[flow.a]\nkind = bandwidth\niters = 1\nqps = 2\n"), IsEmpty());
}

TEST_F(ConfigChecksTest, OrderOfFlows) {
  EXPECT_THAT(problems("[flow.a]\niters = 1\n[flow.b]\niters = 1\nafter = a\n[flow.c]\niters = 1\nafter = b\n"),
              IsEmpty());
  EXPECT_THAT(problems("[flow.first]\niters = 1\n[flow.b]\niters = 1\nafter = frist\n"),
              ElementsAre("main.ini:5: after: 'frist' is no flow (nearest known: first)"));
  EXPECT_THAT(problems("[flow.a]\niters = 1\nafter = a\n"),
              ElementsAre("main.ini:3: after: makes the flow wait for itself"));
  EXPECT_THAT(
      problems("[flow.a]\niters = 1\nafter = b\n[flow.b]\niters = 1\nafter = a\n[flow.c]\niters = 1\nafter = a\n"),
      ElementsAre("main.ini:3: after: makes the flow wait for itself",
                  "main.ini:6: after: makes the flow wait for itself"));
}

TEST_F(ConfigChecksTest, AccessesOfADevice) {
  EXPECT_THAT(problems("[dma.a]\niters = 1\n[dma.b]\niters = 1\nafter = a\n"), IsEmpty()) << "no flow is needed";
  EXPECT_THAT(problems("[dma.a]\nwindow = 100B\nsize = 64B\noffset = 37B\nhost = 2\nafter = b\n"),
              ElementsAre("main.ini:1: iters: is 0: there would be nothing to do",
                          "main.ini:2: window: 100B has no room for one access of 64B at 37B",
                          "main.ini:5: host: 2 is no host: hosts are numbered 0 to 1",
                          "main.ini:6: after: 'b' is no [dma] section"));
  EXPECT_THAT(problems("[dma.a]\niters = 1\nwindow = 100B\nsize = 64B\noffset = 36B\n"), IsEmpty());
  const std::string cold = "[dma.a]\niters = 1\ncache = cold\n";
  EXPECT_THAT(problems(cold), ElementsAre("main.ini:3: cache: needs a cache: [memory] cache_size is 0B"));
  EXPECT_THAT(problems(cold + "[host.0.memory]\ncache_size = 1MiB\n"), IsEmpty());
  EXPECT_THAT(problems("[memory]\ncache_ways = 4\nddio_ways = 5\n" + std::string(kWork)),
              ElementsAre("main.ini:3: ddio_ways: 5 is more than cache_ways (4)"));
}

TEST_F(ConfigChecksTest, AKeyIsComplainedAboutOnce) {
  EXPECT_THAT(
      problems("[flow.a]\niters = x\nclient_core = 9999\nmtu = 1500B\n"),
      ElementsAre("main.ini:2: iters: 'x' is not a number", "main.ini:3: client_core: 9999 is out of range: 0 to 1023",
                  "main.ini:4: mtu: 1500B is no MTU: 256B, 512B, 1KiB, 2KiB or 4KiB"));
}

TEST_F(ConfigChecksTest, Drills) {
  const std::string flow = "[flow.a]\niters = 1\n[drill.d]\n";
  EXPECT_THAT(problems(flow + "kind = command_status\nopcode = CREATE_CQ\nstatus = bad_size\nafter = 3\n"), IsEmpty());
  EXPECT_THAT(problems(flow + "host = 1\n"),
              ElementsAre(HasSubstr("main.ini:3: kind: is missing: what is to go wrong, such as command_timeout")));
  EXPECT_THAT(problems(flow + "kind = command_timeout\nopcode = CREAT_CQ\nvector = 1\n"),
              ElementsAre("main.ini:5: opcode: 'CREAT_CQ' is no command of the adapter (nearest known: CREATE_CQ)",
                          "main.ini:6: vector: means nothing to a drill of kind command_timeout"));
  EXPECT_THAT(problems(flow + "kind = command_late\n"),
              ElementsAre("main.ini:3: duration: is missing: how late the answer comes, such as 5s"));
  EXPECT_THAT(problems(flow + "kind = cq_error\nsyndrome = 3\n"),
              ElementsAre("main.ini:5: syndrome: 3 is none: 1 overrun, 2 access violation"));
  EXPECT_THAT(problems(flow + "kind = health\nsyndrome = 256\nhost = 2\n"),
              ElementsAre("main.ini:5: syndrome: 256 is none of the health buffer: 1 to 255",
                          "main.ini:6: host: 2 is no host: hosts are numbered 0 to 1"));
  EXPECT_THAT(
      problems(flow + "kind = link_flap\ncount = 2\nport = 2\nadapter = 1\n"),
      ElementsAre("main.ini:3: duration: is missing: a link goes down more than once only if it comes up between",
                  "main.ini:7: adapter: 1 is no adapter of host 0: adapters are numbered 0 to 0"));
  EXPECT_THAT(problems(flow + "kind = link_flap\nport = 2\n"), ElementsAre("main.ini:5: port: 2 is no port of it"));
  EXPECT_THAT(problems(flow + "kind = extra_interrupt\nvector = 64\n"),
              ElementsAre("main.ini:5: vector: 64 is no vector of it: they are numbered 0 to 63"));
}

TEST_F(ConfigChecksTest, ADrillThatIsAskedForLater) {
  const LoadedConfig loaded = load("[flow.a]\niters = 1\n");
  const auto ask = [&](const std::string& key, const std::string& value) {
    std::vector<std::string> texts;
    const LoadedDrill drill =
        loadDrill(loaded.config, "now", {{{}, "kind", "lost_interrupt", {"drill", 0}}, {{}, key, value, {"drill", 0}}});
    for (const Problem& problem : drill.problems) texts.push_back(describe(problem));
    return texts;
  };
  EXPECT_THAT(ask("vector", "3"), IsEmpty());
  EXPECT_THAT(ask("vecto", "3"), ElementsAre("drill: vecto: is no known key of a drill (nearest known: vector)"));
  EXPECT_THAT(ask("host", "9"), ElementsAre("drill: host: 9 is no host: hosts are numbered 0 to 1"));
}

}  // namespace
}  // namespace hca::config
