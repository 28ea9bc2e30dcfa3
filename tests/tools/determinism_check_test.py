"""tools/determinism_check against small programs in place of hcasim: it must see what differs, and what fails."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "determinism_check"


class DeterminismCheck(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / "some.ini").write_text("[run]\n", encoding="utf-8")

    def check(self, body, *options):
        """Runs the tool with a shell script as the program; called as: run CONFIG --json FILE, so the file is $4."""
        program = self.root / "program"
        program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
        done = subprocess.run(
            [sys.executable, str(TOOL), "--binary", str(program), *options, str(self.root / "some.ini")],
            capture_output=True, text=True, check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def test_equal_results_pass(self):
        status, output = self.check('echo "{ 1 }" > "$4"')
        self.assertEqual(status, 0, output)
        self.assertIn("20 runs, 6 bytes each, all equal", output)

    def test_a_result_that_names_its_folder_is_found(self):
        status, output = self.check('pwd > "$4"')
        self.assertEqual(status, 1)
        self.assertIn("run 2 differs from run 1", output)

    def test_a_late_difference_is_found(self):
        counter = self.root / "count"
        status, output = self.check(f'echo x >> {counter}; wc -l < {counter} | grep -c 20 > "$4"; true')
        self.assertEqual(status, 1)
        self.assertIn("run 20 differs from run 1", output)

    def test_addresses_differ_from_run_to_run(self):
        status, output = self.check('grep -m 1 stack /proc/self/maps > "$4"', "--runs", "5")
        self.assertEqual(status, 1, output)

    def test_a_failing_run_is_reported_with_its_output(self):
        status, output = self.check('echo "no such key"; exit 2')
        self.assertEqual(status, 1)
        self.assertIn("exit code 2", output)
        self.assertIn("no such key", output)

    def test_an_expected_exit_code_is_no_failure(self):
        status, output = self.check('echo 1 > "$4"; exit 1', "--exit", "1")
        self.assertEqual(status, 0, output)

    def test_a_run_without_a_result_is_reported(self):
        status, _ = self.check("exit 0")
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()
