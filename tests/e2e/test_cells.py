"""Verified reads, quarantine, scrub, repair and parity as a person and an agent meet them."""

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.cli import Ran, syn
from tests.support.images import recall_files, write_files
from tests.support.workspaces import Place, git, make_workspace

LIMIT = "facts/limit.md"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = make_workspace(tmp_path)
    time.sleep(0.12)
    assert syn(place, "reindex").status == 0
    return place


def sql(place: Place, statement: str) -> None:
    with closing(sqlite3.connect(place.root / ".synapse/index.db")) as database, database:
        assert database.execute(statement).rowcount == 1


def as_agent(place: Place, *words: str) -> Ran:
    return syn(place, "--as", "agent", *words)


def test_an_index_row_turned_from_quarantined_to_clear(place: Place) -> None:
    """The demonstration of issue 5, command by command."""
    ran = syn(place, "quarantine", "limit", "--reason", "the source was forged", "--json")
    assert (ran.status, ran.json["id"]) == (0, "limit")
    assert as_agent(place, "show", "limit").status == 1
    assert syn(place, "show", "limit").status == 0
    assert syn(place, "verify", "--deep").status == 0

    sql(place, "UPDATE state SET quarantine = '[]' WHERE id = 'limit'")

    ran = as_agent(place, "show", "limit", "--json")
    assert (ran.status, ran.json["withheld"]) == (1, "repairable")
    assert ran.json["reason"] == "the check word does not hold"
    assert "repair" in ran.json["remedy"]
    assert "Two people" not in ran.out + ran.err
    found = as_agent(place, "search", "people", "--json").json["items"]
    assert [item["withheld"] for item in found] == ["repairable"]
    assert syn(place, "verify", "--deep").status == 1

    ran = syn(place, "scrub", "--json")
    assert (ran.status, ran.json["verdict"]) == (1, "fail")
    assert {(f["kind"], f["class"], f["path"]) for f in ran.json["faults"]} == {
        ("index", "repairable", LIMIT)
    }
    ran = syn(place, "repair", "--dry-run")
    assert ran.status == 1
    assert " ".join(ran.out.split()) == (
        "rebuild index .synapse/index.db derived from the Markdown and the ledger"
    )
    ran = syn(place, "repair")
    assert ran.status == 0
    assert "checked again: nothing wrong" in ran.err

    assert syn(place, "verify", "--deep").status == 0
    ran = as_agent(place, "show", "limit", "--json")
    assert (ran.status, ran.json["reason"]) == (1, "it is quarantined")
    assert syn(place, "clear", "limit", "--yes", "-m", "the team checked it").status == 0
    assert as_agent(place, "show", "limit").status == 0
    actions = [item["type"] for item in syn(place, "log", "limit", "--json").json["items"]]
    assert sorted(actions) == ["clear", "create", "quarantine"]


def test_there_is_no_way_round_verified_reads(place: Place) -> None:
    for command in ("show", "search", "list"):
        ran = syn(place, command, "limit", "--no-verify-reads")
        assert ran.status == 2
        assert "no such option" in ran.err.lower()


def test_quarantine_and_clear_stop_with_the_right_status(place: Place) -> None:
    ran = syn(place, "quarantine", "limit")
    assert (ran.status, "a quarantine says why" in ran.err) == (2, True)
    ran = syn(place, "quarantine", "limt", "--reason", "x", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "unknown-fact")
    assert "limit" in ran.err
    ran = syn(place, "clear", "limit", "--yes", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (1, "nothing-to-clear")
    assert syn(place, "quarantine", LIMIT, "-m", "doubtful").status == 0
    assert "quarantined" in syn(place, "doctor").out
    assert "[quarantined]" in syn(place, "list").out
    ran = syn(place, "clear", "limit")
    assert (ran.status, "nobody to ask" in ran.err) == (2, True)
    assert syn(place, "rm", "facts/plain.md", "-m", "gone").status == 0
    ran = syn(place, "quarantine", "facts/plain", "-m", "late", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (1, "fact-deleted")


def test_under_a_policy_a_clear_is_an_admins(place: Place, tmp_path: Path) -> None:
    assert syn(place, "key", "init", "--name", "alice").status == 0
    assert syn(place, "quarantine", "limit", "-m", "doubtful").status == 0
    nobody = {"SYNAPSE_CONFIG_DIR": str(tmp_path / "nobody")}
    ran = syn(place, "clear", "limit", "--yes", "--json", env=nobody)
    assert (ran.status, ran.json["error"]["code"]) == (1, "not-admin")
    # Whoever writes the line by hand, without the key, lifts nothing either.
    forge_clear(place)
    ran = as_agent(place, "show", "limit", "--json")
    assert (ran.status, ran.json["withheld"]) == (1, "clean")
    assert ran.json["reason"] == "it is quarantined"
    assert syn(place, "show", "limit", "--json").json["record"] == "quarantined"
    assert "quarantined" in syn(place, "doctor").out
    assert syn(place, "clear", "limit", "--yes", "-m", "checked").status == 0
    assert as_agent(place, "show", "limit", "--json").json["withheld"] == "tampered"


def forge_clear(place: Place) -> None:
    """A well-formed, chained, unsigned clear, as somebody with write access would append it."""
    from syn.ledger.build import Draft, lines, next_entries
    from syn.services.recall.indexing import read_workspace

    reading = read_workspace(place.open())
    [chain] = reading.ledger.ledger.chains
    names = reading.ledger.recorded["limit"].quarantine
    draft = Draft(actor="mallory", via="cli", action="clear", fact="limit", names=names)
    made, _ = next_entries(chain.tail, [draft], "2026-12-01T00:00:00.000000Z")
    [file] = (place.root / ".synapse/ledger").glob("*/*.jsonl")
    with file.open("ab") as segment:
        segment.write(lines(made))
    git(place, "commit", "-qam", "clear")


@pytest.mark.parametrize("mode", [(), ("--json",)])
def test_scrub_has_the_statuses_of_a_verification(place: Place, mode: tuple[str, ...]) -> None:
    assert syn(place, "scrub", *mode).status == 0
    (place.root / "facts/new.md").write_text("New.\n")
    git(place, "add", "-A")
    assert syn(place, "scrub", *mode).status == 3
    (place.root / LIMIT).unlink()
    ran = syn(place, "scrub", *mode)
    assert ran.status == 1
    assert "fact-missing" in ran.out
    assert syn(place, "scrub", "--max-age", "soon", *mode).status == 2


def test_a_budget_and_a_second_run(place: Place) -> None:
    ran = syn(place, "scrub", "--max-seconds", "0.000001", "--json")
    assert (ran.status, ran.json["checked"], ran.json["complete"]) == (0, 1, False)
    ran = syn(place, "scrub", "--max-age", "1h", "--json")
    assert (ran.json["recent"], ran.json["complete"]) == (1, True)
    assert "nothing wrong" in syn(place, "scrub").err


def test_watch_patrols_until_it_is_stopped(place: Place) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "syn", "scrub", "--watch", "--every", "0.1", "--json"],
        cwd=place.root,
        env=place.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert b'"verdict":"pass"' in process.stdout.readline()
    (place.root / LIMIT).unlink()
    rounds = (process.stdout.readline() for _ in range(50))
    assert any(b'"verdict":"fail"' in line for line in rounds)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted" in err


def test_repair_asks_before_it_touches_files(place: Place) -> None:
    (place.root / LIMIT).unlink()
    ran = syn(place, "repair", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "not-a-terminal")
    assert not (place.root / LIMIT).exists()
    ran = syn(place, "repair", "--dry-run", "--json")
    assert (ran.status, ran.json["dry_run"]) == (1, True)
    assert {step["action"] for step in ran.json["steps"]} == {"restore", "rebuild"}
    ran = syn(place, "repair", "--yes", "--json")
    assert (ran.status, ran.json["verdict"], len(ran.json["decisions"])) == (0, "pass", 1)
    assert (place.root / LIMIT).exists()
    assert syn(place, "verify", "--deep").status == 0
    ran = syn(place, "repair", "no-such-thing", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "unknown-path")
    assert syn(place, "repair", "--from", "nowhere").status == 3


def test_repair_leaves_what_a_person_has_to_decide(place: Place) -> None:
    [segment] = (place.root / ".synapse/ledger").glob("*/*.jsonl")
    before = segment.read_bytes()
    segment.write_bytes(before.replace(b'"reason":"import"', b'"reason":"impart"', 1))
    ran = syn(place, "repair", "--yes")
    assert ran.status == 1
    assert "refuse" in ran.out
    assert "0 steps planned" in ran.err
    assert syn(place, "scrub").status == 1


def test_parity_of_clones_and_of_images(place: Place, tmp_path: Path) -> None:
    git(place, "clone", "-q", ".", str(tmp_path / "clone"))
    ran = syn(place, "parity", ".", "../clone", "--json")
    assert (ran.status, ran.json["counts"]["agree"]) == (0, 4)
    other = Place(tmp_path / "clone", place.env)
    (other.root / LIMIT).write_text("---\nid: limit\n---\nOther.\n")
    assert syn(place, "parity", ".", "../clone").status == 0
    assert syn(other, "adopt", "--yes").status == 0
    (place.root / LIMIT).write_text("---\nid: limit\n---\nThird.\n")
    assert syn(place, "adopt", "--yes").status == 0
    ran = syn(place, "parity", ".", "../clone")
    assert ran.status == 1
    assert "conflict  limit  the clones decided differently on it" in ran.out
    for name in ("a", "b"):
        write_files(tmp_path / name, *recall_files())
    ran = syn(place, "parity", "../a", "../b", "--json")
    assert (ran.status, ran.json["items"][0]["outcome"]) == (0, "agree")
    ran = syn(place, "parity", ".", "../a", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "mixed-copies")
    assert syn(place, "parity", ".", "--json").json["error"]["code"] == "one-clone"
