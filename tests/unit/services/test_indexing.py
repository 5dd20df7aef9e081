"""How much of an index is derived when files change."""

from pathlib import Path

import pytest

from syn.index.store import open_index
from syn.services.recall import indexing
from syn.services.recall.opening import reindex
from tests.support.workspaces import git, make_workspace


@pytest.mark.parametrize(("changed", "mode"), [(2, "incremental"), (3, "full")])
def test_when_most_files_changed_the_index_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: int, mode: str
) -> None:
    monkeypatch.setattr(indexing, "MANY", 2)
    place = make_workspace(tmp_path, {"facts/a.md": "a\n"})
    reindex(place.open(), full=True)
    for number in range(changed):
        (place.root / f"facts/n{number}.md").write_text("new\n")
    git(place, "add", "facts")
    done = reindex(place.open())
    assert (done.mode, done.facts) == (mode, changed + 1)
    grown = indexing.index_path(place.open())
    with open_index(grown) as index:
        rows = list(index.cells())
    assert reindex(place.open(), full=True).inputs_hash == done.inputs_hash
    with open_index(grown) as index:
        assert list(index.cells()) == rows
