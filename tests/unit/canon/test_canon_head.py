"""Head records and the log file that holds them."""

from dataclasses import replace

import pytest

from syn.canon import digest, head, json, merkle
from syn.canon.head import HeadError, SegmentHead
from syn.model.finding import Json
from tests.support.proofs import head_record, hexdigest, log


def fields(data: bytes) -> dict[str, Json]:
    value = json.decode(data)
    assert isinstance(value, dict)
    return value


def test_encode_and_decode_are_inverse() -> None:
    for record in (*log(3).records, replace(head_record(), policy=""), sha256_record()):
        assert head.decode(head.encode(record)) == record


def sha256_record() -> head.HeadRecord:
    return replace(head_record(), object_format="sha256", commit="a" * 64, tree="b" * 64)


def test_absent_fields_are_left_out() -> None:
    assert "prev" not in fields(head.encode(head_record()))
    assert "policy" not in fields(head.encode(replace(head_record(), policy="")))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("v", 2),
        ("v", True),
        ("v", "1"),
        ("ws", ""),
        ("ws", "a/b"),
        ("ws", ".."),
        ("ws", 1),
        ("n", 0),
        ("n", 2),
        ("n", True),
        ("n", "1"),
        ("object_format", "md5"),
        ("object_format", []),
        ("object_format", "sha256"),
        ("commit", "A" * 40),
        ("commit", "a" * 39),
        ("commit", None),
        ("tree", "g" * 40),
        ("projection", 0),
        ("manifest", "sha256:"),
        ("manifest", "a" * 64),
        ("inputs", 7),
        ("policy", ""),
        ("policy", None),
        ("facts", hexdigest("G")),
        ("entries", [hexdigest("a")]),
        ("segments", []),
        ("segments", {"w": [0, hexdigest("a")]}),
        ("segments", {"w": [True, hexdigest("a")]}),
        ("segments", {"w": [1, "a"]}),
        ("segments", {"w": [1]}),
        ("segments", {"w": [1, hexdigest("a"), 2]}),
        ("segments", {"../w": [1, hexdigest("a")]}),
        ("segments", {"": [1, hexdigest("a")]}),
        ("prev", hexdigest("a")),
        ("extra", 1),
    ],
)
def test_decode_refuses_a_wrong_field(key: str, value: Json) -> None:
    changed = fields(head.encode(head_record())) | {key: value}
    with pytest.raises(HeadError) as caught:
        head.decode(json.encode(changed))
    assert caught.value.code == "head-field"


@pytest.mark.parametrize("key", sorted(fields(head.encode(head_record())).keys() - {"policy"}))
def test_decode_refuses_a_missing_field(key: str) -> None:
    changed = fields(head.encode(head_record()))
    del changed[key]
    with pytest.raises(HeadError, match=key):
        head.decode(json.encode(changed))


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("head-form", b""),
        ("head-form", b"[]"),
        ("head-form", b'{"v": 1}'),
        ("head-form", head.encode(head_record()) + b"\n"),
        pytest.param("head-limit", b"x" * (head.MAX_LINE + 1), id="over 1 MiB"),
    ],
)
def test_decode_refuses_other_bytes(code: str, data: bytes) -> None:
    with pytest.raises(HeadError) as caught:
        head.decode(data)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "segments",
    [
        (SegmentHead("b", 1, hexdigest("a")), SegmentHead("a", 1, hexdigest("a"))),
        (SegmentHead("a", 1, hexdigest("a")), SegmentHead("a", 2, hexdigest("a"))),
    ],
)
def test_encode_refuses_unsorted_segments(segments: tuple[SegmentHead, ...]) -> None:
    with pytest.raises(HeadError, match="sorted"):
        head.encode(replace(head_record(), segments=segments))


def test_encode_refuses_what_decode_would() -> None:
    with pytest.raises(HeadError, match="commit"):
        head.encode(replace(head_record(), commit="HEAD"))


def test_roots_are_those_of_their_leaves() -> None:
    rows = [b'["fact","a"]', b'["fact","b"]']
    assert head.facts_root(rows) == digest.text(merkle.root(rows))
    hashes = [hexdigest("b"), hexdigest("a")]
    expected = merkle.root([bytes.fromhex("aa" * 32), bytes.fromhex("bb" * 32)])
    assert head.entries_root(hashes) == digest.text(expected)
    assert head.facts_root([]) == digest.text(merkle.EMPTY_ROOT)


def log_bytes(size: int) -> bytes:
    return b"".join(leaf + b"\n" for leaf in log(size).leaves)


def test_a_log_reads_back() -> None:
    assert head.parse_log(log_bytes(4)) == log(4)
    assert head.parse_log(b"") == log(0)
    assert log(4).leaf_hashes()[3] == merkle.leaf_hash(log(4).leaves[3])


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda lines: lines[:1] + lines[2:], [(2, "head-chain")]),
        (lambda lines: [lines[1], lines[0], lines[2]], [(1, "head-chain"), (2, "head-chain")]),
        (lambda lines: lines[:2] + lines[1:], [(3, "head-chain")]),
        (lambda lines: [*lines, b""], [(4, "head-form")]),
        (lambda lines: [lines[0], lines[1].replace(b":", b": ", 1), lines[2]], [(2, "head-form")]),
        (lambda lines: [*lines[:2], lines[2].replace(b'"n":3', b'"n":4')], [(3, "head-chain")]),
        (lambda lines: [*lines[:2], lines[2].replace(b"7f0c", b"7f0d")], [(3, "head-chain")]),
        (lambda lines: [lines[0], lines[1].replace(b'"v":1', b'"v":9')], [(2, "head-field")]),
        (lambda lines: [lines[0].replace(b"aaa", b"aab", 1), *lines[1:]], [(2, "head-chain")]),
    ],
)
def test_a_damaged_log_names_the_line(damage: object, expected: list[tuple[int, str]]) -> None:
    assert callable(damage)
    lines = damage(list(log(3).leaves))
    found = head.parse_log(b"".join(line + b"\n" for line in lines)).faults
    assert [(item.line, item.code) for item in found][: len(expected)] == expected


def test_a_torn_last_line_is_told_apart() -> None:
    found = head.parse_log(log_bytes(3)[:-1])
    assert [(item.line, item.code) for item in found.faults] == [(3, "head-torn")]
    assert len(found.records) == 2
