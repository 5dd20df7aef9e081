"""`syn witness cosign`: an auditor's timestamped word that a checkpoint extends those before."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from syn.canon import checkpoint as checkpoints
from syn.canon import json as canonical
from syn.canon import note as notes
from syn.canon import tlogproof
from syn.canon import witness as canon
from syn.canon.checkpoint import Checkpoint
from syn.canon.witness import Witness
from syn.errors import CannotError, RefusedError, UsageError
from syn.git import durable
from syn.keys.openssh import PrivateKey
from syn.keys.signing import cosigner
from syn.keys.trust import Trust
from syn.services.lock import BusyError
from syn.services.proving.logs import find_log, publisher_of
from syn.services.trust.outside import effective, open_trusted
from syn.services.trust.pins import load_pins
from syn.services.trust.witnesses import look, view_head
from syn.services.workspace import Surroundings, Workspace

WAIT_SECONDS = 10.0


class CosignError(RefusedError):
    """A checkpoint that does not extend the last one this auditor cosigned.

    Codes: `cosign-forked`, `cosign-older`, `cosign-behind`.
    """


@dataclass(frozen=True, slots=True)
class Cosigned:
    """A witness with one more signature."""

    data: bytes
    witness: Witness
    name: str
    time: int
    """Seconds since the epoch."""


def cosign(
    data: bytes,
    key: PrivateKey,
    name: str,
    trust: Trust | None,
    around: Surroundings,
    *,
    workspace: Workspace | None,
) -> Cosigned:
    """Add a cosignature, after the publisher's signature and the extension were checked.

    What was cosigned is remembered before the signature leaves: check and memory are one step, so
    that two runs at once never sign two histories.

    Raises:
        CosignError: it contradicts what was cosigned before; nothing was signed.
        CannotError: that it extends it cannot be told here.
        SynError: it does not open under these keys.
    """
    if not notes.is_key_name(name):
        raise UsageError("cosigner-name", f"expected a name without spaces and +, got {name!r:.60}")
    pins = load_pins(around, look(data).workspace)
    opened = open_trusted(data, effective(trust, pins))
    with _alone(around):
        _expect_extension(around, opened, workspace)
        _remember(around, opened)
        time = int(around.now.timestamp())
        proof = tlogproof.parse(data)
        signed = notes.extend(proof.note, (cosigner(key, name, time),))
    made = tlogproof.TlogProof(proof.extra, proof.index, proof.hashes, signed)
    return Cosigned(tlogproof.render(made), opened, name, time)


def default_name(key: PrivateKey) -> str:
    """A name for a cosigner who gives none: it says which key it is."""
    return f"synapse/cosigner/{sha256(key.public.raw).hexdigest()[:16]}"


def _expect_extension(around: Surroundings, opened: Witness, workspace: Workspace | None) -> None:
    old = _last(around, opened.checkpoint.origin)
    if old is None:
        return
    match checkpoints.compare(old, opened.checkpoint):
        case "equal":
            return
        case "older":
            raise CosignError(
                "cosign-older",
                f"a checkpoint of {old.size} records was cosigned, this one has "
                f"{opened.checkpoint.size}",
                "cosign the newest witness",
            )
        case "forked":
            raise CosignError(
                "cosign-forked",
                f"another checkpoint of {old.size} records was cosigned: the publisher signed two",
                f"keep this file, and {_path(around, old.origin)}: together they prove it",
            )
        case _:
            _by_the_log(old, opened, workspace)


def _by_the_log(old: Checkpoint, opened: Witness, workspace: Workspace | None) -> None:
    log = (
        find_log(view_head(workspace).logs, publisher_of(old.origin))
        if workspace is not None and workspace.config.id == opened.record.ws
        else None
    )
    if log is None:
        raise CannotError(
            "cosign-unproven",
            f"that it extends the {old.size} records cosigned before cannot be told here",
            "run it in a clone of the workspace, which holds the log",
        )
    hashes = log.log.leaf_hashes()
    for checkpoint in (old, opened.checkpoint):
        relation = canon.log_relation(hashes, checkpoint)
        if relation != "extension":
            raise CosignError(
                "cosign-forked" if relation == "rewritten" else "cosign-behind",
                f"the log here is {relation} against the checkpoint of {checkpoint.size} records",
                "fetch the workspace again; if it stays, keep this file as evidence",
            )


def _last(around: Surroundings, origin: str) -> Checkpoint | None:
    """The last checkpoint of a log that was cosigned on this machine."""
    path = _path(around, origin)
    try:
        value = canonical.decode(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, CannotError) as error:
        raise _damaged(path) from error
    match value:
        case {"v": 1, "note": str(text)}:
            return checkpoints.parse(notes.parse(text.encode()).text)
        case _:
            raise _damaged(path)


def _damaged(path: Path) -> CannotError:
    return CannotError(
        "cosigned-damaged",
        f"{path} cannot be read: what was cosigned before is not known",
        "restore it; without it this key must not cosign the log again",
    )


def _remember(around: Surroundings, opened: Witness) -> None:
    path = _path(around, opened.checkpoint.origin)
    note = notes.render(opened.note).decode()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    durable.replace(path.parent, path.name.encode(), canonical.encode({"v": 1, "note": note}))


def _path(around: Surroundings, origin: str) -> Path:
    return around.config_dir / "cosigned" / f"{sha256(origin.encode()).hexdigest()}.json"


@contextlib.contextmanager
def _alone(around: Surroundings) -> Iterator[None]:
    from filelock import FileLock, Timeout

    folder = around.config_dir / "cosigned"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with FileLock(folder / "lock", timeout=WAIT_SECONDS):
            yield
    except Timeout as error:
        raise BusyError(" (another cosignature)") from error
