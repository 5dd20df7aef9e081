"""Whatever bytes come in, a parser answers with a value or its own error, and has one spelling."""

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syn.canon import checkpoint, dsse, head, json, note, receipt, statement, tlogproof
from syn.canon.json import CanonError
from syn.errors import SynError
from syn.keys import signing
from syn.model.finding import Json
from tests.support.proofs import head_record, log, private_key, signed, witness_bytes

CANONICAL: dict[str, tuple[Callable[[bytes], object], Callable[..., bytes], bytes]] = {
    "json": (json.decode, json.encode, b'{"a":[1,"x",null,true],"b":{}}'),
    "note": (note.parse, note.render, note.render(signed(log(3)))),
    "tlogproof": (tlogproof.parse, tlogproof.render, witness_bytes(log(3))),
    "head": (head.decode, head.encode, head.encode(head_record())),
    "checkpoint": (
        lambda data: checkpoint.parse(data.decode("latin-1")),
        lambda value: checkpoint.render(value).encode("latin-1"),
        signed(log(3)).text.encode(),
    ),
}
TOLERANT: dict[str, tuple[Callable[[bytes], object], bytes]] = {
    "json": (json.parse, b'{"a" : [1, "\\u00e9"]}'),
    "receipt": (receipt.decode, b'{"schema":"synapse.receipt/1"}\n'),
    "log": (head.parse_log, b"".join(leaf + b"\n" for leaf in log(2).leaves)),
    "dsse": (
        dsse.parse,
        dsse.render(signing.sign_envelope("t", b"payload", [private_key(1)])),
    ),
    "statement": (
        statement.parse,
        statement.encode(
            statement.Statement((statement.Subject("a", (("sha256", "aa"),)),), "p", {"k": 1})
        ),
    ),
}


def attempt(parse: Callable[[bytes], object], data: bytes) -> object:
    """What the parser gives: a value, or its own error; anything else passes through."""
    try:
        return parse(data)
    except SynError as error:
        return error


@st.composite
def damaged(draw: st.DrawFn, good: bytes) -> bytes:
    """Random bytes, or the good ones with a stretch replaced."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=80))
    start = draw(st.integers(0, len(good)))
    end = min(len(good), start + draw(st.integers(0, 12)))
    return good[:start] + draw(st.binary(max_size=8)) + good[end:]


@pytest.mark.parametrize("name", sorted(CANONICAL))
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_what_is_accepted_is_canonical(name: str, data: st.DataObject) -> None:
    parse, render, good = CANONICAL[name]
    assert render(parse(good)) == good
    changed = data.draw(damaged(good))
    found = attempt(parse, changed)
    if isinstance(found, SynError):
        assert found.code
        assert "\n" not in found.message
        assert len(found.message) < 400
    else:
        assert render(found) == changed


@pytest.mark.parametrize("name", sorted(TOLERANT))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_nothing_but_typed_errors(name: str, data: st.DataObject) -> None:
    parse, good = TOLERANT[name]
    found = attempt(parse, data.draw(damaged(good)))
    assert not isinstance(found, SynError) or found.code


JSON_TEXT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(JSON_TEXT)
@example({"a": -0.0})
@example(float("nan"))
@example("\ud800")
def test_encode_gives_bytes_that_decode_or_refuses(value: Json) -> None:
    try:
        data = json.encode(value)
    except CanonError:
        return
    assert json.encode(json.decode(data)) == data
