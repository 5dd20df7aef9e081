"""A fact without an id of its own keeps the one it was recorded with when its file moves."""

from pathlib import Path

import pytest

from syn.services.proving.verifying import Request, verify
from syn.services.recall.opening import reindex
from syn.services.recall.reads import Selection, list_facts, open_reader, show
from syn.services.writing.adopt import Consent, adopt, plan_adopt
from tests.support.workspaces import Place, adopt_all, make_workspace


def _quiet(_: str) -> None:
    """Takes the talk of a service."""


def _shown(place: Place, name: str) -> object:
    reader = open_reader(place.open(), _quiet)
    with reader.index:
        return show(reader, name)["path"]


def test_a_moved_file_keeps_its_recorded_id(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/n.md": "just text\n"})
    (place.root / "facts/n.md").rename(place.root / "facts/m.md")
    workspace = place.open()
    shown = plan_adopt(workspace, (), _quiet)
    assert [(edit.kind, edit.id, edit.path) for edit in shown.edits] == [
        ("moved", "facts/n", "facts/m.md")
    ]
    adopt(workspace, shown, (), Consent("seen"), _quiet)
    assert verify(place.open(), Request(deep=True)).verdict == "pass"
    assert _shown(place, "facts/n") == "facts/m.md"
    assert reindex(place.open()).mode == "none"
    before = (place.root / ".synapse/index.db").stat().st_size
    assert reindex(place.open(), full=True).facts == 1
    assert (place.root / ".synapse/index.db").stat().st_size == before


def test_the_old_path_can_be_used_again(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/n.md": "just text\n"})
    (place.root / "facts/n.md").rename(place.root / "facts/m.md")
    adopt_all(place)
    (place.root / "facts/n.md").write_text("---\nid: other\n---\nanother\n")
    adopt_all(place)
    assert verify(place.open(), Request(deep=True)).verdict == "pass"
    reader = open_reader(place.open(), _quiet)
    with reader.index:
        found = list_facts(reader, Selection())["items"]
    assert isinstance(found, list)
    assert [item["id"] for item in found if isinstance(item, dict)] == ["facts/n", "other"]


@pytest.mark.parametrize(("old", "new"), [("n\tx", "m\ty"), ("naïve", "ärger \u2028")])
def test_a_name_of_any_characters_moves_like_any_other(tmp_path: Path, old: str, new: str) -> None:
    place = make_workspace(tmp_path, {f"facts/{old}.md": "just text\n"})
    (place.root / f"facts/{old}.md").rename(place.root / f"facts/{new}.md")
    adopt_all(place)
    for _ in range(3):
        assert _shown(place, f"facts/{old}") == f"facts/{new}.md"
    assert reindex(place.open()).mode == "none"
    assert verify(place.open(), Request(deep=True)).verdict == "pass"
