"""rdma-core's python tests inside a guest of hcasim vm, next to what they say under hcasim cosim."""
import json
import pathlib
import re
import subprocess
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parent.parent
MODULE_SECONDS = 300
PLACE = "/opt/rdma-core"  # in the guest
SECTION = "## In a guest"

# Where a test's outcome differs from that under hcasim cosim: (test, message, reason).
REASONS = [
    ("test_odp_dc_traffic", "ERROR.*access flags: 65.*Errno: 22",
     "fails: it skips where the kernel answers EOPNOTSUPP to on-demand paging that the device lacks, as later ones do;"
     " Linux 6.1 answers EINVAL"),
    ("test_alloc_uar", r"UAR allocation \(with flag=0\)",
     "mlx5_ib gives out no write-combining registers: its test at the start saw none, since QEMU passes a copy of 64"
     " bytes on as stores of 8"),
]

# Lines of level warning or worse that belong to a test: (test, line, reason).
KERNEL_LINES = [
    ("test_resize_cq", r"MODIFY_CQ.*bad size too many outstanding CQEs",
     "the adapter refuses MODIFY_CQ (status 0x40): the test makes the queue too small for what is in it, and wants"
     " that"),
]
# What a kernel says when its translated processors had to wait for the machine's.
LATE = re.compile(r"hrtimer: interrupt took|[Cc]locksource")


class GuestRun:
    """What one guest said: {method: (outcome, message)}, and the kernel's lines as (method or module, text)."""

    def __init__(self, text, result):
        self.results, spans, self.notes = {}, [], []
        for line in text.splitlines():
            found = re.match(r"@(test|module) (.*)", line)
            if found and found.group(1) == "test":
                test = json.loads(found.group(2))
                self.results[test["name"]] = (test["outcome"], test["message"])
                spans.append(test)
            elif found and "ended by" in found.group(2):
                self.notes.append(found.group(2))
        self.lines = []
        for guest in result.get("guests", []):
            self.notes += [f"host{guest['host']}: {trouble}" for trouble in guest["troubles"]]
            for line in guest["kernel_warnings"]:
                if line["driver_loaded"] and not LATE.search(line["text"]):
                    self.lines.append((whose(spans, line["guest_us"]) if guest["host"] == 0 else "", line["text"]))


def whose(spans, when):
    """The test under way at `when`, or else the one before, whose objects went away then. The clocks are the same."""
    before = [test for test in spans if test["begin_us"] <= when]
    return before[-1]["name"] if before else ""


def build_image(folder):
    """An explanation if there is no guest with python3-pyverbs, else None."""
    done = subprocess.run([str(TOOLS / "guest_image"), "--with", "python3-pyverbs", "--output", folder], check=False,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout if done.returncode != 0 else None


def run(hcasim, source, modules, image, timeout, log):
    """Boots a guest, runs the modules, and gives the GuestRun. `log` is a folder for what was said, or None."""
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(log or scratch)
        place.mkdir(parents=True, exist_ok=True)
        result = place / "result.json"
        command = [hcasim, "vm", "--image", image, "--memory", "1G", "--timeout", str(timeout), "--json", str(result),
                   "--log-commands", str(place / "commands.jsonl"), "--add", f"{source / 'tests'}:{PLACE}/tests",
                   "--add", f"{TOOLS / 'guest' / 'python_tests'}:/opt/python_tests",
                   f"cd {PLACE}; python3 /opt/python_tests {PLACE}/tests {MODULE_SECONDS} {' '.join(modules)}"]
        with open(place / "output.txt", "wb") as said:
            status = subprocess.run(command, check=False, stdout=said, stderr=subprocess.STDOUT).returncode
        output = (place / "output.txt").read_text(encoding="utf-8", errors="replace")
        text = result.read_text(encoding="utf-8") if result.exists() else ""
        found = GuestRun(output, json.loads(text) if text else {})
        if status != 0:
            found.notes.append(f"hcasim vm: status {status}: {output[-1000:]}")
        return found


def cosim_cells(document):
    """{method: cell} of the column InfiniBand of what hcasim cosim's table says; a method that isn't there passes."""
    rows = re.findall(r"^\| `([\w.]+)` \| (.*?) \| .* \|$", document.split(SECTION)[0], re.MULTILINE)
    return dict(rows)


def first_of(table, name, text):
    return next((why for where, what, why in table if re.search(where, name) and re.search(what, text)), None)


class Comparison:
    """The rows of differences, those of the kernel's lines, and what no reason is known for."""

    def __init__(self, found, cosim, explain):
        self.rows, self.lines, self.unexplained = [], [], list(found.notes)
        for name, (outcome, message) in sorted(found.results.items()):
            there = cosim.get(name, "passes")
            here = first_of(REASONS, name, f"{outcome} {message}")
            if here is None:
                here, fine = ("passes", True) if outcome == "ok" else explain(name, outcome, message)
                if not fine:
                    self.unexplained.append(f"{name}: {here} {message}")
            if here != there:
                self.rows.append(f"| `{name}` | {there} | {here} |")
        for name, line in found.lines:
            why = first_of(KERNEL_LINES, name, line)
            if why is None:
                self.unexplained.append(f"{name}: the kernel says: {line}")
            elif f"| `{name}` | {why} |" not in self.lines:
                self.lines.append(f"| `{name}` | {why} |")

    def section(self, found):
        count = {kind: sum(outcome == kind for outcome, _ in found.results.values()) for kind in ("ok", "skipped")}
        failing = len(found.results) - count["ok"] - count["skipped"]
        return "\n".join([
            SECTION,
            "",
            "`tools/rdma_core_tests --vm --write docs/rdma-core-tests.md` runs the same tests in a guest of `hcasim vm`"
            " ([vm.md](vm.md)),",
            "with the stock kernel's mlx5_core and mlx5_ib below them; its ports are InfiniBand's. A run takes some"
            " minutes.",
            f"Of {len(found.results)} test methods {count['ok']} pass, {count['skipped']} are skipped and {failing}"
            f" fail{'s' if failing == 1 else ''}.",
            "What differs from the column InfiniBand above:",
            "",
            "| test | under `hcasim cosim` | in a guest |",
            "| --- | --- | --- |",
            *self.rows,
            "",
            "Of the kernel's log, level warning or worse:",
            "",
            "| test | what the kernel says |",
            "| --- | --- |",
            *self.lines,
            ""])
