import base64
import time
from dataclasses import replace
from typing import Any

import pytest

from syn.canon import json as canonical
from syn.canon.digest import tagged
from syn.ledger import syntax
from syn.ledger.entry import (
    Defect,
    InvalidEntryError,
    decode,
    encode,
    entry_hash,
    genesis,
    signing_payload,
)
from syn.ledger.pattern import match
from syn.model.ledger import FACT_ACTIONS, OTHER_ACTIONS, Entry
from tests.support.ledgers import TS, WS, digest

CREATE = Entry(
    writer="w1",
    seq=1,
    prev=genesis(WS, "w1"),
    ts=TS,
    actor="Ann <ann@example.com>",
    via="cli",
    action="create",
    review="seen",
    fact="owner",
    path="facts/owner.md",
    payload=digest("payload"),
    source=digest("source"),
    reason='she said "so"\nand \\ left é',
)
KEY = "SHA256:" + base64.b64encode(bytes(32)).decode().rstrip("=")
SIG = base64.b64encode(bytes(64)).decode()


def members() -> dict[str, Any]:
    value = canonical.decode(encode(CREATE))
    assert isinstance(value, dict)
    return dict(value)


def defect(change: dict[str, Any]) -> Defect:
    """The defect of the entry with these members changed; None removes one."""
    value = {k: v for k, v in (members() | change).items() if v is not None}
    found = decode(canonical.encode(value))
    assert isinstance(found, Defect), found
    return found


def test_an_entry_survives_its_line() -> None:
    assert decode(encode(CREATE)) == (entry_hash(CREATE), CREATE)


def test_the_line_leaves_absent_members_out() -> None:
    always = {"v", "writer", "seq", "prev", "ts", "actor", "via", "action"}
    assert members().keys() - always == {"review", "fact", "path", "payload", "source", "reason"}


def test_the_hash_covers_the_key_and_not_the_signature() -> None:
    keyed = replace(CREATE, key=KEY)
    signed = replace(keyed, sig=SIG)
    assert entry_hash(signed) == entry_hash(keyed) != entry_hash(CREATE)
    assert decode(encode(signed)) == (entry_hash(keyed), signed)
    assert entry_hash(keyed) == tagged("ledger/1", encode(keyed))


def test_the_signature_covers_the_hash_as_it_is_written() -> None:
    assert signing_payload(digest("x")) == digest("x").encode()


def test_genesis_depends_on_workspace_and_writer() -> None:
    assert len({genesis(WS, "w1"), genesis(WS, "w2"), genesis("other", "w1")}) == 3


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"seq": 0}, "seq"),
        ({"seq": "1"}, "seq"),
        ({"seq": True}, "seq"),
        ({"extra": "x"}, "only known members"),
        ({"writer": "W1"}, "writer"),
        ({"writer": "../w1"}, "writer"),
        ({"writer": "con"}, "writer"),
        ({"writer": "w" * 65}, "writer"),
        ({"writer": "w1\n"}, "writer"),
        ({"prev": "sha256:" + "A" * 64}, "prev"),
        ({"prev": digest("x") + "0"}, "prev"),
        ({"prev": "md5:" + "0" * 64}, "prev"),
        ({"ts": "2026-04-15T10:00:00Z"}, "ts"),
        ({"ts": "2026-04-15T10:00:00.000000+00:00"}, "ts"),
        ({"ts": "2026-02-30T10:00:00.000000Z"}, "ts"),
        ({"ts": "2026-04-15T24:00:00.000001Z"}, "ts"),
        ({"ts": "\uff12026-04-15T10:00:00.000000Z"}, "ts"),
        ({"actor": ""}, "actor"),
        ({"actor": 7}, "actor"),
        ({"via": "web"}, "via"),
        ({"action": "edit"}, "action"),
        ({"review": ""}, "review"),
        ({"review": "blind"}, "review"),
        ({"fact": None}, "member fact"),
        ({"fact": ""}, "fact"),
        ({"path": None}, "member path"),
        ({"path": "/etc/passwd"}, "path"),
        ({"path": "facts/../../x.md"}, "path"),
        ({"path": "facts//x.md"}, "path"),
        ({"path": "facts/x\n.md"}, "path"),
        ({"path": "facts\\x.md"}, "path"),
        ({"payload": None}, "member payload"),
        ({"payload": ""}, "payload"),
        ({"source": None}, "member source"),
        ({"names": [digest("x")]}, "only the members of create"),
        ({"commit": "a" * 40}, "only the members of create"),
        ({"after": [], "prior": []}, "after"),
        ({"after": [digest("x")]}, "after and prior together"),
        ({"prior": [digest("x")]}, "after and prior together"),
        ({"after": [digest("x")], "prior": ["", ""]}, "prior"),
        ({"after": sorted([digest("x"), digest("y")])[::-1], "prior": ["", ""]}, "after"),
        ({"after": [digest("x")] * 2, "prior": ["", ""]}, "after"),
        ({"after": [""], "prior": [""]}, "after"),
        ({"after": digest("x"), "prior": [""]}, "after"),
        ({"batch": "w2:1"}, "batch"),
        ({"batch": "w1:2"}, "batch"),
        ({"batch": "w1"}, "batch"),
        ({"proposal": "none"}, "proposal"),
        ({"sig": SIG}, "the key beside a signature"),
        ({"key": KEY + "="}, "key"),
        ({"key": KEY[:-1] + "B"}, "key"),
        ({"key": KEY, "sig": SIG[:-3] + "B=="}, "sig"),
        ({"key": KEY, "sig": SIG[:-2]}, "sig"),
    ],
)
def test_a_wrong_member_is_named(change: dict[str, Any], expected: str) -> None:
    found = defect(change)
    assert found.code == "entry-invalid"
    assert found.expected.startswith(expected)


def test_another_version_is_not_guessed_at() -> None:
    assert defect({"v": 2}).code == "unknown-version"
    assert defect({"v": "1"}).code == "unknown-version"
    assert defect({"v": True}).code == "unknown-version"


def test_a_delete_has_no_content_and_an_undo_names_what_it_reverses() -> None:
    seen = {"after": [digest("x")], "prior": [digest("p")]}
    assert defect({"action": "delete", **seen}).actual == "member payload"
    assert defect({"action": "undo", **seen}).expected == "member names"
    undone = members() | seen | {"action": "undo", "names": [digest("x")]}
    del undone["payload"], undone["source"]
    assert not isinstance(decode(canonical.encode(undone)), Defect)
    assert defect({"action": "undo", "names": [digest("x")], **seen, "source": None}).expected == (
        "payload and source together"
    )


def test_an_acknowledge_says_what_it_accepts() -> None:
    only = dict.fromkeys(("fact", "path", "payload", "source"))
    assert defect({"action": "acknowledge", **only}).expected == "member commit or names"
    value = {k: v for k, v in members().items() if k not in only}
    named = value | {"action": "acknowledge", "commit": "a" * 40}
    assert not isinstance(decode(canonical.encode(named)), Defect)


def test_every_action_has_rules() -> None:
    assert syntax.REQUIRED.keys() == FACT_ACTIONS | OTHER_ACTIONS == syntax.ALLOWED.keys()


@pytest.mark.parametrize(
    "spell",
    [
        lambda line: line.replace(b":", b": ", 1),
        lambda line: line.replace(b'"owner"', rb'"\u006fwner"'),
        lambda line: line.replace(b'"seq":1', b'"seq":1.0'),
        lambda line: line.replace(b'"seq":1', b'"seq":1e0'),
        lambda line: line.replace(b'"v":1', b'"v":01'),
        lambda line: line.replace("é".encode(), rb"\u00e9"),
        lambda line: line.replace(b"\\n", rb"\u000a"),
        lambda line: line.replace(b'"seq":1', b'"seq":1,"seq":1'),
        lambda line: line.replace(b'"seq":1', b'"seq":2,"seq":1'),
        lambda line: b'{"action":"create",' + line.replace(b'"action":"create",', b"")[1:],
        lambda line: b"{" + line[line.index(b'"actor"') : -1] + b',"action":"create"}',
        lambda line: line + b" ",
        lambda line: line + b"\r",
        lambda line: b"\xef\xbb\xbf" + line,
        lambda line: line.replace("é".encode(), b"\xe9"),
        lambda line: line.replace("é".encode(), rb"\ud800"),
        lambda line: line[:-1],
        lambda line: line[: len(line) // 2],
        lambda line: b"[" + line + b"]",
        lambda line: b'"text"',
        lambda line: b"",
        lambda line: b"null",
        lambda line: b"NaN",
        lambda line: b"[" * 100_000,
        lambda line: b'{"a":' * 50_000,
        lambda line: line.replace(b'"seq":1', b'"seq":' + b"9" * 5000),
    ],
)
def test_every_other_spelling_is_a_defect(spell: Any) -> None:
    line = encode(CREATE)
    written = spell(line)
    found = decode(written)
    if written == line:
        assert found == (entry_hash(CREATE), CREATE)
    else:
        assert isinstance(found, Defect)
        assert found.code in {"not-canonical", "entry-invalid"}


def test_a_defect_names_the_first_byte_that_differs() -> None:
    line = encode(CREATE)
    at = line.index(b'"owner"')
    found = decode(line[:at] + b" " + line[at:])
    assert isinstance(found, Defect)
    assert (found.code, found.offset) == ("not-canonical", at)


def test_a_line_over_the_limit_is_not_read() -> None:
    found = decode(b"x" * (syntax.MAX_LINE + 1))
    assert isinstance(found, Defect)
    assert found.code == "line-too-long"
    with pytest.raises(InvalidEntryError):
        encode(replace(CREATE, reason="x" * syntax.MAX_LINE))


@pytest.mark.parametrize(
    "change", [{"seq": 0}, {"actor": ""}, {"reason": "\ud800"}, {"path": ".."}]
)
def test_an_invalid_entry_is_never_encoded(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidEntryError):
        encode(replace(CREATE, **change))


def test_the_fast_reader_reads_ordinary_lines() -> None:
    """What it does not read is read slowly: right, but ten times slower."""
    signed = replace(CREATE, key=KEY, sig=SIG, after=(digest("x"),), prior=("",), batch="w1:1")
    for entry in (CREATE, signed):
        assert match(encode(entry).decode(), {}) == entry


@pytest.mark.parametrize("text", ["\n", "a\n", "a", '"'])
def test_a_long_line_that_ends_wrong_is_refused_fast(text: str) -> None:
    line = encode(replace(CREATE, reason=text * (250_000 // len(text) // 2)))
    start = time.process_time()
    assert isinstance(decode(line[:-1] + b"x}"), Defect)
    assert time.process_time() - start < 2


def test_equal_strings_are_shared() -> None:
    pool: dict[str, str] = {}
    one, two = decode(encode(CREATE), pool), decode(encode(CREATE), pool)
    assert not isinstance(one, Defect)
    assert not isinstance(two, Defect)
    assert one[1].payload is two[1].payload
