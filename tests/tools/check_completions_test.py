"""Tests of tools/check_completions on copies of the sources with one thing wrong."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOADER = importlib.machinery.SourceFileLoader("check_completions", str(ROOT / "tools" / "check_completions"))
SPEC = importlib.util.spec_from_loader("check_completions", LOADER)
CHECK = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(CHECK)


class CheckCompletionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for file in {CHECK.TABLE} | {file for file, _, _ in CHECK.ENUMERATIONS}:
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.root / file)
        shutil.copytree(ROOT / "tests", self.root / "tests")
        self.before = CHECK.check(self.root)

    def change(self, file, old, new):
        text = (self.root / file).read_text(encoding="utf-8")
        self.assertIn(old, text)
        (self.root / file).write_text(text.replace(old, new, 1), encoding="utf-8")

    def expect_problem(self, part):
        problems = [problem for problem in CHECK.check(self.root) if problem not in self.before]
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(part, problems[0])

    def test_a_test_that_does_not_exist(self):
        self.change(CHECK.TABLE, "`CqCompression.CountEndsASession`", "`CqCompression.Nothing`")
        self.expect_problem("no test is called CqCompression.Nothing")

    def test_a_test_in_the_text_that_does_not_exist(self):
        self.change(CHECK.TABLE, "`CqBoundRate.NarrowEntries`", "`CqBoundRate.Nothing`")
        self.expect_problem("no test is called CqBoundRate.Nothing")

    def test_a_row_without_a_test(self):
        self.change(CHECK.TABLE, "| `kError` | `CqCompression.ErrorEndsASession` |", "| `kError` | later |")
        self.expect_problem("the row names no test")

    def test_an_enumerator_without_a_row(self):
        self.change("models/adapter/completion/session_policy.h", "  kCount,", "  kFullMoon,\n  kCount,")
        self.expect_problem("SessionEnd::kFullMoon")

    def test_a_syndrome_without_a_row(self):
        self.change("models/wire/cqe.h", "  kRemoteAborted = 0x22,", "  kRemoteAborted = 0x22,\n  kOther = 0x23,")
        self.expect_problem("CqeSyndrome::kOther")

    def test_an_event_without_a_row(self):
        self.change("models/adapter/event/event_port.h", "  kSrqLimit = 0x14,", "  kSrqLimit = 0x14,\n  kOther = 0x15,")
        self.expect_problem("EventType::kOther")

    def test_a_flag_without_a_row(self):
        self.change(CHECK.TABLE, "| `IBV_WC_EX_WITH_SL` |", "| `IBV_WC_EX_WITH` |")
        self.expect_problem("IBV_WC_EX_WITH_SL")

    def test_a_status_that_programs_are_not_shown(self):
        self.change(CHECK.TABLE, "| `IBV_WC_REM_OP_ERR` |", "| `IBV_WC_REM_OP` |")
        self.expect_problem("no row of 'Read back by stock libmlx5' for IBV_WC_REM_OP_ERR")

    def test_a_program_that_does_not_exist(self):
        self.change(CHECK.TABLE, "`cosim/completions_compressed_ring`", "`cosim/completions_ring`")
        self.expect_problem("no test is called cosim/completions_ring")

    def test_a_reason_in_another_section(self):
        self.change(CHECK.TABLE, "| `kError` | `CqCompression.ErrorEndsASession` |", "| `kError` | none: later |")
        self.expect_problem("the row names no test")

    def test_an_enumeration_that_went_away(self):
        self.change("models/wire/cqe.h", "enum class MiniFormat", "enum class Minis")
        self.expect_problem("no enumeration MiniFormat")


if __name__ == "__main__":
    unittest.main()
