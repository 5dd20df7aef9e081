"""Reading the page table of a `recall.v1` image strictly, row by row.

The members, their types and what Go forgives but we refuse: docs/formats/image.md. The reader
takes a stream and yields values; a manifest that is none raises `MalformedError`.
"""

import re
from collections.abc import Iterator
from typing import Any, NoReturn

from syn.images.strict import Stream, TextWindow, Written, kind
from syn.images.table import RECALL_FORMAT, Change, Head, Page

MANIFEST = "manifest.json"

_REQUIRED = {
    "step": int,
    "role": str,
    "descriptor": str,
    "digest": str,
    "len": int,
    "taint": int,
    "quarantined": bool,
}
_OPTIONAL = {
    "qid": str,
    "reason": str,
    "durability": str,
    "valid_to": int,
    "witness": str,
    "trust_epoch": int,
    "syndrome": str,
    "utility": float,
}
_PAGE = {**_REQUIRED, **_OPTIONAL}
_CHANGE_REQUIRED = {
    "id": str,
    "action": str,
    "step": int,
    "digest": str,
    "reason": str,
    "requested_by": str,
    "applied": bool,
}
_CHANGE = {**_CHANGE_REQUIRED, "witness": str, "trust_epoch": int}
_HEAD = ("version", "session_id", "world_ver", "pages", "cleared", "context_changes")
_HEAD_REQUIRED = frozenset(_HEAD[:5])
_BOUNDS = {
    "taint": (0, 255),
    "trust_epoch": (0, 2**64 - 1),
    "world_ver": (0, 2**64 - 1),
}
_INT64 = (-(2**63), 2**63 - 1)
_STRING_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*")?')
_NAMES = {int: "an integer", str: "text", bool: "a boolean", float: "a number"}


class ManifestReader:
    """One reading of a `manifest.json`: the rows stream, the rest stands when they are through."""

    def __init__(self, stream: Stream, path: str = MANIFEST) -> None:
        self._window = TextWindow(stream, path)
        self._members: dict[str, Any] = {}
        self._head: Head | None = None

    @property
    def head(self) -> Head:
        """Version, session, marker, clearances and ledger; known once every row was taken."""
        if self._head is None:
            raise LookupError("the rows are not read to the end yet")
        return self._head

    def pages(self) -> Iterator[Page]:
        """The rows in order; reads the whole manifest.

        Raises:
            MalformedError: the manifest is not one, or holds what a strict reader refuses.
        """
        window = self._window
        for name in window.members():
            if name == "pages":
                yield from self._rows()
                self._members[name] = True
            else:
                self._members[name] = self._member(name)
        window.end()
        if missing := sorted(_HEAD_REQUIRED - self._members.keys()):
            window.fail("missing-member", f"the manifest has no {missing[0]}")
        self._head = Head(
            self._members["session_id"],
            self._members["world_ver"],
            self._members["cleared"],
            self._members.get("context_changes", ()),
        )

    def _rows(self) -> Iterator[Page]:
        window = self._window
        if window.peek() != "[":
            value, _ = window.value()
            window.fail("wrong-type", f"expected an array of pages, got {kind(value)}")
        for number, _ in enumerate(window.items()):
            row, raw = window.value()
            yield _page(window, row, raw, number)

    def _member(self, name: str) -> Any:
        window = self._window
        if name not in _HEAD:
            _refuse_name(window, name, _HEAD, "the manifest")
        match name:
            case "version":
                if (version := window.text(name)) != RECALL_FORMAT:
                    shown = repr(version[:40])
                    window.fail("unknown-version", f"expected {RECALL_FORMAT!r}, got {shown}")
                return version
            case "session_id":
                return window.text(name)
            case "world_ver":
                return _typed(window, name, window.value()[0], int, "the manifest")
            case "cleared":
                return tuple(_clearances(window))
            case _:
                return tuple(_changes(window))


def _clearances(window: TextWindow) -> Iterator[tuple[str, bool]]:
    if window.peek() != "{":
        value, _ = window.value()
        window.fail("wrong-type", f"expected an object of clearances, got {kind(value)}")
    for qid in window.members():
        value, _ = window.value()
        yield qid, _typed(window, "a clearance", value, bool, "the manifest")


def _changes(window: TextWindow) -> Iterator[Change]:
    if window.peek() != "[":
        value, _ = window.value()
        window.fail("wrong-type", f"expected an array of context changes, got {kind(value)}")
    for number, _ in enumerate(window.items()):
        row, raw = window.value()
        where = f"context change {number}"
        values = _checked(window, row, _CHANGE, _CHANGE_REQUIRED, where)
        yield Change(
            values["id"],
            values["step"],
            values["digest"],
            values["reason"],
            values["requested_by"],
            values["action"],
            values.get("witness", ""),
            values.get("trust_epoch", 0),
            values["applied"],
            _spelled(raw),
        )


def _page(window: TextWindow, row: Any, raw: str, number: int) -> Page:
    values = _checked(window, row, _PAGE, _REQUIRED, f"page {number}")
    get = values.get
    return Page(
        values["step"],
        values["role"],
        values["descriptor"],
        values["digest"],
        values["len"],
        values["taint"],
        values["quarantined"],
        get("qid", ""),
        get("reason", ""),
        get("durability", ""),
        get("valid_to", 0),
        get("witness", ""),
        get("trust_epoch", 0),
        str(get("utility", "")),
        get("syndrome", ""),
        written=_spelled(raw),
    )


def _checked(
    window: TextWindow, row: Any, known: dict[str, type], required: dict[str, type], where: str
) -> dict[str, Any]:
    """A row whose members are all known, there and of their type."""
    if type(row) is not dict:
        window.fail("wrong-type", f"expected an object for {where}, got {kind(row)}")
    values: dict[str, Any] = row
    for name, value in values.items():
        wanted = known.get(name)
        if wanted is None:
            _refuse_name(window, name, known, where)
        if wanted is str and type(value) is str and value.isascii():
            continue
        _typed(window, name, value, wanted, where)
    if not required.keys() <= values.keys():
        missing = next(name for name in required if name not in values)
        window.fail("missing-member", f"{where} has no {missing}")
    return values


def _typed(window: TextWindow, name: str, value: Any, wanted: type, where: str) -> Any:
    got: Any = value
    if wanted is float:
        if type(value) is not int and type(value) is not Written:
            window.fail("wrong-type", f"expected a number for {name} of {where}, got {kind(value)}")
    elif type(value) is not wanted:
        what = f"expected {_NAMES[wanted]} for {name} of {where}"
        window.fail("wrong-type", f"{what}, got {kind(value)}")
    elif wanted is str:
        window.checked(got)
    elif wanted is int:
        low, high = _BOUNDS.get(name, _INT64)
        if not low <= got <= high:
            window.fail("out-of-range", f"{name} of {where} is out of its range")
    return value


def _refuse_name(window: TextWindow, name: str, known: Any, where: str) -> NoReturn:
    if name.casefold() in known:
        window.fail("member-case", f"{where} spells {name.casefold()} in another case")
    window.fail("unknown-member", f"{where} has a member that the format does not know")


def _spelled(raw: str) -> tuple[tuple[str, str], ...]:
    """The members whose U+FFFD is written as an escape, with their token (SPEC 1.3)."""
    if "\\ufffd" not in raw:
        return ()
    pairs = ((m[1], m[2]) for m in _STRING_TOKEN.finditer(raw))
    return tuple((name, token) for name, token in pairs if token and "\\ufffd" in token)
