"""Transcripts and what becomes of their lines."""

import pytest

from syn.images.record import Item, Recorder, TranscriptError, parse_transcript
from syn.images.table import FactRef

PAYLOAD = "sha256:" + "0" * 64


def test_lines_become_items() -> None:
    lines = [
        b'{"role":"a","text":"h\xc3\xa4llo"}\n',
        b"\n",
        b'{"role":"b","bytes":"AAE=","durability":"bounded","valid_to":9,"witness":"w"}\n',
        b'{"role":"c","text":"","seal":"SECRET_EXFIL"}',
        b'{"role":"d","text":"x","fact":{"id":"f","payload":"%s"}}' % PAYLOAD.encode(),
    ]
    assert list(parse_transcript(lines)) == [
        Item("a", "hällo".encode()),
        Item("b", b"\x00\x01", "bounded", 9, "w"),
        Item("c", b"", seal="SECRET_EXFIL"),
        Item("d", b"x", fact=FactRef("f", PAYLOAD)),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"x",
        b"[]",
        b"{}",
        b'{"role":"a"}',
        b'{"role":"","text":"x"}',
        b'{"role":"a","text":"x","bytes":"AA=="}',
        b'{"role":"a","bytes":"A"}',
        b'{"role":"a","bytes":"AA!=="}',
        b'{"role":"a","bytes":"A A=="}',
        b'{"role":"a","text":"x","text":"y"}',
        b'{"role":"a","text":"x","more":1}',
        b'{"role":"a","text":null}',
        b'{"role":"a","text":"\\ud800"}',
        b'{"role":"a","text":"x","durability":"for ever"}',
        b'{"role":"a","text":"x","durability":"bounded"}',
        b'{"role":"a","text":"x","valid_to":3}',
        b'{"role":"a","text":"x","seal":"because"}',
        b'{"role":"a","text":"x","fact":{"id":"f"}}',
        b'{"role":"a","text":"x","fact":{"id":"f","payload":"nope"}}',
        b"\xff",
    ],
)
def test_a_line_that_is_no_result_is_named_and_never_quoted(line: bytes) -> None:
    with pytest.raises(TranscriptError, match=r"^line 2: ") as caught:
        list(parse_transcript([b'{"role":"a","text":"x"}\n', line]))
    assert "for ever" not in str(caught.value)


def test_a_screen_seals_and_seal_ids_count_up() -> None:
    recorder = Recorder(lambda body: "SECRET_EXFIL" if b"key=" in body else "")
    pages = [recorder.page(Item("r", body)) for body in (b"a key=1", b"fine", b"key=2")]

    assert [(page.sealed, page.qid) for page in pages] == [(True, "q1"), (False, ""), (True, "q2")]
    assert pages[0].descriptor == "r: [sealed: SECRET_EXFIL, 7 bytes]"
