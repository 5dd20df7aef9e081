"""The fast reader of a ledger line: one regular expression that is the canonical form.

It accepts a subset of what `syn.ledger.entry` defines and reads the same value from it; whatever it
does not match is read again there, slowly, and gets its verdict and its reason there. Canonical
JSON of an entry is regular: members in one order, one spelling of every text.
"""

import json
import re
from functools import cache
from typing import cast

from syn.ledger import syntax
from syn.model.ledger import Action, Entry, Review, Via

_TEXT = r'((?:[^"\\\x00-\x1f]++|\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))+)'
_PART = r'(?!\.\.?[/"])[^"\\/\x00-\x1f\x7f]+'
_PATH = rf"({_PART}(?:/{_PART})*)"
_DIGEST = r"(sha256:[0-9a-f]{64})"
_ITEM = r'"sha256:[0-9a-f]{64}"'
_PRIOR = r'"(?:sha256:[0-9a-f]{64})?"'
_WORD = r"([a-z]+)"
_BASE64 = r"([A-Za-z0-9+/=:]+)"

_ORDER: tuple[tuple[str, str, bool], ...] = (
    ("action", f'"{_WORD}"', True),
    ("actor", f'"{_TEXT}"', True),
    ("after", rf"\[({_ITEM}(?:,{_ITEM})*)\]", False),
    ("batch", r'"([a-z0-9-]+:[1-9][0-9]{0,15})"', False),
    ("commit", r'"((?:[0-9a-f]{40}|[0-9a-f]{64}))"', False),
    ("fact", f'"{_TEXT}"', False),
    ("key", f'"{_BASE64}"', False),
    ("names", rf"\[({_ITEM}(?:,{_ITEM})*)\]", False),
    ("path", f'"{_PATH}"', False),
    ("payload", f'"{_DIGEST}"', False),
    ("prev", f'"{_DIGEST}"', True),
    ("prior", rf"\[({_PRIOR}(?:,{_PRIOR})*)\]", False),
    ("proposal", f'"{_DIGEST}"', False),
    ("reason", f'"{_TEXT}"', False),
    ("review", f'"{_WORD}"', False),
    ("seq", r"([1-9][0-9]{0,14})", True),
    ("sig", f'"{_BASE64}"', False),
    ("source", f'"{_DIGEST}"', False),
    ("taint", f'"{_TEXT}"', False),
    ("ts", r'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)"', True),
    ("v", "1", True),
    ("via", f'"{_WORD}"', True),
    ("writer", r'"([a-z0-9-]+)"', True),
)
_NAMES = tuple(name for name, _, _ in _ORDER if name != "v")


@cache
def _compiled() -> re.Pattern[str]:
    parts: list[str] = []
    for name, value, always in _ORDER:
        member = f'{"" if name == "action" else ","}"{name}":{value}'
        parts.append(member if always else f"(?:{member})?")
    return re.compile(r"\{" + "".join(parts) + r"\}", re.ASCII)


_good_shapes: set[tuple[object, ...]] = set()
_good_writers: set[str] = set()
_MAX_KNOWN = 4096


def match(text: str, pool: dict[str, str]) -> Entry | None:
    """The entry that a canonical line holds, or None: then the slow reader decides."""
    found = _compiled().fullmatch(text)
    if found is None:
        return None
    # The names of the groups, in the order of the members.
    (action, actor, after, batch, commit, fact, key, names, path, payload, prev, prior, proposal,
     reason, review, seq, sig, source, taint, ts, via, writer) = found.groups()  # fmt: skip
    shape = (
        *(action, after is None, batch is None, commit is None, fact is None, key is None),
        *(names is None, path is None, payload is None, prior is None, proposal is None),
        *(reason is None, review, sig is None, source is None, taint is None, via),
    )
    if (
        (shape not in _good_shapes and not _good_shape(shape, found))
        or (writer not in _good_writers and not _good_writer(writer))
        or not syntax.is_timestamp(ts)
        or ((key or batch) and not _good_rest(key, sig, batch, writer, int(seq)))
    ):
        return None
    seen, named = _items(after, pool), _items(names, pool)
    payloads = _items(prior, pool)
    if len(seen) != len(payloads) or not (_ordered(seen) and _ordered(named)):
        return None
    same = pool.setdefault
    return Entry(
        same(writer, writer),
        int(seq),
        same(prev, prev),
        ts,
        _text(actor, pool),
        cast("Via", same(via, via)),
        cast("Action", same(action, action)),
        cast("Review", same(review, review) if review else ""),
        same(batch, batch) if batch else "",
        _text(fact, pool) if fact else "",
        same(path, path) if path else "",
        same(payload, payload) if payload else "",
        same(source, source) if source else "",
        _text(taint, pool) if taint else "",
        seen,
        payloads,
        proposal or "",
        _text(reason, pool) if reason else "",
        named,
        commit or "",
        same(key, key) if key else "",
        sig or "",
    )


def _text(written: str, pool: dict[str, str]) -> str:
    text: str = json.loads(f'"{written}"') if "\\" in written else written
    return pool.setdefault(text, text)


def _items(listed: str | None, pool: dict[str, str]) -> tuple[str, ...]:
    if listed is None:
        return ()
    if '","' not in listed:
        item = listed[1:-1]
        return (pool.setdefault(item, item),)
    return tuple([pool.setdefault(item, item) for item in listed[1:-1].split('","')])


def _ordered(items: tuple[str, ...]) -> bool:
    return len(items) < 2 or list(items) == sorted(set(items))  # noqa: PLR2004 - a pair


def _good_shape(shape: tuple[object, ...], found: re.Match[str]) -> bool:
    groups = dict(zip(_NAMES, found.groups(), strict=True))
    present = frozenset(name for name, value in groups.items() if value is not None) | {"v"}
    good = (
        groups["action"] in syntax.ACTIONS
        and groups["via"] in syntax.VIAS
        and (groups["review"] is None or groups["review"] in syntax.REVIEWS)
        and syntax.shape_fault(groups["action"], present) is None
    )
    if good and len(_good_shapes) < _MAX_KNOWN:
        _good_shapes.add(shape)
    return good


def _good_writer(writer: str) -> bool:
    good = syntax.is_writer(writer)
    if good and len(_good_writers) < _MAX_KNOWN:
        _good_writers.add(writer)
    return good


def _good_rest(key: str | None, sig: str | None, batch: str | None, writer: str, seq: int) -> bool:
    """Syntax of the members that most entries lack, and their relation to the others."""
    parts = syntax.batch_parts(batch) if batch else (writer, seq)
    return (
        parts is not None
        and parts[0] == writer
        and parts[1] <= seq
        and (key is None or syntax.well_formed("key", key))
        and (sig is None or syntax.well_formed("sig", sig))
    )
