"""Today's history beside a witness: an append-only extension, or what else it is (INV-12).

The answers are kept apart: *rewritten* and *forked* accuse, *behind* says that the newest is not
here, *other-workspace* that the two have nothing to do with each other, and *cannot-tell* that
something needed is not here. Only `consistent` passes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from syn.canon import cosignature, digest, merkle
from syn.canon import note as notes
from syn.canon import witness as witnesses
from syn.canon.head import HeadRecord
from syn.canon.note import UnknownKeyError
from syn.canon.witness import Witness
from syn.errors import CannotError, RefusedError, SynError
from syn.git.history import is_ancestor
from syn.git.objects import MissingObjectError
from syn.keys.trust import Trust
from syn.keys.vkey import TYPE_ED25519
from syn.model.finding import Finding, Json, Severity
from syn.services.proving.judging import Ground
from syn.services.proving.logs import PublisherLog, find_log, publisher_of
from syn.services.trust.contrast import detail_of
from syn.services.trust.outside import Since, effective, open_trusted
from syn.services.trust.pins import Pins
from syn.services.trust.policy import usable
from syn.verify.evidence import WitnessEvidence

Status: TypeAlias = Literal[
    "consistent", "rewritten", "behind", "forked", "other-workspace", "cannot-tell"
]

_ORDER: tuple[Status, ...] = ("other-workspace", "rewritten", "forked", "behind", "cannot-tell")
_PULL = "fetch the branch again; if it stays like this, it was reset: ask its owner"
_REWRITE = "do not trust this history: keep the witness and this report (--evidence FILE)"


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which today's state is no extension of the witness."""

    status: Status
    code: str
    subject: str
    expected: str
    actual: str
    remedy: str

    def finding(self) -> Finding:
        """As a finding of INV-12; what cannot be told accuses nobody."""
        severity: Severity = "unknown" if self.status == "cannot-tell" else "failure"
        return Finding(
            code=self.code,
            subject=self.subject,
            expected=self.expected,
            actual=self.actual,
            remedy=self.remedy,
            severity=severity,
        )


def compare(
    ground: Ground, logs: Sequence[PublisherLog], since: Since, trust: Trust | None, pins: Pins
) -> WitnessEvidence:
    """Hold the verified history against what `--since` named; never raises for what it finds."""
    if since.witness is None:
        return _compare_commit(ground, since)
    try:
        # 1 to 3: form and caps; the note under a key from outside; the record is its last leaf.
        found = open_trusted(since.witness, effective(trust, pins))
    except SynError as error:
        return _unopened(since, error)
    return _compare_witness(ground, logs, found, since, pins)


def _unopened(since: Since, error: SynError) -> WitnessEvidence:
    """A file that is no witness, or one that nobody here trusts: history is not accused."""
    finding = Finding(
        code=error.code,
        subject="witness",
        expected="a witness under a key from outside the repository",
        actual=error.message,
        remedy=error.remedy or "ask whoever published it for the file again",
        severity="unknown" if isinstance(error, CannotError) else "failure",
    )
    other = error.code == "witness-workspace"
    return _evidence(since, "other-workspace" if other else "cannot-tell", (finding,), {})


def _compare_commit(ground: Ground, since: Since) -> WitnessEvidence:
    """A bare commit: today's history descends from it, or how not."""
    differences = tuple(_ancestry(ground, since.commit, since.commit))
    status = _status(differences)
    detail: dict[str, Json] = {"commit": since.commit, "head": ground.head}
    found = tuple(item.finding() for item in differences)
    return replace(
        _evidence(since, status, found, detail),
        pinned_commit=since.pinned,
        commit=since.commit,
    )


def _compare_witness(
    ground: Ground, logs: Sequence[PublisherLog], found: Witness, since: Since, pins: Pins
) -> WitnessEvidence:
    log = find_log(logs, publisher_of(found.checkpoint.origin))
    if found.record.ws != ground.workspace:
        differences: tuple[Difference, ...] = (_other_workspace(ground, found),)
    else:
        # 4 to 6: the log, the commit, every writer's chain.
        cut = len(log.log.leaves if log else ()) < found.checkpoint.size
        cut = cut and not _beyond(ground, found.record)
        differences = (
            *_log(log, found),
            *_ancestry(ground, found.record.commit, found.checkpoint.origin, cut=cut),
            *_chains(ground, found.record),
        )
    status = _status(differences)
    findings = (*(item.finding() for item in differences), *_newer_pin(found, pins))
    publishers = _publisher_keys(ground, found)
    evidence = _evidence(
        since, status, findings, detail_of(ground, log, found, status == "consistent")
    )
    return replace(
        evidence,
        outside_key=any(item.verifier.type == TYPE_ED25519 for item in found.verified),
        cosigned=bool(cosignature.cosigners(found.verified, other_than=publishers)),
        commit=found.record.commit,
    )


def _evidence(
    since: Since, status: Status, findings: tuple[Finding, ...], detail: dict[str, Json]
) -> WitnessEvidence:
    return WitnessEvidence(
        given=since.given,
        status=status,
        outside_key=False,
        pinned_commit=False,
        cosigned=False,
        findings=findings,
        detail=detail,
    )


def _publisher_keys(ground: Ground, found: Witness) -> set[bytes]:
    """Keys that are the publisher's own, whatever else they sign."""
    name = publisher_of(found.checkpoint.origin)
    policy = usable(ground.policy)
    listed = {item.key.raw for item in policy.keys if item.name == name} if policy else set()
    signed = {i.verifier.public for i in found.verified if i.verifier.type == TYPE_ED25519}
    return listed | signed


def _status(differences: Sequence[Difference]) -> Status:
    """The gravest; a log with two histories under an intact git history is called forked."""
    found = {item.status for item in differences}
    if any(item.code == "witness-commit-rewritten" for item in differences):
        found.discard("forked")
    return next((status for status in _ORDER if status in found), "consistent")


def _other_workspace(ground: Ground, found: Witness) -> Difference:
    return Difference(
        "other-workspace",
        "witness-other-workspace",
        found.checkpoint.origin,
        f"a witness of {ground.workspace}",
        f"one of {found.record.ws}",
        "give the witness that this workspace published",
    )


# The log of head records


def _log(log: PublisherLog | None, found: Witness) -> Iterator[Difference]:
    """Whether the local log of the same publisher continues the witness's."""
    signed = found.checkpoint
    hashes = log.log.leaf_hashes() if log else ()
    relation = witnesses.log_relation(hashes, signed)
    if relation == "behind":
        yield from _behind(hashes, found)
    elif relation == "rewritten":
        local = log.checkpoint if log else None
        forked = local is not None and local.size == signed.size and _same_key(log, found)
        yield Difference(
            "forked" if forked else "rewritten",
            "witness-forked" if forked else "witness-log-rewritten",
            signed.origin,
            f"{signed.size} records with the root {digest.text(signed.root)}",
            f"the root {digest.text(merkle.root_of(hashes[: signed.size]))}",
            "the publisher signed two histories of one size: both notes prove it"
            if forked
            else _REWRITE,
        )


def _behind(hashes: Sequence[bytes], found: Witness) -> Iterator[Difference]:
    """A shorter log: cut back, unless what is left of it contradicts the witness."""
    signed, record = found.checkpoint, found.record
    if len(hashes) == signed.size - 1 and hashes and digest.text(hashes[-1]) != record.prev:
        yield Difference(
            "rewritten",
            "witness-log-rewritten",
            signed.origin,
            f"record {signed.size - 1} with the leaf hash {record.prev}",
            digest.text(hashes[-1]),
            _REWRITE,
        )
        return
    yield Difference(
        "behind",
        "witness-log-behind",
        signed.origin,
        f"at least {signed.size} records",
        f"{len(hashes)}",
        _PULL,
    )


def _same_key(log: PublisherLog | None, found: Witness) -> bool:
    """Whether the local checkpoint is signed by a key under which the witness verified."""
    if log is None or log.note is None:
        return False
    try:
        notes.verify(log.note, tuple(item.verifier for item in found.verified))
    except (UnknownKeyError, RefusedError):
        return False
    return True


# The commit


def _ancestry(
    ground: Ground, commit: str, subject: str, *, cut: bool = False
) -> Iterator[Difference]:
    """Whether the verified commit descends from the witness's, by raw commits.

    Where the witness's commit is not here at all, `cut` decides what its absence is called: log
    and chains end before the witness, and hold nothing that it does not know.
    """
    try:
        relation = ground.descends(commit)
    except CannotError as error:
        yield _cannot(subject, commit, error.message, error.remedy)
        return
    if relation is None:
        yield _cannot(
            subject,
            commit,
            "some of the history is not here",
            "fetch the whole history: git fetch --unshallow",
        )
    elif not relation:
        behind = _is_behind(ground, commit, cut)
        yield Difference(
            "behind" if behind else "rewritten",
            "witness-commit-behind" if behind else "witness-commit-rewritten",
            subject,
            f"a history that holds {commit}",
            f"{ground.head or 'no commit'}, which {_where(behind)}",
            _PULL if behind else _REWRITE,
        )


def _is_behind(ground: Ground, commit: str, cut: bool) -> bool:
    """Whether the verified commit is an ancestor of the one it should descend from."""
    if not ground.head:
        return True
    try:
        return bool(is_ancestor(ground.store, ground.head, commit, ground.shallow))
    except MissingObjectError:
        return cut


def _beyond(ground: Ground, record: HeadRecord) -> bool:
    """Whether there are decisions here that the witness does not know."""
    known = {item.writer: item.length for item in record.segments}
    return any(chain.tail.length > known.get(w, 0) for w, chain in ground.chains.items())


def _where(behind: bool) -> str:
    return "comes before it" if behind else "does not descend from it"


def _cannot(subject: str, commit: str, why: str, remedy: str) -> Difference:
    return Difference(
        "cannot-tell",
        "witness-cannot-tell",
        subject,
        f"the history from {commit} to the verified commit",
        why,
        remedy,
    )


# The chains


def _chains(ground: Ground, record: HeadRecord) -> Iterator[Difference]:
    """Whether every writer's chain still begins as the witness says."""
    for item in record.segments:
        chain = ground.chains.get(item.writer)
        here = chain.hash_at(item.length) if chain else None
        if here == item.head:
            continue
        length = chain.tail.length if chain else 0
        short = here is None and length < item.length
        yield Difference(
            "behind" if short else "rewritten",
            "witness-segment-behind" if short else "witness-segment-rewritten",
            item.writer,
            f"{item.length} decisions that end in {item.head}",
            f"{length} decisions" if short else f"{here} at {item.length}",
            _PULL if short else _REWRITE,
        )


def _newer_pin(found: Witness, pins: Pins) -> Iterator[Finding]:
    pinned = pins.newest(found.checkpoint.origin)
    if pinned is not None and pinned.size > found.checkpoint.size:
        yield Finding(
            code="witness-newer-pin",
            subject=found.checkpoint.origin,
            expected=f"the newest witness known here, of {pinned.size} records",
            actual=f"one of {found.checkpoint.size}",
            remedy="syn verify --since pin checks against the newest",
            severity="warning",
            local=True,
        )
