"""The publishers' logs and checkpoints in `.synapse/heads`, read but not yet judged."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from syn.canon import checkpoint as checkpoints
from syn.canon import head
from syn.canon import note as notes
from syn.canon.checkpoint import Checkpoint, CheckpointError
from syn.canon.head import HeadLog, HeadRecord
from syn.canon.note import Note, NoteError
from syn.errors import CannotError, RefusedError
from syn.git.objects import ObjectStore
from syn.model.finding import Finding, Severity
from syn.model.problem import display_path
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import HEADS, read_plain, unreadable_finding

FOLDER = HEADS.decode().rstrip("/")
DEFAULT_HOST = "synapse"
"""First part of an origin where nobody named a host: an origin is a name, not an address."""


@dataclass(frozen=True, slots=True)
class PublisherLog:
    """One publisher's log and its newest signed checkpoint."""

    publisher: str
    log: HeadLog
    note: Note | None = None
    """The checkpoint's note, None when it is absent or no note."""
    checkpoint: Checkpoint | None = None
    faults: tuple[Finding, ...] = ()
    """What is wrong with the form of the two files."""

    @property
    def record(self) -> HeadRecord | None:
        """The record that the checkpoint ends with, or None."""
        size = self.checkpoint.size if self.checkpoint else 0
        return self.log.records[size - 1] if 0 < size <= len(self.log.records) else None

    @property
    def signed(self) -> tuple[HeadRecord, ...]:
        """The records under the checkpoint."""
        return self.log.records[: self.checkpoint.size] if self.checkpoint else ()


def log_path(publisher: str) -> str:
    """The log's file."""
    return f"{FOLDER}/{publisher}.jsonl"


def note_path(publisher: str) -> str:
    """The checkpoint's file."""
    return f"{FOLDER}/{publisher}.checkpoint"


def at_note(log: PublisherLog) -> partial[Finding]:
    """A finding about the checkpoint, to be filled in."""
    return partial(Finding, subject=log.publisher, path=note_path(log.publisher), line=1)


def at_record(log: PublisherLog, record: HeadRecord) -> partial[Finding]:
    """A finding about one record of the log, to be filled in."""
    return partial(Finding, subject=log.publisher, path=log_path(log.publisher), line=record.n)


def publisher_of(origin: str) -> str:
    """The last part of an origin."""
    return origin.rpartition("/")[2]


def read_logs(reading: Reading) -> tuple[tuple[PublisherLog, ...], tuple[Finding, ...]]:
    """Every publisher's log in a snapshot, by name, and what could not be read."""
    files: dict[str, bytes] = {}
    unread: list[Finding] = []
    for entry in reading.inventory.evidence:
        if not entry.path.startswith(HEADS):
            continue
        path = display_path(entry.path)
        try:
            files[path] = read_plain(reading.snapshot, entry)
        except (CannotError, RefusedError) as error:
            unread.append(unreadable_finding(path, error))
    return logs_in(files), tuple(unread)


def logs_at(store: ObjectStore, tree: str) -> tuple[PublisherLog, ...]:
    """Every publisher's log in the tree of a commit.

    Raises:
        CannotError, RefusedError: an object is missing or damaged.
    """
    folder = store.find(tree, HEADS.rstrip(b"/"))
    if folder is None or folder.kind != "tree":
        return ()
    items = [item for item in store.tree(folder.oid) if item.kind == "file"]
    return logs_in({f"{FOLDER}/{display_path(i.name)}": store.blob(i.oid) for i in items})


def logs_in(files: dict[str, bytes]) -> tuple[PublisherLog, ...]:
    """The logs in these files (path to content)."""
    names = {_name(path) for path in files}
    return tuple(
        parse_log(name, files.get(log_path(name), b""), files.get(note_path(name)))
        for name in sorted(names)
    )


def _name(path: str) -> str:
    name = path.removeprefix(f"{FOLDER}/")
    return name.removesuffix(".jsonl").removesuffix(".checkpoint")


def parse_log(publisher: str, log: bytes, note: bytes | None) -> PublisherLog:
    """A log from the bytes of its two files; what is wrong is a finding."""
    parsed = head.parse_log(log)
    faults = [_log_fault(publisher, f.line, f.code, f.message) for f in parsed.faults]
    if note is None:
        return PublisherLog(publisher, parsed, faults=tuple(faults))
    try:
        signed = notes.parse(note)
        checkpoint = checkpoints.parse(signed.text)
    except (NoteError, CheckpointError) as error:
        faults.append(
            Finding(
                code=error.code,
                subject=publisher,
                path=note_path(publisher),
                line=1,
                expected="a signed checkpoint",
                actual=error.message,
                remedy=f"bring it back: git checkout HEAD -- {note_path(publisher)}",
            )
        )
        return PublisherLog(publisher, parsed, faults=tuple(faults))
    return PublisherLog(publisher, parsed, signed, checkpoint, tuple(faults))


def _log_fault(publisher: str, line: int, code: str, message: str) -> Finding:
    severity: Severity = "unknown" if code == "head-torn" else "failure"
    return Finding(
        code=code,
        subject=publisher,
        path=log_path(publisher),
        line=line,
        expected="a log of linked head records, one a line",
        actual=message,
        remedy="a publication that a crash cut off: syn checkpoint finishes it"
        if code == "head-torn"
        else f"bring it back: git checkout HEAD -- {log_path(publisher)}",
        severity=severity,
    )


def find_log(logs: Iterable[PublisherLog], publisher: str) -> PublisherLog | None:
    """The log of this publisher, or None."""
    return next((item for item in logs if item.publisher == publisher), None)
