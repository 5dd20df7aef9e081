"""What comes from outside the repository: trust files, and what `--since` names."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from syn.canon import tlogproof
from syn.canon.witness import Witness, open_witness
from syn.errors import UsageError
from syn.git.resolve import resolve
from syn.keys import trust as trusts
from syn.keys.public import PublicKey
from syn.keys.trust import Trust, TrustedKey
from syn.services.files import read_file
from syn.services.trust.pins import Pins
from syn.services.workspace import Workspace

PIN = "pin"
"""What `--since` calls the newest pinned witness."""
_COMMIT = re.compile(r"[0-9a-f]{40}\Z")


class TrustInsideError(UsageError):
    """A trust file that lies in the very repository it is to judge."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            "trust-inside",
            f"{path} lies in the repository that it is to judge",
            "take the key from its owner by another way, and keep it outside",
        )


@dataclass(frozen=True, slots=True)
class Since:
    """What `--since` named: a witness, or a bare commit."""

    given: str
    """As the caller wrote it."""
    witness: bytes | None = None
    commit: str = ""
    """Full id, when it is no witness."""
    pinned: bool = False
    """It was pinned on this machine before this run."""


def load_trust(paths: Sequence[Path], workspace: Workspace | None) -> Trust | None:
    """The keys of every `--trust` file; None when there is none.

    Raises:
        TrustInsideError: a file lies in the work tree or the git directory.
        UsageError: a file is not there (`no-file`).
        TrustError: a file cannot be honoured.
    """
    keys = [key for path in paths for key in _read(path, workspace).keys]
    return Trust(tuple(keys)) if keys else None


def _read(path: Path, workspace: Workspace | None) -> Trust:
    if workspace is not None and _inside(path, workspace):
        raise TrustInsideError(path)
    return trusts.parse(read_file(path, trusts.MAX_BYTES))


def _inside(path: Path, workspace: Workspace) -> bool:
    repository = workspace.repository
    places = [repository.root, repository.git_dir, repository.common_dir]
    real = path.resolve()
    return any(place is not None and real.is_relative_to(place.resolve()) for place in places)


def of_keys(keys: Iterable[PublicKey]) -> Trust | None:
    """Trust in bare keys, such as those of a pin."""
    found = tuple(TrustedKey(key, 0) for key in dict.fromkeys(keys))
    return Trust(found) if found else None


def effective(trust: Trust | None, pins: Pins) -> Trust | None:
    """The keys a witness is held against: those that were given, else those of the pins."""
    return trust if trust is not None else of_keys(pins.keys)


def open_trusted(data: bytes, trust: Trust | None) -> Witness:
    """A witness that verifies under these keys.

    Raises:
        SynError: as `syn.canon.witness.open_witness`.
    """
    note = tlogproof.parse(data).note
    return open_witness(data, trust.note_verifiers(note) if trust else ())


def read_witness(path: Path) -> bytes:
    """The bytes of a witness file, cut just over its limit.

    Raises:
        UsageError: there is no such file.
        CannotError: it cannot be read.
    """
    return read_file(path, tlogproof.MAX_BYTES)


def read_since(workspace: Workspace, text: str, pins: Pins) -> Since:
    """What `--since` means: `pin`, a witness file, or a commit.

    A full commit id is taken as it is, whether it is here or not.

    Raises:
        UsageError: none of these.
    """
    if text == PIN:
        return _pin(pins)
    path = Path(text)
    if path.is_file():
        data = read_witness(path)
        return Since(text, witness=data, pinned=any(w.data == data for w in pins.witnesses))
    if _COMMIT.match(text):
        return Since(text, commit=text, pinned=text in pins.commits)
    try:
        commit = resolve(workspace.repository, text)
    except UsageError as error:
        raise UsageError(
            "unknown-witness",
            f"--since {text!r:.80}: no file and no commit has this name",
            "give a witness file, a full commit id, or pin",
        ) from error
    return Since(text, commit=commit, pinned=commit in pins.commits)


def read_root(workspace: Workspace, text: str, pins: Pins) -> tuple[str, bool]:
    """The trust root that `--root` means, and whether it comes from outside the repository.

    A full commit id and `pin` do; a branch or `HEAD` is the repository's own word.

    Raises:
        UsageError: no such commit, or nothing is pinned.
    """
    if text == PIN:
        if not pins.root:
            raise _no_pin()
        return pins.root, True
    if _COMMIT.match(text):
        return text, True
    commit = resolve(workspace.repository, text)
    return commit, commit == pins.root


def _pin(pins: Pins) -> Since:
    if pins.witnesses:
        return Since(PIN, witness=pins.witnesses[-1].data, pinned=True)
    if pins.commits:
        return Since(PIN, commit=pins.commits[-1], pinned=True)
    raise _no_pin()


def _no_pin() -> UsageError:
    return UsageError(
        "no-pin",
        "no witness of this workspace is pinned on this machine",
        "syn witness pin FILE --trust KEY pins one",
    )
