"""Small indexes for the tests: real files through the real parser, built in a real folder."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from syn.facts.parse import parse
from syn.index.derive import World
from syn.index.inputs import inputs_hash
from syn.index.manifest import Projection, manifest_lines
from syn.index.project import project_file
from syn.index.rows import FileRows
from syn.index.store import open_spool
from syn.index.store.build import Builder
from syn.model.config import Config
from syn.model.recorded import Recorded

CONFIG = Config(id="6f1d2c3b-0000-4000-8000-000000000001", name="test")
Files = Mapping[str, str]


def rows_of(files: Files, config: Config = CONFIG) -> list[FileRows]:
    """The rows of each file, in path order."""
    return [
        project_file(parse(path, text.encode(), config)) for path, text in sorted(files.items())
    ]


def build(target: Path, files: Files, world: World | None = None) -> Path:
    """A full build; returns the target."""
    with Builder(target) as builder:
        rows = rows_of(files)
        for row in rows:
            builder.add(row)
        builder.finish(world or World(), {"inputs_hash": digest_of(rows)})
    return target


def digest_of(rows: list[FileRows]) -> str:
    """The inputs_hash of the facts alone."""
    return inputs_hash((row.path.encode(), row.source_digest) for row in rows)


def manifest(files: Files, world: World | None = None) -> bytes:
    """The manifest of the projection."""
    with Projection(open_spool) as projection:
        for row in rows_of(files):
            projection.add(row)
        return b"".join(manifest_lines(projection.finish(world or World())))


def recorded(rows: FileRows, **changes: object) -> Recorded:
    """A ledger state that says exactly what the file says, but for `changes`."""
    fact = rows.fact
    assert fact is not None
    state = Recorded(
        fact=fact.id,
        heads=("sha256:" + "1" * 64,),
        path=fact.path,
        payload=fact.payload_digest,
        source=fact.source_digest,
        deleted=False,
        forked=False,
        closed=False,
        taint="",
        quarantine=(),
    )
    return replace(state, **changes)  # type: ignore[arg-type]
