"""Segments in real git: branches of two writers merge by themselves, a union merge is found out."""

from pathlib import Path

from syn.ledger import segments
from syn.ledger.heads import recorded
from syn.ledger.links import link_faults
from syn.ledger.segments import Ledger
from tests.support.gitbox import GitBox
from tests.support.ledgers import WS, Book

ATTRIBUTES = ".synapse/ledger/** -text\n"


def write(box: GitBox, book: Book, message: str) -> None:
    box.commit(message, {path: data.decode() for path, data in book.files().items()})


def ledger(box: GitBox) -> Ledger:
    files = (box.path / ".synapse" / "ledger").rglob("*.jsonl")
    return segments.read(WS, ((p.relative_to(box.path).as_posix(), p.read_bytes()) for p in files))


def test_two_writers_merge_without_conflict_and_fork_the_fact(tmp_path: Path) -> None:
    box, book = GitBox.new(tmp_path / "repo"), Book()
    book.add("w1", "create", "a", "one")
    box.commit("attributes", {".gitattributes": ATTRIBUTES})
    write(box, book, "base")
    base = tuple(book.entries)
    box.git("checkout", "-q", "-b", "side")
    right = Book()
    right.add("w2", "update", "a", "right", sees=base)
    write(box, right, "right")
    box.git("checkout", "-q", "main")
    book.add("w1", "update", "a", "left", sees=base)
    write(box, book, "left")
    box.git("merge", "-q", "--no-edit", "side")
    merged = ledger(box)
    assert merged.faults == ()
    assert link_faults(merged.entries()) == ()
    assert recorded(merged.entries())["a"].forked


def test_a_union_merge_of_one_writers_file_is_found_out(tmp_path: Path) -> None:
    box, book = GitBox.new(tmp_path / "repo"), Book()
    book.add("w1", "create", "a", "one")
    box.commit("attributes", {".gitattributes": ".synapse/ledger/** merge=union\n"})
    write(box, book, "base")
    left, right = Book(), Book()
    for side, text in ((left, "left"), (right, "right")):
        side.add("w1", "create", "a", "one")
        side.add("w1", "update", "a", text)
        side.add("w1", "update", "a", f"{text} again")
    box.git("checkout", "-q", "-b", "side")
    write(box, right, "right")
    box.git("checkout", "-q", "main")
    write(box, left, "left")
    box.git("merge", "-q", "--no-edit", "side")
    codes = {fault.code for fault in ledger(box).faults}
    assert "equivocation" in codes
