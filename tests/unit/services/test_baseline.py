"""What an incremental run starts from, what it refuses to start from, and that it says so."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.keys import openssh
from syn.model.report import Report
from syn.report.document import comparable, signable, to_json
from syn.report.seal import sign_document
from syn.services.proving.proofs import Outside
from syn.services.proving.verifying import Request, verify
from syn.services.recall.opening import reindex
from syn.services.trust.keyring import make_key
from syn.services.trust.outside import load_trust
from tests.support.cli import syn
from tests.support.edits import copy
from tests.support.proofs import private_key
from tests.support.workspaces import Place, git, make_workspace


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = make_workspace(tmp_path_factory.mktemp("made"))
    make_key(place.open().around, "identity", "ada")
    reindex(place.open())
    _run(place)
    return place


@pytest.fixture
def place(made: Place, tmp_path: Path) -> Place:
    return copy(made, tmp_path)


def _run(place: Place, **asked: Any) -> Report:
    return verify(place.open(), Request(incremental=True, **asked))


def _folder(place: Place) -> Path:
    return place.root / ".git/synapse/baseline"


def _kept(place: Place) -> Path:
    return next(_folder(place).glob("facts-*.jsonl"))


def _told(report: Report) -> dict[str, Any]:
    told = report.local["baseline"]
    assert isinstance(told, dict)
    return told


def _same(found: Report, full: Report) -> bool:
    return comparable(to_json(replace(found, baseline=""))) == comparable(to_json(full))


def test_a_run_says_from_which_report_it_proved(place: Place) -> None:
    kept = (_folder(place) / "report.json").read_bytes()
    (place.root / "facts/plain.md").write_text("# Plain\n\nChanged.\n")
    found = _run(place)
    told = _told(found)
    assert found.baseline == sha256(kept)
    assert (told["unchanged"], told["derived"], told["reason"]) == (3, 1, "")
    assert told["signer"].startswith("SHA256:")
    assert found.verdict == "fail"
    assert _same(found, verify(place.open(), Request()))


def test_the_kept_report_verifies_like_any_other(place: Place) -> None:
    line = (Path(place.env["SYNAPSE_CONFIG_DIR"]) / "keys/identity.pub").read_text()
    trusted = place.root.parent / "ada.pub"
    trusted.write_text(line)
    ran = syn(
        place, "report", "verify", str(_folder(place) / "report.json"), "--trust", str(trusted)
    )
    assert ran.status == 0, ran.err


def test_a_file_that_could_not_be_kept_is_derived_each_time(place: Place) -> None:
    for _ in range(2):
        assert _told(_run(place, ref="HEAD"))["derived"] == 0
    assert len(list(_folder(place).iterdir())) == 2


def _forged_row(place: Place) -> None:
    with closing(sqlite3.connect(place.root / ".synapse/index.db")) as index:
        index.execute("UPDATE fact SET title = 'forged' WHERE id = 'limit'")
        index.commit()


def _journal(place: Place) -> None:
    (place.root / ".synapse/index.db-journal").write_bytes(b"half a write")


def _no_index(place: Place) -> None:
    (place.root / ".synapse/index.db").unlink()


def _refused_name(place: Place) -> None:
    (place.root / "facts/Plain.md").write_text("# Twin\n")
    git(place, "add", "facts/Plain.md")


def _lost_segment(place: Place) -> None:
    next((place.root / ".synapse/ledger").glob("*/*.jsonl")).unlink()


def test_when_nothing_differs_the_manifest_is_the_reports(place: Place) -> None:
    found = _run(place)
    assert _told(found)["same"]
    assert (_told(found)["unchanged"], _told(found)["derived"]) == (4, 0)
    assert _same(found, verify(place.open(), Request()))
    assert found.local["index_manifest"] == found.manifest_digest
    assert not _told(_run(place, deep=True))["same"]


def test_who_wants_to_see_the_facts_is_shown_them(place: Place) -> None:
    shown: list[tuple[int, int]] = []
    for request in (Request(), Request(incremental=True)):
        verify(
            place.open(),
            request,
            observe=lambda entries, facts: shown.append((len(list(entries)), len(list(facts)))),
        )
    assert shown[0] == shown[1]
    assert shown[0][1] == 4


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A workspace under a policy, with a signed decision and a baseline."""
    place = make_workspace(tmp_path_factory.mktemp("signed"))
    assert syn(place, "key", "init").status == 0
    (place.root / "facts/plain.md").write_text("# Plain\n\nChanged.\n")
    assert syn(place, "adopt", "--yes").status == 0
    assert syn(place, "reindex").status == 0
    _run(place)
    return place


@pytest.fixture
def under_policy(signed: Place, tmp_path: Path) -> Place:
    return copy(signed, tmp_path)


def test_a_checkpoint_after_the_baseline_is_judged(under_policy: Place) -> None:
    place = under_policy
    assert syn(place, "checkpoint").status == 0
    for _ in range(3):
        found = _run(place)
        assert (_told(found)["same"], found.level.name) == (True, "L2")
        assert _same(found, verify(place.open(), Request()))


def test_a_checkpoint_of_another_root_is_found_though_no_input_differs(under_policy: Place) -> None:
    place = under_policy
    assert syn(place, "checkpoint").status == 0
    _run(place)
    path = next((place.root / ".synapse/heads").glob("*.jsonl"))
    path.write_bytes(path.read_bytes().replace(b'"facts":"sha256:', b'"facts":"sha256:0', 1))
    found = _run(place)
    assert found.verdict == "fail"
    assert _same(found, verify(place.open(), Request()))


def test_a_signature_that_does_not_hold_is_found_each_time(under_policy: Place) -> None:
    place = under_policy
    path = next((place.root / ".synapse/ledger").glob("*/*.jsonl"))
    data = path.read_bytes()
    at = data.index(b'"sig":"') + 10
    path.write_bytes(data[:at] + (b"A" if data[at : at + 1] != b"A" else b"B") + data[at + 1 :])
    for _ in range(3):
        found = _run(place)
        assert _told(found)["signed"] == ""
        codes = {finding.code for result in found.invariants for finding in result.findings}
        assert "signature-bad" in codes
        assert _same(found, verify(place.open(), Request()))


@pytest.mark.parametrize(
    "change",
    [_forged_row, _journal, _no_index, _refused_name, _lost_segment],
    ids=lambda change: change.__name__,
)
def test_what_differs_beside_the_facts_is_looked_at(
    place: Place, change: Callable[[Place], None]
) -> None:
    change(place)
    found = _run(place)
    assert not _told(found)["same"]
    assert _same(found, verify(place.open(), Request()))


def test_what_git_lost_is_found_though_no_input_differs(place: Place) -> None:
    git(place, "commit", "-q", "--allow-empty", "-m", "empty")
    _run(place)
    head = git(place, "rev-parse", "HEAD~1")
    path = place.root / f".git/objects/{head[:2]}/{head[2:]}"
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    found = _run(place)
    assert _told(found)["same"]
    assert found.verdict != "pass"
    assert _same(found, verify(place.open(), Request()))


def test_what_a_killed_run_left_is_swept(place: Place) -> None:
    left = _folder(place) / "facts.new-4194305-0"  # above any process id
    left.write_bytes(b"half")
    (place.root / "facts/plain.md").write_text("# Plain\n\nChanged.\n")
    _run(place)
    assert sorted(path.name[:6] for path in _folder(place).iterdir()) == ["facts-", "report"]


def _stale_cache(place: Place) -> None:
    """The projection of an old version under the digest of the new one."""
    path = place.root / "facts/limit.md"
    old = sha256(path.read_bytes())
    path.write_text(path.read_text().replace("Two people", "No one"))
    new = sha256(path.read_bytes())
    _kept(place).write_bytes(_kept(place).read_bytes().replace(old.encode(), new.encode()))


def _flip(place: Place) -> None:
    data = bytearray(_kept(place).read_bytes())
    data[len(data) // 2] ^= 1
    _kept(place).write_bytes(data)


def _shorten(place: Place) -> None:
    lines = _kept(place).read_bytes().splitlines(keepends=True)
    _kept(place).write_bytes(b"".join(lines[:-1]))


def _no_json(place: Place) -> None:
    lines = _kept(place).read_bytes().splitlines(keepends=True)
    _kept(place).write_bytes(b"".join([lines[0], b"[1]\n", b"nothing\n", *lines[1:]]))


def _other_rules(place: Place) -> None:
    """As another version would have kept and signed them."""
    lines = _kept(place).read_bytes().splitlines(keepends=True)
    data = b"".join([b"[]\n", *lines[1:]])
    document = _document(place)
    told = document["predicate"]["local"]["baseline"]
    told |= {"facts": sha256(data), "rules": sha256(b"[]\n")}
    _kept(place).unlink()
    (_folder(place) / f"facts-{sha256(data)[7:39]}.jsonl").write_bytes(data)
    _write(place, sign_document(document, _key(place)))


def _lost(place: Place) -> None:
    _kept(place).unlink()


def _unsigned(place: Place) -> None:
    _write(place, {**_document(place), "sig": None, "public_key": None})


def _changed(place: Place) -> None:
    document = _document(place)
    document["predicate"]["ts"] = "2026-11-30T13:00:00.000000Z"
    _write(place, document)


def _of_a_stranger(place: Place) -> None:
    _write(place, sign_document(_document(place), private_key(9)))


def _forged(place: Place) -> None:
    """Projections and report go together; the key is somebody's own."""
    _stale_cache(place)
    document = _document(place)
    digest = sha256(_kept(place).read_bytes())
    document["predicate"]["local"]["baseline"]["facts"] = digest
    _kept(place).rename(_folder(place) / f"facts-{digest[7:39]}.jsonl")
    _write(place, sign_document(document, private_key(9)))


def _of_another_workspace(place: Place) -> None:
    document = _document(place)
    document["subject"]["workspace"] = "0" * 8 + document["subject"]["workspace"][8:]
    _write(place, sign_document(document, _key(place)))


def _of_another_program(place: Place) -> None:
    document = _document(place)
    document["predicate"]["tool_version"] = "0.0.1"
    _write(place, sign_document(document, _key(place)))


def _garbage(place: Place) -> None:
    (_folder(place) / "report.json").write_bytes(b"{")


def _document(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((_folder(place) / "report.json").read_bytes())
    assert signable(found)
    return found


def _write(place: Place, document: Any) -> None:
    (_folder(place) / "report.json").write_bytes(canonical.encode(document) + b"\n")


def _key(place: Place) -> openssh.PrivateKey:
    return openssh.load(Path(place.env["SYNAPSE_CONFIG_DIR"]) / "keys/identity")


DECAYED = "the kept projections are not those that the report signs"


@pytest.mark.parametrize(
    ("mutate", "reason"),
    [
        (_stale_cache, DECAYED),
        (_flip, DECAYED),
        (_shorten, DECAYED),
        (_no_json, DECAYED),
        (_other_rules, "made by other rules or libraries"),
        (_lost, "the projections of the kept report are not here"),
        (_unsigned, "got an unsigned one"),
        (_changed, "the signature does not match"),
        (_of_a_stranger, "expected a signature under a trusted key"),
        (_forged, "expected a signature under a trusted key"),
        (_of_another_workspace, "of another workspace"),
        (_of_another_program, "made by syn 0.0.1"),
        (_garbage, "the kept report does not hold"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_does_not_hold_is_not_started_from(
    place: Place, mutate: Callable[[Place], None], reason: str
) -> None:
    mutate(place)
    found = _run(place)
    assert found.baseline == ""
    assert reason in _told(found)["reason"]
    assert _told(found)["unchanged"] == 0
    assert _same(found, verify(place.open(), Request()))
    assert _told(_run(place))["reason"] == ""


def test_a_baseline_under_another_trust_root_is_not_started_from(place: Place) -> None:
    other = place.root.parent / "other.pub"
    other.write_text(f"{private_key(9).public.line()} other\n")
    trust = load_trust((other,), place.open())
    found = _run(place, outside=Outside(trust=trust))
    assert found.baseline == ""
    assert "expected a signature under a trusted key" in _told(found)["reason"]


def test_without_a_key_nothing_is_kept_and_that_is_said(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    for _ in range(2):
        ran = syn(place, "verify", "--incremental")
        assert ran.status == 0
        assert "none, so everything was derived: no report was kept here yet" in ran.out
        assert "not kept for the next run" in ran.out
    assert not list(_folder(place).iterdir())


def test_the_screen_names_the_baseline(place: Place) -> None:
    ran = syn(place, "verify", "--incremental")
    assert ran.status == 0
    assert "4 facts unchanged by digest, 0 derived" in " ".join(ran.out.split())
    assert syn(place, "verify", "--incremental", "--json").json["predicate"]["baseline"]
