"""The fast reader, the slow one and the encoder agree on every line, well-formed or not."""

from dataclasses import replace
from typing import Any, cast

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from syn.canon import json as canonical
from syn.ledger import entry as definition
from syn.ledger import syntax
from syn.ledger.entry import Defect, InvalidEntryError, decode, encode, entry_hash
from syn.ledger.pattern import match
from syn.model.ledger import Action, Entry
from tests.support.ledgers import digest

DIGESTS = st.integers(0, 5).map(lambda number: digest(str(number)))
TEXTS = st.text(min_size=1, max_size=12).filter(lambda t: t.isprintable() or "\n" in t)
PATHS = st.sampled_from(["facts/a.md", "é/ü.md", 'q"uote.md', "a b.md", "..a/.b", "x.md"])
JUNK: list[Any] = ["", "x", 0, 1, True, None, [], ["x"], {}, digest("1"), [digest("1")]]
OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "review": st.sampled_from(sorted(syntax.REVIEWS)),
    "reason": TEXTS,
    "proposal": DIGESTS,
    "fact": TEXTS,
    "path": PATHS,
    "payload": DIGESTS,
    "source": DIGESTS,
    "taint": TEXTS,
    "commit": st.sampled_from(["a" * 40, "0" * 64]),
}


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """An entry that the rules allow."""
    action = draw(st.sampled_from(sorted(syntax.ACTIONS)))
    allowed, required = syntax.ALLOWED[action], syntax.REQUIRED[action]
    chosen = {
        name: draw(values)
        for name, values in OPTIONAL.items()
        if name in required or (name in allowed and draw(st.booleans()))
    }
    if action not in ("config", "policy", "receipt") and not chosen.keys() >= {"payload", "source"}:
        chosen.pop("payload", None)
        chosen.pop("source", None)
    if "after" in required or ("after" in allowed and draw(st.booleans())):
        chosen["after"] = tuple(sorted(draw(st.sets(DIGESTS, min_size=1, max_size=3))))
        chosen["prior"] = tuple(draw(st.just("") | DIGESTS) for _ in chosen["after"])
    if "names" in required or action == "acknowledge":
        chosen["names"] = tuple(sorted(draw(st.sets(DIGESTS, min_size=1, max_size=3))))
    seq = draw(st.integers(1, 10**6) | st.just(canonical.MAX_INTEGER))
    if draw(st.booleans()):
        chosen["batch"] = f"w-1:{draw(st.integers(1, seq))}"
    return Entry(
        writer="w-1",
        seq=seq,
        prev=draw(DIGESTS),
        ts=draw(st.sampled_from(["2026-04-15T10:00:00.000000Z", "0001-01-01T00:00:00.999999Z"])),
        actor=draw(TEXTS),
        via=draw(st.sampled_from(["cli", "mcp", "import", "hand"])),
        action=cast("Action", action),
        **chosen,
    )


@settings(max_examples=80, deadline=None)
@given(entries())
def test_every_allowed_entry_survives(entry: Entry) -> None:
    line = encode(entry)
    assert decode(line) == (entry_hash(entry), entry)
    value = canonical.decode(line)
    assert rfc8785.dumps(value) == line


@settings(max_examples=120, deadline=None)
@given(entries(), st.data())
def test_a_damaged_line_is_a_defect_or_exactly_what_it_says(
    entry: Entry, data: st.DataObject
) -> None:
    line = bytearray(encode(entry))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(line) - 1))
        change = data.draw(st.sampled_from(["flip", "cut", "insert", "double"]))
        if change == "flip":
            line[at] ^= 1 << data.draw(st.integers(0, 7))
        elif change == "cut":
            del line[at : at + data.draw(st.integers(1, 9))]
        elif change == "insert":
            line[at:at] = data.draw(st.sampled_from([b" ", b"\\", b'"', b"\\u0061", b",", b"0"]))
        else:
            line[at:at] = line[at : at + data.draw(st.integers(1, 40))]
        if not line:
            return
    agree(bytes(line))


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda t: t.encode("utf-8", "replace")))
def test_any_bytes_are_read_without_an_exception(data: bytes) -> None:
    agree(data)


@settings(max_examples=80, deadline=None)
@given(entries(), st.data())
def test_any_members_are_judged_alike_by_both_readers(entry: Entry, data: st.DataObject) -> None:
    members: Any = canonical.decode(encode(entry))
    st.sampled_from(["", "x", 0, 1, True, None, [], ["x"], {}, digest("1"), [digest("1")]])
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from(sorted(syntax.MEMBERS)))
        if data.draw(st.booleans()):
            members.pop(name, None)
        else:
            members[name] = data.draw(st.sampled_from(JUNK))
    agree(canonical.encode(members))


def agree(line: bytes) -> None:
    """Both readers accept the same lines with the same value, and only canonical ones."""
    found = decode(line)
    try:
        text = line.decode()
    except UnicodeDecodeError:
        assert isinstance(found, Defect)
        return
    fast, slow = match(text, {}), definition.decode_slowly(line, text, {})
    if fast is not None:
        assert slow == (entry_hash(fast), fast)
    assert found == slow
    if not isinstance(found, Defect):
        assert encode(found[1]) == line
        assert entry_hash(found[1]) == found[0]


@settings(max_examples=60, deadline=None)
@given(entries(), st.sampled_from(sorted(OPTIONAL)), st.sampled_from(["", "\x00", "\ud800", "x"]))
def test_whatever_is_encoded_can_be_read(entry: Entry, name: str, value: str) -> None:
    change: dict[str, Any] = {name: value}
    changed = replace(entry, **change)
    try:
        line = encode(changed)
    except InvalidEntryError:
        return
    assert decode(line) == (entry_hash(changed), changed)
