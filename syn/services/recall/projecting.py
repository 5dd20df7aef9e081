"""From files to rows: the projection of a snapshot, one pure function per file, over an engine."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from sys import intern
from typing import TYPE_CHECKING

from syn.errors import CannotError, RefusedError
from syn.facts.parse import parse
from syn.git.parse import blob_id
from syn.git.snapshot import Snapshot, SnapshotEntry
from syn.index.project import project_file
from syn.index.rows import FileRows
from syn.model.config import Config, FactKeys
from syn.model.fact import Fact, Unreadable
from syn.model.problem import Problem
from syn.services.recall.reading import under_recorded_id

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from syn.verify.evidence import FactView

CHUNK = 64
"""Files per task: large enough that pickling a task costs less than its parsing."""

NOT_MOVED: Mapping[str, str] = {}

_LINES = frozenset(
    {"id", "valid_from", "valid_to", "supersedes", "superseded_by", "status", "value"}
)


@dataclass(frozen=True, slots=True)
class Projected:
    """One file: its rows, and what the invariants need of it."""

    rows: FileRows
    view: "FactView | None"
    """None when the file is unreadable."""
    unreadable: Unreadable | None
    blob: str = ""
    """Git's id of the bytes, to compare with HEAD's; "" when they cannot be had."""


File = tuple[str, bytes, Mapping[str, str]]
"""Path, bytes, and the recorded id of a moved fact that writes none (`LedgerView.moved`)."""


def project_bytes(config: Config, file: File) -> Projected:
    """One file to its rows. Pure and picklable: runs in this process, a pool, or a cluster."""
    path, data, moved = file
    parsed = under_recorded_id(parse(path, data, config), moved)
    rows = project_file(parsed)
    if isinstance(parsed, Fact):
        return Projected(rows, _view(parsed, config), None, blob_id(data))
    return Projected(rows, None, parsed, blob_id(data))


def _project_chunk(config: Config, files: list[File]) -> list[Projected]:
    return [project_bytes(config, file) for file in files]


@lru_cache(maxsize=16)
def _names(keys: FactKeys) -> tuple[tuple[str, str], ...]:
    """Reserved keys that findings point at, sorted, with their names in this vault."""
    return tuple((name, keys.of(name)) for name in sorted(_LINES))


@lru_cache(maxsize=4096)
def _lines(key_lines: tuple[tuple[str, int], ...], keys: FactKeys) -> tuple[tuple[str, int], ...]:
    """The lines of the reserved keys that findings point at; equal for files of one shape."""
    at = dict(key_lines)
    return tuple([(name, at[key]) for name, key in _names(keys) if key in at])


def _view(fact: Fact, config: Config) -> "FactView":
    from syn.verify.evidence import FactView  # reads never need it

    return FactView(
        path=fact.path,
        id=fact.id,
        explicit_id=fact.explicit_id,
        # The ledger says the same digests: one object, a quarter of a kilobyte less a fact.
        payload=intern(fact.payload_digest),
        source=intern(fact.source_digest),
        subject=fact.subject,
        field=fact.field,
        value=fact.value,
        status=fact.status,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        supersedes=fact.supersedes,
        superseded_by=fact.superseded_by,
        lines=_lines(fact.key_lines, config.keys),
    )


def project_all(
    snapshot: Snapshot,
    entries: Iterable[SnapshotEntry],
    config: Config,
    executor: "Executor | None" = None,
    moved: Mapping[str, str] = NOT_MOVED,
) -> Iterator[Projected]:
    """Every entry's projection, in order. A file whose bytes cannot be had is unreadable.

    Args:
        snapshot: where the bytes come from; read in this process.
        entries: in path order.
        config: decides key names and links.
        executor: anything with `submit`: a process pool or a Dask client's executor; None runs
            here. At most four chunks per worker are in flight, so memory stays flat.
        moved: path to the recorded id of a fact that writes none.
    """
    if executor is None:
        for entry in entries:
            file = read_file(snapshot, entry, moved)
            yield file if isinstance(file, Projected) else project_bytes(config, file)
        return
    yield from _project_parallel(snapshot, entries, config, executor, moved)


def read_file(
    snapshot: Snapshot, entry: SnapshotEntry, moved: Mapping[str, str]
) -> File | Projected:
    """The bytes of one entry; its projection where they cannot be had."""
    path = intern(entry.path.decode())
    try:
        data = snapshot.read(entry)
    except (CannotError, RefusedError) as error:
        return _without_bytes(path, error)
    return path, data, {path: moved[path]} if path in moved else NOT_MOVED


def _without_bytes(path: str, error: CannotError | RefusedError) -> Projected:
    problem = Problem(path, 0, error.code, error.message, error.remedy)
    unreadable = Unreadable(path, "", (problem,))
    return Projected(project_file(unreadable), None, unreadable)


def _project_parallel(
    snapshot: Snapshot,
    entries: Iterable[SnapshotEntry],
    config: Config,
    executor: "Executor",
    moved: Mapping[str, str],
) -> Iterator[Projected]:
    task = partial(_project_chunk, config)
    waiting: list[tuple[object, list[Projected | None]]] = []
    remaining = iter(entries)
    in_flight = 4 * getattr(executor, "_max_workers", 2)
    while True:
        while len(waiting) < in_flight and (chunk := list(islice(remaining, CHUNK))):
            files, places = _read_chunk(snapshot, chunk, moved)
            waiting.append((executor.submit(task, files), places))
        if not waiting:
            return
        future, places = waiting.pop(0)
        done = iter(future.result())  # type: ignore[attr-defined]
        yield from (next(done) if place is None else place for place in places)


def _read_chunk(
    snapshot: Snapshot, chunk: list[SnapshotEntry], moved: Mapping[str, str]
) -> tuple[list[File], list[Projected | None]]:
    """The readable files of a chunk, and a place per entry: None where a worker answers."""
    files: list[File] = []
    places: list[Projected | None] = []
    for entry in chunk:
        file = read_file(snapshot, entry, moved)
        if isinstance(file, Projected):
            places.append(file)
        else:
            files.append(file)
            places.append(None)
    return files, places
