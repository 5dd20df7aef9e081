"""`fak.session.v1` bundles: the index of parts beside a `recall.v1` image, read strictly.

The index is what the bundle's program checks; what it forgives is refused here: a part that is
there and not listed, sessions that differ, unknown members. Pure.
"""

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from syn.images.strict import Stream, TextWindow, kind
from syn.images.survey import ImageFault
from syn.images.table import BUNDLE_FORMAT

INDEX = "image.json"
DRIVE = "session.json"
PARTS = (
    DRIVE,
    "manifest.json",
    "cas.json",
    "index.json",
    "trajectory.jsonl",
    "witness.json",
    "quality.json",
    "drive.json",
)
"""Every file that the bundle's program knows; each one that is there must be listed."""
ARCHIVE_SUFFIX = ".faksession"
MAX_ENTRIES = 16
MAX_BYTES = 512 << 20

_TEXTS = (
    "version",
    "session_id",
    "parent_id",
    "app_version",
    "model",
    "engine",
    "account",
    "residency",
    "host",
)
_TYPES: dict[str, type] = dict.fromkeys(_TEXTS, str) | {
    "created_unix": int,
    "updated_unix": int,
    "labels": dict,
    "portability": dict,
    "parts": list,
    "migrations": list,
}
_REQUIRED = ("version", "session_id", "parts")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_PART = {"name": str, "bytes": int, "digest": str}


@dataclass(frozen=True, slots=True)
class Part:
    """One listed file of a bundle."""

    name: str
    size: int
    digest: str
    """SHA-256 of the file, hex."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The index of a bundle."""

    session: str
    parts: tuple[Part, ...]


def parse_bundle(stream: Stream, path: str = INDEX) -> Bundle:
    """Read an `image.json`.

    Raises:
        MalformedError: it is not one, or holds what a strict reader refuses.
    """
    window = TextWindow(stream, path)
    values: dict[str, Any] = {}
    for name in window.members():
        value, _ = window.value()
        if name not in _TYPES:
            code = "member-case" if name.casefold() in _TYPES else "unknown-member"
            window.fail(code, "the index has a member that the format does not know")
        if type(value) is not _TYPES[name]:
            window.fail("wrong-type", f"{name} is {kind(value)}")
        values[name] = window.checked(value) if type(value) is str else value
    window.end()
    for name in _REQUIRED:
        if name not in values:
            window.fail("missing-member", f"the index has no {name}")
    if values["version"] != BUNDLE_FORMAT:
        window.fail("unknown-version", f"expected {BUNDLE_FORMAT!r}, got another version")
    parts = tuple(_part(window, row, number) for number, row in enumerate(values["parts"]))
    if len({part.name for part in parts}) != len(parts):
        window.fail("duplicate-member", "the index lists one part twice")
    return Bundle(values["session_id"], parts)


def _part(window: TextWindow, row: Any, number: int) -> Part:
    if type(row) is not dict or row.keys() != _PART.keys():
        window.fail("wrong-type", f"part {number} is not name, bytes and digest")
    if any(type(row[name]) is not wanted for name, wanted in _PART.items()):
        window.fail("wrong-type", f"part {number} has a member of another type")
    if not _NAME.match(row["name"]):
        window.fail("unsafe-name", f"part {number} has a name that is no plain file name")
    return Part(row["name"], row["bytes"], row["digest"])


def parse_drive(stream: Stream, path: str = DRIVE) -> str:
    """The session that a `session.json` names (`trace_id`); "" when it names none.

    Raises:
        MalformedError: it is no JSON object.
    """
    window = TextWindow(stream, path)
    session = ""
    for name in window.members():
        value, _ = window.value()
        if name == "trace_id":
            if type(value) is not str:
                window.fail("wrong-type", f"trace_id is {kind(value)}")
            session = window.checked(value)
    window.end()
    return session


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file of a bundle as it is found."""

    size: int
    digest: str
    """SHA-256, hex."""


def index_faults(names: Set[str]) -> Iterator[ImageFault]:
    """What parts of a bundle without its index amount to: a check that somebody took away."""
    for name in PARTS:
        if name in names and name not in ("manifest.json", "cas.json"):
            yield ImageFault("bundle-index-absent", name, f"{INDEX} that lists it", "no such file")


def bundle_faults(
    bundle: Bundle, files: Mapping[str, PartFile], sessions: Mapping[str, str]
) -> Iterator[ImageFault]:
    """Everything wrong with a bundle beside its image.

    Args:
        bundle: the index.
        files: every known file that is there, by name.
        sessions: the session that `manifest.json` and `session.json` name, by file.
    """
    listed = {part.name: part for part in bundle.parts}
    for name in PARTS:
        if name in files and name not in listed:
            yield ImageFault("part-unlisted", name, "a part that the index lists", "not listed")
    for name, part in listed.items():
        found = files.get(name)
        if found is None:
            yield ImageFault("part-absent", name, f"{part.size} bytes", "no such file")
        elif (found.size, found.digest) != (part.size, part.digest):
            expected = f"{part.size} bytes, sha256 {part.digest[:12]}"
            actual = f"{found.size} bytes, sha256 {found.digest[:12]}"
            yield ImageFault("part-mismatch", name, expected, actual)
    for name, session in sessions.items():
        if session != bundle.session:
            yield ImageFault("session-mismatch", name, "the session of the index", "another")
