"""Two real collections: the database holds what was projected, and links lead somewhere."""

import subprocess
from pathlib import Path

import pytest

from syn.facts.parse import parse
from syn.index.derive import World
from syn.index.manifest import Projection, manifest_digest
from syn.index.project import project_file
from syn.index.query import Filters
from syn.index.rows import PROBLEM, TARGET
from syn.index.store import open_index, open_spool
from syn.index.store.build import Builder
from syn.model.config import Config
from tests.support.shared import shared_path


@pytest.mark.parametrize(
    ("bundle", "order", "facts", "resolved"),
    [("dendron-vault", "text|target", 1012, 2900), ("endoflife-products", "target|text", 464, 0)],
)
def test_a_real_collection(
    tmp_path: Path, bundle: str, order: str, facts: int, resolved: int
) -> None:
    source = shared_path("corpora") / f"{bundle}.bundle"
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", source, clone], check=True, capture_output=True)
    config = Config(id="c", name="c", link_order=order)  # type: ignore[arg-type]
    paths = sorted(clone.rglob("*.md"), key=lambda path: path.relative_to(clone).as_posix())
    with Builder(tmp_path / "i.db") as builder, Projection(open_spool) as projection:
        for path in paths:
            name = path.relative_to(clone).as_posix()
            rows = project_file(parse(name, path.read_bytes(), config))
            builder.add(rows)
            projection.add(rows)
        built = builder.finish(World(), {"inputs_hash": "x"})
        digest = manifest_digest(projection.finish(World()))
    assert built.facts == facts
    with open_index(tmp_path / "i.db") as index:
        assert manifest_digest(index) == digest
        assert index.faults() == []
        assert index.tally(TARGET, "outcome").get("resolved", 0) >= resolved
        assert "duplicate-id" not in index.tally(PROBLEM, "code")
        assert index.search("the", Filters(), 5).total > 0
