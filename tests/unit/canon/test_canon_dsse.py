"""DSSE envelopes and in-toto Statements."""

import pytest

from syn.canon import dsse, json, statement
from syn.canon.dsse import Envelope, EnvelopeError, EnvelopeSignature
from syn.canon.statement import Statement, StatementError, Subject
from syn.model.finding import Json

ENVELOPE = Envelope("t", b"payload", (EnvelopeSignature("k", b"sig"),))


def test_pae_is_the_one_of_the_specification() -> None:
    assert (
        dsse.pae("http://example.com/HelloWorld", b"hello world")
        == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert dsse.pae("", b"") == b"DSSEv1 0  0 "
    assert dsse.pae("t", "é".encode()) == b"DSSEv1 1 t 2 \xc3\xa9"


def test_pae_refuses_a_type_whose_length_readers_count_differently() -> None:
    with pytest.raises(EnvelopeError):
        dsse.pae("é", b"")


def test_render_and_parse_are_inverse() -> None:
    assert dsse.parse(dsse.render(ENVELOPE)) == ENVELOPE


def test_envelopes_of_others_are_read() -> None:
    text = (
        '{ "payload": "-_8=", "payloadType": "t", "future": 1,\n'
        ' "signatures": [{"sig": "AA==", "cert": "x"}, {"keyid": "k", "sig": "AQ=="}] }'
    )
    assert dsse.parse(text.encode()) == Envelope(
        "t", b"\xfb\xff", (EnvelopeSignature("", b"\0"), EnvelopeSignature("k", b"\1"))
    )


SIGNATURES: list[Json] = [{"keyid": "k", "sig": "AA=="}]


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"payload": "AA==", "payloadType": "t"},
        {"payload": "AA==", "payloadType": "t", "signatures": []},
        {"payload": "AA==", "payloadType": "", "signatures": SIGNATURES},
        {"payload": "AA==", "payloadType": "é", "signatures": SIGNATURES},
        {"payload": "AB==", "payloadType": "t", "signatures": SIGNATURES},
        {"payload": "AA==\n", "payloadType": "t", "signatures": SIGNATURES},
        {"payload": 1, "payloadType": "t", "signatures": SIGNATURES},
        {"payload": "AA==", "payloadType": "t", "signatures": {}},
        {"payload": "AA==", "payloadType": "t", "signatures": [{"keyid": "k"}]},
        {"payload": "AA==", "payloadType": "t", "signatures": [{"sig": "A"}]},
        {"payload": "AA==", "payloadType": "t", "signatures": [{"sig": "AA==", "keyid": None}]},
        {"payload": "AA==", "payloadType": "t", "signatures": ["AA=="]},
    ],
)
def test_parse_refuses_another_shape(value: Json) -> None:
    with pytest.raises(EnvelopeError) as caught:
        dsse.parse(json.encode(value))
    assert caught.value.code == "envelope-form"


def test_doubled_members_are_refused() -> None:
    doubled = dsse.render(ENVELOPE).replace(b'{"payload"', b'{"payload":"AA==","payload"')
    with pytest.raises(EnvelopeError, match="duplicate"):
        dsse.parse(doubled)


def test_limits() -> None:
    full = Envelope("t", b"", ENVELOPE.signatures * 100)
    assert dsse.parse(dsse.render(full)) == full
    many = Envelope("t", b"", ENVELOPE.signatures * 101)
    for data in (dsse.render(many), b" " * (dsse.MAX_BYTES + 1)):
        with pytest.raises(EnvelopeError) as caught:
            dsse.parse(data)
        assert caught.value.code == "envelope-limit"


STATEMENT = Statement(
    subjects=(
        Subject("workspace", (("gitCommit", "a" * 40), ("gitTree", "b" * 40))),
        Subject("manifest", (("sha256", "c" * 64),)),
    ),
    predicate_type="https://example.org/p/v1",
    predicate={"verdict": "pass", "n": 1},
)


def test_a_statement_reads_back() -> None:
    data = statement.encode(STATEMENT)
    assert data.startswith(b'{"_type":"https://in-toto.io/Statement/v1","predicate":{')
    assert statement.parse(data) == STATEMENT


def test_statements_of_others_are_read() -> None:
    text = (
        '{"_type":"https://in-toto.io/Statement/v1","future":1,"predicateType":"p","predicate":{},'
        '"subject":[{"digest":{"sha256":"aa"},"annotations":{"k":"v"}}]}'
    )
    assert statement.parse(text.encode()).subjects == (Subject("", (("sha256", "aa"),)),)


@pytest.mark.parametrize(
    "change",
    [
        {"_type": "https://in-toto.io/Statement/v0.1"},
        {"_type": 1},
        {"subject": []},
        {"subject": {}},
        {"subject": [{"name": "a"}]},
        {"subject": [{"name": "a", "digest": {}}]},
        {"subject": [{"name": "a", "digest": "sha256"}]},
        {"subject": [{"name": "a", "digest": ["sha256"]}]},
        {"subject": [{"name": 1, "digest": {"sha256": "aa"}}]},
        {"subject": [{"name": "a", "digest": {"sha256": 1}}]},
        {"subject": ["a"]},
        {"predicateType": None},
        {"predicate": []},
    ],
)
def test_a_statement_of_another_shape_is_refused(change: dict[str, Json]) -> None:
    value = json.decode(statement.encode(STATEMENT))
    assert isinstance(value, dict)
    with pytest.raises(StatementError):
        statement.parse(json.encode(value | change))


@pytest.mark.parametrize("data", [b"", b"[]", b'{"_type":1,"_type":2}', b"\xff", b"1.5"])
def test_bytes_that_are_no_statement_are_refused(data: bytes) -> None:
    with pytest.raises(StatementError):
        statement.parse(data)
