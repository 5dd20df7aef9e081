"""The logical tables: one typed row each, their primary keys, and where their rows come from.

A table is either *file-derived* (every row follows from one file alone) or *cross-file* (rows
depend on other files or on the ledger and are derived anew at each reindex, design 4). The
distinction decides between `index-stale` and `index-diverged`.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

PROJECTION = 1
"""Version of the rules that turn facts into rows; manifests of other versions do not compare."""

Scalar: TypeAlias = str | int | None


class FactRow(NamedTuple):
    """One readable file."""

    path: str
    id: str
    explicit_id: int
    """1 when the id is written in the file."""
    id_key: str
    """The id folded (`resolve.fold`): ids must differ in it."""
    title: str
    title_key: str
    type: str | None
    status: str | None
    subject: str | None
    field: str | None
    value: str | None
    valid_from: str | None
    """As written; its sortable UTC key stands in `valid_from_key`."""
    valid_from_key: str | None
    valid_to: str | None
    valid_to_key: str | None
    tags: str
    """Canonical JSON list, in source order; so are the next three."""
    aliases: str
    supersedes: str
    superseded_by: str
    source_kind: str
    source_agent: str
    source_session: str
    source_url: str
    source_digest: str
    payload_digest: str
    size: int
    body_line: int
    body: str
    """In the manifest: `body_digest`, SHA-256 of the body that is stored."""


class AttrRow(NamedTuple):
    """One leaf of a fact's front matter."""

    path: str
    pointer: str
    """RFC 6901 JSON Pointer into the front matter."""
    type: str
    """`text`, `int`, `float`, `bool`, `null`, or `map` and `list` when empty."""
    value: str
    """The written text; "" for an empty collection."""


class LinkRow(NamedTuple):
    """One reference as it is written."""

    path: str
    seq: int
    """Position in the file, from 1."""
    line: int
    syntax: str
    target: str
    text: str
    heading: str
    relation: str


class TagRow(NamedTuple):
    """One distinct tag of a fact."""

    path: str
    tag: str


class ProblemRow(NamedTuple):
    """One problem or warning; `origin` says whether the file alone gives it."""

    origin: str
    """`file`, or `workspace` for what only shows beside other files (twins, doubled ids)."""
    path: str
    seq: int
    severity: str
    """`problem` or `warning`."""
    line: int
    code: str
    message: str
    remedy: str


class TargetRow(NamedTuple):
    """Where one link leads today."""

    path: str
    seq: int
    outcome: str
    """`resolved`, `ambiguous`, `missing`, `attachment`."""
    step: str
    """The step of `resolve` that decided, or ""."""
    target_path: str | None
    candidates: int


class SupersessionRow(NamedTuple):
    """One declared pair, whichever side declares it."""

    predecessor: str
    successor: str
    declared_by: str
    """`successor` (its `supersedes`), `predecessor` (its `superseded_by`) or `both`."""
    predecessor_path: str | None
    """None when no fact or several facts have that id."""
    successor_path: str | None


class StateRow(NamedTuple):
    """The cell of one fact: what the ledger says of it, and its check word (design 12)."""

    path: str
    id: str
    state: str
    """`recorded`, `reformatted`, `changed`, `moved`, `unrecorded`, `deleted`, `forked`, or
    `doubled` (its id stands twice)."""
    closed: int
    taint: str
    quarantine: str
    """Canonical JSON list of the entry hashes of the quarantines that hold."""
    word: str


class DecisionRow(NamedTuple):
    """One ledger entry."""

    writer: str
    seq: int
    hash: str
    prev: str
    ts: str
    actor: str
    via: str
    action: str
    review: str
    batch: str
    fact: str
    path: str
    payload: str
    source: str
    taint: str
    after_heads: str
    """Canonical JSON list, as the next two of this kind."""
    prior: str
    proposal: str
    reason: str
    names: str
    commit_id: str
    key_id: str
    sig: str


Row: TypeAlias = (
    FactRow
    | AttrRow
    | LinkRow
    | TagRow
    | ProblemRow
    | TargetRow
    | SupersessionRow
    | StateRow
    | DecisionRow
)


@dataclass(frozen=True, slots=True)
class Table:
    """One logical table of the manifest and of the database."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    """SQL type of each column: `TEXT NOT NULL`, `TEXT`, `INTEGER NOT NULL`."""
    key: tuple[str, ...]
    """Primary key; rows sort by it in byte order."""
    cross: bool
    """Whether rows depend on other files or on the ledger."""
    path_column: str
    """The column that names the fact a row is about, or ""."""


_SQL_TYPES: dict[object, str] = {
    str: "TEXT NOT NULL",
    str | None: "TEXT",
    int: "INTEGER NOT NULL",
}


def _table(name: str, row: type[Row], key: str, *, cross: bool, path: str = "path") -> Table:
    return Table(
        name=name,
        columns=row._fields,
        types=tuple(_SQL_TYPES[kind] for kind in row.__annotations__.values()),
        key=tuple(key.split()),
        cross=cross,
        path_column=path,
    )


ATTR = _table("attr", AttrRow, "path pointer", cross=False)
DECISION = _table("decision", DecisionRow, "writer seq hash", cross=True)
FACT = _table("fact", FactRow, "path", cross=False)
LINK = _table("link", LinkRow, "path seq", cross=False)
PROBLEM = _table("problem", ProblemRow, "origin path seq", cross=False)
STATE = _table("state", StateRow, "path", cross=True)
SUPERSESSION = _table(
    "supersession", SupersessionRow, "predecessor successor", cross=True, path="successor_path"
)
TAG = _table("tag", TagRow, "path tag", cross=False)
TARGET = _table("target", TargetRow, "path seq", cross=True)

TABLES: tuple[Table, ...] = (
    *(ATTR, DECISION, FACT, LINK, PROBLEM),
    *(STATE, SUPERSESSION, TAG, TARGET),
)
"""In byte order of their names, which is the order of the manifest."""
FILE_TABLES: tuple[Table, ...] = (ATTR, FACT, LINK, PROBLEM, TAG)
"""The tables `project` fills. `problem` also holds cross-file rows, told apart by `origin`."""
BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}
FILE_ORIGIN = "file"
WORKSPACE_ORIGIN = "workspace"


class FactKey(NamedTuple):
    """What other files need to know of a fact; small, since all of them are held at once."""

    path: str
    id: str
    explicit_id: int
    title_key: str
    aliases: tuple[str, ...]
    """Folded."""
    supersedes: tuple[str, ...]
    superseded_by: tuple[str, ...]


class FileRows(NamedTuple):
    """Everything one file alone gives: a plain, picklable value."""

    path: str
    source_digest: str
    """`sha256:<hex>` of the exact bytes, "" when they cannot be had."""
    fact: FactRow | None
    """None when the file is unreadable."""
    attrs: tuple[AttrRow, ...]
    links: tuple[LinkRow, ...]
    tags: tuple[TagRow, ...]
    problems: tuple[ProblemRow, ...]
    body_digest: str = ""
    """SHA-256 of the stored body; "" when the file is unreadable."""
