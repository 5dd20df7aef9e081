"""Pins: what this person trusts of a workspace, in their own configuration (design 7).

A pin holds whole signed checkpoints, not only their roots, so that it can be shown to others as
evidence. It never moves down: a new one is added after it was shown to extend the newest.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from syn.canon import json as canonical
from syn.errors import CannotError, RefusedError
from syn.git import durable
from syn.keys import public
from syn.keys.public import PublicKey, PublicKeyError
from syn.model.finding import Json
from syn.services.workspace import Surroundings

VERSION = 1


class PinError(RefusedError):
    """A pin that would move down or sideways (`pin-down`, `pin-forked`)."""


class DamagedPinsError(CannotError):
    """A file of pins that cannot be read: without it nothing is trusted by accident."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            "pins-damaged",
            f"{path}: {why}",
            "restore it, or move it away and pin again what you know from outside",
        )


@dataclass(frozen=True, slots=True)
class PinnedWitness:
    """A witness that was checked and then trusted."""

    origin: str
    size: int
    commit: str
    data: bytes
    """The witness file as it was given."""
    keys: tuple[PublicKey, ...]
    """The keys under which it verified."""


@dataclass(frozen=True, slots=True)
class Pins:
    """Everything pinned of one workspace."""

    workspace: str
    root: str = ""
    """The trust root for identities: the first commit that was pinned, or ""."""
    commits: tuple[str, ...] = ()
    """Bare commits, oldest first."""
    witnesses: tuple[PinnedWitness, ...] = ()
    """Oldest first."""

    @property
    def keys(self) -> tuple[PublicKey, ...]:
        """Every key that a pinned witness rests on."""
        return tuple(dict.fromkeys(key for item in self.witnesses for key in item.keys))

    def newest(self, origin: str) -> PinnedWitness | None:
        """The newest pinned witness of a log."""
        found = [item for item in self.witnesses if item.origin == origin]
        return max(found, key=lambda item: item.size, default=None)

    def with_witness(self, witness: PinnedWitness) -> "Pins":
        """With one more witness, which the caller has shown to extend the others."""
        return replace(
            self,
            root=self.root or witness.commit,
            witnesses=(*self.witnesses, witness),
        )

    def with_commit(self, commit: str) -> "Pins":
        """With one more commit, which the caller has shown to descend from the others."""
        return replace(self, root=self.root or commit, commits=(*self.commits, commit))


NO_PINS = Pins("")


def folder(around: Surroundings) -> Path:
    """Where the pins lie."""
    return around.config_dir / "pins"


def load_pins(around: Surroundings, workspace: str) -> Pins:
    """What is pinned of a workspace; an empty value when nothing is.

    Raises:
        DamagedPinsError: the file is there and cannot be read.
    """
    path = _path(around, workspace)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Pins(workspace)
    except OSError as error:
        raise DamagedPinsError(path, str(error.strerror)) from error
    try:
        pins = _decode(canonical.decode(data))
    except (CannotError, PublicKeyError) as error:
        raise DamagedPinsError(path, error.message) from error
    if pins is None or pins.workspace != workspace:
        raise DamagedPinsError(path, "expected pins of this workspace")
    return pins


def list_pins(around: Surroundings) -> Iterator[Pins]:
    """The pins of every workspace, by id."""
    place = folder(around)
    for path in sorted(place.glob("*.json")) if place.is_dir() else ():
        yield load_pins(around, path.stem)


def save_pins(around: Surroundings, pins: Pins) -> None:
    """Write the pins, whole or not at all; only their owner reads them."""
    place = folder(around)
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = f"{pins.workspace}.json"
    durable.replace(place, name.encode(), canonical.encode(_encode(pins)))
    if os.name == "posix":
        (place / name).chmod(0o600)


def _path(around: Surroundings, workspace: str) -> Path:
    if not workspace or "/" in workspace or workspace.startswith("."):
        raise CannotError("workspace-id", f"{workspace!r:.60} cannot name a workspace")
    return folder(around) / f"{workspace}.json"


def _encode(pins: Pins) -> dict[str, Json]:
    witnesses: list[Json] = [
        {
            "origin": item.origin,
            "size": item.size,
            "commit": item.commit,
            "witness": item.data.decode(),
            "keys": [key.line() for key in item.keys],
        }
        for item in pins.witnesses
    ]
    return {
        "v": VERSION,
        "ws": pins.workspace,
        "root": pins.root,
        "commits": [*pins.commits],
        "witnesses": witnesses,
    }


def _decode(value: Json) -> Pins | None:
    match value:
        case {
            "v": 1,
            "ws": str(workspace),
            "root": str(root),
            "commits": list(commits),
            "witnesses": list(items),
        }:
            witnesses = tuple(_witness(item) for item in items)
            if any(item is None for item in witnesses):
                return None
            return Pins(
                workspace,
                root,
                tuple(str(commit) for commit in commits),
                tuple(item for item in witnesses if item is not None),
            )
        case _:
            return None


def _witness(value: Json) -> PinnedWitness | None:
    match value:
        case {
            "origin": str(origin),
            "size": int(size),
            "commit": str(commit),
            "witness": str(text),
            "keys": list(lines),
        }:
            keys = tuple(public.parse_line(str(line))[0] for line in lines)
            return PinnedWitness(origin, size, commit, text.encode(), keys)
        case _:
            return None
