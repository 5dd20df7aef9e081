"""Descriptors, words and the spelling of `recall.v1`."""

import io
import json
from pathlib import Path

import pytest

from syn.images.descriptor import first_line, is_reason, is_seal_id, sealed_descriptor
from syn.images.goform import manifest_text, quote
from syn.images.recall_read import ManifestReader
from syn.images.recall_store import StoreReader
from syn.images.table import Change, Head, Page
from syn.images.word import recall_digest_of, recall_word_of

DIGEST = "5b5afed0f6768f8e28aeae465238845cb0653060623ebacfe3f7d9d85cc30a56"


def test_the_worked_example_of_the_word() -> None:
    whole = recall_digest_of(DIGEST, 197, 2, True, "q1")
    assert whole == "9a32611f1a3bd8f6c6cb6d562dddb33d9737ba49084c7316c75745f7f6dc47a8"
    assert recall_word_of(DIGEST, 197, 2, True, "q1") == whole[:16]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"", ""),
        (b" \t\r\n\x0b\x0c ", ""),
        (b"one\ntwo", "one"),
        (b"\n\n  one \r\ntwo", "one"),
        ("\u00a0\u3000 one\u2028still\u0085\n".encode(), "one\u2028still"),
        (b"\x1c one", "\x1c one"),
        (b"a\xffb", "a\ufffdb"),
        (b"\x00\xff\xfe\x80A", "\x00\ufffd\ufffd\ufffdA"),
        (b"x" * 130, "x" * 120),
        (b"x" * 118 + b"   \n", "x" * 118),
        (b"x" * 118 + b"   y\n", "x" * 118 + "  "),
        (b"x" * 118 + "€".encode() + b"y", "x" * 118 + "\ufffd\ufffd"),
        (b"x" * 117 + "€".encode() + b"y", "x" * 117 + "€"),
        (b"ascii first\n\xff\xfe", "ascii first"),
    ],
)
def test_the_first_line_of_a_body(body: bytes, line: str) -> None:
    assert first_line(body) == line


def test_what_a_seal_may_say() -> None:
    assert sealed_descriptor("mail", "SECRET_EXFIL", 9) == "mail: [sealed: SECRET_EXFIL, 9 bytes]"
    assert is_reason("TRUST_VIOLATION")
    assert not is_reason("trust")
    assert not is_reason("A B")
    assert is_seal_id("q12")
    assert not is_seal_id("q0")
    assert not is_seal_id("q1\n")


def test_strings_are_spelled_as_go_spells_them() -> None:
    text = '<b>A & B</b> "q" \\ \b\f\n\r\t \x01 \x7f \u2028\u2029 ü 😀'
    spelled = quote(text)
    assert json.loads(spelled) == text
    assert "\\u003cb\\u003eA \\u0026 B" in spelled
    assert "\\u2028\\u2029 ü 😀" in spelled
    assert "\\b\\f\\n\\r\\t \\u0001 \x7f" in spelled


def read(text: str) -> tuple[Head, list[Page]]:
    reader = ManifestReader(io.BytesIO(text.encode()))
    pages = list(reader.pages())
    return reader.head, pages


def test_everything_comes_back_byte_for_byte() -> None:
    page = Page(
        0,
        "röle",
        "röle: \ufffd",
        DIGEST,
        5,
        0,
        sealed=False,
        durability="bounded",
        valid_to=9,
        witness="w<1>",
        trust_epoch=2,
        utility="0.30000000000000004",
        word="0123456789abcdef",
    )
    change = Change("ctx-1", 0, DIGEST, "why", "who", witness="w", trust_epoch=1)
    head = Head("s", 1, (("q1", True), ("q10", False), ("q2", False)), (change,))
    text = "".join(manifest_text(head, [page]))

    again, pages = read(text)
    assert "".join(manifest_text(again, pages)) == text
    assert (again, pages) == (head, [page])


def test_an_escaped_replacement_character_keeps_its_spelling() -> None:
    page = Page(0, "r", "r: \ufffd\ufffd", DIGEST, 1, 0, sealed=False)
    text = "".join(manifest_text(Head("s", 1), [page]))
    mixed = text.replace('"r: \ufffd\ufffd"', '"r: \\ufffd\ufffd"')

    head, pages = read(mixed)
    assert pages[0].descriptor == page.descriptor
    assert "".join(manifest_text(head, pages)) == mixed


def test_a_store_is_read_entry_by_entry_whatever_the_chunks() -> None:
    class Drip:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def read(self, size: int, /) -> bytes:
            out, self.data = self.data[:1], self.data[1:]
            return out

    data = b'{\n "%s": "aGVsbG8=", "x\\"y": "a\\nb",\n"z": null }\n' % DIGEST.encode()
    entries = list(StoreReader(Drip(data)).entries())

    assert [(e.body, e.fault) for e in entries] == [
        (b"hello", ""),
        (None, "address-malformed"),
        (b"", "address-malformed"),
    ]
    assert data[entries[0].place : entries[0].place + entries[0].span] == b"aGVsbG8="


def test_a_manifest_is_read_whatever_the_chunks(tmp_path: Path) -> None:
    from tests.support.images import recall_files

    manifest, _ = recall_files()

    class Drip:
        def __init__(self) -> None:
            self.at = 0

        def read(self, size: int, /) -> bytes:
            self.at += 7
            return manifest[self.at - 7 : self.at]

    reader = ManifestReader(Drip())
    with pytest.raises(LookupError):
        _ = reader.head
    assert len(list(reader.pages())) == 6
    assert reader.head.session == "small-session"
