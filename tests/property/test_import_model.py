"""Imports among edits on both sides: nothing of a person's is overwritten, nothing comes twice."""

import random  # noqa: TID251 - seeded: every run takes the same steps
from pathlib import Path

import pytest

from syn.exchange.formats import FORMATS
from syn.services.exchange.importing import Imported, run_import
from syn.services.exchange.planner import Wishes
from tests.support.inside import done
from tests.support.workspaces import Place, adopt_all, make_workspace

NAMES = ("a", "B", "b", "Größe", "x:y", "x?y", "deep/er/c", "deep/a")
STEPS = 12


class World:
    """A vault and a workspace, and what people did to the facts."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.place: Place = make_workspace(folder, {"facts/own.md": "mine\n"})
        self.vault = folder / "vault"
        self.vault.mkdir()
        self.mine: dict[Path, bytes] = {}

    def write_note(self) -> None:
        path = self.vault / f"{self.chance.choice(NAMES)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        tags = self.chance.choice(["", "---\ntags: [t]\n---\n", "---\nk: 'v' # c\n---\n"])
        path.write_text(f"{tags}text {self.chance.randrange(1000)} #tag\n")

    def drop_note(self) -> None:
        for path in sorted(self.vault.rglob("*.md"))[:1]:
            path.unlink()

    def edit_fact(self) -> None:
        facts = sorted((self.place.root / "facts/vault").rglob("*.md"))
        if facts:
            path = self.chance.choice(facts)
            path.write_bytes(path.read_bytes() + b"mine\n")
            self.mine[path] = path.read_bytes()
            if self.chance.random() < 0.5:
                adopt_all(self.place, "edited")

    def take(self) -> Imported:
        wishes = Wishes(FORMATS["obsidian"], self.vault, update=self.chance.random() < 0.5)
        return run_import(self.place.open(), wishes, None, lambda _: None)

    def step(self) -> None:
        weights = (6, 1, 2)
        [act] = self.chance.choices([self.write_note, self.drop_note, self.edit_fact], weights)
        act()


@pytest.mark.parametrize("seed", [1, 2])
def test_imports_among_edits(tmp_path: Path, seed: int) -> None:
    world = World(tmp_path, seed)
    for _ in range(STEPS):
        for _ in range(world.chance.randrange(1, 4)):
            world.step()
        first = world.take().found
        again = world.take().found
        assert all(taken.action == "update" for taken in again.taken)
        assert not {taken.source for taken in again.taken} & {t.source for t in first.taken}
        for path, data in world.mine.items():
            assert path.read_bytes() == data
        folded = [taken.path.casefold() for taken in first.taken]
        assert len(set(folded)) == len(folded)
        assert {problem.code for problem in first.failed} <= {"edited-here", "undecided"}
    adopt_all(world.place)
    done(world.place, "verify", "--deep", "--rebuild")
    keys = [
        line
        for path in (world.place.root / "facts/vault").rglob("*.md")
        for line in path.read_text().splitlines()
        if line.startswith("  path: ")
    ]
    assert len(set(keys)) == len(keys)
