"""INV-14: images kept in a workspace, and the words of its index."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from syn.images.native import TABLE
from syn.images.record import Item
from syn.images.table import FactRef
from syn.model.finding import InvariantResult, Status
from syn.services.proving.verifying import Request, verify
from syn.services.recall.opening import reindex
from syn.services.sessions.images import record_items
from syn.services.writing.quarantine import quarantine
from tests.support.images import ITEMS, PAYLOAD, native_image, recall_files, write_files
from tests.support.workspaces import Place, git, make_workspace


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = make_workspace(tmp_path)
    reindex(place.open())
    (place.root / "images").mkdir()
    write_files(place.root / "images/monday", *recall_files())
    native_image(place.root / "images/tuesday", ITEMS[:2])
    git(place, "add", "-A")
    git(place, "commit", "-qm", "images")
    return place


def check(place: Place, ref: str = "") -> tuple[InvariantResult, list[str]]:
    report = verify(place.open(), Request(deep=True, ref=ref))
    cells = next(result for result in report.invariants if result.id == "INV-14")
    return cells, [r.id for r in report.invariants if r.status is Status.FAIL]


def flip(path: str, old: bytes, new: bytes) -> Callable[[Place], None]:
    def damage(place: Place) -> None:
        file = place.root / path
        data = file.read_bytes()
        assert old in data
        file.write_bytes(data.replace(old, new, 1))

    return damage


def test_kept_images_are_judged_in_the_work_tree_and_in_a_commit(place: Place) -> None:
    for ref in ("", "HEAD"):
        cells, failed = check(place, ref)
        assert failed == []
        assert cells.status is Status.PASS
        assert cells.evidence == {"rows": 4, "images": 2, "pages": len(ITEMS) + 2}
        assert cells.summary == "4 rows and 8 pages of 2 images"


def test_a_clone_without_an_index_says_the_same(place: Place, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(place, "clone", "-q", ".", str(clone))
    here, _ = check(place)
    there, _ = check(Place(clone, place.env))
    assert here == there


@pytest.mark.parametrize(
    ("damage", "code", "path"),
    [
        (
            flip("images/monday/manifest.json", b'"quarantined": true', b'"quarantined": false'),
            "word-mismatch",
            "images/monday",
        ),
        (flip("images/tuesday/image.jsonl", b"read_mail", b"read_xxxx"), "", "images/tuesday"),
        (
            lambda place: (place.root / "images/monday/cas.json").unlink(),
            "store-absent",
            "images/monday",
        ),
        (
            lambda place: shutil.copy(
                place.root / "images/tuesday" / TABLE, place.root / "images/monday"
            ),
            "",
            "images/monday",
        ),
    ],
)
def test_an_image_that_does_not_check_fails_cells_alone(
    place: Place, damage: Callable[[Place], None], code: str, path: str
) -> None:
    damage(place)
    cells, failed = check(place)
    assert failed == ["INV-14"]
    failures = [found for found in cells.findings if found.severity == "failure"]
    assert {found.path for found in failures} == {path}
    assert not code or code in {found.code for found in failures}
    assert not any(found.local for found in failures)
    committed, failed = check(place, "HEAD")
    assert (committed.status, failed) == (Status.PASS, [])


def test_a_page_without_a_word_and_a_stale_one_are_warnings(place: Place) -> None:
    payload = verify_payload(place, "limit")
    items = [Item("show", b"Two people.", fact=FactRef("limit", payload))]
    record_items(place.root / "images/facts", "s", items)
    cells, failed = check(place)
    assert (cells.findings, failed) == ((), [])
    quarantine(place.open(), "limit", "doubtful")
    items = [Item("show", b"Gone.", fact=FactRef("none-such", PAYLOAD))]
    record_items(place.root / "images/other", "s", items)
    cells, failed = check(place)
    assert failed == []
    assert [(f.code, f.severity, f.actual, f.path) for f in cells.findings] == [
        ("page-stale", "warning", "quarantined", "images/facts"),
        ("page-stale", "warning", "missing", "images/other"),
    ]


def verify_payload(place: Place, fact: str) -> str:
    from syn.services.recall.indexing import read_workspace

    return read_workspace(place.open()).ledger.recorded[fact].payload


def test_a_stray_file_is_a_warning_and_a_link_a_failure(place: Place) -> None:
    (place.root / "images/notes.txt").write_text("not an image")
    cells, failed = check(place)
    assert [(f.code, f.severity) for f in cells.findings] == [("image-stray", "warning")]
    (place.root / "images/notes.txt").unlink()
    (place.root / "images/tuesday" / TABLE).rename(place.root / "elsewhere")
    (place.root / "images/tuesday" / TABLE).symlink_to(place.root / "elsewhere")
    cells, failed = check(place)
    assert failed == ["INV-14"]
    assert "not-a-file" in {found.code for found in cells.findings}


def test_a_word_that_does_not_hold_is_a_failure_of_this_machine(place: Place) -> None:
    with closing(sqlite3.connect(place.root / ".synapse/index.db")) as database, database:
        database.execute("UPDATE state SET quarantine = '[]', taint = 'external'")
    cells, failed = check(place)
    assert failed == ["INV-1", "INV-14"]
    assert {(f.code, f.local) for f in cells.findings} == {("word-mismatch", True)}
    assert [f.subject for f in cells.findings] == ["limit", "owner-1", "owner-2", "facts/plain"]
    with closing(sqlite3.connect(place.root / ".synapse/index.db")) as database, database:
        database.execute("UPDATE state SET word = ''")
    cells, failed = check(place)
    assert failed == ["INV-1"]
    assert {(f.code, f.severity) for f in cells.findings} == {("word-missing", "warning")}
