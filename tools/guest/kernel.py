"""A distribution's kernel: its modules in the order in which they can be loaded, and its uncompressed image."""
import lzma
import pathlib
import re
import shutil
import subprocess
import zlib

# What a guest needs: network between the guests, the adapter's driver, verbs.
MODULES = ["virtio_pci", "virtio_net", "mlx5_core", "ib_uverbs", "ib_umad", "mlx5_ib"]


class Problem(Exception):
    """Something that the user can act on."""


def _plain(path):
    """A module's bytes; Ubuntu compresses them."""
    if path.suffix == ".ko":
        return path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    if shutil.which("zstd") is None:
        raise Problem(f"{path.name} is compressed: install the package zstd")
    return subprocess.run(["zstd", "-dcq", str(path)], check=True, stdout=subprocess.PIPE).stdout


def _info(data, name):
    """A field of the section .modinfo, which holds NAME=VALUE strings."""
    found = re.search(rb"\0" + name + rb"=([^\0]*)\0", data)
    return found.group(1).decode() if found else ""


def _key(name):
    return name.replace("-", "_")


class Kernel:
    """`root`: a folder with boot/vmlinuz-RELEASE and lib/modules/RELEASE."""

    def __init__(self, root):
        releases = sorted(path.name for path in (root / "lib/modules").glob("*"))
        if not releases:
            raise Problem(f"no kernel modules below {root}/lib/modules")
        self.release = releases[-1]
        self._folder = root / "lib/modules" / self.release
        self.image = root / f"boot/vmlinuz-{self.release}"
        if not self.image.exists():
            self.image = self._folder / "vmlinuz"
        self._files = {_key(path.name.split(".ko")[0]): path for path in self._folder.rglob("*.ko*")}
        builtin = (self._folder / "modules.builtin").read_text(encoding="utf-8").split()
        self._builtin = {_key(pathlib.Path(line).stem) for line in builtin}
        self._data = {}

    def modules(self, wanted):
        """[(path below lib/modules/RELEASE, bytes, [paths it depends on])]; dependencies first."""
        order = []
        for name in wanted:
            self._visit(_key(name), order, needed_by="")
        return [(self._path(name), self._data[name], [self._path(other) for other in self._closure(name)])
                for name in order]

    def _visit(self, name, order, needed_by):
        if name in order or name in self._builtin:
            return
        if name not in self._files:
            raise Problem(f"kernel {self.release} has no module {name}" + (f" ({needed_by} needs it)" if needed_by else ""))
        self._data[name] = _plain(self._files[name])
        for other in self._needs(name):
            self._visit(other, order, name)
        order.append(name)

    def _needs(self, name):
        return [_key(other) for other in _info(self._data[name], b"depends").split(",") if other]

    def _closure(self, name):
        """As modules.dep lists it: what must be there, the nearest first."""
        found = []
        for other in self._needs(name):
            if other in self._data:
                found += [other] + self._closure(other)
        return list(dict.fromkeys(reversed(found)))[::-1]

    def _path(self, name):
        return re.sub(r"\.ko(\..*)?$", ".ko", str(self._files[name].relative_to(self._folder)))

    def uncompressed(self):
        """The ELF image in a bzImage, which QEMU starts directly if it has an entry for that (PVH); None if there is
        none, or if it is compressed in a way that isn't known here."""
        data = self.image.read_bytes()
        for magic, unpack in ((b"\x02\x21\x4c\x18", _unpack_lz4), (b"\x1f\x8b\x08", _unpack_gzip),
                              (b"\xfd7zXZ\0", _unpack_xz), (b"\x28\xb5\x2f\xfd", _unpack_zstd)):
            at = data.find(magic)
            while at >= 0:
                elf = unpack(data[at:])
                if elf is not None and elf.startswith(b"\x7fELF"):
                    return elf
                at = data.find(magic, at + 1)
        return None


def _pipe(words, data):
    if shutil.which(words[0]) is None:
        return None
    done = subprocess.run(words, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout or None


def _unpack_lz4(data):
    return _pipe(["lz4", "-dcq"], data)


def _unpack_zstd(data):
    return _pipe(["zstd", "-dcq"], data)


def _unpack_gzip(data):
    try:
        return zlib.decompressobj(31).decompress(data)
    except zlib.error:
        return None


def _unpack_xz(data):
    try:
        return lzma.LZMADecompressor().decompress(data)
    except lzma.LZMAError:
        return None
