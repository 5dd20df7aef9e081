"""Damaged inputs for parsers: bytes at random, and valid examples changed where it hurts.

A mutator draws from a `random.Random`: one with a fixed seed for a long run, or hypothesis's own,
which shrinks what it finds.
"""

import json
from collections.abc import Callable, Sequence
from random import Random  # noqa: TID251 - always one that the caller seeded
from typing import Any

TOKENS = (
    *(
        b"\0",
        b"\n",
        b"\r\n",
        b"\t",
        b" ",
        b'"',
        b"\\",
        b"/",
        b"..",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
    ),
    *(b"-", b"---\n", b"=", b"+", b"#", b"%", b"&a", b"*a", b"!!", b"|", b">", b"\xe2\x80\x94"),
    *(b"0", b"-1", b"00", b"1e400", b"NaN", b"9" * 5000, b"18446744073709551616", b"4294967295"),
    *(
        b"null",
        b"true",
        b"[[",
        b"]]",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"\xef\xbb\xbf",
    ),
    *(b"\\ud800", b"\\u0000", b"\x7f", b"\xc2\x85", b"\xe2\x80\xa8", b"A" * 300, b"sha256:", b"=="),
)
"""What formats take for more than a letter."""

_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**63,
    1.5,
    "",
    "x" * 300,
    "\u0000",
    "\ud800",
    [],
    {},
    [[]],
    {"a": {}},
)
DEPTHS = (100, 20_000)
MOST = 1 << 17
"""No example grows beyond this many bytes."""


def damage(chance: Random, examples: Sequence[bytes], *, structured: bool = True) -> bytes:
    """Bytes at random, or an example after one to four changes."""
    if chance.randrange(12) == 0:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(120)))
    data = examples[chance.randrange(len(examples))]
    for _ in range(chance.randrange(1, 5)):
        changes = (*_PLAIN, _json) if structured else _PLAIN
        data = changes[chance.randrange(len(changes))](chance, data, examples)[:MOST]
    return data


def _spot(chance: Random, data: bytes) -> int:
    return chance.randrange(len(data) + 1)


def _flip(chance: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _token(chance: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = _spot(chance, data)
    gap = chance.randrange(4)
    return data[:at] + TOKENS[chance.randrange(len(TOKENS))] + data[at + gap :]


def _cut(chance: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = sorted((_spot(chance, data), _spot(chance, data)))
    return data[:start] + data[end:]


def _double(chance: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = sorted((_spot(chance, data), _spot(chance, data)))
    return data[:end] + data[start:end] * chance.randrange(1, 4) + data[end:]


def _splice(chance: Random, data: bytes, examples: Sequence[bytes]) -> bytes:
    other = examples[chance.randrange(len(examples))]
    return data[: _spot(chance, data)] + other[_spot(chance, other) :]


def _lines(chance: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            del lines[first]
        case 1:
            lines.insert(second, lines[first])
        case 2:
            lines[first], lines[second] = lines[second], lines[first]
        case _:
            lines[first] = lines[first].rstrip(b"\n")
    return b"".join(lines)


def _number(chance: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """A length field, wherever it may be: two or four bytes, big-endian."""
    at, size = _spot(chance, data), chance.choice((2, 4))
    number = _NUMBERS[chance.randrange(len(_NUMBERS))] & (1 << 8 * size) - 1
    return data[:at] + number.to_bytes(size, "big") + data[at + size :]


def _nest(chance: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at, depth = _spot(chance, data), DEPTHS[chance.randrange(len(DEPTHS))]
    opening = (b"[", b'{"a":', b"(", b"[[", b"> ", b"- ", b"*")[chance.randrange(7)]
    return data[:at] + opening * depth + data[at:]


def _json(chance: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """One line's JSON with one value, name or item of another kind; as it was when it is none."""
    lines = data.split(b"\n")
    number = chance.randrange(len(lines))
    try:
        value = json.loads(lines[number])
    except (ValueError, RecursionError):
        return data
    holder = {"": value}
    _alter(chance, holder, "", 0)
    text = json.dumps(holder[""], separators=(",", ":"), ensure_ascii=chance.randrange(2) == 0)  # noqa: TID251 - an input, never hashed
    lines[number] = text.encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _alter(chance: Random, holder: Any, key: Any, depth: int) -> None:
    value = holder[key]
    inner = (
        list(value)
        if isinstance(value, dict)
        else list(range(len(value)))
        if isinstance(value, list)
        else []
    )
    if inner and depth < 12 and chance.randrange(4):
        _alter(chance, value, inner[chance.randrange(len(inner))], depth + 1)
        return
    match chance.randrange(4):
        case 0 if isinstance(value, dict) and inner:
            del value[inner[chance.randrange(len(inner))]]
        case 1 if isinstance(value, dict):
            value["x" * chance.randrange(3)] = _VALUES[chance.randrange(len(_VALUES))]
        case 2 if isinstance(value, list) and inner:
            value.append(value[inner[chance.randrange(len(inner))]])
        case _:
            holder[key] = _VALUES[chance.randrange(len(_VALUES))]


_PLAIN: tuple[Callable[[Random, bytes, Sequence[bytes]], bytes], ...] = (
    _flip, _flip, _token, _token, _cut, _double, _splice, _lines, _number, _nest,
)  # fmt: skip


def blown_up(examples: Sequence[bytes], size: int) -> list[bytes]:
    """Inputs of about `size` bytes that tempt a parser to take long or to hold much."""
    line = examples[0].split(b"\n", 1)[0] + b"\n"
    found = [
        (unit * (size // max(len(unit), 1) + 1))[:size]
        for unit in (
            b"[",
            b'{"a":',
            b'"\\u0061',
            b"[[a]] ",
            b"a: &a [*a]\n",
            b"\n",
            b"\t",
            b"0",
            line,
        )
    ]
    for example in examples:
        at = len(example) // 2
        found += [
            example[:at] + filling * size + example[at:] for filling in (b"9", b" ", b"[", b"=")
        ]
        found.append((example * (size // max(len(example), 1) + 1))[:size])
    return found
