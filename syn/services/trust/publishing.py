"""`syn checkpoint`: state what HEAD holds in a head record, and sign the log (design 7)."""

from collections.abc import Iterable
from dataclasses import dataclass

from syn.canon import checkpoint as checkpoints
from syn.canon import digest, head, merkle
from syn.canon import note as notes
from syn.canon.checkpoint import Checkpoint
from syn.canon.head import HeadLog, HeadRecord
from syn.canon.note import Note
from syn.errors import RefusedError, UsageError
from syn.git import durable
from syn.git.history import is_ancestor
from syn.git.write import check_locks, commit_paths
from syn.keys.openssh import PrivateKey
from syn.keys.policy import Policy, PolicyKey, allowed
from syn.keys.signing import note_signer
from syn.keys.sshsig import NAMESPACE_GIT, sign
from syn.model.report import Report
from syn.services.proving.collect import pass_over
from syn.services.proving.head_record import head_record
from syn.services.proving.logs import (
    DEFAULT_HOST,
    PublisherLog,
    find_log,
    log_path,
    logs_at,
    note_path,
)
from syn.services.proving.verifying import Request, examine
from syn.services.recall.indexing import Progress
from syn.services.trust.keyring import KeyFile, keys_here
from syn.services.trust.policy import head_policy, usable
from syn.services.trust.publisher import Signed, load_signed, save_signed
from syn.services.workspace import Workspace
from syn.services.writing.exclusive import exclusively
from syn.services.writing.recorder import ident


class NotPublisherError(RefusedError):
    """No key here may sign checkpoints (`no-policy`, `not-publisher`)."""


class ForeignLogError(RefusedError):
    """The log here is not the one that this clone signed last (`log-foreign`, `log-behind`)."""


class UnfitStateError(RefusedError):
    """The state is not one to put a name to: a dirty tree, or a verify that does not pass."""

    def __init__(self, what: str) -> None:
        super().__init__(
            "checkpoint-unfit",
            f"nothing was signed: {what}",
            "syn verify says why; --anyway signs what HEAD holds all the same",
        )


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller asks of a checkpoint."""

    publisher: str = ""
    """Name in the policy; needed only where several keys here may publish."""
    host: str = ""
    """First part of the origin of a new log."""
    anyway: bool = False
    """Sign what HEAD holds, though the tree is dirty or verify does not pass."""
    take_over: bool = False
    """Continue a log that another clone signed, which does not publish any more."""


@dataclass(frozen=True, slots=True)
class Published:
    """A checkpoint that was made, or that covers everything already."""

    checkpoint: Checkpoint
    record: HeadRecord
    key: str
    """Fingerprint."""
    made: bool
    """False when the newest checkpoint says the same already."""
    commit: str
    """The commit that holds the checkpoint; HEAD when nothing was made."""


@dataclass(frozen=True, slots=True)
class _Publisher:
    name: str
    origin: str
    key: PrivateKey
    log: PublisherLog
    """As HEAD holds it; empty for a new one."""


def make_checkpoint(
    workspace: Workspace, wishes: Wishes, progress: Progress | None = None
) -> Published:
    """Append a head record for HEAD to this clone's log, sign the log, and commit both alone.

    Raises:
        NotPublisherError, ForeignLogError, UnfitStateError: nothing was signed.
        UsageError: HEAD is on no branch that publishes, or `publisher` names none.
    """
    with exclusively(workspace):
        parent = _publishing_head(workspace)
        publisher = _publisher(workspace, wishes, parent)
        unfinished = _own_log(workspace, publisher, parent, wishes)
        if unfinished is not None:
            return _release(workspace, publisher, unfinished, parent)
        record = _state(workspace, wishes, parent, progress)
        newest = publisher.log.record
        if newest is not None and _same_state(newest, record):
            if _signed_by(publisher.log, publisher):
                return _nothing_new(publisher, newest, parent)
            return _release(workspace, publisher, _resign(publisher, newest), parent)
        return _release(workspace, publisher, _append(publisher, record), parent)


# Who publishes, and where


def _publishing_head(workspace: Workspace) -> str:
    found = workspace.repository.head()
    if found.commit is None:
        raise UsageError("unborn", "there is no commit yet", "commit the workspace first")
    if found.branch != workspace.config.branch:
        raise UsageError(
            "not-publishing-branch",
            f"expected HEAD on {workspace.config.branch}, got {found.branch or 'no branch'}",
            f"git switch {workspace.config.branch}; [git] branch names the one that publishes",
        )
    return found.commit


def _publisher(workspace: Workspace, wishes: Wishes, parent: str) -> _Publisher:
    policy = usable(head_policy(workspace))
    if policy is None:
        raise NotPublisherError(
            "no-policy", "HEAD has no policy that can be read", "syn key init writes the first one"
        )
    name, file = _choose(policy, keys_here(workspace.around), wishes.publisher)
    tree = workspace.repository.store.commit(parent).tree
    log = find_log(logs_at(workspace.repository.store, tree), name)
    if log is not None and log.checkpoint is not None:
        origin = log.checkpoint.origin
    else:
        origin = checkpoints.origin(wishes.host or DEFAULT_HOST, workspace.config.id, name)
    if log is not None and any(fault.severity == "failure" for fault in log.faults):
        raise ForeignLogError(
            "log-damaged", f"{log_path(name)}: {log.faults[0].actual}", "syn verify says more"
        )
    empty = PublisherLog(name, HeadLog((), (), ()))
    return _Publisher(name, origin, file.load(), log or empty)


def _choose(policy: Policy, keys: Iterable[KeyFile], wanted: str) -> tuple[str, KeyFile]:
    found: dict[str, KeyFile] = {}
    for file in keys:
        item: PolicyKey | None = policy.find(file.key)
        if item is not None and allowed(policy, file.key, "publisher"):
            found.setdefault(item.name, file)
    if wanted:
        found = {name: file for name, file in found.items() if name == wanted}
    if not found:
        who = f" named {wanted!r:.80}" if wanted else ""
        raise NotPublisherError(
            "not-publisher",
            f"no key here is an active publisher{who} of the policy at HEAD",
            "an admin gives a key the role: syn policy add NAME FILE --role publisher",
        )
    return next(iter(found.items()))


def _own_log(
    workspace: Workspace, publisher: _Publisher, parent: str, wishes: Wishes
) -> "_Signature | None":
    """Refuse a tail that this clone did not sign; a signature that was not published, if any."""
    here = publisher.log.checkpoint
    own = load_signed(workspace).get(publisher.origin)
    if own is None:
        if here is not None and not wishes.take_over:
            raise ForeignLogError(
                "log-foreign",
                f"another clone signs the log of {publisher.name}",
                "publish from there, or under a name of your own; if that clone is gone, "
                "--take-over continues its log here",
            )
        return None
    signed = checkpoints.parse(notes.parse(own.note.encode()).text)
    if here == signed:
        return None
    if here is not None and here.size > signed.size and not wishes.take_over:
        raise ForeignLogError(
            "log-foreign",
            f"another clone continued the log of {publisher.name} from {signed.size} "
            f"to {here.size} records",
            "one log belongs to one clone; --take-over continues it here",
        )
    if here is None or here.size < signed.size:
        return _unfinished(workspace, publisher, own, parent)
    if here.size == signed.size and here.root != signed.root:
        raise ForeignLogError(
            "log-forked",
            f"the log of {publisher.name} has another record {here.size} than this clone signed",
            "two histories were signed: tell whoever holds a witness, and publish under a new name",
        )
    return None


def _unfinished(
    workspace: Workspace, publisher: _Publisher, own: Signed, parent: str
) -> "_Signature":
    """The signature that was cut off before its commit, when it still fits."""
    leaves = publisher.log.log.leaves
    record = head.decode(own.leaf.encode())
    signed = checkpoints.parse(notes.parse(own.note.encode()).text)
    fits = (
        len(leaves) == own.size - 1
        and merkle.root((*leaves, own.leaf.encode())) == signed.root
        and is_ancestor(workspace.repository.store, record.commit, parent)
    )
    if not fits:
        raise ForeignLogError(
            "log-behind",
            f"this clone signed {own.size} records of {publisher.name}, here are {len(leaves)}",
            "bring the branch back to the newest checkpoint (git reflog), or publish under a new "
            "name: signing other records would show two histories",
        )
    return _Signature(record, own.leaf.encode(), notes.parse(own.note.encode()))


# What is stated


def _state(
    workspace: Workspace, wishes: Wishes, parent: str, progress: Progress | None
) -> HeadRecord:
    """The record of what HEAD holds; its place in the log is open."""
    tree = workspace.repository.store.commit(parent).tree
    with pass_over(workspace, "", None, progress) as done:
        report = examine(workspace, Request(), done)
        unfit = _unfit(report)
        if not unfit:
            return head_record(done, parent, tree)
    if not wishes.anyway:
        raise UnfitStateError(unfit)
    with pass_over(workspace, parent, None, progress) as done:
        done.require_whole()
        return head_record(done, parent, tree)


def _unfit(report: Report) -> str:
    if report.verdict != "pass":
        broken = [r.id for r in report.invariants if r.status.value in ("fail", "incomplete")]
        return f"syn verify says {report.verdict} ({', '.join(broken)})"
    if report.subject.worktree == "dirty":
        return "the work tree differs from HEAD"
    return ""


def _same_state(old: HeadRecord, new: HeadRecord) -> bool:
    """Whether a record says of the workspace what another does, wherever HEAD stands."""
    return (old.inputs, old.projection, old.manifest, old.segments, old.policy) == (
        new.inputs,
        new.projection,
        new.manifest,
        new.segments,
        new.policy,
    )


# Signing and publishing


@dataclass(frozen=True, slots=True)
class _Signature:
    record: HeadRecord
    leaf: bytes
    """b"" when no record is added."""
    note: Note


def _append(publisher: _Publisher, record: HeadRecord) -> _Signature:
    record = head.link(record, publisher.log.log)
    leaf = head.encode(record)
    return _Signature(record, leaf, _sign(publisher, (*publisher.log.log.leaves, leaf)))


def _resign(publisher: _Publisher, record: HeadRecord) -> _Signature:
    """The same log under a new key of the publisher (rotation)."""
    return _Signature(record, b"", _sign(publisher, publisher.log.log.leaves))


def _sign(publisher: _Publisher, leaves: tuple[bytes, ...]) -> Note:
    checkpoint = Checkpoint(publisher.origin, len(leaves), merkle.root(leaves))
    signer = note_signer(publisher.key, publisher.origin)
    return notes.sign(checkpoints.render(checkpoint), (signer,))


def _signed_by(log: PublisherLog, publisher: _Publisher) -> bool:
    known = note_signer(publisher.key, publisher.origin)
    signatures = log.note.signatures if log.note else ()
    return any((s.name, s.key_id) == (known.name, known.key_id) for s in signatures)


def _nothing_new(publisher: _Publisher, record: HeadRecord, parent: str) -> Published:
    checkpoint = publisher.log.checkpoint
    assert checkpoint is not None  # noqa: S101 - a record is under a checkpoint
    return Published(checkpoint, record, publisher.key.public.fingerprint, False, parent)


def _release(
    workspace: Workspace, publisher: _Publisher, signature: _Signature, parent: str
) -> Published:
    """Remember the signature, write log and checkpoint, commit both: nobody sees it before."""
    repository = workspace.repository
    check_locks(repository)
    leaves = publisher.log.log.leaves
    added = (signature.leaf,) if signature.leaf else ()
    log = b"".join(leaf + b"\n" for leaf in (*leaves, *added))
    note = notes.render(signature.note)
    checkpoint = checkpoints.parse(signature.note.text)
    newest = (signature.leaf or leaves[-1]).decode()
    save_signed(workspace, Signed(publisher.origin, checkpoint.size, newest, note.decode()))
    files = {log_path(publisher.name).encode(): log, note_path(publisher.name).encode(): note}
    for path, data in files.items():
        durable.replace(workspace.root, path, data)
    who = ident(workspace)
    commit = commit_paths(
        repository,
        files,
        f"checkpoint {checkpoint.size} of {publisher.name}",
        author=who,
        committer=who,
        parent=parent,
        sign=lambda raw: sign(publisher.key, raw, NAMESPACE_GIT),
    )
    fingerprint = publisher.key.public.fingerprint
    return Published(checkpoint, signature.record, fingerprint, True, commit)


def root_text(checkpoint: Checkpoint) -> str:
    """The root as reports show it."""
    return digest.text(checkpoint.root)
