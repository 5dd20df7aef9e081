"""The facts as a plan finds them: by id or path, decided on, and with the names still free."""

from dataclasses import dataclass

from syn.errors import CannotError, RefusedError, UsageError
from syn.facts.parse import parse
from syn.facts.twins import fold as fold_path
from syn.git.snapshot import Snapshot, SnapshotEntry
from syn.git.worktree import WorktreeSnapshot
from syn.index.resolve import fold
from syn.index.rows import FACT, FactRow
from syn.index.store import Index
from syn.model.fact import Fact, Parsed
from syn.model.problem import display_path
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import stored_bytes, under_recorded_id
from syn.services.recall.reads import UnknownFactError, near_names
from syn.services.writing.naming import PathError

_ID_KEY = FACT.columns.index("id_key")


class UndecidedError(RefusedError):
    """A fact that was changed by hand: nothing is decided on top of what nobody decided on."""

    def __init__(self, fact: str, path: str, state: str) -> None:
        super().__init__(
            "undecided",
            f"{path} is {state}: nobody decided on what stands in it now",
            f"syn adopt {path} records it, or syn restore {fact} takes it back; then try again",
        )


class NotHereError(RefusedError):
    """A fact whose file on disk is not what git stores, or is not on disk at all."""

    def __init__(self, path: str) -> None:
        super().__init__(
            "not-checked-out",
            f"{path}: it lies outside the sparse checkout, or a program or an encoding of "
            ".gitattributes stands between the file and git",
            "git sparse-checkout add its folder; or edit it with its own tools, and syn adopt it",
        )


@dataclass(frozen=True, slots=True)
class Found:
    """One fact, as it stands on disk and in the ledger."""

    id: str
    path: str
    data: bytes
    """The exact bytes on disk."""
    fact: Fact
    closed: bool
    taint: str
    quarantine: tuple[str, ...]


class Desk:
    """Finds facts, and hands each out once; keeps the ids and paths that are taken."""

    def __init__(self, reading: Reading, index: Index, *, many: bool = False) -> None:
        """`many`: thousands of names will be asked for, so all that are taken are listed once."""
        self.config = reading.config
        self._reading = reading
        self._index = index
        self._ids: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._given: set[str] = set()
        self._folded: dict[str, str] | None = None
        self._all = frozenset(e.path for e in reading.snapshot.entries()) if many else None

    def take(self, name: str) -> Found:
        """A fact that is to be changed, by id or path; each only once in a decision.

        Raises:
            UnknownFactError, UsageError: there is no such fact, or several.
            UndecidedError: it is not as it is recorded.
        """
        found = self.look(name)
        if found.id in self._given:
            raise UsageError(
                "changed-twice",
                f"{found.id}: one decision changes a fact once",
                "put both into one change, or decide twice",
            )
        self._given.add(found.id)
        return found

    def look(self, name: str) -> Found:
        """A fact, by id or path; raises as `take`."""
        row = self._row(name)
        known = self._reading.ledger.recorded.get(row.id)
        data, parsed = self._bytes(row.path)
        if not isinstance(parsed, Fact) or known is None:
            raise UndecidedError(row.id, row.path, "new" if known is None else "unreadable")
        if (known.payload, known.path) != (parsed.payload_digest, parsed.path):
            raise UndecidedError(row.id, row.path, "forked" if known.forked else "changed")
        return Found(row.id, row.path, data, parsed, known.closed, known.taint, known.quarantine)

    def parse(self, path: str, data: bytes) -> Parsed:
        """What a file with these bytes at this path would be."""
        stored = stored_bytes(self._reading.snapshot, path, data)
        return under_recorded_id(parse(path, stored, self.config), self._reading.ledger.moved)

    def _bytes(self, path: str) -> tuple[bytes, Parsed]:
        entry = self._reading.snapshot.find(path.encode())
        if entry is None:
            raise CannotError("missing-file", f"{path}: there is no such file any more")
        if not entry.on_disk:
            raise NotHereError(path)
        data = disk_bytes(self._reading.snapshot, entry)
        return data, self.parse(path, data)

    def _row(self, name: str) -> FactRow:
        cells = self._index.cells_of_id(name)
        if not cells and (cell := self._index.cell(name)) is not None:
            cells = [cell]
        if len(cells) > 1:
            paths = ", ".join(fact.path for fact, _ in cells)
            raise UsageError("duplicate-id", f"the id {name} stands in {paths}", "name the path")
        if not cells:
            raise self._unknown(name)
        return cells[0][0]

    def _unknown(self, name: str) -> Exception:
        known = self._reading.ledger.recorded.get(name)
        if known is not None and not known.deleted:
            return UndecidedError(name, known.path or name, "forked" if known.forked else "gone")
        return UnknownFactError(name, near_names(name, self._index.ids()))

    # Names.

    def id_taken(self, fact_id: str) -> bool:
        """Whether a fact has this id, or one that only looks different, or had it."""
        return bool(self._id_owner(fact_id)) or fact_id in self._reading.ledger.recorded

    def take_id(self, fact_id: str) -> None:
        """Reserve the id of a new fact.

        Raises:
            RefusedError: `fact-exists`.
        """
        owner = self._id_owner(fact_id)
        known = self._reading.ledger.recorded.get(fact_id)
        if not owner and known is not None and not known.deleted:
            owner = known.path or "the ledger"
        if owner:
            raise RefusedError(
                "fact-exists",
                f"the id {fact_id} is that of {owner}",
                f"syn edit {fact_id} changes it, syn supersede {fact_id} puts another in its place",
            )
        self._ids[fold(fact_id)] = fact_id

    def _id_owner(self, fact_id: str) -> str:
        key = fold(fact_id)
        rows = self._index.rows_by(FACT, id_key=key)
        return str(rows[0][0]) if rows else self._ids.get(key, "")

    def path_taken(self, path: str) -> bool:
        """Whether something is at a path, or at one that only looks different."""
        return bool(self._path_owner(path))

    def take_path(self, path: str, leaving: str = "") -> None:
        """Reserve the path of a new or moved fact; `leaving` is the one it comes from.

        Raises:
            PathError: something is there.
        """
        owner = self._path_owner(path)
        if owner and owner != leaving:
            raise PathError(path, f"{owner} is there already", "choose another path")
        self._paths[fold_path(path)] = path

    def _path_owner(self, path: str) -> str:
        if self._folded is None:
            inventory = self._reading.inventory
            names = (display_path(entry.path) for entry in inventory.candidates)
            self._folded = {fold_path(name): name for name in names}
        folded = fold_path(path)
        known = self._folded.get(folded) or self._paths.get(folded, "")
        if known:
            return known
        # What no glob matches is no candidate and stands there all the same.
        if self._all is not None:
            return path if path.encode() in self._all else ""
        return path if self._reading.snapshot.find(path.encode()) is not None else ""


def disk_bytes(snapshot: Snapshot, entry: SnapshotEntry) -> bytes:
    """The bytes of a file as they stand on disk; outside a sparse checkout those of HEAD."""
    if isinstance(snapshot, WorktreeSnapshot) and entry.on_disk:
        return snapshot.read_disk(entry)
    return snapshot.read(entry)
