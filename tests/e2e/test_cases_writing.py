"""The public cases about writing, the record, time and locks, through the command line.

Each case is built as its README says; then the workspace is made on top of it. What the answer is
where the case leaves a choice stands in the design, the ADRs 0020 to 0022 and docs/formats.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from syn.ledger.build import Draft, empty_tail, lines, next_entries
from syn.ledger.heads import seen
from syn.services.recall.indexing import read_workspace
from tests.support.cases import case
from tests.support.cli import Ran, syn_here
from tests.support.workspaces import Place, git, make_place, make_workspace


class Site:
    """A case's repository, made a workspace."""

    def __init__(self, tmp_path: Path, name: str) -> None:
        place = make_place(tmp_path / "home")
        box = case(name).build(tmp_path / "repo")
        self.place = Place(box.path, place.env)
        self.box = box

    def syn(self, *words: str, stdin: str = "") -> Ran:
        return syn_here(self.place, *words, stdin=stdin)

    def ok(self, *words: str, stdin: str = "") -> Ran:
        ran = self.syn(*words, stdin=stdin)
        assert ran.status == 0, (words, ran.out, ran.err)
        return ran

    def start(self, *paths: str) -> "Site":
        """`syn init`, which leaves the case's files alone, and `syn adopt`."""
        self.ok("init", "--commit")
        self.ok("adopt", "--yes", *paths)
        return self

    def error(self, *words: str) -> Any:
        ran = self.syn(*words, "--json")
        assert ran.status, ran.out
        return ran.json["error"]

    def codes(self, *words: str) -> set[str]:
        """The codes of every finding of a verification."""
        report = self.syn("verify", *words, "--json").json
        return {f["code"] for i in report["predicate"]["invariants"] for f in i["findings"]}

    def text(self, path: str) -> str:
        return (self.place.root / path).read_bytes().decode()

    def write(self, path: str, text: str) -> None:
        (self.place.root / path).write_text(text)

    def segment(self) -> Path:
        folder = self.place.root / ".synapse/ledger"
        return max(folder.glob("*/*.jsonl"), key=lambda file: file.stat().st_size)


def sites(tmp_path: Path, name: str) -> Site:
    return Site(tmp_path, name)


def own(tmp_path: Path) -> Site:
    """A workspace of our own, for the cases whose files are another program's log."""
    site = object.__new__(Site)
    site.place = make_workspace(tmp_path)
    return site


# A: the record.


def test_a01_a_tail_that_was_cut_is_found_against_head_and_its_parents(tmp_path: Path) -> None:
    case("A01")
    site = own(tmp_path)
    segment = site.segment()
    whole = segment.read_bytes()
    segment.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert "evidence-shrank" in site.codes()
    segment.unlink()
    assert "evidence-removed" in site.codes()
    assert site.syn("verify").status == 1
    git(site.place, "commit", "-qam", "the log is gone")
    assert "evidence-removed" in site.codes()
    assert site.syn("verify").status == 1


def test_a01_without_a_witness_no_level_is_claimed_for_it(tmp_path: Path) -> None:
    site = own(tmp_path)
    pinned = git(site.place, "rev-parse", "HEAD")
    git(site.place, "reset", "-q", "--hard", "HEAD~1")
    site.ok("reindex")
    report = site.syn("verify", "--json").json["predicate"]
    assert report["trust_root"] == "local-only"
    assert report["level"] in ("L0", "L1")
    assert site.syn("verify", "--since", pinned).status == 1


def test_a02_two_lines_with_one_predecessor_are_a_fork(tmp_path: Path) -> None:
    case("A02")
    site = own(tmp_path)
    copy = tmp_path / "copy"
    shutil.copytree(site.place.root, copy, symlinks=True)
    other = Place(copy, site.place.env)
    site.ok("edit", "limit", "--status", "one")
    assert syn_here(other, "edit", "limit", "--status", "two").status == 0
    # The copied clone opened an id of its own: a merge is two heads, not a broken chain.
    git(site.place, "pull", "-q", "--no-rebase", "--no-edit", "-X", "ours", str(copy), "main")
    assert "forked" in site.codes()
    assert "equivocation" not in site.codes()
    ran = site.syn("adopt", "--yes", "facts/limit.md", "--json")
    assert ran.json["edits"][0]["kind"] == "forked"
    assert site.ok("verify", "--deep").status == 0


def test_a02_a_fork_with_intent_is_called_one(tmp_path: Path) -> None:
    site = own(tmp_path)
    ledger = read_workspace(site.place.open()).ledger
    after, prior = seen(ledger.recorded["limit"])
    chain = max(ledger.ledger.chains, key=lambda chain: chain.tail.length)
    state = ledger.recorded["limit"]
    again = [
        next_entries(
            chain.tail,
            [Draft("M", "cli", "update", "seen", "limit", state.path, state.payload, state.source,
                   after=after, prior=prior, reason=reason)],
            "2026-11-30T12:00:00.000000Z",
        )[0]
        for reason in ("one", "two")
    ]  # fmt: skip
    site.segment().write_bytes(site.segment().read_bytes() + b"".join(map(lines, again)))
    assert "equivocation" in site.codes()


@pytest.mark.parametrize("left", [0, 1, 40])
def test_a04_a_torn_last_line_is_named_and_nothing_is_appended_to_it(
    tmp_path: Path, left: int
) -> None:
    case("A04")
    site = own(tmp_path)
    segment = site.segment()
    *whole, _ = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(whole) + b'{"action":"create","actor":"Ada Author <ada@'[:left])
    report = site.syn("verify", "--json").json["predicate"]
    torn = [
        f for i in report["invariants"] for f in i["findings"]
        if f["code"] in ("torn-tail", "evidence-shrank", "torn-tail-dropped")
    ]  # fmt: skip
    assert torn
    assert all(segment.name in finding["path"] for finding in torn)
    before = segment.read_bytes()
    site.syn("reindex")
    ran = site.syn("add", "--title", "After the crash")
    assert segment.read_bytes() == before, "a writer appends only to a tail that it wrote itself"
    if ran.status == 0:
        assert len(list((site.place.root / ".synapse/ledger").iterdir())) == 2


def test_a05_a_chain_hashed_anew_holds_alone_and_says_so(tmp_path: Path) -> None:
    case("A05")
    site = own(tmp_path)
    pinned = git(site.place, "rev-parse", "HEAD")
    root = git(site.place, "rev-list", "--max-parents=0", "HEAD")
    ws = site.place.open().config.id
    segment = site.segment()
    entries = [
        e for c in read_workspace(site.place.open()).ledger.ledger.chains for _, e in c.entries
    ]

    drafts = [
        Draft(
            actor="Mallory <m@example.org>", via=e.via, action=e.action, review=e.review,
            fact=e.fact, path=e.path, payload=e.payload, source=e.source, reason=e.reason,
        )
        for e in entries
    ]  # fmt: skip
    made, _ = next_entries(empty_tail(ws, segment.parent.name), drafts, entries[0].ts)
    segment.write_bytes(lines(made))
    assert "evidence-rewritten" in site.codes()
    git(site.place, "checkout", "-q", "--orphan", "forged")
    git(site.place, "commit", "-qam", "a new beginning")
    report = site.syn("verify", "--deep", "--json").json["predicate"]
    assert report["verdict"] == "pass"
    assert report["trust_root"] == "local-only"
    assert "only a witness kept elsewhere" in " ".join(report["limits"])
    assert root
    assert site.syn("verify", "--since", pinned).status == 1


def test_a07_keys_that_look_the_same_are_told_apart(tmp_path: Path) -> None:
    site = sites(tmp_path, "A07").start()
    problems = site.ok("doctor", "--json").json["items"]
    assert "similar-keys" in {item["code"] for item in problems}
    shown = site.ok("show", "u-1", "--json").json
    assert set(shown["fields"]) >= {"\U0001f600", "\ufb33", "e\u0301", "\u00e9"}
    site.ok("edit", "u-1", "--set", "\u00e9=5")
    assert '"e\\u0301": 3\n"\\u00e9": "5"\n' in site.text("facts/u.md")
    assert site.ok("verify", "--deep").status == 0


def test_a08_another_spelling_is_reformatted_and_another_value_is_changed(tmp_path: Path) -> None:
    site = sites(tmp_path, "A08")
    other = site.text("facts/k2.md")
    (site.place.root / "facts/k2.md").unlink()
    git(site.place, "commit", "-qam", "one of them")
    site.start()
    site.write("facts/k1.md", other)
    (edit,) = site.ok("status", "--json").json["edits"]
    assert edit["kind"] == "reformatted"
    assert site.ok("diff", "--json").json["items"][0]["fields"] == []
    assert "reformatted" in site.codes()
    assert site.ok("verify").status == 0
    site.write("facts/k1.md", other.replace('"A"', '"B"'))
    (edit,) = site.ok("status", "--json").json["edits"]
    assert edit["kind"] == "changed"
    assert site.syn("verify").status == 1


# T: time.


def test_t01_at_a_shared_boundary_exactly_one_holds(tmp_path: Path) -> None:
    site = sites(tmp_path, "T01").start()
    for instant, expected in (
        ("2026-03-09", []), ("2026-03-10", ["m-1"]), ("2026-04-14", ["m-1"]),
        ("2026-04-14T23:59:59.999999999Z", ["m-1"]), ("2026-04-15", ["m-2"]),
        ("2030-01-01", ["m-2"]),
    ):  # fmt: skip
        items = site.ok("list", "--as-of", instant, "--json").json["items"]
        assert [item["id"] for item in items] == expected, instant
    assert site.ok("verify", "--deep").status == 0


def test_t02_a_date_ends_at_its_midnight_in_utc(tmp_path: Path) -> None:
    site = sites(tmp_path, "T02").start()
    for instant, expected in (
        ("2026-01-30T23:59:59Z", ["d-1"]), ("2026-01-31", []), ("2026-01-31T11:59:59Z", []),
        ("2026-01-31T12:00:00Z", ["e-1"]), ("2026-01-31T15:00:00Z", ["e-1"]),
        ("2026-01-31T13:59:00+02:00", []), ("2026-01-31T14:00:00+02:00", ["e-1"]),
    ):  # fmt: skip
        items = site.ok("list", "--as-of", instant, "--json").json["items"]
        assert [item["id"] for item in items] == expected, instant


def test_t04_inverted_and_empty_intervals_are_findings_and_never_current(tmp_path: Path) -> None:
    site = sites(tmp_path, "T04").start()
    assert {"interval-inverted", "interval-empty"} <= site.codes("--deep")
    for instant in ("2026-02-15", "2026-03-01", "2026-03-02"):
        assert site.ok("list", "--as-of", instant, "--json").json["items"] == []
    words = ("add", "--title", "x", "--valid-from", "2026-03-01", "--valid-to")
    for end in ("2026-02-01", "2026-03-01", "2026-03-01T00:00:00Z", "2026-03-01T01:00:00+02:00"):
        assert site.error(*words, end)["code"] == "empty-interval"


def test_t05_a_supersession_on_one_side_is_found_from_both_sides(tmp_path: Path) -> None:
    site = sites(tmp_path, "T05").start()
    report = site.syn("verify", "--json")
    assert report.status == 1
    findings = [
        (f["code"], f["subject"], f["severity"])
        for i in report.json["predicate"]["invariants"]
        for f in i["findings"]
        if i["id"] == "INV-5"
    ]
    assert ("supersession-one-way", "o-2", "warning") in findings
    assert ("predecessor-missing", "o-3", "failure") in findings


def test_t05_syn_supersede_writes_both_sides(tmp_path: Path) -> None:
    site = sites(tmp_path, "T05")
    git(site.place, "rm", "-q", "facts/o1.md", "facts/o3.md")
    git(site.place, "commit", "-qm", "only one")
    site.start()
    site.ok("supersede", "o-2", "--id", "o-4", "--valid-from", "2026-05-01")
    assert "superseded_by:\n  - o-4\n" in site.text("facts/o2.md")
    assert "supersedes:\n  - o-2\n" in site.text("facts/o-4.md")
    assert site.ok("verify", "--deep").status == 0


def test_t07_nobody_wins_an_id_that_stands_twice(tmp_path: Path) -> None:
    site = sites(tmp_path, "T07")
    site.ok("init", "--commit")
    error = site.error("adopt", "--yes")
    assert error["code"] == "unreadable-facts"
    problems = {item["path"]: item for item in site.ok("doctor", "--json").json["items"]}
    assert set(problems) == {"facts/x1.md", "facts/x2.md", "facts/x3.md"}
    assert "facts/x2.md" in problems["facts/x1.md"]["message"]
    assert site.syn("show", "x-1").status == 2
    site.write("facts/x2.md", "---\nid: x-2\n---\n")
    site.write("facts/x3.md", "---\nid: x-3\n---\n")
    site.ok("adopt", "--yes")
    assert site.error("add", "--title", "t", "--id", "X-2")["code"] == "fact-exists"


def test_t08_ids_are_text(tmp_path: Path) -> None:
    site = sites(tmp_path, "T08")
    site.ok("init", "--commit")
    problems = {item["path"]: item["code"] for item in site.ok("doctor", "--json").json["items"]}
    assert problems == {"facts/i2.md": "duplicate-id", "facts/i3.md": "duplicate-id"}
    git(site.place, "rm", "-q", "-f", "facts/i3.md")
    site.ok("adopt", "--yes")
    site.ok("edit", "007", "--status", "x")
    assert site.text("facts/i1.md") == "---\nid: 007\ntitle: a\nstatus: x\n---\n"
    site.ok("supersede", "7", "--title", "n", "--id", "0x7", "--valid-from", "2026-01-01")
    assert 'supersedes:\n  - "7"\n' in site.text("facts/0x7.md")
    assert 'id: "0x7"\n' in site.text("facts/0x7.md")
    assert site.ok("verify", "--deep").status == 0


# C: what git converts, stages and ignores.


def test_c01_a_crlf_checkout_is_read_edited_and_verified_alike(tmp_path: Path) -> None:
    site = sites(tmp_path, "C01").start()
    assert b"\r\n" in (site.place.root / "facts/n.md").read_bytes()
    recorded = site.ok("show", "eol-1", "--json").json
    assert recorded["record"] == "recorded"
    site.ok("edit", "eol-1", "--status", "x")
    assert (site.place.root / "facts/n.md").read_bytes().count(b"\r\n") == 7
    assert git(site.place, "status", "--porcelain") == ""
    clone = tmp_path / "clone"
    git(
        site.place,
        "clone",
        "-q",
        "-c",
        "core.attributesFile=/dev/null",
        str(site.place.root),
        str(clone),
    )
    (clone / ".git/info/attributes").write_text("*.md -text\n")
    git(Place(clone, site.place.env), "checkout", "-q", "--force", "HEAD", "--", "facts")
    reports = [
        syn_here(place, "verify", "--deep", "--json").json
        for place in (site.place, Place(clone, site.place.env))
    ]
    assert {r["predicate"]["verdict"] for r in reports} == {"pass"}
    assert len({r["subject"]["inputs_hash"] for r in reports}) == 1
    assert len({r["predicate"]["manifest_digest"] for r in reports}) == 1


def test_c02_what_only_attributes_change_is_no_edit(tmp_path: Path) -> None:
    site = sites(tmp_path, "C02").start()
    assert "$Id: " in site.text("facts/id.md")
    assert site.ok("status", "--json").json["edits"] == []
    site.ok("edit", "id-1", "--status", "x")
    assert git(site.place, "show", "HEAD:facts/id.md").endswith("Rev $Id$")
    assert git(site.place, "status", "--porcelain", "facts/id.md") == ""
    assert site.error("edit", "enc-1", "--status", "x")["code"] == "not-checked-out"
    assert site.ok("verify", "--deep").status == 0


def test_c04_staged_loose_ignored_and_new_files_are_told_apart(tmp_path: Path) -> None:
    site = sites(tmp_path, "C04")
    site.ok("init", "--commit")
    status = site.ok("status", "--json").json
    assert (status["files"], status["facts"], status["new"], status["excluded"]) == (4, 1, 1, 2)
    assert {(e["kind"], e["path"]) for e in status["edits"]} >= {
        ("unrecorded", "facts/a.md"), ("new", "facts/b.md"),
    }  # fmt: skip
    staged = git(site.place, "show", ":facts/a.md")
    site.ok("add", "--title", "Mine")
    assert git(site.place, "show", ":facts/a.md") == staged
    assert "Unstaged" in site.text("facts/a.md")
    assert git(site.place, "show", "HEAD:facts/a.md").count("Note") == 1
    site.ok("adopt", "--yes", "facts/a.md")
    assert "Unstaged" in git(site.place, "show", "HEAD:facts/a.md")
    assert {e["path"] for e in site.ok("status", "--json").json["edits"]} == {"facts/b.md"}


# Writing elsewhere: locks, heads, linked work trees, names, untouched lines.


def test_g11_a_stale_lock_is_named_with_its_age_and_nothing_is_changed(tmp_path: Path) -> None:
    site = sites(tmp_path, "G11")
    lock = site.place.root / ".git/index.lock"
    os.utime(lock, (1_700_000_000, 1_700_000_000))
    site.ok("init", "--no-commit")
    site.ok("adopt", "--yes")
    assert site.ok("verify").status == 0
    config = site.place.root / "synapse.toml"
    config.write_text(config.read_text().replace("commit = false", "commit = true"))
    before = {p: p.read_bytes() for p in site.place.root.rglob("*") if p.is_file()}
    error = site.error("adopt", "--yes", "synapse.toml")
    assert error["code"] == "locked"
    assert "index.lock is there since 2023-11-14" in error["message"]
    assert "days old" in error["message"]
    after = {p: p.read_bytes() for p in site.place.root.rglob("*") if p.is_file()}
    assert {p: d for p, d in after.items() if p in before and p.suffix != ".db"} == {
        p: d for p, d in before.items() if p.suffix != ".db"
    }
    lock.unlink()
    (site.place.root / ".git/HEAD.lock").unlink()
    site.ok("adopt", "--yes", "synapse.toml")


def test_g02_a_detached_head_is_moved_and_no_branch(tmp_path: Path) -> None:
    site = sites(tmp_path, "G02").start()
    main = git(site.place, "rev-parse", "main")
    site.ok("edit", "n-1", "--status", "x")
    assert git(site.place, "rev-parse", "main") == main
    assert git(site.place, "log", "-1", "--format=%s") == "update n-1"
    assert site.ok("verify", "--deep").status == 0


def test_g05_a_linked_work_tree_writes_under_an_id_of_its_own(tmp_path: Path) -> None:
    site = sites(tmp_path, "G05").start()
    linked = Place(site.place.root / "wt", site.place.env)
    git(linked, "merge", "-q", "main")
    assert syn_here(linked, "edit", "n-1", "--status", "side").status == 0
    site.ok("add", "--title", "On main")
    git(site.place, "merge", "-q", "--no-edit", "side")
    site.ok("reindex")
    assert site.ok("verify", "--deep").status == 0
    assert len(list((site.place.root / ".synapse/ledger").iterdir())) == 2
    assert not (linked.root / ".git").is_dir()


def test_m07_y05_only_the_named_line_changes(tmp_path: Path) -> None:
    for number, (name, fact) in enumerate((("M07", "e-1"), ("Y05", "meet-1"))):
        site = sites(tmp_path / str(number), name).start()
        path = site.ok("show", fact, "--json").json["path"]
        before = site.text(path)
        site.ok("edit", fact, "--title", "Another")
        changed = [
            (old, new)
            for old, new in zip(before.split("\n"), site.text(path).split("\n"), strict=True)
            if old != new
        ]
        assert len(changed) == 1
        assert changed[0][1] == "title: Another"
        (item,) = site.ok("diff", "HEAD~1", "--json").json["items"]
        assert [field["field"] for field in item["fields"]] == ["title"]
        assert site.ok("edit", fact, "--title", "Another", "--json").json["recorded"] == 0


def test_f02_a_byte_order_mark_stays(tmp_path: Path) -> None:
    site = sites(tmp_path, "F02").start()
    site.ok("edit", "bom-1", "--status", "x", "--body", "New")
    data = (site.place.root / "facts/bom.md").read_bytes()
    assert data == b"\xef\xbb\xbf---\nid: bom-1\ntitle: BOM\nstatus: x\n---\nNew\n"


def test_p10_a_long_title_makes_a_name_that_fits(tmp_path: Path) -> None:
    site = sites(tmp_path, "P10").start()
    title = "\u17a2" * 120
    for _ in range(2):
        site.ok("add", "--title", title, "--body", str(_))
    names = [p.name for p in (site.place.root / "facts").iterdir()]
    assert len(names) == 3
    assert max(len(name.encode()) for name in names) <= 255
    assert site.ok("verify", "--deep").status == 0


def test_p02_a_twin_of_a_path_is_never_made(tmp_path: Path) -> None:
    site = sites(tmp_path, "P02")
    git(site.place, "rm", "-q", "facts/plan_a.md")
    git(site.place, "commit", "-qm", "one of them")
    site.start()
    for path in ("facts/plan_a.md", "facts/PLAN_A.MD", "facts/Plan_A.md"):
        assert site.error("add", "--title", "x", "--path", path)["code"] == "bad-path"


def test_e05_an_invisible_character_is_refused_in_an_id_and_held_in_text(tmp_path: Path) -> None:
    site = sites(tmp_path, "E05")
    site.ok("init", "--commit")
    assert site.error("adopt", "--yes")["code"] == "unreadable-facts"
    assert site.error("add", "--title", "x", "--id", "zw\u200b1")["code"] == "unreadable-result"
    error = site.error("add", "--title", "\u202eevil\u202c")
    assert error["code"] == "screened"
    assert "facts/evil.md:3 holds a hidden character: U+202" in error["message"]
    site.ok("add", "--title", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
    site.ok("add", "--title", "Family \U0001f468\u200d\U0001f469\u200d\U0001f467")


def test_g14_an_amended_commit_is_told_from_a_missing_one(tmp_path: Path) -> None:
    site = sites(tmp_path, "G14").start()
    recorded = git(site.place, "rev-parse", "HEAD")
    site.ok("edit", "n-1", "--status", "x")
    git(site.place, "commit", "-q", "--amend", "-m", "amended")
    assert site.ok("verify", "--deep").status == 0
    assert site.ok("verify", "--since", recorded).status == 0
    old = git(site.place, "rev-parse", "HEAD@{1}")
    assert site.syn("verify", "--since", old).status == 1
    git(site.place, "reset", "-q", "--hard", recorded)
    assert site.syn("status").status == 1, "the index knows decisions that are gone"
    site.ok("reindex")
    site.ok("add", "--title", "After the reset")
    assert site.ok("verify", "--deep").status == 0
    assert len(list((site.place.root / ".synapse/ledger").iterdir())) == 2


@pytest.mark.parametrize("how", ["rebase", "cherry-pick", "squash"])
def test_history_with_ledger_lines_is_moved_and_says_precisely_what_it_is(
    tmp_path: Path, how: str
) -> None:
    site = own(tmp_path)
    git(site.place, "checkout", "-q", "-b", "side")
    site.ok("edit", "limit", "--status", "side")
    site.ok("edit", "limit", "--status", "side-2")
    git(site.place, "checkout", "-q", "main")
    site.ok("reindex")
    site.ok("add", "--title", "On main")
    if how == "rebase":
        git(site.place, "rebase", "-q", "main", "side")
    elif how == "cherry-pick":
        git(site.place, "cherry-pick", "side~1", "side")
    else:
        git(site.place, "merge", "-q", "--squash", "side")
        git(site.place, "commit", "-qm", "squashed")
    site.ok("reindex")
    ran = site.syn("verify", "--deep", "--json")
    assert ran.status == 0, ran.out
    # Without the first of two commits the chain has a gap, and that is what is said.
    git(site.place, "checkout", "-q", "-B", "part", "main")
    if how == "cherry-pick":
        git(site.place, "checkout", "-q", "-B", "part", git(site.place, "rev-parse", "main~2"))
        subprocess.run(
            ["git", "cherry-pick", "-X", "theirs", "side"],
            cwd=site.place.root, env={**site.place.env, "GIT_COMMITTER_NAME": "C",
            "GIT_COMMITTER_EMAIL": "c@example.org"}, capture_output=True, check=False,
        )  # fmt: skip
        ran = site.syn("verify", "--json")
        assert "Traceback" not in ran.err
        assert json.loads(ran.out)


def test_y21_a_key_that_a_merge_doubled_is_not_recorded(tmp_path: Path) -> None:
    site = sites(tmp_path, "Y21")
    site.ok("init", "--commit")
    assert site.error("adopt", "--yes")["code"] == "unreadable-facts"
    assert site.error("edit", "m-1", "--status", "x")["code"] in ("unknown-fact", "undecided")


def test_s11_two_writers_at_once_both_succeed(tmp_path: Path) -> None:
    case("S11")
    site = own(tmp_path)
    words = [sys.executable, "-m", "syn", "add", "--title"]
    running = [
        subprocess.Popen([*words, title], cwd=site.place.root, env=site.place.env,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for title in ("One", "Two")
    ]  # fmt: skip
    assert [process.wait() for process in running] == [0, 0]
    assert site.ok("verify", "--deep").status == 0
