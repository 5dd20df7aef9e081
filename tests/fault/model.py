"""A memory's whole life against a model that knows the truth; `make torture`.

Writes, hand edits, branches, merges, clones, clock jumps, checkpoints, damage and repair, in any
order; after each step `syn verify --deep`, with a witness from outside, has to say what the model
knows: pass, or exactly what is wrong. `tests/property/test_memory_model.py` is the short form.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from typing_extensions import override

from tests.support.cli import Ran
from tests.support.inside import done, inside
from tests.support.parties import Parties, git, party
from tests.support.shared import ROOT
from tests.support.workspaces import Place

STATE = ROOT / "build" / "torture-model"
NAMES = ("a", "b", "c", "d", "e")
BEGINNING = {
    "owner-1": "facts/owner-1.md",
    "owner-2": "facts/owner-2.md",
    "limit": "facts/limit.md",
    "facts/plain": "facts/plain.md",
}
DAYS = tuple(f"2026-{month:02d}-{day:02d}" for month in range(1, 13) for day in (1, 15))
PUBLISHED = ".synapse/heads/owner.checkpoint"


@dataclass(frozen=True, slots=True)
class Known:
    """One fact as it is recorded, and what was done to its file since."""

    path: str
    body: str
    edited: str | None = None
    """The body of a hand edit that nobody decided on; None when there is none."""
    gone: bool = False
    """Its file was removed by hand."""

    @property
    def clean(self) -> bool:
        """Whether its file is the recorded one."""
        return self.edited is None and not self.gone


@dataclass(frozen=True, slots=True)
class Damage:
    """Something broken, how verify has to see it, and how it is taken back."""

    what: str
    verdicts: frozenset[str]
    named: str
    """A part of a path, a subject or an actual value in some finding; "" for none."""
    undo: Callable[[], None]
    """By hand: the bytes as they were."""
    repairs: tuple[str, ...] = ()
    """The command that puts it right, where there is one."""


@cache
def _template() -> tuple[Parties, Path]:
    """A published workspace, made once; every life begins with a copy of it."""
    folder = Path(tempfile.mkdtemp(prefix="synapse-model-template-"))
    parties = Parties(folder)
    return parties, folder


def forget_template() -> None:
    """Remove the template's folder."""
    if _template.cache_info().currsize:
        shutil.rmtree(_template()[1], ignore_errors=True)
        _template.cache_clear()


class Memory(RuleBasedStateMachine):
    """One workspace from its first checkpoint on, and what is true of it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="synapse-model-"))
        parties, _ = _template()
        shutil.copytree(parties.owner.root, self.folder / "ws", symlinks=True)
        shutil.copytree(
            parties.owner.env["SYNAPSE_CONFIG_DIR"], self.folder / "owner/config", symlinks=True
        )
        self.place = party(self.folder, "owner", self.folder / "ws")
        self.place.env["SYNAPSE_CONFIG_DIR"] = str(self.folder / "owner/config")
        self.key = parties.key
        self.witness = parties.witness
        self.witnessed = git(self.place, "rev-parse", "HEAD")
        self.facts: dict[str, Known] = {
            name: Known(path, (self.place.root / path).read_text().rpartition("---\n")[2])
            for name, path in BEGINNING.items()
        }
        self.damage: Damage | None = None
        self.count = 0

    @override
    def teardown(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.folder, ignore_errors=True)

    # What is asked

    def verify(self) -> Ran:
        """The whole question, with a witness and a key from outside."""
        outside = ("--since", str(self.witness), "--trust", str(self.key))
        return inside(self.place, "verify", "--deep", "--json", *outside)

    def run_done(self, *words: str) -> Ran:
        """A command that has to succeed."""
        return done(self.place, *words)

    @invariant()
    def verify_agrees(self) -> None:
        """The verdict, and every failure, are those the model knows of."""
        ran = self.verify()
        assert "predicate" in ran.out, (ran.out, ran.err)
        predicate = ran.json["predicate"]
        found = [f for item in predicate["invariants"] for f in item["findings"]]
        found += predicate["local"]["findings"]
        wrong = {(f["code"], f["path"]) for f in found if f["severity"] != "warning"}
        expected = {
            ("fact-missing" if known.gone else "payload-changed", known.path)
            for known in self.facts.values()
            if not known.clean
        }
        if self.damage is None:
            assert wrong == expected, (wrong, expected)
            assert predicate["verdict"] == ("fail" if expected else "pass")
            assert predicate["witness_status"] == "consistent"
            return
        verdicts = {"fail"} if expected else self.damage.verdicts
        assert predicate["verdict"] in verdicts, (self.damage.what, predicate["verdict"], wrong)
        text = "\n".join(f"{f['path']} {f['subject']} {f['actual']}" for f in found)
        assert self.damage.named in text, (self.damage.what, text)

    @invariant()
    def reads_agree(self) -> None:
        """What is handed out is what is recorded."""
        if self.damage is not None or not self.all_clean:
            return
        ran = self.run_done("list", "--json", "--limit", "200")
        assert {item["id"] for item in ran.json["items"]} == set(self.facts)
        for known in self.facts.values():
            assert (self.place.root / known.path).read_text().endswith(known.body)

    @property
    def all_clean(self) -> bool:
        """Whether no file is other than its record."""
        return all(known.clean for known in self.facts.values())

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return self.damage is None

    # Decisions

    @initialize(day=st.sampled_from(DAYS))
    def begin(self, day: str) -> None:
        """A clock of any date."""
        self.place.env["SYNAPSE_NOW"] = f"{day}T00:00:00Z"

    @rule(day=st.sampled_from(DAYS))
    def clock_jumps(self, day: str) -> None:
        """Forwards or backwards."""
        self.place.env["SYNAPSE_NOW"] = f"{day}T12:00:00Z"

    @precondition(lambda self: self.sound)
    @rule(name=st.sampled_from(NAMES), number=st.integers(0, 9))
    def add(self, name: str, number: int) -> None:
        """A new fact."""
        if name in self.facts:
            return
        self.count += 1
        body = f"Added {number}, {self.count}.\n"
        made = self.run_done("add", "--id", name, "--title", name, "--body", body, "--json")
        path = self._path_of(name)
        self.facts[name] = Known(path, body)
        assert made.status == 0

    def _path_of(self, name: str) -> str:
        ran = self.run_done("show", name, "--json")
        return str(ran.json["path"])

    def _some(self, number: int, *, clean: bool = True) -> str | None:
        names = sorted(name for name, known in self.facts.items() if known.clean is clean)
        return names[number % len(names)] if names else None

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99))
    def edit(self, number: int) -> None:
        """Another body, through `syn edit`."""
        name = self._some(number)
        if name is None:
            return
        self.count += 1
        body = f"Edited {self.count}.\n"
        self.run_done("edit", name, "--body", body, "--anyway")
        self.facts[name] = replace(self.facts[name], body=body)

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99))
    def delete(self, number: int) -> None:
        """A fact that a decision ends; the two that succeed one another stay."""
        name = self._some(number)
        if name is None or name.startswith("owner"):
            return
        self.run_done("rm", name)
        del self.facts[name]

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99))
    def move(self, number: int) -> None:
        """Another place."""
        name = self._some(number)
        if name is None:
            return
        self.count += 1
        path = f"facts/moved/{self.count}.md"
        self.run_done("move", name, path)
        self.facts[name] = replace(self.facts[name], path=path)

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99))
    def edit_and_undo(self, number: int) -> None:
        """Two decisions that leave everything as it was."""
        name = self._some(number)
        if name is None:
            return
        self.count += 1
        made = self.run_done("edit", name, "--tag", f"t{self.count}", "--json")
        (entry, *_) = made.json["entries"]
        digest = entry["hash"] if isinstance(entry, dict) else entry
        self.run_done("undo", digest.removeprefix("sha256:"))

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99))
    def quarantine_and_clear(self, number: int) -> None:
        """Held and let go again: no verdict depends on it."""
        name = self._some(number)
        if name is not None:
            self.run_done("quarantine", name, "-m", "doubt")
            self.verify_agrees()
            self.run_done("clear", name, "--yes")

    # Hands

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99))
    def edit_by_hand(self, number: int) -> None:
        """Nobody decides on it, yet."""
        name = self._some(number)
        if name is None:
            return
        self.count += 1
        known = self.facts[name]
        file = self.place.root / known.path
        text = file.read_text().removesuffix(known.body) + f"By hand {self.count}.\n"
        file.write_text(text)
        self.facts[name] = replace(known, edited=f"By hand {self.count}.\n")

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99))
    def remove_by_hand(self, number: int) -> None:
        """A file that is gone; the two that succeed one another stay."""
        name = self._some(number)
        if name is None or name.startswith("owner"):
            return
        known = self.facts[name]
        (self.place.root / known.path).unlink()
        self.facts[name] = replace(known, gone=True)

    @precondition(lambda self: self.sound and not self.all_clean)
    @rule()
    def adopt(self) -> None:
        """All hand edits are decided on."""
        paths = [known.path for known in self.facts.values() if not known.clean]
        self.run_done("adopt", "--yes", "--deletes", *paths)
        for name, known in [*self.facts.items()]:
            if known.gone:
                del self.facts[name]
            elif known.edited is not None:
                self.facts[name] = Known(known.path, known.edited)

    @precondition(lambda self: self.sound and not self.all_clean)
    @rule(number=st.integers(0, 99))
    def restore(self, number: int) -> None:
        """One hand edit is taken back."""
        name = self._some(number, clean=False)
        assert name is not None
        self.run_done("restore", name)
        known = self.facts[name]
        self.facts[name] = Known(known.path, known.body)

    # Git

    @precondition(lambda self: self.sound and self.all_clean)
    @rule(first=st.integers(0, 99), second=st.integers(0, 99))
    def branch_and_merge(self, first: int, second: int) -> None:
        """Both sides decide, on different facts, and one takes the other in."""
        one, other = self._some(first), self._some(second)
        if one is None or other is None or one == other:
            return
        self.count += 1
        bodies = f"Here {self.count}.\n", f"There {self.count}.\n"
        git(self.place, "checkout", "-q", "-b", f"side-{self.count}")
        self.run_done("edit", other, "--body", bodies[1], "--anyway")
        git(self.place, "checkout", "-q", "main")
        self.run_done("reindex")
        self.run_done("edit", one, "--body", bodies[0], "--anyway")
        git(self.place, "merge", "-q", "--no-ff", "--no-edit", f"side-{self.count}")
        self.run_done("reindex")
        for name, body in ((one, bodies[0]), (other, bodies[1])):
            self.facts[name] = replace(self.facts[name], body=body)

    @precondition(lambda self: self.sound and self.all_clean)
    @rule()
    def clone(self) -> None:
        """Life goes on in a fresh clone."""
        self.count += 1
        root = self.folder / f"clone-{self.count}"
        git(
            self.place, "-c", "protocol.file.allow=always", "clone", "-q",
            self.place.root.as_uri(), str(root),
        )  # fmt: skip
        self.place = Place(root, self.place.env)

    @precondition(lambda self: self.sound)
    @rule()
    def collect_garbage(self) -> None:
        """Git packs its objects."""
        git(self.place, "gc", "-q", "--prune=now")

    @precondition(lambda self: self.sound)
    @rule(full=st.booleans())
    def reindex(self, full: bool) -> None:
        """The index is built, anew or where it is behind."""
        self.run_done("reindex", *(["--full"] if full else []))

    @precondition(lambda self: self.sound and self.all_clean)
    @rule()
    def publish(self) -> None:
        """A checkpoint, and a witness of it that is kept outside."""
        self.count += 1
        self.run_done("checkpoint", "--take-over")
        self.witness = self.folder / f"witness-{self.count}.tlog-proof"
        self.run_done("witness", "publish", "-o", str(self.witness))
        self.witnessed = git(self.place, "rev-parse", "HEAD")

    # Damage

    def _hurt(
        self, what: str, path: str, change: Callable[[bytes], bytes | None], **more: Any
    ) -> None:
        file = self.place.root / path
        before = file.read_bytes()
        after = change(before)
        file.chmod(0o644)
        if after is None:
            file.unlink()
        else:
            file.write_bytes(after)

        def undo() -> None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(before)

        more.setdefault("named", path)
        more.setdefault("verdicts", frozenset({"fail"}))
        self.damage = Damage(what, undo=undo, **more)

    def _segment(self, number: int) -> str:
        found = sorted((self.place.root / ".synapse/ledger").glob("*/*.jsonl"))
        return found[number % len(found)].relative_to(self.place.root).as_posix()

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99), at=st.integers(0, 1 << 16), bit=st.integers(0, 7))
    def flip_the_ledger(self, number: int, at: int, bit: int) -> None:
        """One bit of one line."""
        path = self._segment(number)
        self._hurt("ledger flipped", path, lambda data: _flip(data, at, bit))

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99))
    def cut_the_ledger(self, number: int) -> None:
        """Its last decision is gone."""
        path = self._segment(number)
        self._hurt("ledger cut", path, lambda data: b"".join(data.splitlines(keepends=True)[:-1]))

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99))
    def tear_the_ledger(self, number: int) -> None:
        """A write that a crash cut off."""
        path = self._segment(number)
        self._hurt(
            "ledger torn",
            path,
            lambda data: data + data.splitlines()[-1][:40],
            verdicts=frozenset({"incomplete"}),
            repairs=("repair", "--yes"),
        )

    @precondition(lambda self: self.sound)
    @rule(at=st.integers(0, 1 << 16), bit=st.integers(0, 7))
    def flip_the_checkpoint(self, at: int, bit: int) -> None:
        """One bit of the signed note."""
        self._hurt(
            "checkpoint flipped", PUBLISHED, lambda data: _flip(data, at, bit), named="owner"
        )

    @precondition(lambda self: self.sound)
    @rule()
    def open_the_policy(self) -> None:
        """Another key lets itself in."""
        stranger = b"mallory admin,writer,publisher active "
        self._hurt(
            "policy", ".synapse/policy", lambda data: data + stranger + data.split(b" ", 3)[3]
        )

    @precondition(lambda self: self.sound)
    @rule(number=st.integers(0, 99), lost=st.booleans())
    def hurt_an_object(self, number: int, lost: bool) -> None:
        """HEAD's own copy of a fact, where it lies loose."""
        name = self._some(number)
        if name is None:
            return
        oid = git(self.place, "rev-parse", f"HEAD:{self.facts[name].path}")
        path = f".git/objects/{oid[:2]}/{oid[2:]}"
        if (self.place.root / path).exists():
            self._hurt(
                "object",
                path,
                lambda data: None if lost else _flip(data, len(data) // 2, 4),
                named=oid,
                verdicts=frozenset({"incomplete"} if lost else {"fail"}),
            )

    @precondition(lambda self: self.sound and self.all_clean)
    @rule(number=st.integers(0, 99))
    def edit_the_index(self, number: int) -> None:
        """A row says something else; SQLite's own checks hold."""
        name = self._some(number)
        if name is None:
            return
        self.run_done("reindex")
        database = self.place.root / ".synapse/index.db"
        before = database.read_bytes()
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE fact SET title = 'Forged' WHERE id = ?", (name,))

        def put_back() -> None:
            database.write_bytes(before)

        self.damage = Damage(
            "index row",
            frozenset({"fail"}),
            self.facts[name].path,
            put_back,
            ("repair", "--yes"),
        )

    @precondition(lambda self: self.sound and self.all_clean)
    @rule(back=st.integers(1, 3))
    def rewind(self, back: int) -> None:
        """The branch is put back: behind the witness it is seen, else nobody can know."""
        head = git(self.place, "rev-parse", "HEAD")
        line = git(self.place, "rev-list", "--first-parent", "HEAD").split()
        if len(line) <= back:
            return
        target = line[back]
        covered = git(self.place, "merge-base", target, self.witnessed) == self.witnessed
        git(self.place, "reset", "-q", "--hard", target)

        def undo() -> None:
            git(self.place, "reset", "-q", "--hard", head)

        verdict = "pass" if covered else "fail"
        self.damage = Damage("rewound", frozenset({verdict}), "", undo)

    @precondition(lambda self: not self.sound)
    @rule(by_command=st.booleans())
    def heal(self, by_command: bool) -> None:
        """By the command that can, or from a copy."""
        assert self.damage is not None
        if by_command and self.damage.repairs:
            ran = inside(self.place, *self.damage.repairs)
            assert ran.status in (0, 1), (ran.out, ran.err)
            # It also brings files back that are gone; a hand edit is left to its author.
            for name, known in self.facts.items():
                self.facts[name] = replace(known, gone=False)
        else:
            self.damage.undo()
        self.damage = None


def _flip(data: bytes, at: int, bit: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


CALM = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


def live(lives: int, steps: int, number: int) -> None:
    """Some lives of some steps; the number decides which.

    Raises:
        AssertionError: verify and the model disagree; hypothesis prints the steps of that life.
    """
    wanted = settings(
        max_examples=lives,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=CALM,
        phases=(Phase.generate,),  # a shorter life takes many lives to find
        print_blob=False,
    )
    run_state_machine_as_test(seed(number)(type("Memory", (Memory,), {})), settings=wanted)


def torture(seconds: float) -> str:
    """Life after life until the time is up, others at each run."""
    number = int(STATE.read_text()) if STATE.exists() else 1
    first, end = number, monotonic() + seconds
    STATE.parent.mkdir(exist_ok=True)
    while monotonic() < end:
        live(LIVES, STEPS, number)
        number += 1
        STATE.write_text(str(number))
    forget_template()
    return f"model: {LIVES * (number - first)} lives of {STEPS} steps, verify agreed with each"


LIVES, STEPS = 5, 40
