"""Witnesses as files: publish one, look at one, check one, pin one (design 7)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from syn.canon import checkpoint as checkpoints
from syn.canon import tlogproof
from syn.canon import witness as canon
from syn.canon.witness import Witness
from syn.errors import CannotError, RefusedError, UsageError
from syn.keys.public import PublicKey
from syn.keys.trust import Trust
from syn.services.proving.checkpoints import covering, ground_of, judge_all
from syn.services.proving.judging import Ground, Judged
from syn.services.proving.logs import PublisherLog, find_log, publisher_of
from syn.services.recall.indexing import read_workspace
from syn.services.trust.comparing import compare
from syn.services.trust.outside import Since, effective, of_keys, open_trusted
from syn.services.trust.pins import (
    PinError,
    PinnedWitness,
    Pins,
    load_pins,
    save_pins,
)
from syn.services.trust.policy import usable
from syn.services.workspace import Surroundings, Workspace
from syn.verify.evidence import WitnessEvidence


class NoCheckpointError(RefusedError):
    """There is no checkpoint that a witness could be made of."""

    def __init__(self, why: str) -> None:
        super().__init__("no-checkpoint", why, "syn checkpoint signs one")


@dataclass(frozen=True, slots=True)
class View:
    """What HEAD's commit holds, for holding a witness against it."""

    workspace: Workspace
    ground: Ground
    judged: tuple[Judged, ...]

    @property
    def logs(self) -> Sequence[PublisherLog]:
        """The publishers' logs."""
        return [item.log for item in self.judged]


def view_head(workspace: Workspace) -> View:
    """Read HEAD's commit; the work tree plays no part.

    Raises:
        UsageError: there is no commit yet.
        CannotError: it cannot be read.
    """
    head = workspace.repository.head().commit
    if head is None:
        raise UsageError("unborn", "there is no commit yet", "commit the workspace first")
    reading = read_workspace(workspace, head)
    ground = ground_of(workspace.repository, head, reading)
    judged, _ = judge_all(reading, ground)
    return View(workspace, ground, judged)


def publish(workspace: Workspace, publisher: str = "") -> tuple[bytes, Judged]:
    """The witness of the newest checkpoint, and that checkpoint as it was judged.

    Raises:
        NoCheckpointError: none covers HEAD, or none that its policy allows.
    """
    view = view_head(workspace)
    wanted = tuple(j for j in view.judged if not publisher or j.log.publisher == publisher)
    best = covering(wanted)
    if best is None or best.log.note is None or best.log.checkpoint is None:
        raise NoCheckpointError("no signed checkpoint covers HEAD")
    if not best.authorized:
        raise NoCheckpointError("the newest checkpoint is not by an active publisher")
    leaves = best.log.log.leaves[: best.log.checkpoint.size]
    return tlogproof.render(canon.publish(leaves, best.log.note)), best


@dataclass(frozen=True, slots=True)
class Look:
    """What a witness file says; nothing of it is verified."""

    proof: tlogproof.TlogProof
    checkpoint: checkpoints.Checkpoint
    workspace: str
    """The second part of the origin, or ""."""


def look(data: bytes) -> Look:
    """Read a witness without believing it.

    Raises:
        TlogProofError, NoteError, CheckpointError: it has another form.
    """
    proof = tlogproof.parse(data)
    signed = checkpoints.parse(proof.note.text)
    parts = signed.origin.split("/")
    return Look(proof, signed, parts[-2] if len(parts) > 1 else "")


@dataclass(frozen=True, slots=True)
class Checked:
    """A witness that opened under trusted keys, beside a workspace where there is one."""

    witness: Witness
    comparison: WitnessEvidence | None
    """None outside a workspace: then only the file was checked."""


def check(
    data: bytes, trust: Trust | None, around: Surroundings, workspace: Workspace | None
) -> Checked:
    """Open a witness, and hold HEAD's history against it.

    Raises:
        SynError: it does not open under these keys.
    """
    pins = load_pins(around, _workspace_of(data, workspace))
    opened = open_trusted(data, effective(trust, pins))
    if workspace is None:
        return Checked(opened, None)
    view = view_head(workspace)
    since = Since("witness", witness=data)
    return Checked(opened, compare(view.ground, view.logs, since, trust, pins))


def _workspace_of(data: bytes, workspace: Workspace | None) -> str:
    return workspace.config.id if workspace else look(data).workspace


# Pinning


@dataclass(frozen=True, slots=True)
class Pinned:
    """What a pin now holds."""

    pins: Pins
    witness: Witness | None
    """None for a bare commit."""
    first_use: bool
    """The key was taken from the repository's policy: trust on first use, because it was asked."""
    changed: bool
    keys: tuple[PublicKey, ...] = ()


def pin_witness(
    data: bytes, trust: Trust | None, around: Surroundings, workspace: Workspace | None
) -> Pinned:
    """Trust a witness from now on; the newest one of its log that is pinned may only grow.

    Raises:
        PinError: it is older than the pinned one, or contradicts it or the history here.
        CannotError: that it extends them cannot be told.
        SynError: it does not open.
    """
    pins = load_pins(around, _workspace_of(data, workspace))
    view = view_head(workspace) if workspace else None
    keys = effective(trust, pins)
    first_use = keys is None and view is not None
    if first_use and view is not None:
        keys = _policy_keys(view, data)
    opened = open_trusted(data, keys)
    if view is not None:
        _refuse_unlike(compare(view.ground, view.logs, Since("", witness=data), keys, pins))
    changed = _advances(pins, opened, view)
    verified = tuple(dict.fromkeys(PublicKey(item.verifier.public) for item in opened.verified))
    pinned = PinnedWitness(
        opened.checkpoint.origin, opened.checkpoint.size, opened.record.commit, data, verified
    )
    if changed or pinned not in pins.witnesses:
        pins = replace(pins, workspace=opened.record.ws).with_witness(pinned)
        save_pins(around, pins)
        changed = True
    return Pinned(pins, opened, first_use, changed, verified)


def _policy_keys(view: View, data: bytes) -> Trust | None:
    """The publisher keys that HEAD's policy names: the first use that the caller asked for."""
    policy = usable(view.ground.policy)
    name = publisher_of(look(data).checkpoint.origin)
    found = policy.with_role("publisher") if policy else ()
    return of_keys(item.key for item in found if item.name == name and item.state == "active")


def _refuse_unlike(found: WitnessEvidence) -> None:
    """Only what today's history extends is pinned."""
    finding = next((f for f in found.findings if f.severity != "warning"), None)
    if finding is None:
        return
    message = f"expected {finding.expected}, got {finding.actual}"
    if found.status == "cannot-tell":
        raise CannotError(finding.code, message, finding.remedy)
    raise PinError(f"pin-{found.status}", f"{found.status}: {message}", finding.remedy)


def _advances(pins: Pins, opened: Witness, view: View | None) -> bool:
    """Whether this is more than what is pinned; refuses what is less, or something else."""
    newest = pins.newest(opened.checkpoint.origin)
    if newest is None:
        return True
    old = look(newest.data).checkpoint
    match checkpoints.compare(old, opened.checkpoint):
        case "equal":
            return False
        case "older":
            raise PinError(
                "pin-down",
                f"the pinned witness holds {old.size} records, this one "
                f"{opened.checkpoint.size}: a pin never moves down",
                "syn verify --since FILE checks against the older one",
            )
        case "newer":
            _expect_extension(old, opened, view)
            return True
        case _:
            raise PinError(
                "pin-forked",
                f"two witnesses of {old.size} records with different roots: the publisher signed "
                "two histories",
                "keep both files: together they prove it",
            )


def _expect_extension(old: checkpoints.Checkpoint, opened: Witness, view: View | None) -> None:
    """Shown by the local log, which holds every leaf: both roots are its roots at their sizes."""
    log = find_log(view.logs, publisher_of(old.origin)) if view else None
    if log is None:
        raise CannotError(
            "pin-unproven",
            "that the new witness extends the pinned one cannot be told without the log",
            "run it in a clone of the workspace",
        )
    hashes = log.log.leaf_hashes()
    for checkpoint in (old, opened.checkpoint):
        relation = canon.log_relation(hashes, checkpoint)
        if relation != "extension":
            raise PinError(
                "pin-forked" if relation == "rewritten" else "pin-behind",
                f"the log here is {relation} against the witness of {checkpoint.size} records",
                "keep both files; syn verify --since FILE --evidence FILE says what differs",
            )


def pin_commit(workspace: Workspace, commit: str) -> Pinned:
    """Trust a commit from now on: a published commit is a pin too.

    Raises:
        PinError: it is not in HEAD's history, or does not descend from what is pinned.
        CannotError: that cannot be told here.
    """
    around = workspace.around
    pins = load_pins(around, workspace.config.id)
    if commit in pins.commits:
        return Pinned(pins, None, False, False)
    view = view_head(workspace)
    _refuse_unlike(compare(view.ground, (), Since("", commit=commit), None, pins))
    beside = replace(view.ground, head=commit, found={})
    for known in (*pins.commits[-1:], *(w.commit for w in pins.witnesses[-1:])):
        if not beside.descends(known):
            raise PinError(
                "pin-down",
                f"{commit} does not descend from the pinned {known}: a pin never moves down",
                "syn verify --since COMMIT checks against it all the same",
            )
    pins = pins.with_commit(commit)
    save_pins(around, pins)
    return Pinned(pins, None, False, True)
