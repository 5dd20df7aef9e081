"""Edits with intent: who knows what, what they do with it, and what each run of verify says of it.

`fixtures/threat_table.py` writes the answers into docs/threat-model.md.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from syn.canon.digest import sha256
from syn.facts.parse import parse
from syn.keys import openssh
from syn.ledger.entry import encode, entry_hash, genesis
from syn.model.fact import Fact
from syn.services.config import parse_config
from tests.e2e.attacks.scene import ACTIONS, Action, Base, Scene
from tests.support.inside import done, inside
from tests.support.parties import git, party
from tests.support.proofs import private_key

QUESTIONS = (
    ("`verify`", ()),
    ("`--deep`", ("--deep",)),
    ("`--deep --since W --trust K`", ("--deep", "--since", "{witness}", "--trust", "{key}")),
)
"""The columns: what somebody asks who holds nothing, has time, has a witness from before."""
MOVES: dict[str, Action] = {}


def move(function: Action) -> Action:
    """Enter a move of an attacker; those of `scene.ACTIONS` can be used beside them."""
    MOVES[function.__name__.replace("_", "-")] = function
    return function


@dataclass(frozen=True, slots=True)
class Edit:
    """One row: what an attacker who knows so much does."""

    knows: str
    title: str
    do: tuple[str, ...]
    because: str = ""
    """Why nothing here catches it, or what it takes; needed where a column passes."""
    witness: bool = True
    """Somebody kept a witness from before."""


FILES = "edits files"
HASHES = "also computes hashes anew"
KEY = "also has a writer's key"
HISTORY = "also rewrites git's history"
OWNER = "also has every key"
CLONE = "also puts back or removes the whole clone"

NOBODY = "nobody kept a witness from before, so there is nothing to hold it against"
GOOD_KEY = (
    "it is what a writer does; `syn policy compromise` takes it back, but for what a witness covers"
)
EDITS = (
    Edit(FILES, "a fact edited", ("edit-fact",)),
    Edit(FILES, "a fact edited, and hidden from git status", ("hidden-edit",)),
    Edit(FILES, "a fact edited, and committed", ("edit-fact", "commit")),
    Edit(
        FILES,
        "a fact edited, committed, and taken back by another commit",
        ("edit-fact", "commit", "unedit-fact", "commit"),
        "the state is the recorded one; only `--deep` looks at what was in between",
    ),
    Edit(FILES, "a fact removed, and committed", ("remove-fact", "commit")),
    Edit(FILES, "a fact added, and committed", ("add-fact", "commit")),
    Edit(FILES, "a row of the index edited", ("edit-row",)),
    Edit(FILES, "a byte of the ledger flipped", ("flip-entry",)),
    Edit(FILES, "a decision taken out, and committed", ("delete-entry", "commit")),
    Edit(FILES, "the last line of the ledger cut, and committed", ("cut-last-line",)),
    Edit(FILES, "a segment removed, and committed", ("delete-segment", "commit")),
    Edit(FILES, "the policy replaced, and committed", ("garbage-policy",)),
    Edit(FILES, "a receipt changed, and committed", ("receipt", "change-receipt", "commit")),
    Edit(FILES, "another object in the place of a fact's", ("swap-object",)),
    Edit(
        HASHES, "a fact edited, its decision and every later line chained anew", ("forge-decision",)
    ),
    Edit(HASHES, "the same, and committed", ("forge-decision", "commit")),
    Edit(HASHES, "one writer's history split in two", ("equivocate", "commit")),
    Edit(
        HASHES,
        "a fact edited, and a decision on it appended without a signature",
        ("decide-unsigned",),
        "it is what `syn adopt` does without a key: the decision stands in the log under a name "
        "that nobody proved. The level says so (no L4), and no agent is handed the fact",
    ),
    Edit(HASHES, "a key of one's own added to the policy", ("self-admit",)),
    Edit(
        KEY, "a fact edited, and decided on with that key", ("add-bob", "decide-as-bob"), GOOD_KEY
    ),
    Edit(
        KEY,
        "the same, and later the policy calls the key compromised",
        ("add-bob", "decide-as-bob", "compromise-bob"),
        "who signed what is asked from a trust root on",
    ),
    Edit(
        KEY,
        "a decision of somebody else forged under that key",
        ("add-bob", "forge-decision", "commit-by-bob"),
    ),
    Edit(
        HISTORY,
        "the newest decision taken out of history, nobody saw it",
        ("decide", "reset-one"),
        "no witness is from after it: publish after each session",
    ),
    Edit(
        HISTORY,
        "the newest decision taken out of history, a witness saw it",
        ("decide", "checkpoint", "publish", "reset-two"),
        "alone, an older state is a good state",
    ),
    Edit(
        HISTORY,
        "a fact edited in the first commit that has it, all of history made anew",
        ("forge-past",),
        "alone, it is a history like any other; it lost its checkpoints, so its level",
    ),
    Edit(
        HISTORY,
        "the witnessed commit made anew with another message",
        ("amend",),
        "alone, it is as good as the first",
    ),
    Edit(
        OWNER, "every commit made anew and signed", ("rewrite-signed",), "alone, it holds as well"
    ),
    Edit(
        OWNER,
        "everything written and signed anew, with other facts",
        ("start-over",),
        "alone, it is a workspace like any other",
    ),
    Edit(
        OWNER,
        "two histories, one for each of two people",
        ("fork-witness",),
        "whoever holds one alone sees nothing wrong; the two notes together prove it",
    ),
    Edit(OWNER, "one false history from the start", ("start-over",), NOBODY, witness=False),
    Edit(
        CLONE,
        "an older whole copy put back, a witness is newer",
        ("decide", "checkpoint", "publish", "put-back"),
        "the copy was good when it was made",
    ),
    Edit(
        CLONE,
        "an older whole copy put back, nobody saw the newer",
        ("decide", "put-back"),
        NOBODY,
        witness=False,
    ),
    Edit(CLONE, "the repository removed, the files left", ("remove-repository",)),
)


@move
def unedit_fact(scene: Scene) -> None:
    git(scene.owner, "checkout", "-q", "HEAD~1", "--", "facts/owner-2.md")


@move
def remove_fact(scene: Scene) -> None:
    (scene.root / "facts/limit.md").unlink()


@move
def add_fact(scene: Scene) -> None:
    (scene.root / "facts/more.md").write_text("---\nid: more\n---\nNobody decided on it.\n")


@move
def remove_repository(scene: Scene) -> None:
    shutil.rmtree(scene.root / ".git")


@move
def put_back(scene: Scene) -> None:
    """The copy that the scene began with, in the place of everything that came since."""
    shutil.rmtree(scene.root)
    shutil.copytree(scene.base.parties.owner.root, scene.root, symlinks=True)


@move
def forge_decision(scene: Scene) -> None:
    """The fact, its own decision's digests, and every hash after it: nothing is left to see."""
    _chain_anew(scene, without_policy=False)


def _chain_anew(scene: Scene, *, without_policy: bool) -> None:
    ACTIONS["edit-fact"](scene)
    config = parse_config((scene.root / "synapse.toml").read_bytes())
    path = "facts/owner-2.md"
    data = (scene.root / path).read_bytes()
    fact = parse(path, data, config)
    assert isinstance(fact, Fact)
    hashes: dict[str, str] = {}
    prev, lines = "", []
    kept = [old for old in scene.entries() if not (without_policy and old.action == "policy")]
    for seq, old in enumerate(kept, 1):
        changed = replace(
            old,
            seq=seq,
            batch="",
            prev=prev or genesis(config.id, old.writer),
            after=tuple(hashes.get(item, item) for item in old.after),
        )
        if old.fact == fact.id:
            changed = replace(changed, payload=fact.payload_digest, source=sha256(data))
        changed = replace(changed, key="", sig="")
        prev = entry_hash(changed)
        hashes[entry_hash(old)] = prev
        lines.append(encode(changed) + b"\n")
    scene.segment.write_bytes(b"".join(lines))


@move
def forge_past(scene: Scene) -> None:
    """The forged ledger and fact in one first commit, with the checkpoints taken out."""
    _chain_anew(scene, without_policy=True)
    shutil.rmtree(scene.root / ".synapse/heads")
    (scene.root / ".synapse/policy").unlink()
    shutil.rmtree(scene.root / ".git")
    git(scene.owner, "init", "-q", "--initial-branch=main")
    scene.commit()


@move
def decide_unsigned(scene: Scene) -> None:
    ACTIONS["edit-fact"](scene)
    done(party(scene.folder, "mallory", scene.root), "adopt", "--yes")


@move
def decide_as_bob(scene: Scene) -> None:
    bob = party(scene.folder, "bob", scene.root)
    keys = Path(bob.env["SYNAPSE_CONFIG_DIR"]) / "keys"
    keys.mkdir(parents=True)
    openssh.save(private_key(2), keys / "identity")
    ACTIONS["edit-fact"](scene)
    done(bob, "adopt", "--yes")


def answers(base: Base, edit: Edit, folder: Path) -> tuple[str, ...]:
    """What each question says of a copy to which the edit was made."""
    scene = Scene(base, folder)
    for name in edit.do:
        (MOVES.get(name) or ACTIONS[name])(scene)
    asked = QUESTIONS if edit.witness else QUESTIONS[:-1]
    found = [_answer(scene, words) for _, words in asked]
    return (*found, *["there is none"] * (len(QUESTIONS) - len(found)))


def _answer(scene: Scene, words: tuple[str, ...]) -> str:
    ran = inside(scene.owner, "verify", "--json", *scene.asked(list(words)))
    if "predicate" not in ran.json:
        return f"no report: {ran.json['error']['code']}, exit {ran.status}"
    predicate = ran.json["predicate"]
    if predicate["verdict"] == "pass":
        return f"pass, {predicate['level']}"
    return "; ".join(_named(predicate))


def _named(predicate: dict[str, Any]) -> Iterator[str]:
    """Each invariant that does not pass, with the first thing it found."""
    local = predicate["local"]["findings"]
    for item in predicate["invariants"]:
        if item["status"] not in ("fail", "incomplete"):
            continue
        own = [*item["findings"], *(f for f in local if f["invariant"] == item["id"])]
        codes = sorted({f["code"] for f in own if f["severity"] != "warning"})
        more = f" +{len(codes) - 1}" if len(codes) > 1 else ""
        word = "" if item["status"] == "fail" else " (incomplete)"
        yield f"{item['id']} {codes[0]}{more}{word}"


def row(edit: Edit, found: tuple[str, ...]) -> str:
    """One line of the table.

    Raises:
        AssertionError: a question passes, and nobody said why.
    """
    passed = [text.startswith(("pass", "there is none")) for text in found]
    assert edit.because or not any(passed), (edit.title, found)
    why = f"**not caught**: {edit.because}" if all(passed) else edit.because
    return f"| {edit.title} | {' | '.join(found)} | {why} |"


def table(base: Base, folder: Path) -> str:
    """The whole table, grouped by what the attacker knows."""
    lines: list[str] = []
    heads = " | ".join(name for name, _ in QUESTIONS)
    for number, edit in enumerate(EDITS):
        if not number or edit.knows != EDITS[number - 1].knows:
            lines += ["", f"**Who {edit.knows}**", "", f"| edit | {heads} | why it passes |"]
            lines.append("| --- | --- | --- | --- | --- |")
        place = folder / str(number)
        place.mkdir()
        lines.append(row(edit, answers(base, edit, place)))
        shutil.rmtree(place)
    return "\n".join(lines).strip()
