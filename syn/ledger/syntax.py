"""What each member of an entry may hold, and which members an action has (docs/formats/ledger.md).

The rules are closed: a member, an action or a combination that is not listed here is a fault.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime

from syn.model.ledger import FACT_ACTIONS, OTHER_ACTIONS

MAX_LINE = 256 * 1024
"""Bytes of one line; a longer one is not read."""

WRITER = re.compile(r"(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z)[a-z0-9][a-z0-9-]{0,63}\Z")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_TS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z", re.ASCII)
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_KEY = re.compile(r"SHA256:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]\Z")
_SIG = re.compile(r"[A-Za-z0-9+/]{85}[AQgw]==\Z")
_BATCH = re.compile(r"([a-z0-9][a-z0-9-]{0,63}):([1-9][0-9]{0,15})\Z")
_PATH = re.compile(r"(?!/)(?:(?!\.\.?(?:/|\Z))[^/\x00\n\r\\]+(?:/(?!\Z)|\Z))+\Z")

VIAS = frozenset({"cli", "mcp", "import", "hand"})
REVIEWS = frozenset({"seen", "unreviewed", "named"})
ACTIONS = FACT_ACTIONS | OTHER_ACTIONS

ALWAYS = frozenset({"v", "writer", "seq", "prev", "ts", "actor", "via", "action"})
_ANY = frozenset({"review", "batch", "reason", "proposal", "key", "sig"})
_SEEN = frozenset({"after", "prior"})
_CONTENT = frozenset({"path", "payload", "source"})
_CONTENT_PAIR = frozenset({"payload", "source"})
_TOGETHER = (_SEEN, _CONTENT_PAIR)

REQUIRED: Mapping[str, frozenset[str]] = {
    "create": frozenset({"fact"}) | _CONTENT,
    "supersede": frozenset({"fact"}) | _CONTENT,
    "update": frozenset({"fact"}) | _CONTENT | _SEEN,
    "close": frozenset({"fact"}) | _CONTENT | _SEEN,
    "move": frozenset({"fact"}) | _CONTENT | _SEEN,
    "restore": frozenset({"fact"}) | _CONTENT | _SEEN,
    "delete": frozenset({"fact", "path"}) | _SEEN,
    "undo": frozenset({"fact", "path", "names"}) | _SEEN,
    "expunge": frozenset({"fact", "path"}),
    "reject": frozenset({"proposal"}),
    "quarantine": frozenset({"fact"}),
    "clear": frozenset({"fact", "names"}),
    "config": frozenset({"path", "source"}),
    "policy": frozenset({"path", "source"}),
    "receipt": frozenset({"fact", "path", "source"}),
    "acknowledge": frozenset(),
}
"""Members an action must have beside those that every entry has."""

_OPTIONAL: Mapping[str, frozenset[str]] = {
    "create": _SEEN | {"taint"},
    "supersede": _SEEN | {"taint"},
    "update": frozenset({"taint"}),
    "close": frozenset({"taint"}),
    "move": frozenset({"taint"}),
    "restore": frozenset({"taint"}),
    "delete": frozenset({"taint"}),
    "undo": frozenset({"payload", "source", "taint"}),
    "expunge": _SEEN | {"payload", "source", "taint", "names"},
    "reject": frozenset({"fact", "path"}),
    "quarantine": _SEEN | _CONTENT,
    "clear": _SEEN | _CONTENT,
    "config": _SEEN,
    "policy": _SEEN,
    "receipt": _SEEN | {"payload"},
    "acknowledge": frozenset({"fact", "commit", "names"}) | _CONTENT,
}

ALLOWED: Mapping[str, frozenset[str]] = {
    action: ALWAYS | _ANY | REQUIRED[action] | _OPTIONAL[action] for action in ACTIONS
}
"""Every member an action may have."""


def shape_fault(action: str, members: frozenset[str]) -> tuple[str, str] | None:
    """What is wrong with the set of members of an action: (expected, actual), or None."""
    on_fact = action in FACT_ACTIONS
    if unknown := members - ALLOWED[action]:
        return f"only the members of {action}", f"member {min(unknown)}"
    if absent := (ALWAYS | REQUIRED[action]) - members:
        return f"member {min(absent)}", "none"
    for names in _TOGETHER:
        if members & names and not members >= names and (names != _CONTENT_PAIR or on_fact):
            return f"{' and '.join(sorted(names))} together", "only one of them"
    if "sig" in members and "key" not in members:
        return "the key beside a signature", "none"
    if action == "acknowledge" and not members & {"commit", "names"}:
        return "member commit or names", "none"
    return None


def is_timestamp(text: str) -> bool:
    """Whether the text is a time as entries write it, and one that exists."""
    if _TS.match(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_writer(text: str) -> bool:
    """Whether the text is a writer id: lower-case ASCII, a safe folder name on every system."""
    return WRITER.match(text) is not None


def is_path(text: str) -> bool:
    """Whether the text is a relative `/`-separated path without line ends, backslash or `..`."""
    return _PATH.match(text) is not None


def batch_parts(text: str) -> tuple[str, int] | None:
    """Writer and seq of a `batch`, or None when it is not one."""
    match = _BATCH.match(text)
    return None if match is None else (match[1], int(match[2]))


def _is_digest(text: str) -> bool:
    return DIGEST.match(text) is not None


TEXT_CHECKS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "writer": (is_writer, "a writer id: 1 to 64 of a-z, 0-9 and -"),
    "prev": (_is_digest, "sha256:<64 hex digits>"),
    "ts": (is_timestamp, "a UTC time like 2026-04-15T10:00:00.000000Z"),
    "actor": (bool, "text"),
    "via": (VIAS.__contains__, "one of cli, hand, import, mcp"),
    "action": (ACTIONS.__contains__, "a known action"),
    "review": (REVIEWS.__contains__, "one of named, seen, unreviewed"),
    "batch": (lambda text: batch_parts(text) is not None, "<writer>:<seq>"),
    "fact": (bool, "text"),
    "path": (is_path, "a relative path without . or .. or line ends"),
    "payload": (_is_digest, "sha256:<64 hex digits>"),
    "source": (_is_digest, "sha256:<64 hex digits>"),
    "taint": (bool, "text"),
    "proposal": (_is_digest, "sha256:<64 hex digits>"),
    "reason": (bool, "text"),
    "commit": (lambda text: _COMMIT.match(text) is not None, "a full commit id"),
    "key": (lambda text: _KEY.match(text) is not None, "SHA256:<43 base64 characters>"),
    "sig": (lambda text: _SIG.match(text) is not None, "64 bytes in base64"),
}
"""Per text member: whether a value is well-formed, and how it ought to look."""


def well_formed(name: str, value: str) -> bool:
    """Whether a text member holds what it may hold."""
    return TEXT_CHECKS[name][0](value)


LISTS = frozenset({"after", "prior", "names"})
MEMBERS = frozenset(TEXT_CHECKS) | LISTS | {"v", "seq"}
