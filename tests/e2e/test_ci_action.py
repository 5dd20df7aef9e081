"""action.yml in a simulated runner: what a push and a pull request leave behind, and its status."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import syn_here
from tests.support.inside import done
from tests.support.parties import Parties
from tests.support.runner import ACTION, Step, run_verify
from tests.support.shared import ROOT
from tests.support.workspaces import Place, git, make_workspace

HOSTILE = (
    '$(touch pwned);`touch pwned`;"&&touch pwned;\n::error::forged\n::set-output name=verdict::pass'
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return make_workspace(tmp_path_factory.mktemp("made"))


@pytest.fixture
def place(made: Place, tmp_path: Path) -> Place:
    """A copy of one workspace."""
    shutil.copytree(made.root, tmp_path / "ws")
    return Place(tmp_path / "ws", made.env)


@pytest.fixture(scope="module")
def parties(tmp_path_factory: pytest.TempPathFactory) -> Parties:
    """An owner with a key and a checkpoint, and an auditor."""
    return Parties(tmp_path_factory.mktemp("parties"))


def _push(place: Place, tmp_path: Path, before: str = "0" * 40, **inputs: str) -> Step:
    sha = git(place, "rev-parse", "HEAD")
    event = {"before": before, "after": sha, "ref": f"refs/heads/{HOSTILE}"}
    names = {"GITHUB_SHA": sha, "GITHUB_REF_NAME": HOSTILE, "GITHUB_EVENT_NAME": "push"}
    return run_verify(place, tmp_path / "runner", event, names, **inputs)


def _pull(place: Place, tmp_path: Path, base: str, head: str, **inputs: str) -> Step:
    event = {
        "pull_request": {
            "title": HOSTILE,
            "body": HOSTILE,
            "head": {"sha": head, "ref": HOSTILE},
            "base": {"sha": base, "ref": "main"},
        }
    }
    names = {
        "GITHUB_SHA": git(place, "rev-parse", "HEAD"),
        "GITHUB_HEAD_REF": HOSTILE,
        "GITHUB_EVENT_NAME": "pull_request",
    }
    return run_verify(place, tmp_path / "runner", event, names, **inputs)


def _commit(place: Place, path: str, text: str) -> str:
    (place.root / path).write_text(text, "utf-8")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "by hand")
    return git(place, "rev-parse", "HEAD")


def _edited(place: Place, path: str, old: str, new: str) -> str:
    text = (place.root / path).read_text("utf-8")
    assert old in text
    return _commit(place, path, text.replace(old, new))


def test_a_push_that_verifies(place: Place, tmp_path: Path) -> None:
    step = _push(place, tmp_path, require="L1")
    assert step.status == 0, step.log
    assert step.commands == ()
    assert (step.outputs["verdict"], step.outputs["level"]) == ("pass", "L1")
    assert "**PASS" in step.summary
    assert git(place, "rev-parse", "HEAD") in step.summary
    assert "this job has no key" in step.summary
    report = json.loads(Path(step.outputs["report"]).read_bytes())
    assert report["predicate"]["verdict"] == "pass"
    assert report["sig"] is None
    assert json.loads(Path(step.outputs["sarif"]).read_bytes())["version"] == "2.1.0"
    assert "witness" not in step.outputs
    assert "attestation" not in step.outputs


def test_a_push_is_held_to_the_one_before(place: Place, tmp_path: Path) -> None:
    before = git(place, "rev-parse", "HEAD")
    first = _push(place, tmp_path, since="0" * 40)
    assert first.status == 0
    assert "history was not held to what was there before" in first.summary
    held = _push(place, tmp_path, since=before)
    assert held.status == 0
    assert held.summary.count("history was not held") == 1, "said by the first step alone"
    # Another first commit with the same tree: every file verifies, and history is another one.
    tree = git(place, "rev-parse", "HEAD^{tree}")
    git(place, "reset", "-q", "--soft", git(place, "commit-tree", "-m", "anew", tree))
    assert _push(place, tmp_path).status == 0
    forced = _push(place, tmp_path, since=before)
    assert forced.status == 1
    assert "INV-12" in forced.summary
    fresh = Place(tmp_path / "fresh", place.env)
    git(place, "clone", "-q", place.root.as_uri(), str(fresh.root))
    assert _push(fresh, tmp_path, since=before).status == 1


def test_a_level_that_is_not_reached_has_its_own_status(place: Place, tmp_path: Path) -> None:
    step = _push(place, tmp_path, require="L2")
    assert step.status == 4
    assert step.outputs["verdict"] == "pass"
    assert "BELOW L2" in step.summary


def test_a_pull_request_is_checked_at_its_head_and_shown_on_its_lines(
    place: Place, tmp_path: Path
) -> None:
    _edited(place, "facts/plain.md", "Only", "Merely")
    base = _edited(place, "facts/limit.md", "Two people", "Nobody")
    git(place, "checkout", "-q", "-b", "topic", "HEAD~2")
    head = _edited(place, "facts/owner-2.md", "value: checkout", "value: intruder")
    git(place, "checkout", "-q", "main")
    git(place, "merge", "-q", "-m", "merge", "topic")
    step = _pull(place, tmp_path, base, head)
    assert step.status == 1
    assert step.outputs["verdict"] == "fail"
    assert {c.properties["file"] for c in step.commands} == {"facts/owner-2.md"}
    assert {c.name for c in step.commands} == {"error"}
    lines = {c.properties["title"]: c.properties["line"] for c in step.commands}
    assert lines == {"INV-2 payload-changed": "7", "INV-10 unrecorded-version": "7"}
    assert "facts/owner-2&#46;md" in step.summary
    assert head in step.summary


def test_findings_of_the_change_come_before_older_ones(place: Place, tmp_path: Path) -> None:
    base = _edited(place, "facts/limit.md", "Two people", "Nobody")
    head = _edited(place, "facts/owner-2.md", "value: checkout", "value: intruder")
    step = _pull(place, tmp_path, base, head)
    files = [c.properties["file"] for c in step.commands]
    assert files == sorted(files, reverse=True)
    assert set(files) == {"facts/limit.md", "facts/owner-2.md"}


def test_a_shallow_checkout_is_incomplete_and_says_what_to_set(
    place: Place, tmp_path: Path
) -> None:
    _commit(place, "README", "x")
    shallow = Place(tmp_path / "shallow", place.env)
    git(place, "clone", "-q", "--depth=1", place.root.as_uri(), str(shallow.root))
    step = _push(shallow, tmp_path)
    assert step.status == 3
    assert step.outputs["verdict"] == "incomplete"
    assert step.commands[0].properties["title"] == "shallow checkout"
    assert "fetch-depth: 0" in step.commands[0].message
    assert "fetch-depth&#58; 0" in step.summary


def test_a_head_that_was_not_fetched_is_incomplete(place: Place, tmp_path: Path) -> None:
    step = _pull(place, tmp_path, "0" * 40, "1" * 40)
    assert step.status == 3
    assert step.outputs == {"verdict": "incomplete", "level": "L0"}
    (command,) = step.commands
    assert command.properties["title"] == "syn verify no-head"
    assert "not its merge" in command.message


@pytest.mark.parametrize(
    ("inputs", "status", "word"),
    [
        ({"since": "", "trust": "", "root": "", "require": "", "profile": "", "deep": ""}, 0, ""),
        ({"require": "L9"}, 2, "expected L1, L2, L3 or L4"),
        ({"profile": HOSTILE}, 2, "expected standard or strict"),
        ({"since": "nowhere.tlog-proof"}, 2, "no file and no commit"),
        ({"trust": "not a key"}, 3, "expected a key type"),
        ({"trust": "/nowhere/key.pub"}, 2, "no file"),
    ],
)
def test_inputs_that_make_no_sense(
    place: Place, tmp_path: Path, inputs: dict[str, str], status: int, word: str
) -> None:
    step = _push(place, tmp_path, **inputs)
    assert step.status == status, step.log
    assert word in "".join(command.message for command in step.commands)
    assert step.outputs["verdict"] == ("incomplete" if status else "pass")
    assert not (place.root / "pwned").exists()


def test_a_flag_is_true_or_false(place: Place, tmp_path: Path) -> None:
    step = _push(place, tmp_path, deep="perhaps")
    assert step.status == 2
    assert "SYNAPSE_CI_DEEP" in step.log
    assert _push(place, tmp_path, deep="false").status == 0


@pytest.mark.parametrize(
    ("event", "status"), [("", 0), ("{}", 0), ("[]", 3), ("{", 3), ('{"pull_request": 3}', 3)]
)
def test_an_event_that_is_not_one(place: Place, tmp_path: Path, event: str, status: int) -> None:
    sha = git(place, "rev-parse", "HEAD")
    step = run_verify(place, tmp_path / "runner", event, {"GITHUB_SHA": sha})
    assert step.status == status, step.log


def test_without_a_commit_it_is_no_job(place: Place, tmp_path: Path) -> None:
    step = run_verify(place, tmp_path / "runner", "{}", {"GITHUB_SHA": "HEAD; touch pwned"})
    assert step.status == 2
    assert step.commands[0].properties["title"] == "syn verify no-job"


@pytest.mark.parametrize("variable", ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "RUNNER_TEMP"])
def test_a_runner_that_cannot_be_written_to_is_no_pass(
    place: Place, tmp_path: Path, variable: str
) -> None:
    (tmp_path / "file").write_text("x")
    names = {"GITHUB_SHA": git(place, "rev-parse", "HEAD"), variable: str(tmp_path / "file" / "x")}
    step = run_verify(place, tmp_path / "runner", "{}", names)
    assert step.status == 3
    assert step.commands[-1].properties["title"] == "syn verify cannot-write"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("ZeroDivisionError('::error::x')", "internal error: ZeroDivisionError: ::error::x"),
        ("OSError(28, 'No space left on device', '/x')", "/x: no space left on device"),
        ("MemoryError()", "the input is too deep or too large to read"),
    ],
)
def test_an_error_that_nobody_foresaw_is_said_in_every_place(
    place: Place, tmp_path: Path, error: str, message: str
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import syn.services.proving.verifying as service\n"
        f"def fails(*_, **__):\n    raise {error}\n"
        "service.verify = fails\n"
    )
    names = {"GITHUB_SHA": git(place, "rev-parse", "HEAD"), "PYTHONPATH": str(site)}
    step = run_verify(place, tmp_path / "runner", "{}", names)
    assert step.status == 3
    assert step.outputs == {"verdict": "error", "level": "L0"}
    assert step.summary.startswith("## syn verify: nothing was checked")
    assert [(c.name, c.message.partition(";")[0]) for c in step.commands] == [("error", message)]


def test_outside_a_workspace_the_remedy_is_to_make_one(place: Place, tmp_path: Path) -> None:
    git(place, "rm", "-q", "synapse.toml")
    git(place, "commit", "-q", "-m", "gone")
    step = _push(place, tmp_path)
    assert step.status == 2
    assert "syn init" in step.commands[0].message


def test_what_a_fact_holds_gives_no_command_and_no_markdown(place: Place, tmp_path: Path) -> None:
    forged = "::error::forged ##[add-mask]x <img src=x> [l](http://e) | @someone"
    name = "facts/::set-output name=verdict,x%0A::.md"
    _commit(
        place, name, f'---\nid: "{forged}"\ntitle: "\\u001b]0;x\\u0007{forged}"\n---\n{forged}\n'
    )
    step = _push(place, tmp_path)
    assert step.status == 1
    assert {command.name for command in step.commands} == {"error"}
    assert {command.properties["file"] for command in step.commands} == {name}
    assert step.outputs["verdict"] == "fail"
    for mark in ("<img", "[l](", "@someone", "| @"):
        assert mark not in step.summary
    assert not (place.root / "pwned").exists()


def test_nothing_that_lies_in_the_checkout_is_run(place: Place, tmp_path: Path) -> None:
    for module in ("syn", "pip", "venv", "typer"):
        _commit(place, f"{module}.py", f"open({str(tmp_path / 'mark')!r}, 'w')\n")
    assert _push(place, tmp_path).status == 0
    assert not (tmp_path / "mark").exists()


def test_key_and_witness_as_texts_reach_a_higher_level(parties: Parties, tmp_path: Path) -> None:
    trust, since = parties.key.read_text(), parties.witness.read_text()
    step = _push(parties.auditor, tmp_path, trust=trust, since=since, require="L4")
    assert step.status == 0, step.log
    assert step.outputs["level"] == "L4"
    again = tmp_path / "again.tlog-proof"
    again.write_bytes(Path(step.outputs["witness"]).read_bytes())
    done(parties.auditor, "witness", "verify", str(again), "--trust", str(parties.key))


def test_with_a_key_the_report_is_signed_and_a_second_run_keeps_nothing_of_it(
    parties: Parties, tmp_path: Path
) -> None:
    step = _push(parties.owner, tmp_path)
    assert step.status == 0, step.log
    assert json.loads(Path(step.outputs["report"]).read_bytes())["sig"]
    for name in ("report", "attestation"):
        done(parties.auditor, "report", "verify", step.outputs[name], "--trust", str(parties.key))


def test_the_install_step_runs_nothing_of_the_checkout() -> None:
    (step,) = [item for item in ACTION["runs"]["steps"] if item.get("id") == "install"]
    assert step["working-directory"] == "${{ runner.temp }}"
    for line in step["run"].splitlines():
        if " -m " in line:
            assert " -I -m " in line
    subprocess.run(["bash", "-n", "-c", step["run"]], check=True)


WORKFLOWS = [ROOT / "action.yml", *sorted((ROOT / ".github/workflows").glob("*.yml"))]


_FORGE = re.compile(r"(?:actions/[a-z-]+|github/codeql-action/upload-sarif)@(?:v\d+|[0-9a-f]{40})")
"""Actions of the forge itself, by major version or commit."""


def _steps(document: Any) -> list[dict[str, Any]]:
    jobs = document.get("jobs", {}).values()
    return [*document.get("runs", {}).get("steps", ()), *(s for j in jobs for s in j["steps"])]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_expression_stands_in_a_script(path: Path) -> None:
    document = yaml.safe_load(path.read_text("utf-8"))
    steps = _steps(document)
    assert steps
    for step in steps:
        assert "${{" not in step.get("run", "")
        uses = step.get("uses", "./")
        assert uses == "./" or _FORGE.fullmatch(uses), uses
        if "run" in step and path.name == "action.yml":
            assert step["shell"] == "bash"
    if path.name != "action.yml":
        assert document["permissions"] == {"contents": "read"}


DOORS = (ROOT / "docs" / "doors.md").read_text("utf-8")


def test_the_workflows_of_the_page_are_ones() -> None:
    blocks = re.findall(r"```yaml\n(name: .*?)```", DOORS, re.DOTALL)
    assert len(blocks[0].splitlines()) == 10
    for block in blocks:
        document = yaml.safe_load(block)
        assert document["permissions"] == {"contents": "read"}
        (step,) = _steps(document)
        assert set(step["with"]) <= set(ACTION["inputs"])


def test_every_input_and_output_is_on_the_page() -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (?:`(.+?)`)? ?\|", DOORS, re.MULTILINE))
    assert rows == {name: item["default"] for name, item in ACTION["inputs"].items()}
    for name in ACTION["outputs"]:
        assert f"`{name}`" in DOORS


def test_every_input_is_used_and_documented() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    for name, item in ACTION["inputs"].items():
        assert item["description"].strip().endswith((".", ")")), name
        assert f"inputs.{name}" in text
    (verify,) = [item for item in ACTION["runs"]["steps"] if item.get("id") == "verify"]
    options = syn_here(Place(ROOT, {"PATH": os.defpath}), "ci", "--help").out
    for variable in verify["env"]:
        assert variable == "SYNAPSE_BIN" or variable in " ".join(options.split())
