"""From the bytes of a file to its text: UTF-8, one optional byte order mark, no NUL."""

import re

from syn.facts.collector import Collector

FILE_LIMIT = 4 * 1024 * 1024
"""Bytes of one file (design 3.1)."""

_WIDE_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_LFS_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\r?\n")
_CONFLICT = re.compile(r"^(?P<mark><{7}|\|{7}|={7}|>{7})(?P<label>[ \t][^\n]*)?\r?$", re.MULTILINE)
_SAVE_AS_UTF8 = "save the file as UTF-8"


def decode(data: bytes, collector: Collector) -> str | None:
    """The text of a file without its byte order mark; None, with problems, when it has none."""
    if len(data) > FILE_LIMIT:
        collector.problem(
            1,
            "file-too-large",
            f"expected at most {FILE_LIMIT} bytes, got {len(data)}",
            "split the file, or exclude it in synapse.toml",
        )
        return None
    if _LFS_POINTER.match(data):
        collector.problem(
            1,
            "lfs-pointer",
            "the file is a Git LFS pointer, its content is not here",
            "keep facts out of Git LFS, or exclude the file in synapse.toml",
        )
        return None
    if (wide := _wide_encoding(data)) is not None:
        collector.problem(1, "wide-encoding", f"expected UTF-8, got {wide}", _SAVE_AS_UTF8)
        return None
    return _decode_utf8(data, collector)


def _decode_utf8(data: bytes, collector: Collector) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        collector.problem(
            1 + data.count(b"\n", 0, error.start),
            "not-utf8",
            f"expected UTF-8, got byte 0x{data[error.start]:02x} at offset {error.start}",
            _SAVE_AS_UTF8,
        )
        return None
    if (index := data.find(b"\0")) >= 0:
        collector.problem(
            1 + data.count(b"\n", 0, index),
            "nul-character",
            f"expected text, got a NUL character at offset {index}",
            "remove the NUL character; a binary file is no fact",
        )
        return None
    return text.removeprefix("\ufeff")


def _wide_encoding(data: bytes) -> str | None:
    for mark, name in _WIDE_MARKS:
        if data.startswith(mark):
            return name
    # ASCII text in UTF-16: every other byte of it is zero, and none of the rest
    even, odd = data[0:64:2], data[1:64:2]
    for zeros, others in ((even, odd), (odd, even)):
        if zeros and zeros.count(0) == len(zeros) and 0 not in others and others:
            return "UTF-16 without a mark"
    return None


def conflict_markers(text: str, collector: Collector) -> None:
    """Report what git left in a file whose merge was never finished.

    Two marker lines of seven characters in their order are a conflict; one alone is text (a
    heading underline, a quotation seven levels deep).
    """
    if "<<<<<<<" not in text and ">>>>>>>" not in text:
        return
    start = 0
    for found in _CONFLICT.finditer(text):
        mark = found["mark"][0]
        if mark == "<" or (mark == "=" and not start):
            start = found.start() + 1
        elif start and (mark in "|=" or found["label"]):
            collector.problem(
                1 + text.count("\n", 0, start - 1),
                "conflict-markers",
                "the file holds the markers of an unfinished merge",
                "resolve the conflict and remove the marker lines; indent them in an example",
            )
            return
