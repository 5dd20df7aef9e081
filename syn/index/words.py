"""Check words: one digest over what decides whether a fact is trusted and how it is found.

The word is the full SHA-256 (design 12, ADR 0016). It is recomputed at page-in from the row that
is about to be served; it makes a row tamper-evident against whoever edits the database without
recomputing it, and is no message authentication code.
"""

import hashlib
from typing import NamedTuple

from syn.index.lines import body_digest, quote
from syn.index.rows import FactRow

_DOMAIN = "synapse/word/1\n"


class Cell(NamedTuple):
    """What a check word covers, and the digest of the source behind it."""

    path: str
    id: str
    payload_digest: str
    body_digest: str
    valid_from: str | None
    valid_from_key: str | None
    valid_to: str | None
    valid_to_key: str | None
    status: str | None
    source_digest: str
    """Not in the word: a reformatted file is the same fact."""


def cell_of(row: FactRow, digest: str = "") -> Cell:
    """What the word of a stored fact row covers; `digest` is that of its body, when known."""
    return Cell(
        path=row.path,
        id=row.id,
        payload_digest=row.payload_digest,
        body_digest=digest or body_digest(row.body),
        valid_from=row.valid_from,
        valid_from_key=row.valid_from_key,
        valid_to=row.valid_to,
        valid_to_key=row.valid_to_key,
        status=row.status,
        source_digest=row.source_digest,
    )


def check_word(cell: Cell, taint: str, quarantine: str) -> str:
    """`sha256:<hex>` over the canonical JSON object of the covered columns.

    `quarantine` is the canonical JSON list as the state row holds it; it stands in the object as
    text, like every other column.
    """
    text = (
        f'{_DOMAIN}{{"body":{quote(cell.body_digest)},"id":{quote(cell.id)},'
        f'"path":{quote(cell.path)},"payload":{quote(cell.payload_digest)},'
        f'"quarantine":{quote(quarantine)},"status":{_nullable(cell.status)},'
        f'"taint":{quote(taint)},"valid_from":{_nullable(cell.valid_from)},'
        f'"valid_from_key":{_nullable(cell.valid_from_key)},'
        f'"valid_to":{_nullable(cell.valid_to)},"valid_to_key":{_nullable(cell.valid_to_key)}}}'
    )
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"


def _nullable(text: str | None) -> str:
    return "null" if text is None else quote(text)
