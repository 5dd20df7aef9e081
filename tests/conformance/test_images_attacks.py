"""Every known attack on a `recall.v1` image, made on our format from the same honest base.

Each is made twice: by somebody who edits and leaves the words, and by somebody who knows the format
and makes every word and the root anew. The first is caught with nothing from outside, but for what
stands in the head alone; the second cannot sign, so a reader with the key refuses it.
"""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from syn.images.convert import upgrade
from syn.images.native import TABLE, Clearance
from syn.images.native_row import encode_page
from syn.images.outside import Outside
from syn.images.pagein import Conditions, PageRefusedError
from syn.images.scrub import scrub
from syn.images.store import NativeImage, check_image, open_image, page_in
from syn.images.table import Change, Page
from syn.images.word import native_prefix
from tests.support.images import SIGNER, TRUSTED, codes, native_lines, write_native_files
from tests.support.shared import ROOT, shared_path

FOLDER = ROOT.parent / "shared" / "images"


@cache
def expected() -> dict[str, Any]:
    table = FOLDER / "expect.json"
    return json.loads(table.read_text("utf-8"))["images"] if table.exists() else {}


def _line(table: bytes, number: int, line: bytes) -> bytes:
    lines = table.split(b"\n")
    lines[number] = line
    return b"\n".join(lines)


def _upper_word(table: bytes) -> bytes:
    lines = table.split(b"\n")
    lines[2] = lines[2][:-66] + lines[2][-66:-2].upper() + lines[2][-2:]
    return b"\n".join(lines)


def _short_word(table: bytes) -> bytes:
    lines = table.split(b"\n")
    lines[2] = lines[2][:-50] + lines[2][-2:]
    return b"\n".join(lines)


BYTES_LEVEL: dict[str, Callable[[bytes], bytes]] = {
    # The attack is on the spelling of a JSON file; ours is made on the bytes of `image.jsonl`.
    "t-bom": lambda table: b"\xef\xbb\xbf" + table,
    "t-trailing-data": lambda table: table + b"{}\n",
    "t-version-2": lambda table: table.replace(b"synapse.image/1", b"synapse.image/2"),
    "t-key-duplicate": lambda table: table.replace(
        b'"quarantined":true,', b'"quarantined":true,"quarantined":false,', 1
    ),
    "t-len-float": lambda table: table.replace(b'"len":35', b'"len":35.0', 1),
    "t-lone-surrogate": lambda table: table.replace(
        b'"get_user_details"', b'"get_user\\ud800details"', 1
    ),
    "t-page-null": lambda table: _line(table, 2, b"null"),
    "t-pages-null": lambda table: table.split(b"\n", 1)[0] + b"\n",
    "t-field-null": lambda table: table.replace(b'"quarantined":true', b'"quarantined":null', 1),
    "t-digest-upper": lambda table: table.replace(b"sha256:82bb3fd1", b"sha256:82BB3FD1", 1),
    "t-digest-upper-both": lambda table: table.replace(b"sha256:82bb3fd1", b"sha256:82BB3FD1"),
    "t-word-uppercase": _upper_word,
    "t-word-full-width": _short_word,
}
STORE_LEVEL: dict[str, Callable[[bytes], bytes | None]] = {
    "t-body-truncated": lambda store: store[:120] + store[160:],
    "t-body-missing": lambda store: store[:61] + store[96:],
    "t-body-null": lambda store: store[:61] + store[96:],
    "t-orphan-rotten": lambda store: store + b"rotten",
    "t-cas-null": lambda store: b"",
    "t-mixed-generation": lambda store: b"another session's bodies" * 40,
    "t-cas-absent": lambda store: None,
}
ELSEWHERE = {
    "t-cas-key-duplicate": "our store has no keys",
    "t-base64-newlines": "our store has no base64",
    "t-world-ver": "our head has one count, which the rows and the root are held against",
    "t-cleared-unknown": "clearances are not taken over from recall.v1; made below",
    "t-word-swap": "made below",
}
"""Attacks on what our format does not have, with the reason."""


@dataclass
class Attacked:
    """What an attacked `recall.v1` folder says, read as forgivingly as an attacker would."""

    pages: list[dict[str, Any]]
    bodies: dict[str, bytes]
    changes: list[dict[str, Any]]
    session: str
    cleared: dict[str, bool] = field(default_factory=dict)


def attacked(name: str) -> Attacked:
    folder = FOLDER / name
    table = json.loads((folder / "manifest.json").read_text("utf-8"))
    store = json.loads((folder / "cas.json").read_text("utf-8"))
    return Attacked(
        table["pages"],
        {key: base64.b64decode(text or "") for key, text in store.items()},
        table.get("context_changes", []),
        table["session_id"],
        table["cleared"],
    )


def page_of(row: dict[str, Any]) -> Page:
    return Page(
        row["step"],
        row["role"],
        row["descriptor"],
        row["digest"],
        row["len"],
        row["taint"],
        row["quarantined"],
        row.get("qid", ""),
        row.get("reason", ""),
        row.get("durability", ""),
        row.get("valid_to", 0),
        row.get("witness", ""),
        row.get("trust_epoch", 0),
        repr(row["utility"]) if "utility" in row else "",
    )


def change_of(row: dict[str, Any]) -> Change:
    return Change(
        row["id"], row["step"], row["digest"], row["reason"], row["requested_by"], row["action"]
    )


def forged(name: str, folder: Path) -> Path:
    """The attack by somebody who makes every word, the root and the head anew, but cannot sign."""
    world = attacked(name)
    pages = [page_of(row) for row in world.pages]
    changes = tuple(change_of(row) for row in world.changes if row["applied"])
    head, rows, store = native_lines(
        pages, world.bodies, changes=changes, session=world.session, signer=None
    )
    honest = NativeImage(open_image(honest_image(name)).source).head()
    head = replace(head, key=honest.key, sig=honest.sig, previous=honest.previous)
    return write_native_files(folder, head, rows, store)


def naive(name: str, folder: Path) -> Path:
    """The attack by somebody who edits and leaves words, root and head as they are."""
    base = NativeImage(open_image(honest_image(name)).source)
    words = [page.word for page in base.pages()]
    old = list(base.pages())
    world = attacked(name)
    lines = []
    for index, row in enumerate(world.pages):
        page = page_of(row)
        match = next((p for p in old if p.digest == page.digest), old[0])
        page = page._replace(offset=match.offset)
        word = words[index] if index < len(words) else words[0]
        text, fresh = encode_page(page, native_prefix(base.head().session))
        same = [p for p in old if p._replace(word="") == page]
        stale = same[0].word if same else word
        lines.append(text.replace(fresh.encode(), stale.encode()) + b"\n")
    head = base.head()
    applied = tuple(change_of(row) for row in world.changes if row["applied"])
    if applied != head.changes:
        head = replace(head, changes=applied)
    store = (honest_image(name) / head.store).read_bytes()
    return write_native_files(folder, head, lines, store)


_made: dict[str, Path] = {}


def honest_image(name: str) -> Path:
    return _made[expected()[name]["base"]]


@pytest.fixture(autouse=True, scope="module")
def _honest(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("honest")
    for base in {row["base"] for row in expected().values() if not row["real"]}:
        source, _made[base] = FOLDER / base, folder / base
        if check_image(source).verdict != "clean":
            # Left by the program's scrub or dream without a word: our scrub gives it one.
            scrub(source, folder / f"{base}-scrubbed")
            source = folder / f"{base}-scrubbed"
        upgrade(open_image(source), _made[base], SIGNER)


def attacks() -> list[Any]:
    found = [
        name
        for name, row in expected().items()
        if not row["real"] and name not in {*BYTES_LEVEL, *STORE_LEVEL, *ELSEWHERE}
    ]
    return found or [pytest.param("", marks=pytest.mark.skip(reason="shared/images is absent"))]


IN_THE_HEAD = {"t-tombstone-dropped", "t-tombstone-disarmed", "t-tombstone-added"}


@pytest.mark.parametrize("name", attacks())
def test_an_edit_that_leaves_the_words_is_caught(name: str, tmp_path: Path) -> None:
    report = check_image(naive(name, tmp_path / "image"), TRUSTED)

    assert report.verdict == "fault"
    if name not in IN_THE_HEAD:
        unkeyed = check_image(tmp_path / "image")
        assert unkeyed.verdict == "fault", "words and root alone"


@pytest.mark.parametrize("name", attacks())
def test_words_and_root_made_anew_do_not_make_a_signature(name: str, tmp_path: Path) -> None:
    folder = forged(name, tmp_path / "image")
    report = check_image(folder, TRUSTED)

    assert report.verdict == "fault"
    assert "signature-invalid" in codes(report)
    assert report.blocked is None
    with pytest.raises(PageRefusedError):
        page_in(open_image(folder), 0, Conditions(), TRUSTED)


@pytest.mark.parametrize("name", sorted(BYTES_LEVEL))
def test_a_spelling_that_go_forgives_is_refused(name: str, tmp_path: Path) -> None:
    shared_path("images")
    honest = honest_image(name)
    head = NativeImage(open_image(honest).source).head()
    folder = write_native_files(tmp_path / "i", head, (), (honest / head.store).read_bytes())
    changed = BYTES_LEVEL[name]((honest / TABLE).read_bytes())
    assert changed != (honest / TABLE).read_bytes()
    (folder / TABLE).write_bytes(changed)

    assert check_image(folder).verdict in {"fault", "refused"}


@pytest.mark.parametrize("name", sorted(STORE_LEVEL))
def test_a_store_that_is_not_the_image_s_is_caught(name: str, tmp_path: Path) -> None:
    shared_path("images")
    honest = honest_image(name)
    head = NativeImage(open_image(honest).source).head()
    folder = write_native_files(tmp_path / "i", head, (), b"")
    (folder / TABLE).write_bytes((honest / TABLE).read_bytes())
    store = STORE_LEVEL[name]((honest / head.store).read_bytes())
    if store is None:
        (folder / head.store).unlink()
    else:
        (folder / head.store).write_bytes(store)

    report = check_image(folder)
    assert report.verdict in {"fault", "refused"}
    assert report.blocked is None


def test_the_collision_of_the_64_bit_word_changes_ours(tmp_path: Path) -> None:
    shared_path("images")
    report = check_image(naive("t-collision", tmp_path / "image"))

    assert report.verdict == "fault"
    assert report.page(0) is not None


def test_two_words_exchanged(tmp_path: Path) -> None:
    shared_path("images")
    honest = _made["base"]
    lines = (honest / TABLE).read_bytes().split(b"\n")
    lines[11], lines[12] = lines[11][:-66] + lines[12][-66:], lines[12][:-66] + lines[11][-66:]
    head = NativeImage(open_image(honest).source).head()
    folder = write_native_files(tmp_path / "i", head, (), (honest / head.store).read_bytes())
    (folder / TABLE).write_bytes(b"\n".join(lines))

    report = check_image(folder)
    assert {page.position for page in report.pages} == {10, 11}
    assert "root-mismatch" in codes(report)


def test_a_count_that_is_not_the_rows_and_a_clearance_of_nothing(tmp_path: Path) -> None:
    shared_path("images")
    honest = _made["base"]
    head = NativeImage(open_image(honest).source).head()
    rows = (honest / TABLE).read_bytes().splitlines(keepends=True)[1:]
    store = (honest / head.store).read_bytes()
    count = replace(head, pages=99)
    cleared = replace(head, cleared=(Clearance("q77", "nobody", "because"),))

    for number, (changed, code) in enumerate(
        [(count, "marker-mismatch"), (cleared, "clearance-unknown")]
    ):
        report = check_image(write_native_files(tmp_path / f"{number}", changed, rows, store))
        assert code in codes(report)
        assert report.blocked is None


def test_an_older_image_put_back_does_not_fit_the_anchor(tmp_path: Path) -> None:
    shared_path("images")
    upgrade(open_image(FOLDER / "base-earlier"), tmp_path / "old", SIGNER)
    kept = check_image(_made["base"]).digest

    report = check_image(tmp_path / "old", replace(TRUSTED, anchor=kept))
    assert report.signature == "valid"
    assert codes(report) == {"anchor-mismatch"}
    assert check_image(_made["base"], Outside(anchor=kept)).verdict == "clean"


def test_an_anchor_tells_even_recall_images_apart() -> None:
    shared_path("images")
    kept = check_image(FOLDER / "base").digest

    assert check_image(FOLDER / "base", Outside(anchor=kept)).verdict == "clean"
    for name, row in expected().items():
        if row.get("base") == "base":
            report = check_image(FOLDER / name, Outside(anchor=kept))
            assert report.verdict in {"fault", "refused"}, name
