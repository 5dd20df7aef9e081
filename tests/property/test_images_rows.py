"""Rows, round trips and fast paths: what must hold for every page."""

import io
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syn.canon.json import encode
from syn.canon.merkle import leaf_hash, root_of
from syn.images import descriptor
from syn.images.classify import is_plain, page_faults
from syn.images.descriptor import benign_descriptor, first_line
from syn.images.goform import manifest_text
from syn.images.malformed import MalformedError
from syn.images.native import encode_head, store_name
from syn.images.native_build import Decisions, TableBuilder
from syn.images.native_plain import PlainRows, root_over
from syn.images.native_row import encode_page, parse_row, read_row, row_text
from syn.images.native_verify import verify_native
from syn.images.recall_read import ManifestReader
from syn.images.record import Item, Recorder
from syn.images.survey import Survey
from syn.images.table import Blob, Change, FactRef, Head, Page
from syn.images.word import native_prefix

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
DIGEST = st.binary(min_size=32, max_size=32).map(bytes.hex)
NUMBER = st.integers(0, 2**53 - 1)
PREFIX = native_prefix("s")


def pages(**fixed: Any) -> st.SearchStrategy[Page]:
    parts = {
        "step": st.integers(-3, 2**40),
        "role": TEXT,
        "descriptor": TEXT,
        "digest": DIGEST,
        "length": st.integers(-1, 2**53 - 1),
        "taint": st.integers(0, 255),
        "sealed": st.booleans(),
        "qid": TEXT,
        "reason": TEXT,
        "durability": TEXT,
        "valid_to": NUMBER,
        "witness": TEXT,
        "trust_epoch": NUMBER,
        "utility": st.sampled_from(["", "0.5", "4", "-1e+30"]),
        "word": st.just(""),
        "offset": st.just(-1),
        "fact": st.none(),
        "written": st.just(()),
    }
    return st.builds(Page, **(parts | fixed))


@settings(max_examples=100, deadline=None)
@given(
    pages(
        offset=st.integers(-1, 2**40),
        fact=st.none() | st.builds(FactRef, TEXT, DIGEST.map(lambda hex_: "sha256:" + hex_)),
    )
)
def test_a_row_is_canonical_and_reads_back(page: Page) -> None:
    import json

    text = row_text(page)
    assert encode(json.loads(text)) == text.encode()

    line, word = encode_page(page, PREFIX)
    row = parse_row(line, PREFIX, 0)
    assert row.page == page._replace(word=word)
    assert row.computed == word


PARTS = (
    st.sampled_from([b"one", b"two"])
    | st.binary(max_size=300)
    | st.text("ab \n\u00e9\u2003", max_size=140).map(str.encode)
)


WITNESSES = st.sampled_from(["", "", "etag:1", "caf\u00e9", 'a "quote"', "tab\t"])
EPOCHS = st.integers(0, 2) | st.just(10**15)
RESULTS = st.lists(st.tuples(TEXT, PARTS, WITNESSES, EPOCHS), max_size=4)


@settings(max_examples=150, deadline=None)
@given(RESULTS, st.booleans(), st.data())
def test_the_quick_way_through_a_table_says_what_the_slow_way_says(
    results: list[tuple[str, bytes, str, int]], anew: bool, data: st.DataObject
) -> None:
    lines, store = built_image(results, anew=anew)
    at = data.draw(st.integers(0, len(lines) - 1))
    cut = data.draw(st.integers(0, len(lines[at])))
    flip = data.draw(st.integers(0, 255))
    noise = bytes([lines[at][cut] ^ flip]) if cut < len(lines[at]) else b""
    changed = [*lines[:at], lines[at][:cut] + noise + lines[at][cut + 1 :], *lines[at + 1 :]]
    where = data.draw(st.integers(0, max(len(store) - 1, 0)))
    rotten = store[:where] + bytes([store[where] ^ 1]) + store[where + 1 :] if store else b"x"
    for table in (lines, changed, [*lines[:-1], *lines[-2:]]):
        for bodies in (store, rotten, store[:-1]):
            quick = outcome(table, bodies)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(PlainRows, "run", lambda _, rest: next(rest, None))
                assert outcome(table, bodies) == quick


ROLES = ["read_note", "r\u00e9sum\u00e9", "", "100% {x}", "a, b: c"]
ORDINARY = [
    *(b"", b"\n\n", b"one\ntwo", b'  say "so" \\ \t now\n', "\u00e9\u2028\u00a0\n".encode()),
    *(b"x" * 200, b"\xff\x00 no text", b"\x1b[1mbold\x1b[0m\n", b"y" * 119 + b" \n", b"z"),
]


def test_ordinary_rows_go_the_quick_way() -> None:
    witnesses = zip(ROLES * 2, ORDINARY, ["", "etag:1"] * 5, [0, 0, 0, 7] * 3, strict=False)
    lines, store = built_image([(r, b, w, e if w else 0) for r, b, w, e in witnesses])
    rows = PlainRows(PREFIX, Bytes(store), Survey())

    assert rows.run(iter(lines[1:])) is None
    assert [
        parse_row(line[:-1], PREFIX, 0).page.digest for line in lines[1:]
    ] == rows.survey.digests
    assert rows.survey.epochs == [(7 if n % 4 == 3 else 0, n) for n in range(1, 10, 2)]
    assert rows.bodies.total() == rows.end == len(store)
    assert f'"root":"sha256:{root_over(rows.leaves).hex()}"'.encode() in lines[0]


@pytest.mark.parametrize(
    ("role", "line"),
    [("tool", 'a "quoted" word'), ("tool", "back\\slash"), ("tool", "tab\there"), ("t\tl", "line")],
)
def test_a_row_in_another_spelling_is_not_ordinary(role: str, line: str) -> None:
    body = line.encode()
    shown = f'{{"at":0,"descriptor":"{role}: {line}","digest":"sha256:{sha256(body).hexdigest()}",'
    row = (
        f'{shown}"durability":"turn","len":{len(body)},"quarantined":false,"role":"{role}",'
        '"step":0,"taint":0}'
    ).encode()
    word = sha256(PREFIX + row).hexdigest()
    written = row[:-1] + f',"word":"sha256:{word}"}}\n'.encode()

    assert PlainRows(PREFIX, Bytes(body), Survey()).run(iter([written])) == written


@pytest.mark.parametrize("count", [*range(1, 18), 1000])
def test_the_root_level_by_level_is_the_root(count: int) -> None:
    leaves = [leaf_hash(bytes([number % 251])) for number in range(count)]
    assert root_over(b"".join(leaves)) == root_of(leaves)


def test_the_root_over_nothing() -> None:
    assert root_over(b"") == root_of([])


def built_image(
    results: list[tuple[str, bytes, str, int]], *, anew: bool = False
) -> tuple[list[bytes], bytes]:
    """The lines and the store of an image of these results: role, body, witness and epoch.

    With `anew`, a body that comes again is stored again, as no writer of ours does it.
    """
    builder, recorder, store, lines = TableBuilder("s"), Recorder(), b"", []
    for role, body, witness, epoch in results:
        page = recorder.page(Item(role, body, witness=witness))
        if anew:
            builder._places.clear()
        store += b"" if builder.knows(page.digest) else body
        lines.append(builder.take(page._replace(trust_epoch=epoch), len(body)))
    head = builder.head(store_name(sha256(store).hexdigest()), len(store), Decisions())
    return [encode_head(head) + b"\n", *lines], store


def outcome(lines: list[bytes], store: bytes) -> object:
    """What a verification finds, or the refusal; a line that no page needs is not kept."""
    try:
        found = verify_native("image", lines, Bytes(store))
    except MalformedError as error:
        return error.code
    blobs = {digest: blob._replace(line="") for digest, blob in found.blobs.items()}
    return found.report, found.head, blobs, found.last_seal, found.digests


class Bytes:
    """A store in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def view_at(self, offset: int, size: int) -> memoryview:
        return memoryview(self._data)[offset : offset + size] if offset >= 0 else memoryview(b"")

    def size(self) -> int:
        return len(self._data)


@settings(max_examples=30, deadline=None)
@given(pages(), st.binary(max_size=80))
def test_any_line_is_a_row_or_is_refused(page: Page, noise: bytes) -> None:
    line, _ = encode_page(page, PREFIX)
    for changed in (noise, line + noise, noise + line, line[: len(noise)], line[len(noise) :]):
        try:
            row = read_row(changed, PREFIX, 0)
        except MalformedError:
            continue
        assert changed == line or row.page.word != row.computed


@settings(max_examples=100, deadline=None)
@given(st.lists(pages(word=TEXT), max_size=3), TEXT, st.dictionaries(TEXT, st.booleans()))
def test_a_manifest_reads_back_byte_for_byte(rows: list[Page], session: str, cleared: Any) -> None:
    change = Change("ctx-1", 0, "ab" * 32, session, "x", applied=bool(rows))
    ordered = sorted(cleared.items(), key=lambda pair: pair[0].encode())
    head = Head(session, len(rows), tuple(ordered), (change,) if session else ())
    text = "".join(manifest_text(head, rows))

    reader = ManifestReader(io.BytesIO(text.encode()))
    again = list(reader.pages())
    assert (reader.head, again) == (head, rows)
    assert "".join(manifest_text(reader.head, again)) == text


BODIES = st.binary(max_size=200) | st.text(max_size=130).map(str.encode)


@settings(max_examples=200, deadline=None)
@given(BODIES, st.data())
def test_the_fast_path_says_what_the_rules_say(body: bytes, data: st.DataObject) -> None:
    import hashlib

    digest, line = hashlib.sha256(body).hexdigest(), first_line(body)
    blob = Blob(len(body), line, digest)
    honest = Page(
        0, "r", benign_descriptor("r", line), digest, len(body), 0, sealed=False, durability="turn"
    )
    changes: dict[str, Any] = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "step": st.just(1),
                "descriptor": TEXT,
                "length": st.integers(-1, 9),
                "taint": st.integers(0, 3),
                "sealed": st.booleans(),
                "qid": st.just("q1"),
                "reason": st.just("X"),
                "durability": st.sampled_from(["", "turn", "bounded", "durable", "x"]),
                "valid_to": st.integers(-1, 1),
                "witness": st.just("w"),
                "trust_epoch": st.integers(0, 1),
                "utility": st.sampled_from(["", "0", "9"]),
            },
        )
    )
    changed = honest._replace(**changes)

    from syn.images import classify

    def no_word(_: Page, __: Blob) -> tuple[()]:
        return ()

    plain = is_plain(changed, 0, blob)
    slow = [
        *classify._body_faults(changed, blob),
        *classify._place_faults(changed, 0),
        *classify._field_faults(changed),
        *classify._descriptor_faults(changed, blob),
    ]
    if plain:
        assert not slow
        assert page_faults(changed, 0, blob, no_word) == ()
    if changed == honest:
        assert plain


@settings(max_examples=300, deadline=None)
@given(
    st.text("ab \t\r\n\u2003\u00e9~", min_size=110, max_size=125).map(str.encode),
    st.sampled_from([b"", b"\n", b" ", b"   \n", b"\xff", b" z", "\u2003".encode()]),
    st.integers(0, 3),
)
def test_the_quick_first_line_is_the_slow_one(body: bytes, end: bytes, cut: int) -> None:
    for text in (body + end, body[cut:] + end * 3, b"x" * 119 + body[:cut] + end):
        assert first_line(text) == descriptor._first_line_of_text(text)


@settings(max_examples=200, deadline=None)
@given(BODIES)
def test_a_descriptor_is_one_line_of_bounded_size(body: bytes) -> None:
    line = first_line(body)
    assert "\n" not in line
    assert len(line) <= 120
    line.encode()
