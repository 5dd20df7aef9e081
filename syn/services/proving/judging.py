"""One publisher's log and checkpoint, held against policy, ledger and history (INV-3)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from syn.canon import digest, head, merkle
from syn.canon import note as notes
from syn.canon.head import HeadRecord
from syn.canon.note import NoteError, UnknownKeyError
from syn.errors import CannotError, RefusedError
from syn.git.history import is_ancestor
from syn.git.objects import ObjectStore
from syn.keys.policy import BrokenPolicy, Policy, allowed
from syn.keys.public import PublicKey
from syn.keys.signing import publisher_verifiers
from syn.ledger.segments import Chain
from syn.model.finding import Finding, Severity
from syn.services.proving.logs import (
    PublisherLog,
    at_note,
    at_record,
    log_path,
    note_path,
    publisher_of,
)
from syn.services.trust.policy import parse_policy, policy_bytes, usable

Authority: TypeAlias = Literal["allowed", "compromised", "stranger"]
_ORIGIN_PARTS = 3


@dataclass(frozen=True, slots=True)
class Ground:
    """What checkpoints are held against."""

    store: ObjectStore
    head: str
    """The commit that is verified, "" on an unborn branch."""
    shallow: frozenset[str]
    policy: Policy | BrokenPolicy | None
    """That of the snapshot that is verified."""
    load: Callable[[], Mapping[str, Chain]]
    """Gives `chains`; the ledger is decoded for it, which without a log or a witness none needs."""
    workspace: str
    deep: bool
    """Look at every record of a log, not only at the newest."""
    found: dict[str, bool | None] = field(default_factory=dict)
    """Answers of `descends` by commit."""

    @property
    def chains(self) -> Mapping[str, Chain]:
        """The ledger's chains by writer."""
        return self.load()

    def descends(self, commit: str) -> bool | None:
        """Whether the verified commit descends from (or is) this one; None: cannot tell."""
        if commit not in self.found:
            known = bool(self.head) and is_ancestor(self.store, commit, self.head, self.shallow)
            self.found[commit] = known
        return self.found[commit]


@dataclass(frozen=True, slots=True)
class Judged:
    """One publisher's log, judged."""

    log: PublisherLog
    findings: tuple[Finding, ...]
    key: PublicKey | None
    """The policy's publisher key whose signature holds, or None."""
    authorized: bool
    """That key could sign this checkpoint at its position."""
    covers: bool
    """The newest record holds and its commit is in the verified history."""
    unanchored: int
    """Decisions after the newest record."""


def judge(log: PublisherLog, ground: Ground) -> Judged:
    """Hold one log against the policy, the ledger and history."""
    findings = [*log.faults, *_form(log, ground)]
    key, problem = _signer(log, ground.policy)
    findings += problem
    authorized = False
    covers = False
    record = log.record
    unanchored = 0
    if record is not None and not _failed(findings):
        authorized, standing = _authority(log, record, key, ground)
        relation, history = _history(log, record, ground)
        contents = _contents(log, ground, orphaned=relation is False)
        findings += [*standing, *history, *contents]
        covers = relation is True and not _failed(findings)
        unanchored = _after(record, ground)
    return Judged(log, tuple(findings), key, authorized, covers, unanchored)


def _failed(findings: list[Finding]) -> bool:
    return any(finding.severity == "failure" for finding in findings)


def _form(log: PublisherLog, ground: Ground) -> Iterator[Finding]:
    """Log and checkpoint fit each other, and are of this workspace and this publisher."""
    checkpoint, leaves = log.checkpoint, log.log.leaves
    if checkpoint is None:
        if leaves and not log.faults:
            yield _unsigned(log, 0)
        return
    parts = checkpoint.origin.split("/")
    if len(parts) != _ORIGIN_PARTS or parts[1:] != [ground.workspace, log.publisher]:
        yield at_note(log)(
            code="checkpoint-origin",
            expected=f"…/{ground.workspace}/{log.publisher}",
            actual=checkpoint.origin,
            remedy="it is the checkpoint of another workspace or publisher: take it out",
        )
    if checkpoint.size > len(leaves):
        yield at_note(log)(
            code="log-shrank",
            expected=f"a log of {checkpoint.size} records",
            actual=f"{len(leaves)}",
            remedy=f"signed records were cut off: restore {log_path(log.publisher)}",
        )
    elif merkle.root(leaves[: checkpoint.size]) != checkpoint.root:
        yield at_note(log)(
            code="checkpoint-root",
            expected=digest.text(checkpoint.root),
            actual=digest.text(merkle.root(leaves[: checkpoint.size])),
            remedy=f"signed records were changed: restore {log_path(log.publisher)}",
        )
    elif checkpoint.size < len(leaves):
        yield _unsigned(log, checkpoint.size)


def _unsigned(log: PublisherLog, size: int) -> Finding:
    return at_note(log)(
        code="checkpoint-behind-log",
        expected=f"a checkpoint over {len(log.log.leaves)} records",
        actual=f"one over {size}" if size else "none",
        remedy="a publication that was cut off: syn checkpoint finishes it; or the checkpoint was "
        "removed: restore it",
        severity="unknown",
    )


def _signer(
    log: PublisherLog, policy: Policy | BrokenPolicy | None
) -> tuple[PublicKey | None, list[Finding]]:
    """The publisher key of the policy that signed the checkpoint."""
    if log.note is None or log.checkpoint is None:
        return None, []
    known = usable(policy)
    verifiers = publisher_verifiers(known, log.checkpoint.origin) if known else ()
    try:
        verified = notes.verify(log.note, verifiers)
    except NoteError as error:
        found = at_note(log)(
            code="checkpoint-signature",
            expected="a signature that matches the checkpoint",
            actual=error.message,
            remedy=f"the checkpoint was changed: restore {note_path(log.publisher)}",
        )
        return None, [found]
    except UnknownKeyError as error:
        found = at_note(log)(
            code="checkpoint-signer",
            expected=f"a signature by the policy's {publisher_of(log.checkpoint.origin)}",
            actual=error.message if known else "there is no policy that can be read",
            remedy="restore .synapse/policy and the checkpoint, or remove the log of a stranger",
        )
        return None, [found]
    return PublicKey(verified[0].verifier.public), []


def _authority(
    log: PublisherLog, record: HeadRecord, key: PublicKey | None, ground: Ground
) -> tuple[bool, list[Finding]]:
    """Whether the key may have signed here: by position, and never once it is compromised."""
    if key is None:
        return False, []
    try:
        found = authority_of(key, record, ground)
    except (CannotError, RefusedError) as error:
        return False, [_unread(log, record, error)]
    if found == "allowed":
        return True, []
    if found == "compromised":
        return False, [
            at_note(log)(
                code="checkpoint-compromised",
                expected="a checkpoint by a key in its owner's hands",
                actual=f"{key.fingerprint}, which the policy calls compromised",
                remedy="it anchors nothing any more: syn checkpoint with the publisher's new key",
                severity="warning",
            )
        ]
    return False, [
        at_note(log)(
            code="checkpoint-signer",
            expected="a key that was an active publisher at the checkpoint's commit",
            actual=f"{key.fingerprint} was not",
            remedy="it signed after it was retired: syn checkpoint with the publisher's new key",
        )
    ]


def authority_of(key: PublicKey, record: HeadRecord, ground: Ground) -> Authority:
    """What a publisher key's signature over a log that ends with this record counts for.

    Raises:
        CannotError, RefusedError: the policy at the record's commit cannot be read.
    """
    current = usable(ground.policy)
    item = current.find(key) if current else None
    if current is None or item is None:
        return "stranger"
    if item.state == "compromised":
        return "compromised"
    if allowed(current, key, "publisher"):
        return "allowed"
    then = usable(parse_policy(policy_bytes(ground.store, record.tree)))
    return "allowed" if then is not None and allowed(then, key, "publisher") else "stranger"


def _history(
    log: PublisherLog, record: HeadRecord, ground: Ground
) -> tuple[bool | None, list[Finding]]:
    """Whether the newest record's commit is in the verified history."""
    try:
        relation = ground.descends(record.commit)
    except CannotError as error:
        return None, [_unread(log, record, error)]
    if relation is None:
        return None, [
            at_record(log, record)(
                code="checkpoint-history",
                expected="the history between the checkpoint and the verified commit",
                actual="some of it is not here",
                remedy="fetch the whole history: git fetch --unshallow",
                severity="unknown",
            )
        ]
    if relation:
        return True, []
    return False, [_orphaned(log, record)]


def _orphaned(log: PublisherLog, record: HeadRecord) -> Finding:
    return at_record(log, record)(
        code="checkpoint-orphaned",
        expected=f"the commit {record.commit} in the verified history",
        actual="it is not there: history was rewritten, or this is another branch",
        remedy="syn checkpoint states the new history; a witness of the old one tells them apart",
        severity="warning",
    )


def _contents(log: PublisherLog, ground: Ground, *, orphaned: bool) -> Iterator[Finding]:
    """What the signed records say of commits and chains, beside what is here."""
    newest = log.record
    for record in log.signed:
        if record.ws != ground.workspace:
            yield at_record(log, record)(
                code="head-workspace",
                expected=ground.workspace,
                actual=record.ws,
                remedy="take the log out",
            )
        if ground.deep and record is not newest and ground.descends(record.commit) is False:
            yield _orphaned(log, record)
        elif record is newest or ground.deep:
            yield from _tree(log, record, ground)
        yield from _prefixes(log, record, ground, orphaned=orphaned)
    if newest is not None and not orphaned:
        yield from _entries(log, newest, ground)


def _tree(log: PublisherLog, record: HeadRecord, ground: Ground) -> Iterator[Finding]:
    try:
        tree = ground.store.commit(record.commit).tree
    except (CannotError, RefusedError) as error:
        if ground.descends(record.commit) is not False:
            yield _unread(log, record, error)
        return
    if tree != record.tree:
        yield at_record(log, record)(
            code="head-tree",
            expected=record.tree,
            actual=tree,
            remedy="the record names a tree of another commit",
        )


def _prefixes(
    log: PublisherLog, record: HeadRecord, ground: Ground, *, orphaned: bool
) -> Iterator[Finding]:
    for item in record.segments:
        chain = ground.chains.get(item.writer)
        if chain is not None and chain.hash_at(item.length) == item.head:
            continue
        lost = orphaned or ground.descends(record.commit) is False
        yield at_record(log, record)(
            code="segment-not-prefix",
            expected=f"{item.writer}: {item.length} entries that end in {item.head}",
            actual=f"{chain.tail.length if chain else 0} entries, and another one there",
            remedy="decisions under a checkpoint were cut off or rewritten: restore the segment",
            severity="warning" if lost else "failure",
        )


def _entries(log: PublisherLog, record: HeadRecord, ground: Ground) -> Iterator[Finding]:
    """The root over the decisions that the record covers."""
    covered = {item.writer: item.length for item in record.segments}
    hashes = [
        hashed
        for writer, length in covered.items()
        if writer in ground.chains
        for hashed, entry in ground.chains[writer].entries
        if entry.seq <= length
    ]
    root = head.entries_root(hashes)
    if root != record.entries and all(
        w in ground.chains and ground.chains[w].tail.length >= n for w, n in covered.items()
    ):
        yield at_record(log, record)(
            code="entries-root",
            expected=record.entries,
            actual=root,
            remedy="the record is wrong: publish anew",
        )


def _after(record: HeadRecord, ground: Ground) -> int:
    covered = {item.writer: item.length for item in record.segments}
    return sum(
        max(chain.tail.length - covered.get(writer, 0), 0)
        for writer, chain in ground.chains.items()
    )


def _unread(log: PublisherLog, record: HeadRecord, error: CannotError | RefusedError) -> Finding:
    severity: Severity = "unknown" if isinstance(error, CannotError) else "failure"
    return at_record(log, record)(
        code=error.code,
        expected="a commit that can be read",
        actual=error.message,
        remedy=error.remedy,
        severity=severity,
    )
