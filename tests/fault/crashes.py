"""Crashes at every system call of the writing commands, in recovery, and with what no fsync saved.

A command runs under strace and dies, or is told EIO or ENOSPC, at one of its calls that change the
disk. Then perhaps the command that recovers dies as well, and perhaps every file that was written
and not fsynced is found empty. In the end nothing may be lost, and everything must verify.
`make torture` goes on where the last run ended; the short forms are the `test_*_crashes` here.
"""

import os
import random  # noqa: TID251 - seeded
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

from tests.support.faults import TRACED
from tests.support.inside import done, inside
from tests.support.parties import Parties, party
from tests.support.shared import ROOT
from tests.support.workspaces import Place

STATE = ROOT / "build" / "torture-crashes"
SEED = 1
Then = Literal["", "again", "power"]
"""Nothing more; the recovery dies too; what was not fsynced is empty."""
FAULTS = ("signal=SIGKILL", "error=EIO", "error=ENOSPC")
COMMANDS: dict[str, tuple[str, ...]] = {
    "add": ("add", "--title", "New", "--id", "new", "--body", "x", "-m", "why"),
    "edit": ("edit", "limit", "--body", "Three people.\n", "--anyway"),
    "rm": ("rm", "limit"),
    "move": ("move", "limit", "facts/deep/limit.md"),
    "supersede": (
        *("supersede", "owner-2", "--value", "risk"),
        *("--valid-from", "2026-09-01", "--body", "", "--anyway"),
    ),
    "adopt": ("adopt", "--yes", "--deletes"),
    "restore": ("restore", "limit"),
    "quarantine": ("quarantine", "limit", "-m", "doubt"),
    "checkpoint": ("checkpoint", "--take-over"),
    "repair": ("repair", "--yes"),
    "reindex": ("reindex", "--full"),
    "image": ("image", "record", "images/one", "--session", "s", "--transcript", "../lines.jsonl"),
}
RECOVER = ("status",)


@dataclass(frozen=True, slots=True)
class Point:
    """One crash."""

    command: str
    call: str
    when: int
    fault: str
    then: Then = ""


class Ground:
    """A published workspace that every crash begins with a copy of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        parties = Parties(folder / "made")
        self.origin = parties.owner
        line = '{"role":"tool","text":"The refund limit is two people."}\n'
        (folder / "lines.jsonl").write_text(line)
        done(self.origin, "reindex")

    def copy(self, command: str) -> Place:
        """A fresh copy, with what the command is there for."""
        root = self.folder / "ws"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(self.origin.root, root, symlinks=True)
        place = party(self.folder, "owner", root)
        place.env["SYNAPSE_CONFIG_DIR"] = self.origin.env["SYNAPSE_CONFIG_DIR"]
        fact = root / "facts/limit.md"
        if command in ("adopt", "restore"):
            fact.write_text("---\nid: limit\ntitle: Refund limit\n---\nBy hand.\n")
        if command == "repair":
            fact.unlink()
            database = root / ".synapse/index.db"
            data = bytearray(database.read_bytes())
            data[len(data) // 2] ^= 0xFF
            database.write_bytes(bytes(data))
        return place

    def points(self) -> Iterator[Point]:
        """Every crash there is, in the order of the commands."""
        for command, words in COMMANDS.items():
            calls = _calls(self.copy(command), words)
            for call, count in sorted(calls.items()):
                for when in range(1, count + 1):
                    yield Point(command, call, when, FAULTS[0])
                    yield Point(command, call, when, FAULTS[0], "again")
                    yield Point(command, call, when, FAULTS[0], "power")
                    if call != "openat":
                        yield Point(command, call, when, FAULTS[1])
                        yield Point(command, call, when, FAULTS[2])


def _strace(
    place: Place, words: tuple[str, ...], *options: str
) -> "subprocess.CompletedProcess[bytes]":
    program = [sys.executable, "-m", "syn", *words]
    return subprocess.run(
        ["strace", "-f", "--seccomp-bpf", "-qq", "-e", f"trace={TRACED}", *options, *program],
        cwd=place.root,
        env=place.env,
        capture_output=True,
        check=False,
        timeout=120,
    )


def _calls(place: Place, words: tuple[str, ...]) -> Counter[str]:
    """How often the command makes each call that changes the disk, undisturbed."""
    log = place.root.with_name("calls.log")
    ran = _strace(place, words, "-o", str(log))
    assert ran.returncode in (0, 1), (words, ran.stderr[-2000:])
    names: Counter[str] = Counter()
    for line in log.read_text(errors="replace").splitlines():
        name = line.split(maxsplit=1)[1].split("(", 1)[0]
        if name != "openat" or "O_CREAT" in line:
            names[name] += 1
    return Counter({name: count for name, count in names.items() if name in TRACED.split(",")})


def crash(place: Place, words: tuple[str, ...], point: Point, when: int) -> set[Path]:
    """Run a command that is disturbed at one call; the files it wrote and did not fsync."""
    log = place.root.with_name("crash.log")
    inject = f"inject={point.call}:{point.fault}:when={when}"
    _strace(place, words, "-y", "-e", inject, "-o", str(log))
    return _unsaved(log, place.root)


_PATH = re.compile(r"<([^>]*)>")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def _unsaved(log: Path, root: Path) -> set[Path]:
    """The files below the root whose last write no fsync followed, by strace's log."""
    dirty: set[str] = set()
    for line in log.read_text(errors="replace").splitlines():
        name = line.split(maxsplit=1)[1].split("(", 1)[0] if " " in line else ""
        opened = _PATH.search(line)
        path = opened[1].removesuffix(" (deleted)") if opened else ""
        if name in ("write", "pwrite64", "ftruncate") and path.startswith("/"):
            dirty.add(path)
        elif name in ("fsync", "fdatasync"):
            dirty.discard(path)
        elif name.startswith(("rename", "link")):
            names = [_full(text, line, place) for place, text in enumerate(_TEXT.findall(line))]
            if len(names) == 2 and names[0] in dirty:
                dirty.add(names[1])
    below = str(root) + os.sep
    return {Path(path) for path in dirty if path.startswith(below) and Path(path).is_file()}


def _full(text: str, line: str, place: int) -> str:
    """A name of a rename from the folder it is relative to."""
    folders = [found for found in _PATH.findall(line) if found.startswith("/")]
    folder = folders[min(place, len(folders) - 1)] if folders else ""
    return text if text.startswith("/") else f"{folder}/{text}"


def survive(ground: Ground, point: Point) -> str:
    """Crash, recover, and look: "" or what is wrong."""
    place = ground.copy(point.command)
    words = COMMANDS[point.command]
    unsaved = crash(place, words, point, point.when)
    if point.then == "power":
        for path in unsaved:
            path.write_bytes(b"")
    if point.then == "again":
        crash(place, RECOVER, Point("status", point.call, 1, point.fault), 1 + point.when % 5)
    return _wrong(place, point)


def _wrong(place: Place, point: Point) -> str:
    status = inside(place, *RECOVER)
    if status.status not in (0, 1) or "internal error" in status.err:
        return f"status: {status.status} {status.err}"
    if (place.root / ".git/synapse/intent.json").exists():
        return "an intent is left"
    if point.command == "repair":
        repaired = inside(place, *COMMANDS["repair"])
        if repaired.status not in (0, 1):
            return f"repair: {repaired.status} {repaired.err}"
    if point.command in ("adopt", "restore") and "limit" in status.out:
        inside(place, "restore", "limit")
    ran = inside(place, "verify", "--deep", "--json")
    if ran.status != 0 and not _only_the_index(ran.json):
        return f"verify: {ran.status} {ran.out[:3000]} {ran.err}"
    if ran.status != 0:
        inside(place, "reindex", "--full")
    again = inside(place, "edit", "owner-1", "--tag", "after", "--anyway")
    if again.status != 0:
        return f"the next write: {again.status} {again.err}"
    whole = inside(place, "verify", "--deep", "--json")
    return "" if whole.status == 0 else f"after the next write: {whole.out[:3000]}"


def _only_the_index(report: dict[str, object]) -> bool:
    """Whether nothing but derived data is in question."""
    predicate = report.get("predicate")
    assert isinstance(predicate, dict), report
    broken = {i["id"] for i in predicate["invariants"] if i["status"] in ("fail", "incomplete")}
    return broken <= {"INV-1", "INV-14"}


def run(seconds: float, start: int = 0) -> tuple[int, int, Counter[str], list[str]]:
    """Crashes from `start` on: how many, of how many, the counts, what was wrong."""
    with tempfile.TemporaryDirectory(prefix="synapse-crashes-") as name:
        ground = Ground(Path(name))
        points = list(ground.points())
        random.Random(SEED).shuffle(points)
        counts: Counter[str] = Counter()
        wrong: list[str] = []
        end = monotonic() + seconds
        number = 0
        while monotonic() < end and number < len(points):
            point = points[(start + number) % len(points)]
            number += 1
            counts[f"{point.fault.partition('=')[2]} {point.then}".strip()] += 1
            if found := survive(ground, point):
                wrong.append(f"{point}\n{found}")
        return number, len(points), counts, wrong


def torture(seconds: float) -> str:
    """Go on where the last run ended; raises when a crash lost something."""
    if shutil.which("strace") is None:
        return "crashes: strace is not here"
    start = int(STATE.read_text()) if STATE.exists() else 0
    number, total, counts, wrong = run(seconds, start)
    STATE.parent.mkdir(exist_ok=True)
    STATE.write_text(str(start + number))
    said = f"crashes: {number} of {total}, from {start % total}: {dict(sorted(counts.items()))}"
    assert not wrong, "\n".join([said, *wrong[:10]])
    return f"{said}, nothing lost"


if __name__ == "__main__":
    done_, total_, counts_, wrong_ = run(float(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.write("\n".join([f"{done_} of {total_} {counts_}", *wrong_]) + "\n")
