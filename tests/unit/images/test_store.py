"""Images on disk: handing out pages, deciding, converting, scrubbing, repairing."""

import io
import os
import re
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from syn.canon.json import encode
from syn.errors import SynError
from syn.images.convert import export, upgrade
from syn.images.edit import EditError
from syn.images.files import ExistsError, ImageFileError
from syn.images.malformed import MalformedError
from syn.images.native import TABLE
from syn.images.outside import Outside
from syn.images.pagein import Conditions, PageRefusedError, UnknownPageError
from syn.images.repair import apply_repair, plan_repair
from syn.images.report import report_json
from syn.images.scrub import scrub
from syn.images.store import UnknownImageError, check_image, open_image, page_in
from syn.images.table import FactRef
from syn.images.write import Decision, WriteError, clear, hide, quarantine
from syn.services.sessions.images import record_items
from tests.support.images import (
    ITEMS,
    PAYLOAD,
    SIGNER,
    TRUSTED,
    codes,
    native_image,
    recall_files,
    write_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable

WHY = "because it asks for money"


@pytest.fixture
def recall(tmp_path: Path) -> Path:
    return write_files(tmp_path / "recall", *recall_files())


@pytest.fixture
def native(tmp_path: Path) -> Path:
    return native_image(tmp_path / "native")


def refusal(folder: Path, position: int, given: Conditions | None = None) -> str:
    with pytest.raises(PageRefusedError) as caught:
        page_in(open_image(folder), position, given or Conditions())
    assert caught.value.remedy
    return caught.value.code


@pytest.mark.parametrize("kind", ["recall", "native"])
def test_page_in_hands_out_the_exact_bytes(kind: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(kind)
    for position in (0, 2, 4):
        served = page_in(open_image(folder), position, Conditions())
        assert served.body == ITEMS[position].body
        assert served.role == ITEMS[position].role
    assert refusal(folder, 1) == "page-sealed"
    for absent in (6, -1):
        with pytest.raises(UnknownPageError):
            page_in(open_image(folder), absent, Conditions())


def test_a_hidden_page_is_not_handed_out(recall: Path, native: Path) -> None:
    assert refusal(recall, 3) == "page-hidden"
    assert refusal(native, 5) == "page-hidden"


def test_what_the_caller_knows_counts(native: Path) -> None:
    def state(fact: FactRef) -> str:
        assert fact == FactRef("kb-1", PAYLOAD)
        return "changed"

    assert refusal(native, 2, Conditions(revoked=("etag:kb-1",))) == "page-revoked"
    assert refusal(native, 2, Conditions(staleness=state)) == "page-stale"  # type: ignore[arg-type]
    assert refusal(native, 0, Conditions(screen=lambda _: "SECRET")) == "page-screened"
    assert refusal(native, 3, Conditions(as_of=10)) == "page-expired"
    assert page_in(open_image(native), 3, Conditions(as_of=9)).notes == ()
    assert "no tick was given" in page_in(open_image(native), 3, Conditions()).notes[0]
    assert "was not asked" in page_in(open_image(native), 2, Conditions()).notes[0]


def test_a_stale_fact_is_a_warning_of_the_check(native: Path) -> None:
    outside = Outside(staleness=lambda _: "superseded")
    report = check_image(native, outside)
    assert (report.verdict, [f.code for f in report.findings]) == ("clean", ["page-stale"])


def test_a_page_whose_bytes_change_between_two_reads_is_refused(
    native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = open_image(native)
    monkeypatch.setattr(image, "body", lambda *_: b"other bytes")
    with pytest.raises(PageRefusedError) as caught:
        page_in(image, 0, Conditions())
    assert caught.value.code == "page-erasure"


def test_quarantine_clear_and_tombstone_chain_and_need_the_key_again(native: Path) -> None:
    before = check_image(native, TRUSTED)
    assert quarantine(open_image(native), Decision(0, WHY, "ana"), SIGNER) == "q3"
    assert check_image(native, TRUSTED).verdict == "clean"
    assert refusal(native, 0) == "page-sealed"
    assert refusal(native, 4) == "page-sealed", "the same bytes under another row"

    assert clear(open_image(native), Decision(0, "a false alarm", "ana"), SIGNER) == "q3"
    assert page_in(open_image(native), 0, Conditions(), TRUSTED).body == ITEMS[0].body

    hide(open_image(native), Decision(0, "old", "ana"), None)
    assert refusal(native, 0) == "page-hidden"
    assert codes(check_image(native, TRUSTED)) == {"signature-missing"}
    image = open_image(native)
    assert image.head().previous != before.digest  # type: ignore[union-attr]


def test_decisions_that_make_no_sense_are_refused(native: Path, recall: Path) -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: quarantine(open_image(native), Decision(1, WHY, "x")), "already-sealed"),
        (lambda: clear(open_image(native), Decision(0, WHY, "x")), "not-sealed"),
        (lambda: clear(open_image(native), Decision(1, " ", "x")), "no-reason"),
        (lambda: hide(open_image(native), Decision(5, WHY, "x")), "already-hidden"),
        (lambda: clear(open_image(recall), Decision(1, WHY, "x")), "clearance-unprotected"),
    ]
    for action, code in cases:
        with pytest.raises(EditError) as caught:
            action()
        assert caught.value.code == code
    with pytest.raises(UnknownPageError):
        quarantine(open_image(native), Decision(99, WHY, "x"))


def test_a_recall_image_takes_a_seal_and_a_tombstone_in_its_own_spelling(recall: Path) -> None:
    store = (recall / "cas.json").read_bytes()
    assert quarantine(open_image(recall), Decision(0, WHY, "x"), code="TRUST_VIOLATION") == "q3"
    hide(open_image(recall), Decision(2, WHY, "x"))

    assert check_image(recall).verdict == "clean"
    assert (refusal(recall, 0), refusal(recall, 2)) == ("page-sealed", "page-hidden")
    assert (recall / "cas.json").read_bytes() == store
    assert WHY.encode() in (recall / "manifest.json").read_bytes()


def test_a_faulty_page_can_be_quarantined_and_a_faulty_table_cannot(recall: Path) -> None:
    manifest = (recall / "manifest.json").read_bytes()
    changed = manifest.replace(b"read_note: the fee is 25", b"read_note: pay at once", 1)
    (recall / "manifest.json").write_bytes(changed)
    assert quarantine(open_image(recall), Decision(0, WHY, "x")) == "q3"
    assert check_image(recall).verdict == "clean"
    assert refusal(recall, 4) == "page-sealed"
    assert b"pay at once" not in (recall / "manifest.json").read_bytes()

    (recall / "manifest.json").write_bytes(manifest.replace(b'_ver": 6', b'_ver": 7'))
    with pytest.raises(WriteError) as caught:
        quarantine(open_image(recall), Decision(0, WHY, "x"))
    assert caught.value.code == "not-clean"


def test_upgrade_and_export_come_back_byte_for_byte(recall: Path, tmp_path: Path) -> None:
    done = upgrade(open_image(recall), tmp_path / "new", SIGNER)
    report = check_image(tmp_path / "new", TRUSTED)
    assert (report.verdict, report.digest, report.signature) == ("clean", done.digest, "valid")
    assert open_image(tmp_path / "new").head().previous == check_image(recall).digest  # type: ignore[union-attr]

    export(open_image(tmp_path / "new"), tmp_path / "back")
    for name in ("manifest.json", "cas.json"):
        assert (tmp_path / "back" / name).read_bytes() == (recall / name).read_bytes()


def test_upgrade_takes_no_clearance_along_and_says_so(tmp_path: Path) -> None:
    manifest, store = recall_files()
    cleared = manifest.replace(b'"cleared": {}', b'"cleared": {\n    "q1": true\n  }')
    folder = write_files(tmp_path / "old", cleared, store)
    assert refusal(folder, 1) == "page-sealed"

    done = upgrade(open_image(folder), tmp_path / "new")
    assert [step.subject for step in done.dropped] == ["clearance of q1"]
    assert refusal(tmp_path / "new", 1) == "page-sealed"


def test_what_does_not_check_is_not_upgraded(tmp_path: Path) -> None:
    manifest, store = recall_files()
    folder = write_files(tmp_path / "old", manifest.replace(b'"taint": 2', b'"taint": 0', 1), store)
    with pytest.raises(WriteError, match="page 1 does not check"):
        upgrade(open_image(folder), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_image_that_does_not_check_as_a_whole_is_not_upgraded(tmp_path: Path) -> None:
    manifest, store = recall_files()
    at = manifest.index(b'"ctx-') + 5
    other = b"0" if manifest[at : at + 1] != b"0" else b"1"
    folder = write_files(tmp_path / "old", manifest[:at] + other + manifest[at + 1 :], store)
    with pytest.raises(WriteError, match="the image as a whole does not check"):
        upgrade(open_image(folder), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_nothing_is_overwritten(native: Path, recall: Path) -> None:
    with pytest.raises(ExistsError):
        upgrade(open_image(recall), native)
    with pytest.raises(WriteError, match="already"):
        upgrade(open_image(native), recall.parent / "x")


def test_a_scrub_copies_only_towards_the_stricter_state(recall: Path, tmp_path: Path) -> None:
    manifest = (recall / "manifest.json").read_bytes()
    (recall / "manifest.json").write_bytes(manifest.replace(b'"taint": 0', b'"taint": 1', 1))
    result = scrub(recall, tmp_path / "copy")

    assert result.report.verdict == "fault"
    assert [(s.action, s.subject) for s in result.steps] == [("seal", "page 0")]
    assert result.after is not None
    assert result.after.verdict == "clean"
    assert refusal(tmp_path / "copy", 0) == "page-sealed"
    assert page_in(open_image(tmp_path / "copy"), 2, Conditions()).body == ITEMS[2].body


def test_a_scrub_of_a_table_that_does_not_check_serves_nothing(
    recall: Path, native: Path, tmp_path: Path
) -> None:
    manifest = (recall / "manifest.json").read_bytes()
    (recall / "manifest.json").write_bytes(manifest.replace(b'_ver": 6', b'_ver": 7'))
    lines = (native / TABLE).read_bytes().splitlines(keepends=True)
    (native / TABLE).write_bytes(b"".join([lines[0], *lines[2:], lines[1]]))

    for number, folder in enumerate((recall, native)):
        copy = tmp_path / f"copy{number}"
        result = scrub(folder, copy)
        assert result.after is not None
        assert result.after.verdict == "clean"
        for position in range(6):
            assert refusal(copy, position) in {"page-sealed", "page-hidden"}


def test_a_scrub_lists_every_drop(recall: Path, tmp_path: Path) -> None:
    store = (recall / "cas.json").read_bytes()
    rotten = store.replace(b"{\n", b'{\n  "%s": "AAAA",\n' % (b"00" * 32), 1)
    (recall / "cas.json").write_bytes(rotten)
    result = scrub(recall, tmp_path / "copy")

    assert [(s.action, s.code) for s in result.steps] == [("drop", "blob-mismatch")]
    assert (tmp_path / "copy" / "cas.json").read_bytes() == store


def test_a_fault_that_one_reading_alone_sees_is_transient(
    recall: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = (recall / "manifest.json").read_bytes()
    readings = iter([good.replace(b'"taint": 0', b'"taint": 1', 1), good])
    from syn.images import scrub as module

    real = open_image

    def flaky(path: Path) -> object:
        (recall / "manifest.json").write_bytes(next(readings))
        return real(path)

    monkeypatch.setattr(module, "open_image", flaky)
    result = scrub(recall)
    assert result.report.verdict == "clean"
    assert {finding.code for finding in result.transient} == {"word-mismatch", "taint-unearned"}


def test_a_repair_re_derives_backs_up_and_checks_again(recall: Path) -> None:
    good = (recall / "manifest.json").read_bytes()
    (recall / "manifest.json").write_bytes(good.replace(b'"len": 28', b'"len": 29', 1))
    image = open_image(recall)
    plan = plan_repair(image)
    result = apply_repair(image, plan)

    assert [(s.action, s.subject) for s in result.steps] == [("re-derive", "page 0")]
    assert result.after.verdict == "clean"
    assert (recall / "manifest.json").read_bytes() == good
    assert result.backup is not None
    assert b'"len": 29' in (result.backup / "manifest.json").read_bytes()


def test_a_repair_takes_lost_bytes_only_when_they_hash(
    recall: Path, native: Path, tmp_path: Path
) -> None:
    copy = write_files(tmp_path / "copy", *recall_files())
    store = (recall / "cas.json").read_bytes()
    (recall / "cas.json").write_bytes(store.replace(b'"Z29sZCB0', b'"Z29sZCB1', 1))
    (data,) = native.glob("store-*")
    whole = data.read_bytes()
    data.write_bytes(whole.replace(b"gold tier", b"gold tear"))
    signed = check_image(native, TRUSTED).digest

    for folder in (recall, native):
        image = open_image(folder)
        assert [s.action for s in plan_repair(image).steps] == ["leave"]
        result = apply_repair(image, plan_repair(image, [open_image(copy)]))
        assert [s.action for s in result.steps] == ["restore"]
        assert result.after.verdict == "clean"
    assert (recall / "cas.json").read_bytes() == store
    assert data.read_bytes() == whole
    assert check_image(native, replace(TRUSTED, anchor=signed)).verdict == "clean"


def test_a_repair_of_a_rotted_row_gives_the_signed_image_back(native: Path) -> None:
    table = (native / TABLE).read_bytes()
    row = table.index(b'"role":"read_kb"')
    rotted = table[:row] + table[row:].replace(b"read_kb", b"read_kc", 1)
    (native / TABLE).write_bytes(rotted)
    assert codes(check_image(native, TRUSTED)) == {"bit-rotted"}

    image = open_image(native)
    result = apply_repair(image, plan_repair(image))
    assert result.after.verdict == "clean"
    assert (native / TABLE).read_bytes() == table
    assert check_image(native, TRUSTED).signature == "valid"


def test_a_repair_puts_back_the_stricter_state_only_when_asked(recall: Path) -> None:
    good = (recall / "manifest.json").read_bytes()
    (recall / "manifest.json").write_bytes(
        good.replace(b'"quarantined": true', b'"quarantined": false', 1)
    )
    image = open_image(recall)
    assert [s.action for s in plan_repair(image).steps] == ["leave"]

    result = apply_repair(image, plan_repair(image, offers=True))
    assert [s.action for s in result.steps] == ["put-back"]
    assert (recall / "manifest.json").read_bytes() == good


def test_a_repair_never_moves_towards_the_looser_state(recall: Path) -> None:
    good = (recall / "manifest.json").read_bytes()
    lines = good.replace(b'"quarantined": false', b'"quarantined": true', 1)
    (recall / "manifest.json").write_bytes(lines)
    image = open_image(recall)

    assert {s.action for s in plan_repair(image, offers=True).steps} == {"leave"}


def test_a_plan_of_another_state_is_not_applied(recall: Path) -> None:
    image = open_image(recall)
    plan = plan_repair(image)
    hide(image, Decision(0, WHY, "x"))
    with pytest.raises(WriteError, match="changed"):
        apply_repair(image, plan)


def test_what_is_no_image(tmp_path: Path) -> None:
    with pytest.raises(UnknownImageError):
        open_image(tmp_path / "nothing")
    with pytest.raises(ImageFileError) as caught:
        open_image(tmp_path)
    assert caught.value.code == "not-an-image"
    (tmp_path / "x").write_bytes(b"no tar")
    with pytest.raises(MalformedError):
        open_image(tmp_path / "x")


def test_a_linked_file_of_an_image_is_not_read(recall: Path, tmp_path: Path) -> None:
    (recall / "cas.json").rename(tmp_path / "elsewhere")
    (recall / "cas.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ImageFileError):
        check_image(recall)


def test_a_missing_file_is_refused_and_an_unreadable_one_is_not_an_accusation(
    recall: Path, native: Path
) -> None:
    (recall / "cas.json").unlink()
    assert check_image(recall).findings[0].code == "store-absent"
    (recall / "manifest.json").unlink()
    (recall / "cas.json").write_bytes(b"{}")
    assert check_image(recall).findings[0].code == "manifest-absent"
    (store,) = native.glob("store-*")
    store.unlink()
    assert check_image(native).findings[0].code == "store-absent"
    store.mkdir()
    with pytest.raises(ImageFileError):
        check_image(native)


@pytest.mark.parametrize("image", ["native", "recall"])
def test_a_stray_file_is_a_warning(image: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(image)
    (folder / "note.txt").write_text("hello")
    (folder / os.fsdecode(b"\xff\x1b[1m")).touch()
    report = check_image(folder, TRUSTED if image == "native" else None)
    assert (report.verdict, report.blocked) == ("clean", frozenset())
    assert [(f.code, f.severity, f.subject, f.remedy) for f in report.findings] == [
        ("stray-file", "warning", "folder", "move it out of the image's folder")
    ] * 2
    assert {f.actual for f in report.findings} == {"note.txt", r"\xff\x1b[1m"}
    assert encode(report_json(report))


def test_what_belongs_beside_a_recall_image_is_no_stray_file(recall: Path, tmp_path: Path) -> None:
    (recall / "backup").mkdir()
    assert check_image(recall).findings == ()

    folder = bundle(tmp_path / "b")
    packed(folder, folder / "session.faksession")
    assert check_image(folder).findings == ()
    (folder / "notes.md").touch()
    assert [f.code for f in check_image(folder).findings] == ["stray-file"]


def test_a_decision_that_makes_no_sense_says_what_to_do(native: Path, tmp_path: Path) -> None:
    hide(open_image(native), Decision(0, WHY, "x"))
    clear(open_image(native), Decision(1, WHY, "x"))
    for act, decision, code in (
        (quarantine, Decision(1, WHY, "x"), "already-sealed"),
        (hide, Decision(0, WHY, "x"), "already-hidden"),
        (clear, Decision(0, WHY, "x"), "not-sealed"),
        (clear, Decision(1, WHY, "x"), "already-cleared"),
        (clear, Decision(5, " ", "x"), "no-reason"),
        (hide, Decision(2, " ", "x"), "no-reason"),
        (hide, Decision(9, WHY, "x"), "unknown-page"),
    ):
        with pytest.raises(SynError) as caught:
            act(open_image(native), decision)
        assert (caught.value.code, caught.value.remedy != "") == (code, True)
    with pytest.raises(WriteError, match="already"):
        upgrade(open_image(native), tmp_path / "up")


def test_an_image_without_pages_says_so(tmp_path: Path) -> None:
    record_items(tmp_path / "none", "s", [])
    with pytest.raises(UnknownPageError, match="page 0: the image has no pages"):
        page_in(open_image(tmp_path / "none"), 0, Conditions())


def test_what_is_neither_folder_nor_file_is_no_image(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnknownImageError, match="no directory and no file") as caught:
        open_image(tmp_path / "pipe")
    assert ".faksession" in caught.value.remedy


@pytest.mark.parametrize("planted", ["file", "link", "inner link"])
def test_a_backup_is_kept_in_the_image_or_nothing_is_repaired(
    planted: str, recall: Path, tmp_path: Path
) -> None:
    manifest = (recall / "manifest.json").read_bytes()
    hurt = manifest.replace(b'"len": 28', b'"len": 29', 1)
    (recall / "manifest.json").write_bytes(hurt)
    image, elsewhere = open_image(recall), tmp_path / "elsewhere"
    elsewhere.mkdir()
    backup = recall / "backup"
    if planted == "file":
        backup.touch()
    elif planted == "link":
        backup.symlink_to(elsewhere)
    else:
        backup.mkdir()
        (backup / image.check().report.digest[7:19]).symlink_to(elsewhere)

    with pytest.raises(ImageFileError) as caught:
        apply_repair(image, plan_repair(image))
    assert caught.value.code == "cannot-write"
    assert (recall / "manifest.json").read_bytes() == hurt
    assert not list(elsewhere.iterdir())


def test_writing_fails_whole(recall: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"left": 0}
    real = os.fsync

    def failing(handle: int) -> None:
        if calls["left"] == 0:
            raise OSError(5, "Input/output error")
        calls["left"] -= 1
        real(handle)

    monkeypatch.setattr(os, "fsync", failing)
    for number in range(3):
        calls["left"] = number
        with pytest.raises(SynError) as caught:
            upgrade(open_image(recall), tmp_path / "new", SIGNER)
        assert caught.value.code == "cannot-write"
        assert [p.name for p in tmp_path.iterdir()] == ["recall"]
    before = (recall / "manifest.json").read_bytes()
    calls["left"] = 0
    with pytest.raises(ImageFileError):
        hide(open_image(recall), Decision(0, WHY, "x"))
    assert (recall / "manifest.json").read_bytes() == before
    assert sorted(p.name for p in recall.iterdir()) == ["cas.json", "manifest.json"]


def bundle(folder: Path, *, drop: str = "", session: str = "small-session") -> Path:
    import hashlib

    from syn.canon.json import encode

    write_files(folder, *recall_files())
    (folder / "session.json").write_bytes(encode({"trace_id": session, "run": 0}))
    names = ["session.json", "manifest.json", "cas.json"]
    parts = [
        {
            "name": name,
            "bytes": (folder / name).stat().st_size,
            "digest": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
        }
        for name in names
        if name != drop
    ]
    index = {"version": "fak.session.v1", "session_id": "small-session", "parts": parts}
    (folder / "image.json").write_bytes(encode(index))
    return folder


def test_a_bundle_is_checked_with_its_index(tmp_path: Path) -> None:
    assert check_image(bundle(tmp_path / "good")).verdict == "clean"
    for name, code in [("manifest.json", "part-unlisted"), ("cas.json", "part-unlisted")]:
        report = check_image(bundle(tmp_path / name, drop=name))
        assert codes(report) == {code}
        assert report.blocked is None
    assert codes(check_image(bundle(tmp_path / "s", session="x"))) == {"session-mismatch"}
    folder = bundle(tmp_path / "absent")
    (folder / "session.json").unlink()
    assert codes(check_image(folder)) == {"part-absent"}


def test_a_bundle_whose_index_was_taken_away_is_a_fault(tmp_path: Path) -> None:
    folder = bundle(tmp_path / "b")
    (folder / "image.json").unlink()
    assert codes(check_image(folder)) == {"bundle-index-absent"}


def test_a_bundle_is_not_changed_in_place(tmp_path: Path) -> None:
    folder = bundle(tmp_path / "b")
    with pytest.raises(WriteError) as caught:
        hide(open_image(folder), Decision(0, WHY, "x"))
    assert caught.value.code == "in-bundle"


def test_a_sound_bundle_needs_no_repair_and_a_broken_one_is_not_repaired_in_place(
    tmp_path: Path,
) -> None:
    folder = bundle(tmp_path / "b")
    image = open_image(folder)
    assert apply_repair(image, plan_repair(image)).backup is None

    manifest = (folder / "manifest.json").read_bytes()
    (folder / "manifest.json").write_bytes(
        re.sub(rb'"len": [0-9]+', b'"len": 1', manifest, count=1)
    )
    broken = open_image(folder)
    plan = plan_repair(broken)
    assert plan.steps
    with pytest.raises(WriteError) as caught:
        apply_repair(broken, plan)
    assert caught.value.code == "in-bundle"


def test_an_index_that_tombstones_left_behind_is_a_warning(tmp_path: Path) -> None:
    folder = bundle(tmp_path / "b")
    aside = {name: (folder / name).read_bytes() for name in ("image.json", "session.json")}
    for name in aside:
        (folder / name).unlink()
    hide(open_image(folder), Decision(0, WHY, "x"))
    for name, data in aside.items():
        (folder / name).write_bytes(data)

    report = check_image(folder)
    assert (report.verdict, [f.code for f in report.findings]) == ("clean", ["index-stale"])

    manifest = (folder / "manifest.json").read_bytes()
    (folder / "manifest.json").write_bytes(manifest.replace(b"etag:kb-1", b"etag:kb-2"))
    assert codes(check_image(folder)) == {"part-mismatch"}


def packed(folder: Path, path: Path, *, twice: str = "", link: bool = False) -> Path:
    with tarfile.open(path, "w") as archive:
        for file in sorted(folder.iterdir()):
            archive.add(file, file.name)
            if file.name == twice:
                archive.add(file, file.name)
        if link:
            info = tarfile.TarInfo("index.json")
            info.type = tarfile.SYMTYPE
            info.linkname = "/etc/passwd"
            archive.addfile(info, io.BytesIO())
    return path


def test_a_packed_bundle(tmp_path: Path) -> None:
    folder = bundle(tmp_path / "b")
    good = packed(folder, tmp_path / "good.faksession")
    assert check_image(good).verdict == "clean"
    assert page_in(open_image(good), 0, Conditions()).body == ITEMS[0].body
    assert upgrade(open_image(good), tmp_path / "new").pages == 6
    with pytest.raises(WriteError) as caught:
        hide(open_image(good), Decision(0, WHY, "x"))
    assert caught.value.code == "in-archive"
    for number, (twice, link) in enumerate([("cas.json", False), ("", True)]):
        bad = packed(folder, tmp_path / f"{number}.faksession", twice=twice, link=link)
        assert check_image(bad).findings[0].code == "bad-archive"
    (folder / "image.json").unlink()
    bare = packed(folder, tmp_path / "bare.faksession")
    assert check_image(bare).findings[0].code == "bad-archive"
