"""Whatever object, pack, reference or index is damaged, `syn verify --deep` gives a report.

It names what could not be read, and never passes over it: lost is `incomplete`, damaged `fail`.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, syn
from tests.support.inside import inside
from tests.support.workspaces import Place, git, make_workspace

Damage = Callable[[Path], None]
QUESTIONS = (("verify", "--deep", "--json"), ("verify", "--deep", "--ref", "HEAD", "--json"))


def gone(file: Path) -> None:
    file.unlink()


def flipped(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0x10
    file.write_bytes(bytes(data))


def empty(file: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def noise(file: Path) -> None:
    file.write_bytes(b"\x00\xff no object \xed\xa0\x80\n" * 40)


def edited_by_hand(file: Path) -> None:
    file.write_text("---\nid: limit\n---\nThree.\n")


@contextlib.contextmanager
def damaged(file: Path, damage: Damage) -> Iterator[None]:
    """The damage, and the file as it was afterwards."""
    before = file.read_bytes()
    file.chmod(0o644)
    damage(file)
    yield
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(before)


def report_of(ran: Ran, point: str) -> dict[str, Any]:
    """The report, which has to be there, in step with the exit status."""
    assert ran.out, (point, ran.err)
    document: dict[str, Any] = ran.json
    assert "predicate" in document, (point, ran.out, ran.err)
    verdict = document["predicate"]["verdict"]
    assert ran.status == {"pass": 0, "fail": 1, "incomplete": 3}[verdict], point
    return document


def findings(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [f for item in document["predicate"]["invariants"] for f in item["findings"]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = make_workspace(tmp_path_factory.mktemp("unreadable"))
    assert [inside(place, *question).status for question in QUESTIONS] == [0, 0]
    return place


def objects(place: Place) -> dict[str, str]:
    """Every loose object: its file to the name under which HEAD holds it, or its type."""
    listed = git(place, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    named = {oid: kind for oid, kind, _ in (line.split() for line in listed)}
    for line in git(place, "ls-tree", "-r", "HEAD").splitlines():
        mode_kind_oid, path = line.split("\t")
        named[mode_kind_oid.split()[2]] = path
    return {f".git/objects/{oid[:2]}/{oid[2:]}": name for oid, name in named.items()}


UNREAD = (".gitattributes", ".synapse/.gitignore")
"""What HEAD holds and no verification rests on; `syn scrub` looks at ours."""


@pytest.mark.parametrize("damage", [gone, flipped], ids=["gone", "flipped"])
def test_every_object_that_is_lost_or_damaged_is_named(place: Place, damage: Damage) -> None:
    for name, what in objects(place).items():
        with damaged(place.root / name, damage):
            documents = [
                report_of(inside(place, *question), f"{what} {name}") for question in QUESTIONS
            ]
        if what in UNREAD:
            continue
        verdicts = {document["predicate"]["verdict"] for document in documents}
        assert verdicts == {"incomplete" if damage is gone else "fail"}, (what, name)
        oid = name[-41:].replace("/", "")
        for document in documents:
            said = [f for f in findings(document) if oid in f["actual"]]
            assert said, (what, name)
            code = "missing-object" if damage is gone else "object-mismatch"
            assert code in {f["code"] for f in said}


def test_a_fact_is_gone_from_the_work_tree_and_from_git(place: Place) -> None:
    file = place.root / "facts/limit.md"
    oid = git(place, "rev-parse", "HEAD:facts/limit.md")
    with damaged(file, gone), damaged(place.root / f".git/objects/{oid[:2]}/{oid[2:]}", gone):
        ran = inside(place, *QUESTIONS[0])
    document = report_of(ran, "both")
    found = {(f["code"], f["path"]) for f in findings(document)}
    assert ("fact-missing", "facts/limit.md") in found
    assert any(oid in f["actual"] for f in findings(document))
    assert ran.status == 1


def test_a_blob_that_is_lost_makes_a_fact_of_a_commit_unread_and_not_missing(place: Place) -> None:
    oid = git(place, "rev-parse", "HEAD:facts/limit.md")
    with damaged(place.root / f".git/objects/{oid[:2]}/{oid[2:]}", gone):
        document = report_of(inside(place, *QUESTIONS[1]), "blob")
    by_id = {item["id"]: item for item in document["predicate"]["invariants"]}
    assert by_id["INV-2"]["status"] == "incomplete"
    (found,) = by_id["INV-2"]["findings"]
    assert (found["code"], found["severity"]) == ("missing-object", "unknown")
    assert (found["subject"], found["path"]) == ("limit", "facts/limit.md")
    assert {item["status"] for item in by_id.values()} <= {"pass", "skip", "incomplete"}


def test_without_head_the_work_tree_is_still_held_against_its_ledger(place: Place) -> None:
    tree = git(place, "rev-parse", "HEAD^{tree}")
    fact = place.root / "facts/limit.md"
    with damaged(place.root / f".git/objects/{tree[:2]}/{tree[2:]}", gone):
        whole = report_of(inside(place, *QUESTIONS[0]), "tree")
        with damaged(fact, edited_by_hand):
            edited = report_of(inside(place, *QUESTIONS[0]), "tree and fact")
    statuses = {item["id"]: item["status"] for item in whole["predicate"]["invariants"]}
    assert (statuses["INV-1"], statuses["INV-2"]) == ("pass", "pass")
    assert statuses["INV-3"] == "incomplete"
    assert whole["subject"]["worktree"] == "dirty"
    assert ("payload-changed", "facts/limit.md") in {
        (f["code"], f["path"]) for f in findings(edited)
    }


@pytest.mark.parametrize("damage", [gone, flipped, empty, cut, noise])
def test_a_pack_an_index_and_a_reference_may_be_anything(tmp_path: Path, damage: Damage) -> None:
    place = make_workspace(tmp_path)
    git(place, "gc", "-q", "--prune=now")
    packs = place.root / ".git/objects/pack"
    files = [*packs.glob("*.pack"), *packs.glob("*.idx")]
    files += [place.root / ".git" / name for name in ("index", "packed-refs", "HEAD")]
    for file in files:
        with damaged(file, damage):
            ran = inside(place, *QUESTIONS[0])
        point = f"{damage.__name__} {file.name}"
        if (damage, file.name) == (gone, "HEAD"):  # git itself finds no repository here
            assert (ran.status, ran.json["error"]["code"]) == (3, "not-a-repository")
            continue
        document = report_of(ran, point)
        statuses = {item["status"] for item in document["predicate"]["invariants"]}
        lost_index = file.name == "index" and damage in (gone, empty)
        if file.suffix in (".pack", ".idx"):
            assert statuses & {"fail", "incomplete"}, point
            assert any("pack" in f["actual"] for f in findings(document)) or damage is gone, point
        elif file.name == "index" and not lost_index:
            assert ("git-index", "git's index") in {
                (f["code"], f["subject"]) for f in findings(document)
            }, point
        elif not lost_index:
            # An index that is not there is one without entries; every other damage is said.
            assert document["subject"]["worktree"] == "dirty" or statuses <= {"pass", "skip"}, point


def test_a_commit_whose_objects_are_gone_has_a_report_in_every_form(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    commit = git(place, "rev-parse", "HEAD")
    tree = git(place, "rev-parse", "HEAD^{tree}")
    (place.root / f".git/objects/{tree[:2]}/{tree[2:]}").unlink()
    page = place.root / "page.html"
    ran = syn(place, "verify", "--deep", "--ref", commit, "--html", str(page), "--json")
    document = report_of(ran, "ref")
    assert ran.status == 3
    assert {i["status"] for i in document["predicate"]["invariants"]} == {"incomplete"}
    assert {f["code"] for f in findings(document)} == {"missing-object"}
    assert all(tree in f["actual"] for f in findings(document))
    assert tree in page.read_text()
    shown = syn(place, "verify", "--ref", commit)
    assert shown.status == 3
    assert "INCOMPLETE" in shown.out
    assert tree in shown.out


def test_a_head_of_any_bytes_is_said_in_json(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    (place.root / ".git/HEAD").write_bytes(b"ref: refs/heads/\xed\xa0\x80\xff\n")
    for words in (QUESTIONS[0], ("status", "--json"), ("list", "--json"), ("scrub", "--json")):
        ran = inside(place, *words)
        assert ran.json, words
        assert "internal error" not in ran.err, words
        assert ran.status in (0, 1, 3), words


def test_scrub_finds_head_s_copy_of_a_fact_that_was_not_touched(place: Place) -> None:
    oid = git(place, "rev-parse", "HEAD:facts/limit.md")
    for damage, code in ((gone, "missing-object"), (flipped, "object-mismatch")):
        with damaged(place.root / f".git/objects/{oid[:2]}/{oid[2:]}", damage):
            ran = inside(place, "scrub", "--json")
            assert ran.status in (1, 3)
            assert code in ran.out
            assert "facts/limit.md" in ran.out
