"""Reading JSON that somebody else wrote, member by member, with the place in every refusal."""

import re
from collections.abc import Callable
from typing import TypeVar

from syn.canon import json as canon
from syn.canon.digest import is_digest
from syn.canon.json import CanonError
from syn.errors import RefusedError
from syn.model.finding import Json
from syn.report.document import Document

MAX_BYTES = 64 * 1024 * 1024
"""Largest report that is read."""

_OBJECT_ID = re.compile(r"[0-9a-f]{40}\Z")
_Choice = TypeVar("_Choice", bound=str)
_Item = TypeVar("_Item")


class ReportFormatError(RefusedError):
    """Bytes or a document that are no report of the kind that was asked for."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(
            "report-format",
            f"{where}: {message}" if where else message,
            "ask for the report again; it is read as it was written or not at all",
        )


def load(data: bytes) -> Document:
    """The JSON object in a file, in any spelling; no duplicate keys, no floats.

    Raises:
        ReportFormatError: too large, not UTF-8, not one JSON object.
    """
    if len(data) > MAX_BYTES:
        raise ReportFormatError("", f"expected at most {MAX_BYTES} bytes, got {len(data)}")
    try:
        return members_of(canon.parse(data), "")
    except CanonError as error:
        raise ReportFormatError("", error.message) from error


def exact(value: Json, where: str, names: tuple[str, ...]) -> Document:
    """An object with exactly these members."""
    members = members_of(value, where)
    if missing := sorted(set(names) - set(members)):
        raise ReportFormatError(where, f"expected the member {missing[0]!r}")
    if unknown := sorted(set(members) - set(names)):
        raise ReportFormatError(where, f"unknown member {unknown[0]!r:.80}")
    return members


def members_of(value: Json, where: str) -> Document:
    """An object, whatever it holds."""
    if not isinstance(value, dict):
        raise ReportFormatError(where, f"expected an object, got {_kind(value)}")
    return value


def items(value: Json, where: str, read: Callable[[Json, str], _Item]) -> tuple[_Item, ...]:
    """A list, each item read by `read(item, place)`."""
    if not isinstance(value, list):
        raise ReportFormatError(where, f"expected a list, got {_kind(value)}")
    return tuple(read(item, f"{where}[{n}]") for n, item in enumerate(value))


def text(value: Json, where: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ReportFormatError(where, f"expected text, got {_kind(value)}")
    return value


def natural(value: Json, where: str) -> int:
    """A whole number from 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ReportFormatError(where, f"expected a number from 0, got {value!r:.80}")
    return value


def choice(value: Json, where: str, choices: tuple[_Choice, ...]) -> _Choice:
    """One of these texts."""
    for one in choices:
        if value == one:
            return one
    raise ReportFormatError(where, f"expected {' or '.join(choices)}, got {value!r:.80}")


def matching(value: Json, where: str, pattern: re.Pattern[str]) -> str:
    r"""A text that a pattern matches; the pattern ends in `\Z`."""
    found = text(value, where)
    if not pattern.match(found):
        raise ReportFormatError(where, f"expected {pattern.pattern[:-2]}, got {found!r:.80}")
    return found


def digest_or_none(value: Json, where: str) -> str:
    """`sha256:<hex>`, or "" where there is none."""
    found = text(value, where)
    if found and not is_digest(found):
        raise ReportFormatError(where, f"expected sha256:<hex> or nothing, got {found!r:.80}")
    return found


def id_or_none(value: Json, where: str) -> str:
    """A git object id of 40 hex digits, or "" where there is none."""
    return "" if value == "" else matching(value, where, _OBJECT_ID)


def _kind(value: Json) -> str:
    return "null" if value is None else type(value).__name__
