"""Every fault there is in a folder: flips, truncations, lines removed, doubled or swapped."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, assert_never

Kind = Literal[
    "flip", "invert", "truncate", "remove-line", "double-line", "zero", "empty", "delete"
]

_ZEROED = 16


@dataclass(frozen=True, slots=True)
class Fault:
    """One change of one file."""

    path: str
    """Relative to the work tree."""
    kind: Kind
    at: int
    """Bit, byte, length or line, as the kind has it."""

    def apply(self, data: bytes) -> bytes | None:
        """The file after it; None when it is gone."""
        return None if self.kind == "delete" else self._changed(data)

    def _changed(self, data: bytes) -> bytes:
        head, tail = data[: self.at], data[self.at :]
        match self.kind:
            case "flip":
                changed = bytearray(data)
                changed[self.at // 8] ^= 1 << self.at % 8
                return bytes(changed)
            case "invert":
                return head + bytes([tail[0] ^ 0xFF]) + tail[1:]
            case "truncate":
                return head
            case "zero":
                return head + bytes(len(tail[:_ZEROED])) + tail[_ZEROED:]
            case "remove-line" | "double-line":
                return self._lines(data)
            case "empty" | "delete":
                return b""
        assert_never(self.kind)

    def _lines(self, data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        times = 0 if self.kind == "remove-line" else 2
        return b"".join([*lines[: self.at], *[lines[self.at]] * times, *lines[self.at + 1 :]])


def faults_of(path: str, data: bytes) -> Iterator[Fault]:
    """Every fault of one file that changes it: each bit, byte, length and line."""
    yield Fault(path, "delete", 0)
    if not data:
        return
    yield Fault(path, "empty", 0)
    for bit in range(len(data) * 8):
        yield Fault(path, "flip", bit)
    for byte in range(len(data)):
        yield Fault(path, "invert", byte)
    for length in range(1, len(data)):
        yield Fault(path, "truncate", length)
    for start in range(0, len(data), _ZEROED):
        if any(data[start : start + _ZEROED]):
            yield Fault(path, "zero", start)
    if _is_text(path):
        for line in range(len(data.splitlines())):
            yield Fault(path, "remove-line", line)
            yield Fault(path, "double-line", line)


def _is_text(path: str) -> bool:
    return not path.startswith(".git/objects") and not path.endswith((".db", ".bin", ".git/index"))


IGNORED = (".git/hooks/", ".git/logs/", ".git/info/", ".git/description", ".git/COMMIT_EDITMSG")
"""What neither syn nor its evidence reads."""


def files_of(root: Path) -> list[str]:
    """The files of a work tree that a fault can strike, sorted."""
    found = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return sorted(path for path in found if not path.startswith(IGNORED))


CLASSES = {
    "facts/": "facts",
    ".synapse/ledger/": "ledger",
    ".synapse/heads/": "heads",
    ".synapse/policy": "policy",
    ".synapse/receipts/": "receipts",
    ".synapse/index.db": "index",
    "images/": "images",
    "synapse.toml": "configuration",
    ".git/objects/pack/": "git packs",
    ".git/objects/": "git objects",
    ".git/refs/": "git refs",
    ".git/HEAD": "git refs",
    ".git/synapse/": "private state",
    ".git/": "git settings, index",
}


def class_of(path: str) -> str:
    """The group a file counts in."""
    return next((name for start, name in CLASSES.items() if path.startswith(start)), "other")
