"""Where a patrol is: when each unit was last found clean. Derived, ignored by git, and its own sum.

Without it a patrol begins anew; with a damaged one too, and says so. It decides only what is looked
at first, so whoever edits it can delay a look and change no answer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from syn.canon import json as canonical
from syn.canon.digest import tagged
from syn.errors import CannotError
from syn.git import durable
from syn.model.finding import Json

NAME = "scrub.cursor"
_DOMAIN = "scrub/1"


@dataclass(frozen=True, slots=True)
class Cursor:
    """When each unit was last found clean, by unit key; an absent one never was."""

    checked: Mapping[str, str]
    damaged: bool = False
    """There was one that could not be used."""


EMPTY = Cursor({})


def encode(workspace: str, checked: Mapping[str, str]) -> bytes:
    """One line with version, workspace and the digest of the rest; then a line per instant."""
    groups: dict[str, list[Json]] = {}
    for key in sorted(checked):
        groups.setdefault(checked[key], []).append(key)
    rest = b"".join(
        canonical.encode({"checked": ts, "units": units}) + b"\n"
        for ts, units in sorted(groups.items())
    )
    head = {"v": 1, "ws": workspace, "digest": tagged(_DOMAIN, rest)}
    return canonical.encode(head) + b"\n" + rest


def decode(workspace: str, data: bytes) -> Cursor:
    """The cursor in these bytes; a damaged or foreign one is empty and says so."""
    first, _, rest = data.partition(b"\n")
    try:
        head = canonical.decode(first)
        lines = [canonical.decode(line) for line in rest.splitlines()]
    except canonical.CanonError:
        return Cursor({}, damaged=True)
    if head != {"v": 1, "ws": workspace, "digest": tagged(_DOMAIN, rest)}:
        return Cursor({}, damaged=True)
    return Cursor(dict(_pairs(lines)))


def _pairs(lines: Iterable[Json]) -> Iterable[tuple[str, str]]:
    for line in lines:
        if not isinstance(line, dict):
            continue
        ts, units = line.get("checked"), line.get("units")
        if isinstance(ts, str) and isinstance(units, list):
            yield from ((unit, ts) for unit in units if isinstance(unit, str))


def load(folder: Path, workspace: str) -> Cursor:
    """The cursor in a folder; one that cannot be read is damaged, an absent one is empty."""
    try:
        data = (folder / NAME).read_bytes()
    except FileNotFoundError:
        return EMPTY
    except OSError:
        return Cursor({}, damaged=True)
    return decode(workspace, data)


def save(folder: Path, workspace: str, checked: Mapping[str, str]) -> bool:
    """Write the cursor, whole or not at all; whether it could be written."""
    try:
        durable.replace(folder, NAME.encode(), encode(workspace, checked))
    except (CannotError, OSError):
        return False
    return True
