"""Questions as values, the safe FTS5 expression of any text, and cursors."""

import base64
import binascii
import re
from dataclasses import dataclass, fields

from syn.canon import json as canon
from syn.errors import UsageError
from syn.model.finding import Json

MAX_WORDS = 64
"""Words of a search text that count; what follows is ignored."""
MAX_LIMIT = 1000
"""Items of one page."""
_TAG_OF_SET = "fact.path IN (SELECT path FROM tag WHERE tag = ?)"
_TAG_OF_ROW = "EXISTS (SELECT 1 FROM tag WHERE tag.path = fact.path AND tag.tag = ?)"
_BREAK = re.compile(r"[\s\0]+")


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that all hold; a field that is None asks nothing."""

    type: str | None = None
    status: str | None = None
    tag: str | None = None
    subject: str | None = None
    field: str | None = None
    under: str | None = None
    """Paths in this folder, at any depth."""
    state: str | None = None
    """A value of `StateRow.state`."""
    quarantined: bool | None = None
    as_of: str | None = None
    """An `Instant.key`: facts whose half-open interval `[valid_from, valid_to)` holds it."""

    def where(self, *, per_row: bool = False) -> tuple[str, list[str]]:
        """An SQL condition over `fact` and `state`, and its parameters; "1" when nothing is asked.

        At a shared boundary exactly one of two adjacent intervals holds; an empty or inverted
        interval never does; an absent bound is open. `per_row` is the form for rows that are few
        already.
        """
        parts: list[str] = []
        values: list[str] = []
        for name in ("type", "status", "subject", "field"):
            if (value := getattr(self, name)) is not None:
                parts.append(f'fact."{name}" = ?')
                values.append(_sql_text(value))
        if self.tag is not None:
            parts.append(_TAG_OF_ROW if per_row else _TAG_OF_SET)
            values.append(_sql_text(self.tag))
        if self.under is not None:
            folder = _sql_text(self.under).rstrip("/") + "/"
            parts.append("substr(fact.path, 1, length(?)) = ?")
            values += [folder, folder]
        if self.state is not None:
            parts.append("state.state = ?")
            values.append(_sql_text(self.state))
        if self.quarantined is not None:
            parts.append(f"state.quarantine {'<>' if self.quarantined else '='} '[]'")
        if self.as_of is not None:
            parts.append("(fact.valid_from_key IS NULL OR fact.valid_from_key <= ?)")
            parts.append("(fact.valid_to_key IS NULL OR fact.valid_to_key > ?)")
            values += [_sql_text(self.as_of)] * 2
        return " AND ".join(parts) or "1", values

    @property
    def needs_state(self) -> bool:
        """Whether the condition looks at `state`."""
        return self.state is not None or self.quarantined is not None

    @property
    def asks_nothing(self) -> bool:
        """Whether every fact passes."""
        return all(getattr(self, field.name) is None for field in fields(self))


def search_expression(text: str, *, prefixes: bool = False) -> str:
    """FTS5 syntax that matches facts holding every word of the text, in any order; "" for none.

    Every word becomes a quoted phrase, so nothing in the text is an operator; a word the tokenizer
    splits (`two-phase`, `12.34`, `isn't`) matches as that phrase. A NUL separates words. With
    `prefixes` each phrase may end inside a word.
    """
    words = [word for word in _BREAK.split(_sql_text(text)) if word][:MAX_WORDS]
    mark = "*" if prefixes else ""
    return " ".join('"' + word.replace('"', '""') + f'"{mark}' for word in words)


def encode_cursor(kind: str, position: str | int) -> str:
    """An opaque token for the place where the next page starts."""
    return base64.urlsafe_b64encode(canon.encode([kind, position])).decode().rstrip("=")


def decode_cursor(kind: str, cursor: str) -> Json:
    """The position behind a cursor of this kind.

    Raises:
        UsageError: `bad-cursor`, the token is not one that this kind of answer gave.
    """
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        value = canon.decode(data)
    except (binascii.Error, ValueError, canon.CanonError) as error:
        raise _bad_cursor(cursor) from error
    if not isinstance(value, list) or len(value) != 2 or value[0] != kind:  # noqa: PLR2004 - a pair
        raise _bad_cursor(cursor)
    return value[1]


def checked_limit(limit: int) -> int:
    """The limit, when it is one.

    Raises:
        UsageError: `bad-limit`.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise UsageError("bad-limit", f"limit: expected 1 to {MAX_LIMIT}, got {limit}")
    return limit


def _bad_cursor(cursor: str) -> UsageError:
    return UsageError(
        "bad-cursor",
        f"cursor: expected one from an answer before, got {cursor!r:.40}",
        "ask again without a cursor",
    )


def _sql_text(text: str) -> str:
    """The text as SQLite can take it: a lone surrogate matches nothing."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
