"""Head records: one canonical JSON statement of a workspace's state, the leaves of its log.

A log is kept as `.synapse/heads/<publisher>.jsonl`, one record a line; the leaf is the line without
its newline (docs/formats/checkpoint.md).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

from syn.canon import digest, json, merkle
from syn.canon.json import CanonError
from syn.errors import RefusedError
from syn.model.finding import Json

VERSION = 1
MAX_LINE = 1 << 20
"""Bytes of one record: about 10,000 writers."""
_FIELDS = frozenset(
    {
        *("v", "ws", "n", "object_format", "commit", "tree", "projection", "manifest"),
        *("inputs", "policy", "facts", "entries", "segments", "prev"),
    }
)
_OPTIONAL = frozenset({"policy", "prev"})
_OID = {"sha1": re.compile(r"[0-9a-f]{40}\Z"), "sha256": re.compile(r"[0-9a-f]{64}\Z")}
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}\Z")

ObjectFormat: TypeAlias = Literal["sha1", "sha256"]


class HeadError(RefusedError):
    """Bytes that are no head record: `head-limit`, `head-form`, `head-field`."""


@dataclass(frozen=True, slots=True)
class SegmentHead:
    """How far one writer's chain had come."""

    writer: str
    length: int
    """Entries in the chain, at least 1."""
    head: str
    """Hash of the last of them, `sha256:<hex>`."""


@dataclass(frozen=True, slots=True)
class HeadRecord:
    """One published state of a workspace."""

    ws: str
    """The workspace's id."""
    n: int
    """Position in the log, from 1: the size of the log that ends with this record."""
    object_format: ObjectFormat
    commit: str
    tree: str
    projection: int
    """Version of the projection that made the manifest; others are not comparable."""
    manifest: str
    inputs: str
    facts: str
    """RFC 6962 root over the sorted fact rows of the manifest, as `sha256:<hex>`."""
    entries: str
    """RFC 6962 root over the sorted entry hashes, 32 bytes each, as `sha256:<hex>`."""
    segments: tuple[SegmentHead, ...]
    """Sorted by writer."""
    policy: str = ""
    """Digest of `.synapse/policy`, or "" when there is none."""
    prev: str = ""
    """Leaf hash of the record before, `sha256:<hex>`; "" on the first."""


@dataclass(frozen=True, slots=True)
class HeadFault:
    """What is wrong with one line of a log file."""

    line: int
    code: str
    """A `HeadError` code, `head-torn` for a last line without newline, or `head-chain`."""
    message: str


@dataclass(frozen=True, slots=True)
class HeadLog:
    """A log file: its records up to the first line that cannot be read."""

    records: tuple[HeadRecord, ...]
    leaves: tuple[bytes, ...]
    """The exact bytes of each record, without newline."""
    faults: tuple[HeadFault, ...]

    def leaf_hashes(self) -> tuple[bytes, ...]:
        """The Merkle leaf hash of each record."""
        return tuple(map(merkle.leaf_hash, self.leaves))


def encode(record: HeadRecord) -> bytes:
    """The leaf: canonical JSON without a newline; absent fields are left out.

    Raises:
        HeadError: the record breaks a rule that `decode` checks.
    """
    fields: dict[str, Json] = {
        "v": VERSION,
        "ws": record.ws,
        "n": record.n,
        "object_format": record.object_format,
        "commit": record.commit,
        "tree": record.tree,
        "projection": record.projection,
        "manifest": record.manifest,
        "inputs": record.inputs,
        "facts": record.facts,
        "entries": record.entries,
        "segments": {item.writer: [item.length, item.head] for item in record.segments},
    }
    if record.policy:
        fields["policy"] = record.policy
    if record.prev:
        fields["prev"] = record.prev
    if _read(fields) != record:
        raise HeadError("head-field", "expected segments sorted by writer, each writer once")
    return json.encode(fields)


def decode(data: bytes) -> HeadRecord:
    """Read a leaf, strictly.

    Raises:
        HeadError: it is no head record in canonical form.
    """
    if len(data) > MAX_LINE:
        raise HeadError("head-limit", f"expected a record of at most 1 MiB, got {len(data)} bytes")
    try:
        fields = json.decode(data)
    except CanonError as error:
        raise HeadError("head-form", f"a head record is not readable: {error.message}") from error
    if not isinstance(fields, dict):
        raise HeadError("head-form", "expected an object as head record")
    return _read(fields)


def leaf_digest(leaf: bytes) -> str:
    """The Merkle leaf hash as `prev` of the next record names it: `sha256:<hex>`."""
    return digest.text(merkle.leaf_hash(leaf))


def link(record: HeadRecord, log: HeadLog) -> HeadRecord:
    """The record with the `n` and `prev` that make it the next one of this log."""
    prev = leaf_digest(log.leaves[-1]) if log.leaves else ""
    return replace(record, n=len(log.leaves) + 1, prev=prev)


def facts_root(rows: Iterable[bytes]) -> str:
    """The `facts` field: root over the manifest's fact rows, in order, without newlines."""
    return digest.text(merkle.root(rows))


def entries_root(hashes: Iterable[str]) -> str:
    """The `entries` field: root over the entry hashes `sha256:<hex>`, sorted here, as 32 bytes."""
    return digest.text(merkle.root(digest.raw(item) for item in sorted(hashes)))


def parse_log(data: bytes) -> HeadLog:
    """Read a log file; whatever is wrong is a fault, never an exception.

    Reading stops at a line that is no record; a record that does not continue the one before is
    kept and named.
    """
    records: list[HeadRecord] = []
    leaves: list[bytes] = []
    faults: list[HeadFault] = []
    *lines, rest = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            record = decode(line)
        except HeadError as error:
            faults.append(HeadFault(number, error.code, error.message))
            return HeadLog(tuple(records), tuple(leaves), tuple(faults))
        fault = _chain_fault(record, records, leaves)
        if fault:
            faults.append(HeadFault(number, "head-chain", fault))
        records.append(record)
        leaves.append(line)
    if rest:
        faults.append(HeadFault(len(lines) + 1, "head-torn", "the last line has no newline"))
    return HeadLog(tuple(records), tuple(leaves), tuple(faults))


def _chain_fault(record: HeadRecord, records: list[HeadRecord], leaves: list[bytes]) -> str:
    """Why the record does not continue the log, or ""."""
    if record.n != len(records) + 1:
        return f"expected n {len(records) + 1}, got {record.n}"
    prev = leaf_digest(leaves[-1]) if leaves else ""
    if record.prev != prev:
        return f"expected prev {prev}, got {record.prev}"
    if records and record.ws != records[0].ws:
        return f"expected the workspace {records[0].ws}, got {record.ws[:60]}"
    return ""


def _read(fields: dict[str, Json]) -> HeadRecord:
    missing = _FIELDS - _OPTIONAL - fields.keys()
    unknown = fields.keys() - _FIELDS
    if missing or unknown:
        named = ", ".join(sorted(missing | unknown))[:120]
        raise HeadError("head-field", f"a head record has missing or unknown fields: {named}")
    if fields["v"] is not VERSION:
        raise HeadError("head-field", f"expected version {VERSION}, got {fields['v']!r:.40}")
    object_format = _object_format(fields)
    n = _count(fields, "n")
    prev = _digest(fields, "prev") if "prev" in fields else ""
    if (n == 1) != (prev == ""):
        raise HeadError("head-field", "expected prev on every record but the first")
    return HeadRecord(
        ws=_name(fields, "ws"),
        n=n,
        object_format=object_format,
        commit=_oid(fields, "commit", object_format),
        tree=_oid(fields, "tree", object_format),
        projection=_count(fields, "projection"),
        manifest=_digest(fields, "manifest"),
        inputs=_digest(fields, "inputs"),
        facts=_digest(fields, "facts"),
        entries=_digest(fields, "entries"),
        segments=_segments(fields["segments"]),
        policy=_digest(fields, "policy") if "policy" in fields else "",
        prev=prev,
    )


def _segments(value: Json) -> tuple[SegmentHead, ...]:
    if not isinstance(value, dict):
        raise _expected("segments", "an object", value)
    result = []
    for writer, item in sorted(value.items()):
        if not _NAME.match(writer):
            raise _expected("segments", "writer ids", writer)
        match item:
            case [int(length), str(head)] if length is not True and length > 0:
                if not digest.is_digest(head):
                    raise _expected("segments", "a digest", head)
                result.append(SegmentHead(writer, length, head))
            case _:
                raise _expected("segments", "[length, digest]", item)
    return tuple(result)


def _object_format(fields: dict[str, Json]) -> ObjectFormat:
    value = fields["object_format"]
    if not isinstance(value, str) or value not in _OID:
        raise _expected("object_format", "sha1 or sha256", value)
    return cast("ObjectFormat", value)


def _oid(fields: dict[str, Json], key: str, object_format: ObjectFormat) -> str:
    value = fields[key]
    if not isinstance(value, str) or not _OID[object_format].match(value):
        raise _expected(key, f"a {object_format} object id", value)
    return value


def _name(fields: dict[str, Json], key: str) -> str:
    value = fields[key]
    if not isinstance(value, str) or not _NAME.match(value):
        raise _expected(key, "a name of letters, digits, `.`, `_`, `-`", value)
    return value


def _count(fields: dict[str, Json], key: str) -> int:
    value = fields[key]
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _expected(key, "a number from 1", value)
    return value


def _digest(fields: dict[str, Json], key: str) -> str:
    value = fields[key]
    if not isinstance(value, str) or not digest.is_digest(value):
        raise _expected(key, "sha256:<hex>", value)
    return value


def _expected(key: str, expected: str, value: Json) -> HeadError:
    return HeadError("head-field", f"{key}: expected {expected}, got {value!r:.60}")
