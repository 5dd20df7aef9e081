"""Recording a session: from a transcript of tool results, or from facts that were handed out.

The transcript is UTF-8 JSON lines, one object for each result (docs/formats/image.md). Pure.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from syn.canon.digest import is_digest
from syn.errors import UsageError
from syn.images.descriptor import (
    benign_descriptor,
    first_line,
    is_reason,
    sealed_descriptor,
)
from syn.images.table import (
    BOUNDED,
    DURABILITY,
    QUARANTINED,
    TAINTED,
    FactRef,
    Page,
)

MAX_LINE = 1 << 28

Screen = Callable[[bytes], str]
"""Port: why a body must be sealed (a code like `SECRET_EXFIL`), or ""."""


class TranscriptError(UsageError):
    """A line of a transcript that is no result (`bad-transcript`); names the line, never quotes."""


@dataclass(frozen=True, slots=True)
class Item:
    """One tool result on its way into an image."""

    role: str
    body: bytes = field(repr=False)
    durability: str = "turn"
    valid_to: int = 0
    witness: str = ""
    seal: str = ""
    """Reason code when the result is to be sealed."""
    fact: FactRef | None = None


_TYPES: dict[str, type] = {
    "role": str,
    "text": str,
    "bytes": str,
    "durability": str,
    "valid_to": int,
    "witness": str,
    "seal": str,
    "fact": dict,
}


def parse_transcript(lines: Iterable[bytes]) -> Iterator[Item]:
    """The results of a transcript, line by line; blank lines are skipped.

    Raises:
        TranscriptError: a line is no result.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _item(number, line)


def _item(number: int, line: bytes) -> Item:
    if len(line) > MAX_LINE:
        raise _bad(number, f"expected at most {MAX_LINE} bytes")
    row = _row(number, line)
    for name, value in row.items():
        if name not in _TYPES or type(value) is not _TYPES[name]:
            raise _bad(number, "a member that is unknown or of another type")
        if type(value) is str and not _is_text(value):
            raise _bad(number, f"expected Unicode text as {name}")
    if not row.get("role") or ("text" in row) is ("bytes" in row):
        raise _bad(number, "expected a role, and either text or bytes")
    durability, valid_to = row.get("durability", "turn"), row.get("valid_to", 0)
    if durability not in DURABILITY or (durability == BOUNDED) is not (valid_to > 0):
        raise _bad(number, "expected a known durability, and valid_to on a bounded result only")
    if (reason := row.get("seal", "")) and not is_reason(reason):
        raise _bad(number, "expected a reason code as the seal")
    return Item(
        row["role"],
        _body(number, row),
        durability,
        valid_to,
        row.get("witness", ""),
        reason,
        _fact(number, row.get("fact")),
    )


def _row(number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line.decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise _bad(number, "expected one JSON object, with each member once") from error
    if not isinstance(row, dict):
        raise _bad(number, "expected one JSON object")
    return row


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("duplicate member")
    return row


def _body(number: int, row: dict[str, Any]) -> bytes:
    try:
        if "text" in row:
            return str(row["text"]).encode()
        return base64.b64decode(row["bytes"], validate=True)
    except ValueError as error:  # lone surrogates, and what is no base64
        raise _bad(number, "expected Unicode text, or base64 bytes") from error


def _fact(number: int, value: Any) -> FactRef | None:
    if value is None:
        return None
    if value.keys() != {"id", "payload"} or not is_digest(str(value["payload"])):
        raise _bad(number, "expected a fact with id and payload digest")
    if not _is_text(str(value["id"])):
        raise _bad(number, "expected Unicode text as id")
    return FactRef(str(value["id"]), value["payload"])


def _is_text(value: str) -> bool:
    """Whether it is Unicode: JSON can spell lone surrogates, which no file can hold."""
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _bad(number: int, what: str) -> TranscriptError:
    remedy = "docs/formats/image.md shows the lines of a transcript"
    return TranscriptError("bad-transcript", f"line {number}: {what}", remedy)


@dataclass(slots=True)
class Recorder:
    """Turns results into pages, in order; sealed ones get the seal ids q1, q2, ..."""

    screen: Screen | None = None
    pages: int = 0
    seals: int = 0

    def page(self, item: Item) -> Page:
        """The row of the next result; word and place are set when it is written."""
        reason = item.seal or (self.screen(item.body) if self.screen is not None else "")
        step, self.pages = self.pages, self.pages + 1
        digest, size = hashlib.sha256(item.body).hexdigest(), len(item.body)
        if not reason:
            text = benign_descriptor(item.role, first_line(item.body))
            return Page(
                step,
                item.role,
                text,
                digest,
                size,
                TAINTED,
                sealed=False,
                durability=item.durability,
                valid_to=item.valid_to,
                witness=item.witness,
                fact=item.fact,
            )
        self.seals += 1
        return Page(
            step,
            item.role,
            sealed_descriptor(item.role, reason, size),
            digest,
            size,
            QUARANTINED,
            sealed=True,
            qid=f"q{self.seals}",
            reason=reason,
            witness=item.witness,
            fact=item.fact,
        )
