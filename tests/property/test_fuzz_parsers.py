"""Every parser of ours on damaged examples: the short form of `tests.fault.parsers`."""

from random import Random  # noqa: TID251 - hypothesis drives it
from zlib import compress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fault.parsers import ROOM, SECONDS, Tried, most_held, one_input, targets, try_one
from tests.support.fuzzing import blown_up
from tests.support.shared import ROOT

SIZE = 20_000
UNTRUSTED = {"signed report"}
"""Whose examples no key here has signed: what opens them is tested elsewhere."""


@pytest.mark.parametrize("name", sorted(targets()))
def test_the_examples_are_what_the_parser_takes(name: str) -> None:
    target = targets()[name]
    outcomes = {target.run(example) for example in target.examples}
    assert outcomes == {"error" if name in UNTRUSTED else "value"}


_ROW = targets()["image row"].examples[0]
FOUND = {
    "a row of 40 kB took six seconds": ("image row", _ROW[:9] + b" " * 40_000 + _ROW[9:]),
    "TOML that nests": ("configuration", b"x = " + b"[" * 20_000),
    "a name in other bytes than UTF-8": ("verifier key", b"\xff+97e5e5d8+AYqI4910CfGV"),
    "a count of 5,001 digits": ("git name", b"HEAD~" + b"9" * 5001),
    "eight bytes that claim 2^32 entries": (
        "git split index",
        b"\3" * 20
        + b"\xff" * 4
        + b"\0\0\0\1"
        + (1 | 0xFFFFFFFF << 1).to_bytes(8, "big")
        + bytes(12),
    ),
    "base64 of no ASCII": ("transcript", b'{"role":"r","bytes":"\\ud800EC"}\n'),
    "a role that no file can hold": ("transcript", b'{"role":"\\ud800","text":"x"}\n'),
    "an object of 10^50 bytes": ("git loose object", compress(b"blob 1" + b"0" * 50 + b"\0x")),
}
"""What the fuzzing found, by parser and input."""


@pytest.mark.parametrize("what", FOUND)
def test_what_was_found_stays_answered(what: str) -> None:
    name, data = FOUND[what]
    tried = Tried()
    try_one(targets()[name], data, tried)
    assert not tried.wrong, tried.wrong[0]
    assert tried.inputs["error"] == 1


LONG = {
    "a heading and blanks": ("fact", b"# Title" + b" " * 100_000 + b"x\n"),
    "a heading and hashes": ("fact", b"# Title " + b"#" * 100_000 + b"x\n"),
    "a heading and a lone CR": ("fact", b"#" + b" " * 100_000 + b"\rx\n"),
    "brackets that open": ("import obsidian", b"#t " + b"[" * 100_000 + b"\n"),
    "links that open": ("import obsidian", b"#t " + b"](" * 50_000 + b"\n"),
    "code that opens": ("import obsidian", b"#t " + b"`" * 100_000 + b"\n"),
    "an item of blanks": ("import basic-memory", b"-" + b" " * 100_000 + b"x\n"),
}
"""Lines that made a regular expression look at every part of the line from every other."""


@pytest.mark.parametrize("what", LONG)
def test_a_long_line_takes_linear_time(what: str) -> None:
    name, data = LONG[what]
    tried = Tried()
    try_one(targets()[name], data, tried)
    assert not tried.wrong, tried.wrong[0]


@pytest.mark.parametrize("name", sorted(targets()))
@settings(max_examples=15, deadline=None)
@given(chance=st.randoms(use_true_random=False))
def test_a_damaged_input_has_a_value_or_a_typed_error(name: str, chance: Random) -> None:
    tried = Tried()
    try_one(targets()[name], one_input(targets()[name], chance), tried)
    assert not tried.wrong, tried.wrong[0]


@pytest.mark.parametrize("name", sorted(targets()))
def test_a_large_input_takes_neither_long_nor_much_room(name: str) -> None:
    target, tried = targets()[name], Tried()
    for data in blown_up(target.examples, SIZE):
        try_one(target, data, tried)
        if target.closing is not None:
            try_one(target, target.closing(data), tried)
    assert not tried.wrong, tried.wrong[0]
    assert tried.slowest < SECONDS
    assert most_held(target, blown_up(target.examples, SIZE)[-1]) < ROOM


def test_the_documents_name_every_parser() -> None:
    text = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
    missing = [name for name in targets() if f"| {name} |" not in text]
    assert not missing
