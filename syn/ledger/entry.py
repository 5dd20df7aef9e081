"""One line of the ledger: its canonical bytes, its hash, and the strict way back (design 5)."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from syn.canon import json as canonical
from syn.canon.digest import tagged, tagged_json
from syn.errors import RefusedError
from syn.ledger import syntax
from syn.ledger.pattern import match
from syn.model.finding import Json
from syn.model.ledger import Action, Entry, Review, Via

VERSION = 1
_DOMAIN = "ledger/1"
_PREFIX = b"synapse/ledger/1\n"

HashedEntry: TypeAlias = tuple[str, Entry]
"""An entry beside its hash, as everything above this layer passes them around."""


class InvalidEntryError(RefusedError):
    """An entry that the format does not allow was about to be written."""

    def __init__(self, message: str) -> None:
        super().__init__("entry-invalid", message, "")


@dataclass(frozen=True, slots=True)
class Defect:
    """Why a line is not an entry."""

    code: str
    """`not-canonical`, `entry-invalid`, `line-too-long` or `unknown-version`."""
    expected: str
    actual: str
    offset: int = 0
    """First byte of the line that is wrong, as far as it is known."""


def genesis(ws: str, writer: str) -> str:
    """The `prev` of a writer's first entry in the workspace with this id."""
    return tagged_json("genesis/1", {"writer": writer, "ws": ws})


def encode(entry: Entry) -> bytes:
    """The line of an entry without its LF; a written entry is always a readable one.

    Raises:
        InvalidEntryError: the entry breaks a rule of docs/formats/ledger.md.
    """
    members = _members(entry)
    if defect := _member_defect(members):
        raise InvalidEntryError(f"expected {defect.expected}, got {defect.actual}")
    try:
        line = canonical.encode(members)
    except canonical.CanonError as error:
        raise InvalidEntryError(f"the entry has no canonical form: {error.message}") from error
    if len(line) > syntax.MAX_LINE:
        raise InvalidEntryError(f"expected at most {syntax.MAX_LINE} bytes, got {len(line)}")
    return line


def entry_hash(entry: Entry) -> str:
    """`sha256:<hex>` over the canonical bytes without `sig`; the same with and without it."""
    members = _members(entry)
    members.pop("sig", None)
    return tagged(_DOMAIN, canonical.encode(members))


def signing_payload(digest: str) -> bytes:
    """The bytes an Ed25519 key signs for the entry with this hash: the hash as it is written.

    `sha256:` plus 64 hex digits and no line end: no note, SSHSIG blob, DSSE or cosignature message
    can begin like that, so a signature never counts for another format.
    """
    return digest.encode("ascii")


def decode(line: bytes, pool: dict[str, str] | None = None) -> HashedEntry | Defect:
    """Read one line (without its LF), strictly; every other spelling is a defect.

    Args:
        line: the exact bytes.
        pool: equal strings become one object, which halves the memory of a long chain.
    """
    if len(line) > syntax.MAX_LINE:
        return Defect("line-too-long", f"at most {syntax.MAX_LINE} bytes", f"{len(line)} bytes")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        return Defect("not-canonical", "UTF-8", "other bytes", error.start)
    pool = {} if pool is None else pool
    entry = match(text, pool)
    if entry is None:
        return decode_slowly(line, text, pool)
    digest = _hash(text, line, entry.sig)
    return pool.setdefault(digest, digest), entry


def _hash(text: str, line: bytes, sig: str) -> str:
    if sig:
        # A quote inside a text is escaped, so this is the member and nothing else.
        head, _, tail = text.partition(f'"sig":"{sig}",')
        line = (head + tail).encode()
    return "sha256:" + hashlib.sha256(_PREFIX + line).hexdigest()


def decode_slowly(line: bytes, text: str, pool: dict[str, str]) -> HashedEntry | Defect:
    """The definition of what an entry is; the fast reader only saves time."""
    try:
        value = canonical.decode(line)
    except canonical.CanonError as error:
        return Defect("not-canonical", "canonical JSON", error.message, _first_difference(line))
    if not isinstance(value, dict):
        return _invalid("an object", type(value).__name__)
    if defect := _member_defect(value):
        return defect
    entry = _entry(value, pool)
    digest = _hash(text, line, entry.sig)
    return pool.setdefault(digest, digest), entry


def _first_difference(line: bytes) -> int:
    try:
        expected = canonical.encode(json.loads(line))
    except (ValueError, RecursionError, canonical.CanonError) as error:
        return getattr(error, "pos", getattr(error, "start", 0))
    pairs = enumerate(zip(line, expected, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(line), len(expected)))


def _member_defect(members: Mapping[str, Json]) -> Defect | None:
    """What is wrong with the members of a canonical object, or None; the order is fixed."""
    if unknown := members.keys() - syntax.MEMBERS:
        return _invalid("only known members", f"member {min(unknown)[:40]}")
    for name, value in members.items():
        if name in syntax.LISTS:
            if defect := _list_defect(name, value):
                return defect
        elif name == "seq":
            if type(value) is not int or not 1 <= value <= canonical.MAX_INTEGER:
                return _invalid("seq: an integer from 1", f"{value!r:.40}")
        elif name == "v":
            if type(value) is not int or value != VERSION:
                return Defect("unknown-version", str(VERSION), f"{value!r:.40}")
        else:
            expected = syntax.TEXT_CHECKS[name][1]
            if type(value) is not str or not syntax.well_formed(name, value):
                return _invalid(f"{name}: {expected}", f"{value!r:.80}")
    return _shape_defect(members) or _relation_defect(members)


def _list_defect(name: str, value: Json) -> Defect | None:
    if type(value) is not list or not value:
        return _invalid(f"{name}: a list of digests, not empty", f"{value!r:.40}")
    for item in value:
        if type(item) is not str or syntax.DIGEST.match(item) is None:
            if name == "prior" and item == "":
                continue
            return _invalid(f"{name}: sha256:<64 hex digits>", f"{item!r:.80}")
    texts = cast("list[str]", value)
    if name != "prior" and len(value) > 1 and texts != sorted(set(texts)):
        return _invalid(f"{name}: sorted, each once", "another order")
    return None


def _shape_defect(members: Mapping[str, Json]) -> Defect | None:
    action = members.get("action")
    if not isinstance(action, str):
        return _invalid("member action", "none")
    fault = syntax.shape_fault(action, frozenset(members))
    return None if fault is None else _invalid(*fault)


def _relation_defect(members: Mapping[str, Json]) -> Defect | None:
    """Rules between members that are each well-formed."""
    after, prior = members.get("after"), members.get("prior")
    if isinstance(after, list) and isinstance(prior, list) and len(after) != len(prior):
        return _invalid(f"prior: {len(after)} payloads, as many as after", str(len(prior)))
    batch = members.get("batch")
    if isinstance(batch, str):
        parts = syntax.batch_parts(batch)
        seq = cast("int", members["seq"])
        if parts is None or parts[0] != members["writer"] or parts[1] > seq:
            return _invalid("batch: this writer and the seq of an earlier line or of this", batch)
    return None


def _invalid(expected: str, actual: str) -> Defect:
    return Defect("entry-invalid", expected, actual)


_TEXTS = (
    *("writer", "prev", "ts", "actor", "via", "action", "review", "batch", "fact", "path"),
    *("payload", "source", "taint", "proposal", "reason", "commit", "key", "sig"),
)


def _members(entry: Entry) -> dict[str, Json]:
    members: dict[str, Json] = {"v": VERSION, "seq": entry.seq}
    for name in _TEXTS:
        if value := getattr(entry, name):
            members[name] = value
    for name in sorted(syntax.LISTS):
        if values := getattr(entry, name):
            members[name] = list(values)
    return members


def _entry(members: dict[str, Any], pool: dict[str, str]) -> Entry:
    same = pool.setdefault
    get = members.get

    def shared(name: str) -> str:
        value: str = get(name, "")
        return same(value, value)

    def listed(name: str) -> tuple[str, ...]:
        return tuple([same(value, value) for value in get(name, ())])

    return Entry(
        writer=shared("writer"),
        seq=members["seq"],
        prev=shared("prev"),
        ts=members["ts"],
        actor=shared("actor"),
        via=cast("Via", shared("via")),
        action=cast("Action", shared("action")),
        review=cast("Review", shared("review")),
        batch=shared("batch"),
        fact=shared("fact"),
        path=shared("path"),
        payload=shared("payload"),
        source=shared("source"),
        taint=shared("taint"),
        after=listed("after"),
        prior=listed("prior"),
        proposal=get("proposal", ""),
        reason=get("reason", ""),
        names=listed("names"),
        commit=get("commit", ""),
        key=shared("key"),
        sig=get("sig", ""),
    )
