"""`syn import`: taken once, by name where held, never over somebody's edit (ADR 0026)."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import syn
from tests.support.inside import done, inside
from tests.support.workspaces import Place, make_workspace

TOKEN = "ghp_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


def _vault(place: Place, **files: str) -> Path:
    root = place.root.parent / "vault"
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return root


def _run(place: Place, *words: str, status: int = 0) -> Any:
    ran = inside(place, "import", *words, "--json")
    assert ran.status == status, (ran.out, ran.err)
    return ran.json


def _codes(answer: Any) -> list[tuple[str, int, str]]:
    return [(item["path"], item["line"], item["code"]) for item in answer["problems"]]


def test_notes_become_facts_with_provenance_in_one_decision(place: Place) -> None:
    root = _vault(place, **{"a.md": "# A\n[[b]] #tag\n", "Sub__b.md": "---\nx: 1\n---\nB\n"})
    answer = _run(place, "obsidian", str(root), "--yes")
    assert [item["id"] for item in answer["taken"]] == ["facts/vault/Sub/b", "facts/vault/a"]
    assert answer["recorded"] == 2
    fact = done(place, "show", "facts/vault/a", "--json").json
    assert fact["fields"]["imported_from"]["format"] == "obsidian"
    assert fact["fields"]["imported_from"]["path"] == "a.md"
    assert fact["fields"]["imported_from"]["digest"].startswith("sha256:")
    assert fact["tags"] == ["tag"]
    entry = done(place, "log", "facts/vault/a", "--json").json["items"][0]
    assert (entry["via"], entry["review"]) == ("import", "unreviewed")
    assert done(place, "verify").status == 0
    assert done(place, "status", "--json").json["edits"] == []


def test_a_second_run_changes_nothing(place: Place) -> None:
    root = _vault(place, **{"a.md": "A\n", "b.md": "B\n"})
    _run(place, "markdown", str(root), "--yes")
    before = {p: p.read_bytes() for p in place.root.rglob("*") if p.is_file()}
    answer = _run(place, "markdown", str(root), "--yes")
    assert (answer["taken"], answer["unchanged"], answer["recorded"]) == ([], 2, 0)
    after = {p: p.read_bytes() for p in place.root.rglob("*") if p.is_file()}
    assert {p for p in after if ".synapse/index" not in str(p)} == {
        p for p in before if ".synapse/index" not in str(p)
    }
    assert all(before[p] == after[p] for p in before if "facts" in str(p) or "ledger" in str(p))


def test_it_stays_known_after_a_move(place: Place) -> None:
    root = _vault(place, **{"a.md": "A\n"})
    _run(place, "markdown", str(root), "--yes")
    done(place, "move", "facts/vault/a", "facts/elsewhere.md")
    assert _run(place, "markdown", str(root), "--yes")["unchanged"] == 1


def test_a_changed_note_is_taken_again_only_when_asked(place: Place) -> None:
    root = _vault(place, **{"a.md": "A\n"})
    _run(place, "markdown", str(root), "--yes")
    (root / "a.md").write_text("A2\n")
    answer = _run(place, "markdown", str(root), "--yes")
    assert _codes(answer) == [("a.md", 1, "changed-at-source")]
    assert "A\n" in (place.root / "facts/vault/a.md").read_text()
    answer = _run(place, "markdown", str(root), "--yes", "--update")
    assert [item["action"] for item in answer["taken"]] == ["update"]
    assert (place.root / "facts/vault/a.md").read_text().endswith("A2\n")
    assert done(place, "verify").status == 0


def test_another_collection_of_the_same_name_updates_nothing_of_the_first(place: Place) -> None:
    first, second = (place.root.parent / name / "notes" for name in ("work", "home"))
    for root, text in ((first, "of work\n"), (second, "of home\n")):
        root.mkdir(parents=True)
        (root / "a.md").write_text(text)
    _run(place, "markdown", str(first), "--yes")
    answer = _run(place, "markdown", str(second), "--yes")
    assert [item["code"] for item in answer["problems"]] == [
        "changed-at-source",
        "origin-elsewhere",
    ]
    said = answer["problems"][1]
    assert said["severity"] == "warning"
    assert str(first) in said["message"]
    assert "--origin notes" in said["remedy"]
    refused = inside(place, "import", "markdown", str(second), "--yes", "--update", "--json")
    assert (refused.status, refused.json["error"]["code"]) == (1, "origin-elsewhere")
    assert "of work" in (place.root / "facts/notes/a.md").read_text()
    answer = _run(place, "markdown", str(second), "--yes", "--update", "--origin", "home")
    assert [item["action"] for item in answer["taken"]] == ["create"]
    assert "of work" in (place.root / "facts/notes/a.md").read_text()
    answer = _run(place, "markdown", str(second), "--yes", "--update", "--origin", "notes")
    assert [item["action"] for item in answer["taken"]] == ["update"]


@pytest.mark.parametrize("adopted", [True, False])
def test_a_fact_that_was_edited_here_is_never_overwritten(place: Place, adopted: bool) -> None:
    root = _vault(place, **{"a.md": "A\n"})
    _run(place, "markdown", str(root), "--yes")
    fact = place.root / "facts/vault/a.md"
    fact.write_text(fact.read_text() + "mine\n")
    if adopted:
        done(place, "adopt", "--yes")
    (root / "a.md").write_text("A2\n")
    answer = _run(place, "markdown", str(root), "--yes", "--update", status=1)
    assert _codes(answer) == [("a.md", 1, "edited-here" if adopted else "undecided")]
    assert fact.read_text().endswith("mine\n")


def test_a_fact_that_was_removed_here_does_not_come_back(place: Place) -> None:
    root = _vault(place, **{"a.md": "A\n"})
    _run(place, "markdown", str(root), "--yes")
    done(place, "rm", "facts/vault/a")
    answer = _run(place, "markdown", str(root), "--yes", status=1)
    assert _codes(answer) == [("a.md", 1, "removed-here")]


def test_an_import_that_was_taken_back_can_be_made_again(place: Place) -> None:
    root = _vault(place, **{"a.md": "A\n", "b.md": "B\n"})
    decision = _run(place, "markdown", str(root), "--yes")["decision"]
    done(place, "undo", decision)
    assert not (place.root / "facts/vault/a.md").exists()
    assert len(_run(place, "markdown", str(root), "--yes")["taken"]) == 2
    done(place, "verify", "--deep")


def test_a_note_that_is_gone_leaves_its_fact_and_is_told(place: Place) -> None:
    root = _vault(place, **{"a.md": "A\n", "b.md": "B\n"})
    _run(place, "markdown", str(root), "--yes")
    (root / "a.md").unlink()
    assert _codes(_run(place, "markdown", str(root), "--yes")) == [("a.md", 0, "gone-at-source")]
    assert (place.root / "facts/vault/a.md").exists()


def test_the_gate_holds_secrets_conflicts_and_repetitions_by_their_line(place: Place) -> None:
    claim = "---\nsubject: payments\nfield: owner\nvalue: me\nvalid_from: 2026-06-01\n---\n"
    root = _vault(
        place,
        **{
            "claim.md": claim,
            "secret.md": f"# S\n\ntext\ntoken {TOKEN}\n",
            "hidden.md": "a\n\u202eb\n",
            "same.md": "---\ntitle: Refund limit\n---\nTwo people.\n",
            "good.md": "fine\n",
        },
    )
    answer = _run(place, "markdown", str(root), "--yes", status=1)
    assert _codes(answer) == [
        ("claim.md", 1, "value-overlaps"),
        ("hidden.md", 2, "hidden-character"),
        ("same.md", 1, "same-text"),
        ("secret.md", 4, "secret"),
    ]
    assert TOKEN not in json.dumps(answer)  # noqa: TID251 - only looked through
    assert [item["source"] for item in answer["taken"]] == ["good.md"]
    answer = _run(place, "markdown", str(root), "--yes", "--anyway", "--screened")
    assert len(answer["taken"]) == 4
    items = done(place, "log", "facts/vault/secret", "--json").json["items"]
    assert items[0]["review"] == "named"


def test_agents_memories_are_tainted_and_peoples_notes_are_not(place: Place) -> None:
    root = _vault(
        place,
        **{
            "m.jsonl": '{"type":"entity","name":"Ada","entityType":"p","observations":["x"]}\n',
            "n__a.md": "A\n",
        },
    )
    taken = _run(place, "mcp-memory", str(root / "m.jsonl"), "--yes")["taken"]
    assert [item["taint"] for item in taken] == ["external"]
    assert done(place, "show", "facts/m/Ada", "--json").json["taint"] == "external"
    assert "taint" not in _run(place, "markdown", str(root / "n"), "--yes", "--dry-run")["taken"][0]
    answer = _run(place, "markdown", str(root / "n"), "--yes", "--external")
    assert answer["taken"][0]["taint"] == "external"
    answer = _run(place, "markdown", str(root / "n"), "--dry-run", "--into", "./facts/x/")
    assert answer["into"] == "facts/x"


def test_a_source_that_names_the_web_is_tainted(place: Place) -> None:
    root = _vault(place, **{"a.md": "---\nsource: https://x.example/a\n---\nA\n"})
    assert _run(place, "obsidian", str(root), "--yes")["taken"][0]["taint"] == "external"


def test_records_that_supersede_each_other_verify(place: Place) -> None:
    root = _vault(
        place,
        **{
            "0001-a.md": "# 1. A\n\n## Status\n\nSuperseded by [2. B](0002-b.md)\n",
            "0002-b.md": "# 2. B\n\n## Status\n\nAccepted\n",
        },
    )
    _run(place, "adr", str(root), "--yes")
    fact = done(place, "show", "facts/vault/0001-a", "--json").json
    assert fact["superseded_by"] == ["facts/vault/0002-b"]
    assert done(place, "verify").status == 0


def test_a_record_tied_to_one_that_is_held_is_held_too(place: Place) -> None:
    root = _vault(
        place,
        **{
            "0001-a.md": f"# 1. A\n\n## Status\n\nSuperseded by 2\n\n{TOKEN}\n",
            "0002-b.md": "# 2. B\n",
            "0003-c.md": "# 3. C\n",
        },
    )
    answer = _run(place, "adr", str(root), "--yes", status=1)
    assert _codes(answer) == [("0001-a.md", 7, "secret"), ("0002-b.md", 1, "tied-to-held")]
    assert done(place, "verify").status == 0


def test_a_later_record_is_tied_when_both_are_taken_again(place: Place) -> None:
    root = _vault(place, **{"0001-a.md": "# 1. A\n\n## Status\n\nAccepted\n"})
    _run(place, "adr", str(root), "--yes")
    _vault(
        place,
        **{
            "0001-a.md": "# 1. A\n\n## Status\n\nSuperseded by 2\n",
            "0002-b.md": "# 2. B\n",
        },
    )
    codes = _codes(_run(place, "adr", str(root), "--yes", "--dry-run"))
    assert codes == [("0001-a.md", 1, "changed-at-source"), ("0002-b.md", 1, "tie-left-out")]
    _run(place, "adr", str(root), "--yes", "--update")
    fact = done(place, "show", "facts/vault/0002-b", "--json").json
    assert fact["supersedes"] == ["facts/vault/0001-a"]
    assert done(place, "verify").status == 0


def test_hostile_folders_are_told_file_by_file(place: Place) -> None:
    root = _vault(place, **{"good.md": "fine\n", "C:\\x.md": "x\n", "big.md": ""})
    (root / "link.md").symlink_to("/etc/passwd")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe.md")
    with (root / "big.md").open("wb") as file:
        file.truncate(5 * 1024 * 1024)
    (Path(os.fsdecode(os.fsencode(root) + b"/bad\xff.md"))).write_bytes(b"x")
    answer = _run(place, "markdown", str(root), "--yes", status=1)
    assert [(path, code) for path, _, code in _codes(answer)] == [
        ("bad\\xff.md", "name-not-utf8"),
        ("big.md", "file-too-large"),
        ("link.md", "symlink"),
        ("loop", "symlink"),
        ("pipe.md", "not-a-file"),
    ]
    assert [item["path"] for item in answer["taken"]] == [
        "facts/vault/C--x.md",
        "facts/vault/good.md",
    ]


@pytest.mark.parametrize("there", ["link", "file"])
def test_a_destination_that_is_no_folder_is_refused_before_anything_is_done(
    place: Place, there: str
) -> None:
    outside = place.root.parent / "outside"
    outside.mkdir()
    if there == "link":
        (place.root / "facts/vault").symlink_to(outside)
    else:
        (place.root / "facts/vault").write_text("a file")
    root = _vault(place, **{"a.md": "A\n"})
    answer = _run(place, "markdown", str(root), "--yes", status=1)
    assert answer["error"]["code"] == "symlink-in-path"
    assert list(outside.iterdir()) == []
    ran = inside(place, "add", "--title", "x", "--path", "facts/vault/z.md", "--body", "x")
    assert (ran.status, "leads through" in ran.err) == (1, True)
    (place.root / "facts/vault").unlink()
    assert len(_run(place, "markdown", str(root), "--yes")["taken"]) == 1


def test_names_that_would_lead_out_stay_inside(place: Place) -> None:
    lines = '{"type":"entity","name":"../../../out","entityType":"p","observations":["x"]}\n'
    root = _vault(place, **{"m.jsonl": lines})
    taken = _run(place, "mcp-memory", str(root / "m.jsonl"), "--yes")["taken"]
    assert [item["path"] for item in taken] == ["facts/m/-..-..-out.md"]


def test_ids_that_clash_are_told(place: Place) -> None:
    root = _vault(place, **{"a.md": "---\nid: limit\n---\nA\n", "b.md": "---\nid: ../x\n---\nB\n"})
    answer = _run(place, "markdown", str(root), "--yes", status=1)
    assert _codes(answer) == [("a.md", 1, "fact-exists")]
    assert [item["id"] for item in answer["taken"]] == ["../x"]


def test_front_matter_that_cannot_be_added_to_is_told_by_its_line(place: Place) -> None:
    root = _vault(place, **{"a.md": "---\n{a: 1}\n---\nA\n"})
    answer = _run(place, "markdown", str(root), "--yes", status=1)
    assert _codes(answer) == [("a.md", 2, "cannot-edit")]
    assert answer["problems"][0]["message"] == "the front matter is one mapping in braces"


def test_a_path_that_is_taken_gets_digits(place: Place) -> None:
    (place.root / "facts/vault").mkdir()
    (place.root / "facts/vault/a.md").write_text("another\n")
    done(place, "adopt", "--yes")
    root = _vault(place, **{"A.md": "A\n"})
    [taken] = _run(place, "markdown", str(root), "--yes")["taken"]
    assert taken["path"].startswith("facts/vault/A-")


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("markdown", "nowhere"), 2, "no-source"),
        (("mem0", "vault"), 2, "nothing-to-import"),
        (("markdown", "vault", "--into", "elsewhere"), 2, "bad-path"),
        (("markdown", "vault", "--into", "facts/../.."), 2, "bad-path"),
        (("markdown", "ws/facts"), 2, "imports-itself"),
        (("markdown", "vault"), 2, "not-a-terminal"),
        (("nothing", "vault"), 2, "usage"),
    ],
)
def test_what_cannot_be_imported_says_so(
    place: Place, words: tuple[str, ...], status: int, code: str
) -> None:
    _vault(place, **{"a.md": "A\n"})
    form, where, *more = words
    answer = _run(place, form, str(place.root.parent / where), *more, status=status)
    assert answer["error"]["code"] == code


def test_exit_statuses_in_a_process(place: Place) -> None:
    root = _vault(place, **{"a.md": "A\n"})
    ran = syn(place, "import", "markdown", str(root), "--dry-run")
    assert (ran.status, "create  a.md  facts/vault/a.md" in ran.out) == (0, True), ran.err
    assert not (place.root / "facts/vault").exists()
    ran = syn(place, "import", "markdown", str(root), "--yes")
    assert ran.status == 0, ran.err
    _vault(place, **{"b.md": "---\na: [\n---\n"})
    ran = syn(place, "import", "markdown", str(root), "--yes")
    assert ran.status == 1
    assert "b.md:" in ran.err


@pytest.mark.parametrize(("said", "status", "review"), [(b"y\n", 0, "seen"), (b"n\n", 130, "")])
def test_on_a_terminal_it_shows_and_asks(
    place: Place, said: bytes, status: int, review: str
) -> None:
    root = _vault(place, **{"a.md": "A\n"})
    ours, theirs = pty.openpty()
    try:
        os.write(ours, said)
        ran = subprocess.run(
            [sys.executable, "-m", "syn", "import", "markdown", str(root)],
            cwd=place.root,
            env={**place.env, "TERM": "dumb"},
            stdin=theirs,
            stderr=theirs,
            stdout=subprocess.PIPE,
            check=False,
            timeout=120,
        )
    finally:
        os.close(theirs)
        os.close(ours)
    assert ran.returncode == status
    assert b"create  a.md  facts/vault/a.md" in ran.stdout
    items = done(place, "log", "--json").json["items"]
    found = [item["review"] for item in items if item["via"] == "import"]
    assert found == ([review] if review else [])
