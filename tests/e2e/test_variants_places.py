"""Kinds of places that people have: odd files, odd repositories, odd names, through the command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import syn
from tests.support.workspaces import Place, git, make_place, make_workspace

FACT = "---\nid: one\n---\nBody.\n"


def codes(place: Place) -> dict[str, str]:
    """What doctor says of each path."""
    return {item["path"]: item["code"] for item in syn(place, "doctor", "--json").json["items"]}


def test_a_link_where_facts_could_be_is_named_and_others_stay(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/one.md": FACT, "other/two.md": FACT})
    (place.root / "facts" / "shelf").symlink_to("../other")
    (place.root / "bin").symlink_to("/usr/bin")
    (place.root / "facts" / "pipe.md").unlink(missing_ok=True)
    os.mkfifo(place.root / "facts" / "pipe.md")
    assert codes(place) == {"facts/shelf": "symlink", "facts/pipe.md": "special-file"}
    assert syn(place, "verify").status == 0


def test_a_folder_of_facts_that_is_a_link_is_not_an_empty_vault(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"vault/one.md": FACT}, adopted=False)
    (place.root / "facts").symlink_to("vault")
    assert codes(place) == {"facts": "symlink"}


def test_damaged_packed_refs_are_said_and_nothing_is_concluded(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/one.md": FACT})
    with (place.root / ".git" / "packed-refs").open("a") as file:
        file.write("no such line\n")
    ran = syn(place, "verify", "--json")
    assert ran.status == 3
    (finding,) = [f for i in ran.json["predicate"]["invariants"] for f in i["findings"]]
    assert finding["code"] == "corrupt-refs"
    assert "packed-refs" in finding["remedy"]
    assert str(place.root) not in ran.out  # the same finding in any clone that is damaged so
    assert syn(place, "show", "one").status == 0


def test_a_linked_work_tree_that_was_moved_is_where_it_stands(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/one.md": FACT})
    git(place, "worktree", "add", "-q", str(tmp_path / "side"), "-b", "side")
    shutil.move(tmp_path / "side", tmp_path / "moved")
    moved = Place(tmp_path / "moved", place.env)
    assert syn(moved, "show", "one").status == 0
    assert syn(Place(tmp_path / "moved" / "facts", place.env), "show", "one").status == 0


def test_a_bare_repository_says_which_commands_read_it(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/one.md": FACT})
    git(place, "clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    bare = Place(tmp_path / "bare", place.env)
    ran = syn(bare, "status")
    assert ran.status == 3
    assert "syn verify --ref HEAD" in ran.err
    assert syn(bare, "verify", "--ref", "HEAD").status == 0


def test_a_format_that_git_added_later_has_a_remedy(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    git(place, "init", "-q")
    git(place, "config", "core.repositoryFormatVersion", "1")
    git(place, "config", "extensions.laterThing", "true")
    ran = syn(place, "status", "--json")
    assert ran.status == 3
    assert ran.json["error"]["code"] == "cannot-open"
    assert "extension" in ran.json["error"]["message"]
    assert ran.json["error"]["remedy"]


@pytest.mark.parametrize(
    "dashes", ["\u2014", "\u2014-", "\u2013\u2013\u2013", "\u2212\u2212\u2212"]
)
def test_dashes_that_an_editor_changed_are_no_quiet_body(tmp_path: Path, dashes: str) -> None:
    text = f"{dashes}\ntitle: Changed\nid: two\n{dashes}\nBody.\n"
    rule = "\u2014\u2014\u2014\n\nA rule, and prose.\n"
    place = make_workspace(
        tmp_path,
        {"facts/one.md": FACT, "facts/two.md": text, "facts/rule.md": rule},
        adopted=False,
    )
    git(place, "add", "-A")
    assert codes(place) == {"facts/two.md": "other-front-matter"}
    ran = syn(place, "adopt", "--yes")
    assert ran.status == 1
    assert "facts/two.md:1: expected --- on the first line" in ran.err


def test_an_id_like_an_option_is_reached_after_two_dashes(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/one.md": "---\nid: -5\n---\nBody.\n"})
    ran = syn(place, "show", "-5")
    assert ran.status == 2
    assert "after --" in ran.err
    assert syn(place, "show", "--", "-5").status == 0


def test_ids_that_differ_in_case_are_near(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/one.md": "---\nid: PAY-7\n---\nBody.\n"})
    for command in ("show", "log"):
        ran = syn(place, command, "pay-7")
        assert ran.status == 2
        assert "did you mean PAY-7?" in ran.err


def test_a_path_that_is_refused_asks_for_another(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/one.md": FACT})
    ran = syn(place, "add", "--title", "Two", "--body", "x", "--path", "../two.md")
    assert ran.status == 2
    assert "choose another path" in ran.err


def test_a_group_alone_prints_its_help_in_lines(tmp_path: Path) -> None:
    ran = syn(make_place(tmp_path), "audit")
    assert ran.status == 2
    assert "\nCommands:\n" in ran.err
    assert "\\n" not in ran.err


def test_a_reader_that_leaves_gets_no_traceback(tmp_path: Path) -> None:
    facts = {f"facts/n{n}.md": f"---\nid: n{n}\n---\n" + "word " * 400 + "\n" for n in range(60)}
    place = make_workspace(tmp_path, facts)
    done = subprocess.run(
        "python -m syn list --full --json --limit 60 | head -c 10; exit ${PIPESTATUS[0]}",
        shell=True,
        executable="/bin/bash",
        cwd=place.root,
        env={**place.env, "PATH": f"{Path(sys.executable).parent}:{place.env['PATH']}"},
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 3)
    assert done.stderr == b""


def test_a_full_disk_under_the_output_is_no_success(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/one.md": FACT})
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "syn", "list", "--json"],
            cwd=place.root,
            env=place.env,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 3
    assert b"no space left" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"ignored" not in done.stderr
