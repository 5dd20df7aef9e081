"""The fast reader of a ledger line: one regular expression that is the canonical form.

It accepts a subset of what `syn.ledger.entry` defines and reads the same value from it; whatever it
does not match is read again there, slowly, and gets its verdict and its reason there. Canonical
JSON of an entry is regular: members in one order, one spelling of every text.
"""

import json
import re
from functools import cache
from sys import intern
from typing import Any, Literal, TypeAlias, cast

from syn.ledger import syntax
from syn.model.ledger import Action, Entry, Review, Via

# Possessive: a text can be split in one way only, so going back would find nothing, slowly.
_TEXT = r'((?:[^"\\\x00-\x1f]++|\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))++)'
_PART = r'(?!\.\.?[/"])[^"\\/\x00-\x1f\x7f]++'
_PATH = rf"({_PART}(?:/{_PART})*+)"
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
    ("ts", r'"(\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z)"', True),
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


_Words: TypeAlias = tuple[Action, Via, Review | Literal[""]]

# What was found good before, with the one object that stands for each word: most lines of a ledger
# have one of a few shapes, and this is where a long ledger spends its time.
_good_shapes: dict[tuple[object, ...], _Words] = {}
_good_writers: dict[str, str] = {}
_good_dates: set[str] = set()
_MAX_KNOWN = 4096


def match(text: str, pool: dict[str, str]) -> Entry | None:
    """The entry that a canonical line holds, or None: then the slow reader decides."""
    found = _compiled().fullmatch(text)
    if found is None:
        return None
    groups: tuple[Any, ...] = found.groups()
    # The names of the groups, in the order of the members.
    (action, actor, after, batch, commit, fact, key, names, path, payload, prev, prior, proposal,
     reason, review, seq, sig, source, taint, ts, via, writer) = groups  # fmt: skip
    shape = (
        *(action, after is None, batch is None, commit is None, fact is None, key is None),
        *(names is None, path is None, payload is None, prior is None, proposal is None),
        *(reason is None, review, sig is None, source is None, taint is None, via),
    )
    words = _good_shapes.get(shape) or _learn_shape(shape, groups)
    writer = _good_writers.get(writer) or _learn_writer(writer)
    if not words or not writer or not (ts[:10] in _good_dates or _learn_date(ts)):
        return None
    if (key or batch) and not _good_rest(key, sig, batch, writer, int(seq)):
        return None
    seen = _items(after, pool) if after else ()
    payloads = _items(prior, pool) if prior else ()
    named = _items(names, pool) if names else ()
    if len(seen) != len(payloads) or not (_ordered(seen) and _ordered(named)):
        return None
    if "\\" in text:
        actor, fact, taint, reason = map(_unescaped, (actor, fact, taint, reason))
    same = pool.setdefault
    return Entry(
        writer,
        int(seq),
        pool.get(prev, prev),
        ts,
        same(actor, actor),
        words[1],
        words[0],
        words[2],
        same(batch, batch) if batch else "",
        # Facts say these too: interned, equal ones are one object.
        intern(fact) if fact else "",
        intern(path) if path else "",
        intern(payload) if payload else "",
        intern(source) if source else "",
        same(taint, taint) if taint else "",
        seen,
        payloads,
        proposal or "",
        reason or "",
        named,
        commit or "",
        same(key, key) if key else "",
        sig or "",
    )


def _unescaped(written: str | None) -> str | None:
    if not written or "\\" not in written:
        return written
    text: str = json.loads(f'"{written}"')
    return text


def _items(listed: str, pool: dict[str, str]) -> tuple[str, ...]:
    if '","' not in listed:
        item = listed[1:-1]
        return (pool.get(item, item),)
    return tuple([pool.get(item, item) for item in listed[1:-1].split('","')])


def _ordered(items: tuple[str, ...]) -> bool:
    return len(items) < 2 or list(items) == sorted(set(items))  # noqa: PLR2004 - a pair


def _learn_shape(shape: tuple[object, ...], values: tuple[Any, ...]) -> _Words | None:
    groups = dict(zip(_NAMES, values, strict=True))
    present = frozenset(name for name, value in groups.items() if value is not None) | {"v"}
    action, via, review = groups["action"], groups["via"], groups["review"] or ""
    if (
        action not in syntax.ACTIONS
        or via not in syntax.VIAS
        or (review and review not in syntax.REVIEWS)
        or syntax.shape_fault(action, present) is not None
    ):
        return None
    words = cast("_Words", (intern(action), intern(via), intern(review)))
    if len(_good_shapes) < _MAX_KNOWN:
        _good_shapes[shape] = words
    return words


def _learn_writer(writer: str) -> str:
    if not syntax.is_writer(writer):
        return ""
    if len(_good_writers) < _MAX_KNOWN:
        _good_writers[writer] = writer
    return writer


def _learn_date(ts: str) -> bool:
    """The pattern holds for the time of day; whether the day exists is for the calendar."""
    good = syntax.is_timestamp(ts)
    if good and len(_good_dates) < _MAX_KNOWN:
        _good_dates.add(ts[:10])
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
