"""Packages of Debian or Ubuntu as folders of files, without root: what is installed is read where it lies, everything
else is downloaded with apt-get and unpacked with dpkg-deb, both into a cache."""
import os
import pathlib
import re
import shutil
import subprocess

from kernel import Problem

# Needed to install or configure a package, not to use what is in it here.
NOT_NEEDED = {"adduser", "debconf", "dpkg", "pci.ids", "perl-base", "init-system-helpers", "media-types", "udev",
              "initramfs-tools", "linux-base", "gcc-12-base", "gcc-14-base", "lsb-base", "sysvinit-utils", "mime-support"}


def _run(words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C"}, **options)


def _fields(text):
    """The first paragraph of what apt-cache show prints."""
    paragraph = text.split("\n\n")[0]
    return dict(re.findall(r"^([\w-]+): (.*)$", paragraph, re.MULTILINE))


class Package:
    def __init__(self, name, version, depends, is_installed):
        self.name, self.version, self.is_installed = name, version, is_installed
        # Of alternatives each is a list of names.
        self.depends = [[re.sub(r"[ (:].*", "", word.strip()) for word in group.split("|")]
                        for group in depends.split(",") if group.strip()]


class Distribution:
    def __init__(self, cache):
        for program in ("dpkg-query", "dpkg-deb", "apt-get", "apt-cache"):
            if shutil.which(program) is None:
                raise Problem(f"{program} is missing: the guest is made of Debian's or Ubuntu's packages. On another "
                              "system run tools/guest_image in a container of one of these and copy the folder that it "
                              "makes (hcasim vm --image DIR)")
        self._cache = cache
        self._cache.mkdir(parents=True, exist_ok=True)
        self._options = []  # where apt's lists are
        self._installed = self._read_installed()
        self._known = {}

    def _read_installed(self):
        shown = _run(["dpkg-query", "--show", "--showformat",
                      "${db:Status-Status}\t${Package}\t${Version}\t${Pre-Depends}, ${Depends}\n"]).stdout
        packages = {}
        for line in shown.splitlines():
            status, name, version, depends = line.split("\t")
            if status == "installed":
                packages[name] = Package(name, version, depends, True)
        return packages

    def find(self, name):
        """The installed package, or the newest that apt knows; None if there is none."""
        if name not in self._known:
            self._known[name] = self._installed.get(name) or self._candidate(name)
        return self._known[name]

    def candidate_version(self, name):
        found = self._candidate(name)
        return found.version if found else None

    def _candidate(self, name):
        shown = _run(["apt-cache", *self._options, "--no-all-versions", "show", name])
        fields = _fields(shown.stdout)
        if shown.returncode != 0 or "Version" not in fields:
            return None
        depends = fields.get("Pre-Depends", "") + ", " + fields.get("Depends", "")
        return Package(name, fields["Version"], depends, False)

    def refresh_lists(self):
        """Fetches apt's lists of packages into the cache: a fresh container has none."""
        lists = self._cache / "lists"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        (self._cache / "archives/partial").mkdir(parents=True, exist_ok=True)
        self._options = ["-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={self._cache}", "-o",
                         "Debug::NoLocking=1", "-o", "APT::Sandbox::User="]
        done = _run(["apt-get", *self._options, "-q", "update"])
        self._known = {}
        return done.returncode == 0

    def closure(self, names):
        """Those packages and what they need to run."""
        found, queue = {}, list(names)
        while queue:
            name = queue.pop(0)
            if name in found or name in NOT_NEEDED:
                continue
            package = self.find(name)
            if package is None:
                if name in names:
                    raise Problem(f"there is no package {name}: is a source for it in /etc/apt/sources.list?")
                continue  # a virtual one
            found[name] = package
            for group in package.depends:
                if any(other in found for other in group):
                    continue
                queue.append(next((other for other in group if other in self._installed), group[0]))
        return [found[name] for name in sorted(found)]

    def files(self, package):
        """{path without leading slash: the file on this machine}."""
        if package.is_installed:
            listed = _run(["dpkg-query", "--listfiles", package.name]).stdout.splitlines()
            return {path.lstrip("/"): pathlib.Path(path) for path in listed if os.path.lexists(path)}
        root = self.unpacked(package)
        return {str(path.relative_to(root)): path for path in root.rglob("*")}

    def unpacked(self, package):
        """The folder with the package's files, downloaded if it isn't there yet."""
        folder = self._cache / "unpacked" / f"{package.name}_{package.version.replace(':', '.')}"
        if folder.exists():
            return folder
        folder.parent.mkdir(exist_ok=True)
        archive = self._download(package)
        partial = folder.with_name(folder.name + f".{os.getpid()}")
        done = _run(["dpkg-deb", "--extract", str(archive), str(partial)])
        archive.unlink()
        if done.returncode != 0:
            raise Problem(f"{archive.name} can't be unpacked: {done.stderr.strip()}")
        try:
            partial.rename(folder)
        except OSError:  # somebody else was faster
            shutil.rmtree(partial)
        return folder

    def _download(self, package):
        folder = self._cache / f"download.{os.getpid()}"
        folder.mkdir(exist_ok=True)
        done = _run(["apt-get", *self._options, "-q", "-o", "APT::Sandbox::User=", "download",
                     f"{package.name}={package.version}"], cwd=folder)
        archives = list(folder.glob("*.deb"))
        if done.returncode != 0 or not archives:
            why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Problem(f"{package.name} {package.version} can't be downloaded ({why}). Without a network install it "
                          f"(apt-get install {package.name}): what is installed is taken from there")
        target = self._cache / archives[0].name
        archives[0].rename(target)
        shutil.rmtree(folder)
        return target
