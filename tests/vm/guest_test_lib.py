"""What the tests of hcasim vm share: an image, a run, what is wrong with it."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# What a kernel says about the machine under it: translated processors that have to wait for others.
SLOW = "hrtimer: interrupt took"
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def image(folder, *options):
    """Builds the guest in `folder` (a build's own, so that tests share it); skips where that can't be done."""
    if shutil.which("qemu-system-x86_64") is None:
        skip("no qemu-system-x86_64 (tools/install_packages vm)")
    done = subprocess.run([ROOT / "tools/guest_image", "--output", folder, *options], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, end="")
    if done.returncode != 0:
        skip("no guest can be built here")
    return folder


class Run:
    """One call of hcasim vm: status, output, and the result of --json."""

    def __init__(self, hcasim, folder, *words, timeout=240):
        with tempfile.TemporaryDirectory() as place:
            result = pathlib.Path(place) / "result.json"
            command = [hcasim, "vm", "--image", folder, "--timeout", str(timeout), "--json", str(result), *words]
            done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.status, self.output = done.returncode, done.stdout
            text = result.read_text() if result.exists() else ""
            self.result = json.loads(text) if text else {}

    def complaints(self):
        """Warnings of the kernels while the driver was there, and what the guests' first programs couldn't do."""
        found = []
        for guest in self.result.get("guests", []):
            found += [f"host{guest['host']}: {line['level']}: {line['text']}" for line in guest["kernel_warnings"]
                      if line["driver_loaded"] and SLOW not in line["text"]]
            found += [f"host{guest['host']}: {trouble}" for trouble in guest["troubles"]]
        return found

    def leftovers(self):
        """Objects and pages that the drivers left in the adapters, at any unloading and at the end."""
        found = []
        for adapter in self.result.get("adapters", []):
            where = f"host {adapter['host']} adapter {adapter['adapter']}"
            found += [f"{where}: left by bring-up {left['generation']}: {left['objects']} and {left['pages']} pages"
                      for left in adapter["left"] if left["objects"] or left["pages"]]
            found += [f"{where}: {counts['live']} of {kind} at the end"
                      for kind, counts in adapter["objects"].items() if counts["live"]]
            if adapter["pages"]["held"]:
                found.append(f"{where}: {adapter['pages']['held']} pages at the end")
        return found

    def problems(self, *expected):
        """Empty, or what isn't as it should be: status 0, no complaints, each text of `expected` in the output."""
        found = [] if self.status == 0 else [f"exit status {self.status}"]
        found += self.complaints() + self.leftovers()
        found += [f"'{text}' isn't in the output" for text in expected if text not in self.output]
        if not self.result.get("guests") or not self.result.get("adapters"):
            found.append("there is no result")
        return found
