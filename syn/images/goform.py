"""JSON text as Go's `encoding/json` indents and escapes it: the spelling of `recall.v1`.

Written back, an image of the reference program is byte-identical. Pure: values in, text out.
"""

import re
from collections.abc import Iterable

from syn.images.table import Change, Head, Page

_ESCAPE = re.compile('["\\\\<>&\x00-\x1f\u2028\u2029]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quote(text: str) -> str:
    """A JSON string as Go writes it: HTML characters and U+2028/2029 escaped, the rest raw."""
    return f'"{_ESCAPE.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


def render_row(members: Iterable[tuple[str, str]], indent: str) -> str:
    """An object of already rendered members, indented by two blanks a level."""
    inner = ",\n".join(f"{indent}  {quote(name)}: {token}" for name, token in members)
    return f"{{\n{inner}\n{indent}}}" if inner else "{}"


def page_members(page: Page) -> list[tuple[str, str]]:
    """The members of a page row in order; members at their zero value are left out."""
    members = [
        ("step", str(page.step)),
        ("role", quote(page.role)),
        ("descriptor", quote(page.descriptor)),
        ("digest", quote(page.digest)),
        ("len", str(page.length)),
        ("taint", str(page.taint)),
        ("quarantined", boolean(page.sealed)),
    ]
    members += _texts(("qid", page.qid), ("reason", page.reason), ("durability", page.durability))
    members += _numbers(("valid_to", page.valid_to))
    members += _texts(("witness", page.witness))
    members += _numbers(("trust_epoch", page.trust_epoch))
    members += _texts(("syndrome", page.word))
    if page.utility:
        members.append(("utility", page.utility))
    return _as_written(members, page.written)


def change_members(change: Change) -> list[tuple[str, str]]:
    """The members of a context change in order."""
    members = [
        ("id", quote(change.id)),
        ("action", quote(change.action)),
        ("step", str(change.step)),
        ("digest", quote(change.digest)),
        ("reason", quote(change.reason)),
        ("requested_by", quote(change.requested_by)),
    ]
    members += _texts(("witness", change.witness))
    members += _numbers(("trust_epoch", change.trust_epoch))
    members.append(("applied", boolean(change.applied)))
    return _as_written(members, change.written)


def boolean(value: bool) -> str:
    """`true` or `false`."""
    return "true" if value else "false"


def _texts(*members: tuple[str, str]) -> list[tuple[str, str]]:
    return [(name, quote(value)) for name, value in members if value]


def _numbers(*members: tuple[str, int]) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in members if value]


def _as_written(
    members: list[tuple[str, str]], written: tuple[tuple[str, str], ...]
) -> list[tuple[str, str]]:
    if not written:
        return members
    tokens = dict(written)
    return [(name, tokens.get(name, token)) for name, token in members]


def manifest_text(head: Head, pages: Iterable[Page]) -> Iterable[str]:
    """The pieces of a `manifest.json`, page by page."""
    yield '{\n  "version": ' + quote(head.version)
    yield ',\n  "session_id": ' + quote(head.session)
    yield f',\n  "world_ver": {head.marker}'
    yield ',\n  "pages": ['
    first = True
    for page in pages:
        yield ("\n    " if first else ",\n    ") + render_row(page_members(page), "    ")
        first = False
    yield "]" if first else "\n  ]"
    cleared = sorted(head.cleared, key=lambda pair: pair[0].encode())
    yield ',\n  "cleared": ' + render_row(((q, boolean(on)) for q, on in cleared), "  ")
    if head.changes:
        rows = (f"    {render_row(change_members(c), '    ')}" for c in head.changes)
        yield ',\n  "context_changes": [\n' + ",\n".join(rows) + "\n  ]"
    yield "\n}"
