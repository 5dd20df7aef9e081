"""Right answers to the public cases: paths, content of git, states of a repository."""

import os
import shutil
from pathlib import Path

import pytest

from tests.support.world import World, answers


@answers("P01")
def unicode_twins(world: World) -> None:
    world.init()
    paths = {path for path, _, code in world.problems() if code == "unicode-twin"}
    assert paths == {"facts/Cafe\u0301.md", "facts/Caf\u00e9.md"}
    world.fails(*(f"unicode-twin {path}:0" for path in paths))
    (world.root / "facts/Caf\u00e9.md").unlink()
    world.box.git("rm", "-q", "--cached", "facts/Caf\u00e9.md")
    world.box.git("commit", "-qm", "one of them")
    world.ok("adopt", "--yes")
    assert [path for _, path in world.listed()] == ["facts/Cafe\u0301.md"]


@answers("P02")
def case_twins(world: World) -> None:
    world.init()
    twins = {"case-twin facts/Plan_A.md:0", "case-twin facts/plan_a.md:0"}
    world.fails(*twins)
    (world.root / "facts/plan_a.md").unlink()  # as a case-folding file system checks it out
    assert {f for f in world.verdict("--ref", "HEAD")[2] if "twin" in f} == twins


@answers("P04")
def quoted_names(world: World) -> None:
    world.init()
    assert [path for _, path in world.listed()] == [
        "facts/ lead space.md",
        "facts/-dash.md",
        "facts/r\u00e9sum\u00e9.md",
        "facts/sep\u2028two.md",
        "facts/tab\tname.md",
    ]
    assert {(path, code) for path, _, code in world.problems()} == {
        ("facts/new\\nline.md", "name-newline"),
        ('facts/quo"te\\back.md', "name-backslash"),
    }
    for name in ("facts/new\nline.md", 'facts/quo"te\\back.md'):
        (world.root / name).unlink()
    world.box.git("add", "-A", "facts")
    world.box.git("commit", "-qm", "rename")
    world.ok("adopt", "--yes")
    world.passes()


@answers("P05")
def names_that_are_not_utf8(world: World) -> None:
    world.init()
    assert {(path, code) for path, _, code in world.problems()} == {
        ("facts/\\xe9l\\xe9phant.md", "name-not-utf8"),
        ("facts/\\xe9tat.md", "name-not-utf8"),
    }
    assert world.listed() == [("ok-1", "facts/ok.md")]
    assert world.verdict()[1] == "fail"


@answers("P07")
def root_through_a_link(world: World) -> None:
    world.recorded()
    linked = world.at(Path(f"{world.root}.link"))
    assert linked.listed() == world.listed() == [("ok-1", "facts/ok.md")]
    assert linked.digest() == world.digest()
    linked.passes()


@answers("P08")
def nested_repository(world: World) -> None:
    world.recorded()
    assert ("nested", 0, "nested-repository") in world.problems()
    assert world.listed() == [("ok-1", "facts/ok.md")]
    world.passes()


@answers("P10")
def long_name(world: World) -> None:
    world.recorded()
    title = world.show("ok-1")["title"]
    (world.root / "facts/ok.md").unlink()
    world.ok("adopt", "--yes", "--deletes")
    world.ok("add", "--title", title, "--body", "Body")
    (made,) = world.listed()
    assert len(os.fsencode(Path(made[1]).name)) <= 255
    assert world.show(made[0])["title"] == title
    ran = world.run("add", "--title", "x", "--body", "y", "--path", f"facts/{'n' * 260}.md")
    assert ran.status in (1, 2, 3), ran
    assert "syn: " in ran.err


@answers("C01")
def line_ends_of_a_checkout(world: World) -> None:
    world.recorded()
    world.passes()
    other = world.box.clone(world.root.with_name("other"))
    other.git("config", "core.autocrlf", "false")
    assert world.at(other.path).run("manifest", "--digest").status in (0, 2)
    assert b"\r\n" in (world.root / "facts/n.md").read_bytes()
    digest = world.digest()
    (world.root / "facts/n.md").write_bytes(
        (world.root / "facts/n.md").read_bytes().replace(b"\r\n", b"\n")
    )
    assert world.digest() == digest
    world.passes()


@answers("C02")
def attributes_hide_bytes(world: World) -> None:
    world.recorded()
    world.passes()
    assert {(path, code) for path, _, code in world.problems()} == {
        ("facts/id.md", "opaque-attribute"),
        ("facts/enc.md", "opaque-attribute"),
    }
    assert world.show("enc-1")["title"] == "Caf\u00e9"
    assert world.show("id-1")["body"] == "Rev $Id$\n"
    # Nothing is written where git would store other bytes than those on disk.
    assert world.run("edit", "enc-1", "--title", "New").status == 1
    assert world.verdict()[1] == "pass"


@answers("C04")
def states_of_a_file(world: World) -> None:
    world.init()
    status = world.ok("status", "--json").json
    assert [status[k] for k in ("files", "facts", "new", "excluded")] == [4, 1, 1, 2]
    assert world.ok("list", "--json").json["items"][0]["title"] == "Unstaged"
    local = world.run("verify", "--json").json["predicate"]["local"]
    assert (local["new"], local["excluded"]) == (["facts/b.md"], 2)


@answers("G01")
def unborn_branch(world: World) -> None:
    world.init()
    status = world.ok("status", "--json").json
    assert (status["facts"], status["new"]) == (0, 1)
    world.ok("reindex")
    world.passes()
    assert world.ok("list", "--json").json["total"] == 0


@answers("G02")
def detached_head(world: World) -> None:
    world.recorded()
    world.passes()
    assert world.listed() == [("n-1", "facts/n.md")]
    # No branch is named: what a write moves is HEAD alone, and it stands on a commit.
    assert f"workspace R on {world.box.head()[:12]}," in world.ok("status").out
    tip = world.box.git("rev-parse", "main")
    world.ok("edit", "n-1", "--title", "New")
    assert world.box.git("rev-parse", "main") == tip
    world.passes()


@answers("G04")
def partial_clone(world: World) -> None:
    partial = world.at(world.root / "partial")
    ran = partial.run("init")
    assert ran.status in (0, 3)
    ran = partial.run("manifest", "--ref", "HEAD", "--digest")
    assert ran.status == 3
    assert "partial clone" in ran.err
    assert "corrupt" not in ran.err
    ran = partial.run("verify", "--ref", "HEAD")
    assert ran.status == 3
    assert "partial clone" in ran.out + ran.err


@answers("G05")
def linked_work_tree(world: World) -> None:
    world.recorded()
    world.box.git("add", "-A", "--", "synapse.toml", ".synapse", ".gitattributes", "facts")
    world.box.git("commit", "-qm", "record")
    side = world.at(world.root / "wt")
    side.box.git("merge", "-q", "main")
    assert side.listed() == world.listed() == [("n-1", "facts/n.md")]
    side.ok("edit", "n-1", "--title", "Side")
    side.passes()
    world.passes()
    assert side.show("n-1")["title"] == "Side"
    assert world.show("n-1")["title"] == "Note"
    assert side.digest() != world.digest()


@answers("G07")
def sha256_objects(world: World) -> None:
    for words in (("init",), ("verify",), ("status",), ("list",)):
        ran = world.run(*words)
        assert ran.status == 3
        assert "object format sha256 is not supported" in ran.err
    assert not (world.root / "synapse.toml").exists()


@answers("G08")
def reftable(world: World) -> None:
    for words in (("init",), ("verify",), ("status",)):
        ran = world.run(*words)
        assert ran.status == 3
        assert "reftable is not supported" in ran.err


@answers("G10")
def somebody_elses(world: World) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to give a folder away")
    for words in (("init",), ("verify",)):
        ran = world.run(*words)
        assert ran.status == 3
        assert "safe.directory" in ran.err
        assert str(world.root) in ran.err
    assert "safe" not in (world.box.home / ".gitconfig").read_text()


@answers("G11")
def stale_lock(world: World) -> None:
    for name in ("index.lock", "HEAD.lock"):
        (world.root / ".git" / name).unlink()
    world.recorded()
    text = (world.root / "synapse.toml").read_text()
    assert "commit = false" in text
    (world.root / "synapse.toml").write_text(text.replace("commit = false", "commit = true"))
    world.ok("adopt", "--yes")
    for name in ("index.lock", "HEAD.lock"):
        (world.root / ".git" / name).touch()
    head = world.box.git("rev-parse", "HEAD")
    ran = world.run("edit", "n-1", "--title", "New")
    assert ran.status == 1
    assert ".lock" in ran.err
    assert world.box.git("rev-parse", "HEAD") == head
    assert world.ok("status", "--json").json["edits"] == []
    world.ok("reindex", "--full")
    world.passes()
    assert (world.root / ".git/index.lock").exists()


@answers("G12")
def order_of_commits(world: World) -> None:
    world.recorded()
    first = world.box.git("rev-list", "--max-parents=0", "HEAD")
    world.passes("--deep")
    # The witness is older than every commit that claims an earlier date: ancestry decides.
    world.box.git("add", "-A")
    world.box.git("commit", "-qm", "record")
    assert world.verdict("--since", first)[:2] == (0, "pass")


@answers("G14")
def rewritten_history(world: World) -> None:
    witness = Path(f"{world.root}.witness").read_text().strip()
    world.recorded()
    status, verdict, findings = world.verdict("--since", witness)
    assert (status, verdict) == (1, "fail")
    assert any(f.startswith("witness-commit-rewritten") for f in findings), findings
    world.box.git("add", "-A")
    world.box.git("commit", "-qm", "record")
    ahead = world.box.git("rev-parse", "HEAD")
    world.box.git("update-ref", "refs/keep/ahead", ahead)
    world.box.git("checkout", "-q", "--detach", "HEAD")
    world.box.git("commit", "-q", "--allow-empty", "-m", "later")
    later = world.box.git("rev-parse", "HEAD")
    world.box.git("update-ref", "refs/keep/later", later)
    world.box.git("checkout", "-q", ahead)
    status, verdict, findings = world.verdict("--since", later)
    assert (status, verdict) == (1, "fail")
    assert any("rewritten" not in f for f in findings), findings


@answers("G15")
def sparse_checkout(world: World) -> None:
    world.ok("init", "--include", "**/*.md")
    world.ok("adopt", "--yes")
    assert not (world.root / "other/m.md").exists()
    assert world.listed() == [("n-1", "facts/n.md"), ("m-1", "other/m.md")]
    assert world.ok("status", "--json").json["edits"] == []
    world.passes()


@answers("G17")
def borrowed_objects(world: World) -> None:
    borrow = world.at(Path(f"{world.root}.borrow"))
    gone, here = world.root / ".git/objects.gone", world.root / ".git/objects"
    shutil.move(gone, here)
    borrow.recorded()
    borrow.passes()
    shutil.move(here, gone)
    for words in (("verify",), ("status",)):
        ran = borrow.run(*words)
        assert ran.status == 3
        assert "borrows from is gone" in ran.err + ran.out
        assert "corrupt" not in ran.err + ran.out


@answers("G18")
def odd_reference(world: World) -> None:
    world.recorded()
    world.passes()
    local = world.run("verify", "--json").json["predicate"]["local"]["repository"]
    assert any("\\xb1" in text for text in local), local


@answers("G20")
def born_in_a_merge(world: World) -> None:
    world.recorded()
    assert world.show("n-1")["body"] == "Evil\n"
    world.passes("--deep")
    world.box.git("add", "-A")
    world.box.git("commit", "-qm", "record")
    # A ledger that shrinks on one parent edge of a merge, and only there, is seen.
    segment = next((world.root / ".synapse/ledger").glob("*/*.jsonl"))
    whole = segment.read_bytes()
    world.box.git("checkout", "-q", "-b", "side")
    segment.write_bytes(whole.splitlines(keepends=True)[0])
    world.box.git("commit", "-qam", "shrink")
    world.box.git("checkout", "-q", "main")
    world.box.git("merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "side")
    world.box.git("commit", "-qm", "take ours")
    world.box.git("checkout", "-q", "main")
    assert world.verdict("--deep")[1] == "fail"
