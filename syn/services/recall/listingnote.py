"""What the last listing of a work tree found, so that a read need not list again (ADR 0039).

A note holds while the work tree looks as it did (`syn.git.survey`) and the index is the very file
that was found to be up to date then. It leaves out the facts themselves: each is looked up when it
is handed out, and only what asks for all of them lists them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias, get_args

from syn import __version__
from syn.errors import SynError
from syn.facts.globs import FactGlobs
from syn.git.disk import settled
from syn.git.snapshot import EntryKind, SnapshotEntry, StatKey
from syn.git.survey import Survey
from syn.git.worktree import WorktreeSnapshot
from syn.index.store import StatRecord
from syn.model.config import Config
from syn.model.finding import Json
from syn.model.problem import Problem
from syn.services.recall.notes import note_file, read_note, write_note
from syn.services.recall.reading import FactFiles, Inventory, Listed
from syn.services.workspace import Workspace

_MOST = 5_000
"""Entries that a note holds; a listing with more of them is made each time."""
_LISTS = ("config", "ledger", "lost", "lost_images", "policy", "evidence")
_PATHS = ("nested", "links")
_OWN = b".synapse/"
Sorted: TypeAlias = tuple[Inventory, FactFiles]


@dataclass(frozen=True)
class Look:
    """How a work tree and its index looked at one moment."""

    tree: Survey
    now_ns: int
    """The file system's clock before that."""
    index: str
    """The index file's stat."""

    @cached_property
    def name(self) -> str:
        """One name for it, which no other look has."""
        return f"{self.tree.digest()} {self.index}"


class Unlisted:
    """The facts of a listing that was not made again: looked up one by one, or listed after all."""

    def __init__(
        self,
        count: int,
        look_up: Callable[[bytes], SnapshotEntry | None],
        every: Callable[[], Sorted],
    ) -> None:
        """`look_up` gives one tracked fact, and None where only a listing can tell."""
        self._count = count
        self._look_up = look_up
        self._every = every

    def __len__(self) -> int:
        return self._count

    @property
    def facts(self) -> tuple[SnapshotEntry, ...]:
        """All, in path order."""
        return self._listed.facts

    def find(self, path: bytes) -> SnapshotEntry | None:
        """The fact at a path, or None."""
        found = None if "_listed" in vars(self) else self._look_up(path)
        return found or self._listed.find(path)

    @cached_property
    def _listed(self) -> Listed:
        return Listed(self._every()[1].facts)


def listing_path(workspace: Workspace) -> Path:
    """Where the note on this work tree's listing is kept."""
    return note_file(workspace, "listings")


def remember_listing(path: Path, look: Look, listed: Sorted) -> bool:
    """Keep what a listing found; whether the next read is spared it while all looks like this.

    `look` was before the listing. A folder in which a file was touched about then is looked at
    again.
    """
    inventory, files = listed
    small = [getattr(inventory, name) for name in _LISTS]
    if sum(map(len, (*small, files.new_entries, files.refused))) > _MOST:
        return False
    folders = look.tree.folders
    calm = {place: settled(found.latest_ns, look.now_ns) for place, found in folders.items()}
    note: dict[str, Json] = {
        "v": 1,
        "program": __version__,
        "look": look.name if all(calm.values()) else "",
        "rules": look.tree.rules,
        "index": look.index,
        "folders": [
            [place.hex(), folder.names, folder.stats if calm[place] else ""]
            for place, folder in folders.items()
        ],
        "facts": len(files.known),
        "excluded": inventory.excluded,
        "missing": inventory.missing,
        "new": [_entry_json(entry) for entry in files.new_entries],
        "new_problems": [
            [path.hex(), [_problem_json(item) for item in found]]
            for path, found in files.new_problems.items()
        ],
        "refused": [
            [path, [_problem_json(item) for item in found]] for path, found in files.refused.items()
        ],
    }
    for name, entries in zip(_LISTS, small, strict=True):
        note[name] = [_entry_json(entry) for entry in entries]
    for name in _PATHS:
        note[name] = [item.hex() for item in getattr(inventory, name)]
    write_note(path, note)
    return all(calm.values())


class Noted:
    """A note on a listing, and where what is here now looks otherwise."""

    def __init__(self, note: dict[str, Json], look: Look) -> None:
        self._note = note
        self.is_same = note.get("look") == look.name
        """Whether nothing looks otherwise."""
        self._look = look

    def edited(self) -> list[bytes] | None:
        """The folders in which files may have been edited in place, where that is all there is.

        None where rules, names or the index are others, or anything of `.synapse` is.
        """
        note, tree = self._note, self._look.tree
        if (note.get("rules"), note.get("index")) != (tree.rules, self._look.index):
            return None
        before: dict[bytes, tuple[Json, Json]] = {}
        for item in _items(note["folders"]):
            written, names, stats = _items(item)
            before[_path(written)] = names, stats
        if before.keys() != tree.folders.keys():
            return None
        changed: list[bytes] = []
        for place, folder in tree.folders.items():
            names, stats = before[place]
            if names != folder.names or (stats != folder.stats and place.startswith(_OWN)):
                return None
            if stats != folder.stats:
                changed.append(place)
        return changed

    def listing(
        self, snapshot: WorktreeSnapshot, config: Config, every: Callable[[], Sorted]
    ) -> Sorted:
        """What the listing found; `every` makes it again, for what asks for all facts.

        Raises:
            ValueError, TypeError, KeyError: the note is not what `remember_listing` writes.
        """
        return _read(self._note, snapshot, config, every)


def recall_listing(path: Path, look: Look) -> Noted | None:
    """The note on a work tree, to be compared with how it looks; None when there is none."""
    note = read_note(path)
    if note is None or (note.get("v"), note.get("program")) != (1, __version__):
        return None
    return Noted(note, look)


def _read(
    note: dict[str, Json],
    snapshot: WorktreeSnapshot,
    config: Config,
    every: Callable[[], Sorted],
) -> Sorted:
    new = tuple(_entry(item) for item in _items(note["new"]))
    refused = {str(name): found for name, found in _problems(note["refused"])}
    here = frozenset(entry.path for entry in new)
    globs = FactGlobs(config)

    def find(path: bytes) -> SnapshotEntry | None:
        name = path.decode("utf-8", "surrogateescape")
        if refused or path in here or globs.match(name) != "fact":
            return None
        try:
            return snapshot.find_tracked(path)
        except SynError:
            return None

    excluded, missing = int(str(note["excluded"])), int(str(note["missing"]))
    inventory = Inventory(excluded=excluded, missing=missing)
    for name in (*_LISTS, *_PATHS):
        items = _items(note[name])
        found = [_path(item) if name in _PATHS else _entry(item) for item in items]
        setattr(inventory, name, found)
    files = FactFiles(
        known=Unlisted(int(str(note["facts"])), find, every),
        new_entries=new,
        new_problems={
            bytes.fromhex(name): found for name, found in _problems(note["new_problems"])
        },
        refused=refused,
        excluded=inventory.excluded,
    )
    return inventory, files


def _path(value: Json) -> bytes:
    return bytes.fromhex(str(value))


def _items(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise TypeError("expected a list")
    return value


def _entry_json(entry: SnapshotEntry) -> Json:
    stat = StatRecord(*entry.stat).text() if entry.stat else ""
    path, kind = entry.path.hex(), entry.kind
    return [path, kind, entry.tracked, entry.ignored, entry.head_oid, stat, entry.on_disk]


def _entry(value: Json) -> SnapshotEntry:
    path, kind, tracked, ignored, oid, stat, on_disk = _items(value)
    numbers = [int(text) for text in str(stat).split()]
    return SnapshotEntry(
        _path(path),
        _KINDS[str(kind)],
        bool(tracked),
        bool(ignored),
        str(oid),
        StatKey(*numbers) if numbers else None,
        bool(on_disk),
    )


_KINDS: dict[str, EntryKind] = {kind: kind for kind in get_args(EntryKind)}


def _problem_json(problem: Problem) -> Json:
    return [problem.path, problem.line, problem.code, problem.message, problem.remedy]


def _problems(value: Json) -> Iterator[tuple[str, tuple[Problem, ...]]]:
    for item in _items(value):
        name, found = _items(item)
        yield str(name), tuple(_problem(problem) for problem in _items(found))


def _problem(value: Json) -> Problem:
    path, line, code, message, remedy = _items(value)
    return Problem(str(path), int(str(line)), str(code), str(message), str(remedy))
