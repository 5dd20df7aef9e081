"""Edits and damage of every kind that a workspace can suffer, each drawn from a few numbers."""

import contextlib
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from syn.errors import SynError
from syn.services.recall.opening import reindex
from tests.support.workspaces import Place, adopt_all, git

INDEX = ".synapse/index.db"


def facts(place: Place) -> list[Path]:
    """The fact files, sorted."""
    return sorted((place.root / "facts").rglob("*.md"))


def _pick(place: Place, number: int) -> Path | None:
    found = facts(place)
    return found[number % len(found)] if found else None


def edit(place: Place, number: int) -> None:
    """A line more in one fact."""
    if path := _pick(place, number):
        path.write_text(f"{path.read_text('utf-8', 'replace')}\nand {number}\n", "utf-8")


def refer(place: Place, number: int) -> None:
    """A link, and a statement that may contradict another one."""
    name = f"n{number % 5}"
    text = f"---\nid: {name}\nsubject: payments\nfield: owner\nvalue: v{number}\n"
    text += f"valid_from: 2026-0{1 + number % 9}-01\n---\nSee [[limit]] and [[n{number % 7}]].\n"
    (place.root / f"facts/{name}.md").write_text(text, "utf-8")


def spoil(place: Place, number: int) -> None:
    """A fact that cannot be read any more."""
    if path := _pick(place, number):
        path.write_bytes(b"---\nid: [x\n---\n" if number % 2 else b"\xff\xfe")


def delete(place: Place, number: int) -> None:
    """One file less."""
    if path := _pick(place, number):
        path.unlink()


def rename(place: Place, number: int) -> None:
    """One file under another name."""
    if path := _pick(place, number):
        target = path.with_name(f"r{number}.md")
        path.rename(target)


def exchange(place: Place, number: int) -> None:
    """Two files with each other's bytes."""
    one, two = _pick(place, number), _pick(place, number + 1)
    if one and two and one != two:
        a, b = one.read_bytes(), two.read_bytes()
        one.write_bytes(b)
        two.write_bytes(a)


def _lines(place: Place, change: Callable[[list[bytes]], list[bytes]]) -> None:
    for path in sorted((place.root / ".synapse/ledger").glob("*/*.jsonl")):
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def swap_decisions(place: Place, number: int) -> None:
    """Two lines of the ledger in the other order."""
    at = number % 3
    _lines(place, lambda lines: [*lines[:at], *reversed(lines[at : at + 2]), *lines[at + 2 :]])


def cut_decisions(place: Place, number: int) -> None:
    """Lines less at the end, or the last one torn."""
    if number % 2:
        _lines(place, lambda lines: lines[: -1 - number % 3])
    else:
        _lines(place, lambda lines: [*lines[:-1], *(line[:-9] for line in lines[-1:])])


def forge_decision(place: Place, number: int) -> None:
    """Another reason, or another path, in one line."""
    swap = (b"import", b"impart") if number % 2 else (b"facts/limit.md", b"facts/plain.md")
    _lines(place, lambda lines: [line.replace(*swap) for line in lines])


def forge_row(place: Place, number: int) -> None:
    """A row of the index that was edited, or is gone."""
    path = place.root / INDEX
    if not path.exists():
        return
    statements = (
        "UPDATE fact SET title = 'forged' WHERE path = (SELECT max(path) FROM fact)",
        "DELETE FROM state WHERE path = (SELECT min(path) FROM state)",
        "UPDATE file SET stat = NULL",
        "UPDATE meta SET value = 'sha256:0' WHERE key = 'inputs_hash'",
    )
    with closing(sqlite3.connect(path)) as index, contextlib.suppress(sqlite3.DatabaseError):
        index.execute(statements[number % len(statements)])
        index.commit()


def drop_index(place: Place, number: int) -> None:
    """No index, or half of one."""
    path = place.root / INDEX
    if path.exists() and number % 2:
        path.unlink()
    elif path.exists():
        path.write_bytes(path.read_bytes()[: 4096 * (number % 5)])


def side_file(place: Place, number: int) -> None:
    """A journal beside the index, as of another program that died."""
    (place.root / f"{INDEX}-{'journal' if number % 2 else 'wal'}").write_bytes(b"x" * (number % 3))


def break_object(place: Place, number: int) -> None:
    """One loose object of git that is not what its name says, or is gone."""
    found = sorted((place.root / ".git/objects").glob("??/*"))
    if found:
        path = found[number % len(found)]
        path.chmod(0o644)
        if number % 2:
            path.unlink()
        else:
            path.write_bytes(b"damaged")


def configure(place: Place, number: int) -> None:
    """Other rules for facts, by hand."""
    path = place.root / "synapse.toml"
    text = path.read_text("utf-8")
    if number % 3 == 0 and "relations" not in text:
        text += '\n[facts.relations]\nfields = ["field"]\n'
    elif number % 3 == 1:
        text = text.replace("exclude = []", 'exclude = ["facts/plain.md"]')
    else:
        text += "# only a comment\n"
    path.write_text(text, "utf-8")


def refresh(place: Place, _: int) -> None:
    """The index as it should be, where it can be."""
    try:
        reindex(place.open())
    except SynError:
        return


def adopt(place: Place, _: int) -> None:
    """A decision on everything that stands in the files, where the ledger allows one."""
    try:
        adopt_all(place)
    except SynError:
        return


def commit(place: Place, number: int) -> None:
    """What is there, in git, without a decision, as far as git can; or on a branch, merged."""
    with contextlib.suppress(subprocess.CalledProcessError):  # an object may be damaged already
        _commit_or_merge(place, number)


def _commit_or_merge(place: Place, number: int) -> None:
    branch = f"b{number}"
    if number % 3 == 0 and branch not in git(place, "branch").split():
        before = git(place, "rev-parse", "--abbrev-ref", "HEAD")
        git(place, "checkout", "-q", "-b", branch)
        _commit(place, number)
        git(place, "checkout", "-q", before)
        git(place, "merge", "-q", "--no-ff", "-m", "merge", branch)
    else:
        _commit(place, number)


def _commit(place: Place, number: int) -> None:
    git(place, "add", "-A", "--", "facts", ".synapse", "synapse.toml")
    git(place, "commit", "-q", "--allow-empty", "-m", f"change {number}")


EDITS = (edit, refer, delete, rename, exchange, refresh, adopt, commit, configure)
DAMAGE = (
    spoil,
    swap_decisions,
    cut_decisions,
    forge_decision,
    forge_row,
    drop_index,
    side_file,
    break_object,
)


def copy(place: Place, folder: Path) -> Place:
    """Another work tree with the same bytes, and the same home."""
    root = folder / "ws"
    shutil.copytree(place.root, root, symlinks=True)
    return Place(root, place.env)
