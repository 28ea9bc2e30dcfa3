"""A Linux initial file system in the "newc" cpio format, written by name, without times or owners."""


class Archive:
    def __init__(self):
        self._entries = {}

    def add(self, path, mode, data=b""):
        """`path` without a leading slash; `mode` with the file's type, as in stat."""
        parts = path.split("/")
        for depth in range(1, len(parts)):
            self._entries.setdefault("/".join(parts[:depth]), (0o40755, b""))
        self._entries[path] = (mode, data)

    def file(self, path, data, mode=0o644):
        self.add(path, 0o100000 | mode, data)

    def link(self, path, target):
        self.add(path, 0o120777, target.encode())

    def folder(self, path, mode=0o755):
        self.add(path, 0o40000 | mode)

    def has(self, path):
        return path in self._entries

    def bytes(self):
        """A folder comes before what is in it, since names are sorted."""
        out = bytearray()
        for number, (path, (mode, data)) in enumerate(sorted(self._entries.items()), start=1):
            self._append(out, path, number, mode, data)
        self._append(out, "TRAILER!!!", 0, 0, b"")
        out += b"\0" * (-len(out) % 512)
        return bytes(out)

    @staticmethod
    def _append(out, path, number, mode, data):
        name = path.encode() + b"\0"
        links = 2 if mode & 0o170000 == 0o40000 else 1
        fields = [number, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(name), 0]
        out += b"070701" + b"".join(b"%08X" % field for field in fields) + name
        out += b"\0" * (-len(out) % 4)
        out += data
        out += b"\0" * (-len(out) % 4)
