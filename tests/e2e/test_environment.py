"""The same answers in every environment, and nothing of a repository's settings is run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import syn
from tests.support.inside import inside
from tests.support.parties import Parties, edit
from tests.support.workspaces import Place, git, make_workspace

SURROUNDINGS: dict[str, dict[str, str]] = {
    "C": {"LC_ALL": "C", "LANG": "C", "TZ": "UTC", "PYTHONHASHSEED": "1"},
    "C.UTF-8": {"LC_ALL": "C.UTF-8", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "2"},
    "Turkish": {"LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns", "PYTHONHASHSEED": "3"},
    "no UTF-8 mode": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Place:
    facts = {
        "facts/\u0130stanbul.md": "---\nid: I-\u0130\ntitle: \u0130I\u0131i\n---\nI \u0131\n",
        "facts/plain.md": "# Plain\n\nSee [[\u0130I\u0131i]].\n",
    }
    return make_workspace(tmp_path_factory.mktemp("env"), facts)


def shared_part(report: dict[str, Any]) -> dict[str, Any]:
    """What has to be equal on every machine."""
    predicate = {k: v for k, v in report["predicate"].items() if k not in ("local", "ts")}
    return {"predicate": predicate, "subject": report["subject"]}


def test_every_locale_and_zone_gives_one_report(base: Place) -> None:
    reports = []
    for around in SURROUNDINGS.values():
        ran = syn(base, "verify", "--deep", "--json", env=around)
        assert ran.status == 0, ran.err
        reports.append(shared_part(ran.json))
    assert all(report == reports[0] for report in reports)


def test_text_for_people_is_utf8_or_says_so(base: Place) -> None:
    for around in SURROUNDINGS.values():
        ran = syn(base, "show", "I-\u0130", env=around)
        assert ran.status == 0, ran.err
        assert "plain" in syn(base, "list", env=around).out


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777 & ~0o700])
def test_the_mask_of_new_files_changes_no_answer(mask: int, base: Place, tmp_path: Path) -> None:
    copy = Place(tmp_path / "ws", base.env)
    shutil.copytree(base.root, copy.root, symlinks=True)
    before = os.umask(mask)
    try:
        ran = inside(copy, "add", "--title", f"Mask {mask:o}", "--body", "x")
        assert ran.status == 0, ran.err
        key = inside(copy, "key", "init", "--name", f"m{mask}", env=_own(tmp_path))
        assert key.status == 0, key.err
    finally:
        os.umask(before)
    assert inside(copy, "verify", "--deep").status == 0
    secret = next((tmp_path / "config").rglob("identity"))
    assert secret.stat().st_mode & 0o077 == 0


def _own(folder: Path) -> dict[str, str]:
    return {"SYNAPSE_CONFIG_DIR": str(folder / "config")}


@pytest.mark.parametrize("home", ["absent", "unset", "a file"])
def test_reads_need_no_home(home: str, base: Place, tmp_path: Path) -> None:
    bare = {k: v for k, v in base.env.items() if not k.startswith("SYNAPSE_") and k != "HOME"}
    if home != "unset":
        bare["HOME"] = str(tmp_path / "home")
    if home == "a file":
        (tmp_path / "home").write_text("not a folder\n")
    for words in (["verify", "--deep"], ["list"], ["status"], ["show", "I-\u0130"]):
        ran = syn(Place(base.root, bare), *words)
        assert ran.status == 0, (words, ran.err)


def test_a_write_without_an_identity_says_what_to_set(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    bare = {k: v for k, v in place.env.items() if not k.startswith("GIT_AUTHOR")}
    ran = syn(Place(place.root, bare), "add", "--title", "Nobody", "--body", "x")
    assert ran.status in (0, 1, 2), ran.err
    if ran.status:
        assert "user.name" in ran.err
    assert syn(place, "verify").status == 0


HOOKS = (
    *("pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "post-checkout"),
    *("reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman"),
)


def _hostile(place: Place, marker: Path) -> None:
    """Everything in a repository that git itself would run."""
    trap = marker.with_name("trap")
    trap.write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    trap.chmod(0o755)
    hooks = place.root / ".git/hooks"
    for name in HOOKS:
        shutil.copy(trap, hooks / name)
    included = marker.with_name("included")
    included.write_text(f"[core]\n\tpager = {trap}\n\teditor = {trap}\n")
    settings = {
        "core.fsmonitor": trap,
        "core.editor": trap,
        "core.sshCommand": trap,
        "core.askPass": trap,
        "core.alternateRefsCommand": trap,
        "alias.log": f"!{trap}",
        "alias.commit": f"!{trap}",
        "filter.evil.clean": trap,
        "filter.evil.smudge": trap,
        "filter.evil.process": trap,
        "diff.evil.textconv": trap,
        "diff.external": trap,
        "merge.evil.driver": trap,
        "gpg.program": trap,
        "gpg.ssh.program": trap,
        "gpg.ssh.defaultKeyCommand": trap,
        "gpg.format": "ssh",
        "commit.gpgSign": "true",
        "credential.helper": f"!{trap}",
        "sequence.editor": trap,
        "include.path": included,
    }
    with (place.root / ".git/config").open("a") as file:
        for name, value in settings.items():
            section, _, key = name.rpartition(".")
            head, _, sub = section.partition(".")
            file.write(f'[{head} "{sub}"]' if sub else f"[{head}]")
            file.write(f"\n\t{key} = {value}\n")
    (place.root / ".git/info").mkdir(exist_ok=True)
    rules = "*.json diff=evil\nother/** filter=evil merge=evil\n"
    (place.root / ".git/info/attributes").write_text(rules)


def test_nothing_of_the_repositorys_settings_is_run(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    marker = tmp_path / "was-run"
    _hostile(place, marker)
    commands = (
        ["status"],
        ["verify", "--deep"],
        ["verify", "--ref", "HEAD"],
        ["list"],
        ["search", "refund"],
        ["log"],
        ["doctor"],
        ["reindex", "--full"],
        ["manifest", "--digest"],
        ["add", "--title", "Hostile", "--body", "x"],
        ["edit", "limit", "--title", "Edited"],
        ["undo", "--help"],
        ["key", "init", "--name", "owner"],
        ["checkpoint", "--host", "memory.example"],
        ["receipt", "issue", "owner-2"],
        ["scrub"],
        ["verify"],
    )
    for words in commands:
        ran = syn(place, *words)
        assert ran.status == 0, (words, ran.err)
        assert not marker.exists(), words
    # The trap works: git itself falls into it.
    subprocess.run(
        ["git", "status"], cwd=place.root, env=place.env, capture_output=True, check=False
    )
    assert marker.exists()


def test_an_aliased_filter_on_facts_is_not_run(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    marker = tmp_path / "was-run"
    _hostile(place, marker)
    (place.root / ".git/info/attributes").write_text("facts/** filter=evil\n")
    for words in (["verify"], ["status"], ["doctor"], ["list"]):
        syn(place, *words)
        assert not marker.exists(), words


def test_no_network_is_needed(tmp_path: Path) -> None:
    """In a network namespace of its own, which has no interface that is up."""
    cut = ["unshare", "--net", "--"]
    if shutil.which("unshare") is None or subprocess.run([*cut, "true"], check=False).returncode:
        pytest.skip("needs the right to make a network namespace")
    parties = Parties(tmp_path)
    edit(parties.owner, "# Plain\n\nOffline.\n")
    outside = ["--since", str(parties.witness), "--trust", str(parties.key)]
    for words in (["verify", "--deep", *outside], ["list"], ["checkpoint"], ["scrub"]):
        done = subprocess.run(
            [*cut, sys.executable, "-m", "syn", *words],
            cwd=parties.owner.root,
            env={**parties.owner.env, "PATH": os.defpath + ":/usr/local/bin"},
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, (words, done.stderr)


def test_bytes_that_are_not_utf8_end_in_a_message(base: Place, tmp_path: Path) -> None:
    for words in (["show", "\udcff"], ["log", "\udcff"], ["verify", "--ref", "\udcff"]):
        ran = inside(base, *words, "--json")
        assert ran.status == 2, (words, ran.err)
        assert ran.json["error"]["code"] in ("not-utf8", "unknown-fact", "unknown-ref")
    copy = Place(tmp_path / "ws", base.env)
    shutil.copytree(base.root, copy.root, symlinks=True)
    (copy.root / ".git/HEAD").write_bytes(b"ref: refs/heads/ma\xf3n\n")
    ran = inside(copy, "verify", "--json")
    assert ran.status == 3
    assert ran.json["predicate"]["verdict"] == "incomplete"


def test_a_linked_work_tree_has_its_own_index(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    git(place, "worktree", "add", "-q", "../linked", "-b", "side")
    linked = Place(tmp_path / "linked", place.env)
    assert inside(linked, "add", "--title", "Beside", "--body", "x").status == 0
    assert inside(linked, "verify", "--deep").status == 0
    assert inside(place, "verify", "--deep").status == 0
    assert inside(place, "show", "beside").status == 2
