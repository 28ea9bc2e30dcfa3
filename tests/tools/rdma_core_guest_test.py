"""Tests of what tools/rdma_core_tests --vm makes of a guest's words."""

import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "guest"))
sys.dont_write_bytecode = True
import rdma_core  # noqa: E402


def said(name, outcome, begin, end, message=""):
    return "@test " + json.dumps(
        {"name": name, "outcome": outcome, "message": message, "begin_us": begin, "end_us": end})


def result(*lines):
    warnings = [{"level": "error", "text": text, "driver_loaded": loaded, "guest_us": when}
                for when, text, loaded in lines]
    return {"guests": [{"host": 0, "troubles": [], "kernel_warnings": warnings}]}


def explained(_name, outcome, message):
    return ("known", True) if message == "known" else (f"**{outcome}**", False)


class GuestRunTest(unittest.TestCase):
    def test_the_last_word_on_a_test_counts(self):
        found = rdma_core.GuestRun(said("a.B.c", "unfinished", 1, 1) + "\n" + said("a.B.c", "ok", 1, 9), {})
        self.assertEqual(found.results, {"a.B.c": ("ok", "")})

    def test_a_test_that_never_ends_is_unfinished(self):
        found = rdma_core.GuestRun(said("a.B.c", "unfinished", 1, 1) + "\n@module a 9.0 s, ended by SIGALRM\n", {})
        self.assertEqual(found.results["a.B.c"][0], "unfinished")
        self.assertEqual(found.notes, ["a 9.0 s, ended by SIGALRM"])

    def test_a_line_belongs_to_the_test_that_began_last(self):
        text = said("a.B.c", "ok", 10, 19) + "\n" + said("a.B.d", "ok", 20, 29)
        for when, name in ((9, ""), (10, "a.B.c"), (19, "a.B.c"), (20, "a.B.d"), (99, "a.B.d")):
            self.assertEqual(rdma_core.GuestRun(text, result((when, "mlx5", True))).lines, [(name, "mlx5")])

    def test_lines_before_the_driver_and_of_late_processors_are_left_out(self):
        lines = result((1, "mtrr", False), (2, "hrtimer: interrupt took 9 ns", True))
        self.assertEqual(rdma_core.GuestRun("", lines).lines, [])


class ComparisonTest(unittest.TestCase):
    def compared(self, *lines, cosim="", kernel=()):
        found = rdma_core.GuestRun("\n".join(lines), result(*kernel))
        return rdma_core.Comparison(found, rdma_core.cosim_cells(cosim), explained)

    def test_the_same_outcome_is_no_row(self):
        there = "| `a.B.d` | known | the same |\n"
        compared = self.compared(said("a.B.c", "ok", 1, 2), said("a.B.d", "skipped", 1, 2, "known"), cosim=there)
        self.assertEqual((compared.rows, compared.unexplained), ([], []))

    def test_a_skip_that_passes_there_is_a_row(self):
        compared = self.compared(said("a.B.c", "skipped", 1, 2, "known"))
        self.assertEqual(compared.rows, ["| `a.B.c` | passes | known |"])

    def test_a_failure_is_told(self):
        compared = self.compared(said("a.B.c", "FAIL", 1, 2))
        self.assertEqual(len(compared.unexplained), 1)

    def test_a_line_of_the_kernel_without_a_reason_is_told(self):
        compared = self.compared(said("a.B.c", "ok", 1, 2), kernel=[(1, "mlx5 oops", True)])
        self.assertEqual(compared.unexplained, ["a.B.c: the kernel says: mlx5 oops"])

    def test_the_section_of_differences_is_not_read_as_the_table(self):
        text = f"| `a.B.c` | known | the same |\n{rdma_core.SECTION}\n| `a.B.d` | x | y |\n"
        self.assertEqual(rdma_core.cosim_cells(text), {"a.B.c": "known"})


if __name__ == "__main__":
    unittest.main()
