"""tools/check_includes against small trees: each rule has an include that breaks it and one that keeps it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_includes"


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.write("models/base/ids.h")

    def write(self, path, *includes, guard=True):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = ["#pragma once"] if guard else []
        lines += [f"#include {include}" for include in includes]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def check(self):
        done = subprocess.run([sys.executable, str(TOOL), str(self.root)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    def assert_accepted(self):
        self.assertEqual(self.check(), (0, []))

    def assert_reported(self, *starts):
        status, lines = self.check()
        self.assertEqual(status, 1)
        self.assertEqual(len(lines), len(starts), lines)
        for line, start in zip(lines, starts):
            self.assertTrue(line.startswith(start), f"{line!r} does not start with {start!r}")

    def test_downward_is_accepted(self):
        self.write("models/wire/cqe.h", '"models/base/ids.h"')
        self.write("models/adapter/event/queue.cpp", '"models/wire/cqe.h"', "<vector>")
        self.write("sim/system/system.h", '"models/wire/cqe.h"')
        self.assert_accepted()

    def test_upward_is_reported_with_its_line(self):
        self.write("models/wire/cqe.h")
        self.write("models/base/bad.h", "<cstdint>", '"models/wire/cqe.h"')
        self.assert_reported("models/base/bad.h:3: models/base may not include models/wire/cqe.h")

    def test_model_that_sees_sim_is_reported(self):
        self.write("sim/config/config.h")
        self.write("models/adapter/hca.cpp", '"sim/config/config.h"')
        self.assert_reported("models/adapter/hca.cpp:2: models/adapter may not include")

    def test_model_test_that_sees_sim_is_reported(self):
        self.write("sim/config/config.h")
        self.write("tests/models/wire/cqe_test.cpp", '"sim/config/config.h"')
        self.assert_reported("tests/models/wire/cqe_test.cpp:2: tests/models may not include")

    def test_siblings_see_interfaces_alone(self):
        self.write("models/host/bus_address_space.h")
        self.write("models/host/sparse_memory.h")
        self.write("models/pcie/dma_port.h", '"models/host/bus_address_space.h"')
        self.assert_accepted()
        self.write("models/pcie/bad.h", '"models/host/sparse_memory.h"')
        self.assert_reported("models/pcie/bad.h:2: models/pcie may not include models/host/sparse_memory.h")

    def test_of_the_host_the_root_complex_alone_sees_pcie(self):
        self.write("models/pcie/tlp.h")
        self.write("models/host/root_complex.h", '"models/pcie/tlp.h"')
        self.assert_accepted()
        self.write("models/host/cpu.h", '"models/pcie/tlp.h"')
        self.assert_reported("models/host/cpu.h:2: models/host may not include models/pcie/tlp.h")

    def test_network_and_pcie_do_not_meet(self):
        self.write("models/pcie/tlp.h")
        self.write("models/network/link.h", '"models/pcie/tlp.h"')
        self.assert_reported("models/network/link.h:2: models/network may not include models/pcie/tlp.h")

    def test_adapter_blocks_see_interfaces_alone(self):
        self.write("models/adapter/completion/completion_port.h")
        self.write("models/adapter/completion/cq_engine.h")
        self.write("models/adapter/event/eq.h", '"models/adapter/completion/completion_port.h"')
        self.write("models/adapter/hca.h", '"models/adapter/completion/cq_engine.h"')
        self.assert_accepted()
        self.write("models/adapter/event/bad.h", '"models/adapter/completion/cq_engine.h"')
        self.assert_reported("models/adapter/event/bad.h:2: models/adapter/completion/cq_engine.h is no interface")

    def test_blocks_of_the_queue_pair_are_one(self):
        self.write("models/adapter/transport/psn.h")
        self.write("models/adapter/requester/requester.h", '"models/adapter/transport/psn.h"')
        self.assert_accepted()
        self.write("models/adapter/completion/bad.h", '"models/adapter/transport/psn.h"')
        self.assert_reported("models/adapter/completion/bad.h:2: models/adapter/transport/psn.h is no interface")

    def test_shim_sees_base_wire_and_itself(self):
        self.write("verbs_shim/channel/messages.h", '"models/base/ids.h"')
        self.write("sim/cosim/server.h", '"verbs_shim/channel/messages.h"')
        self.assert_accepted()
        self.write("verbs_shim/interposer.h")
        self.write("sim/cosim/bad.h", '"verbs_shim/interposer.h"')
        self.write("models/kernel/calendar.h")
        self.write("verbs_shim/bad.h", '"models/kernel/calendar.h"')
        self.assert_reported("sim/cosim/bad.h:2: sim may not", "verbs_shim/bad.h:2: verbs_shim may not")

    def test_models_have_no_input_or_output(self):
        for bad in ("<fstream>", "<iostream>", "<filesystem>", "<boost/program_options.hpp>", "<spdlog/spdlog.h>"):
            with self.subTest(bad):
                self.write("models/network/bad.h", bad)
                self.assert_reported("models/network/bad.h:2: ")
        self.write("models/network/bad.h")
        self.write("sim/report/report.cpp", "<fstream>", "<spdlog/spdlog.h>")
        self.assert_accepted()

    def test_models_do_not_print(self):
        file = self.root / "models/base/text.cpp"
        file.write_text("#include <cstdio>\n// printf(x)\nint n = std::snprintf(b, 2, f);\n", encoding="utf-8")
        self.assert_accepted()
        file.write_text('#include <cstdio>\nvoid f() { std::printf("x"); }\n', encoding="utf-8")
        self.assert_reported("models/base/text.cpp:2: printf()")

    def test_systemc_in_shells_alone(self):
        self.write("models/kernel/calendar_module.h", "<systemc>")
        self.write("models/pcie/endpoint.h", "<tlm_utils/simple_target_socket.h>")
        self.assert_accepted()
        self.write("models/adapter/completion/cq_engine.h", "<systemc>")
        self.write("models/kernel/calendar.h", "<tlm>")
        self.assert_reported("models/adapter/completion/cq_engine.h:2: <systemc>", "models/kernel/calendar.h:2: <tlm>")

    def test_missing_file_missing_guard_and_unknown_place(self):
        self.write("models/base/bad.h", '"units.h"', guard=False)
        self.write("models/gpu/new.h")
        self.assert_reported("models/base/bad.h:1: #pragma once", "models/base/bad.h:1: units.h does not exist",
                             "models/gpu/new.h:1: belongs to no layer")

    def test_empty_tree_is_a_wrong_call(self):
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run([sys.executable, str(TOOL), empty], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
