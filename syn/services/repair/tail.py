"""The torn last line of a segment: what a crash cut off, and what is left when it is mended."""

from dataclasses import dataclass

from syn.errors import CannotError, RefusedError
from syn.ledger.entry import Defect, decode
from syn.model.problem import display_path
from syn.services.patrol.look import Look
from syn.services.recall.reading import read_plain


@dataclass(frozen=True, slots=True)
class Tail:
    """A segment file before and after it is mended."""

    path: str
    before: bytes
    after: bytes | None
    """None: the file is removed, since nothing whole was in it."""

    @property
    def detail(self) -> str:
        """What is done, for a person."""
        if self.after is None:
            return "the empty file is removed"
        if len(self.after) > len(self.before):
            return "the last line is whole: its LF is added"
        return f"{len(self.before) - len(self.after)} bytes after the last whole line are cut off"


def torn_tail(look: Look, path: str) -> Tail | None:
    """How to mend a torn segment; None when HEAD has more of it than would be left.

    A line that is whole but for its LF and follows in the chain is kept: it may be a quarantine.
    """
    entry = next(
        (item for item in look.reading.inventory.ledger if display_path(item.path) == path), None
    )
    if entry is None:
        return None
    try:
        data = read_plain(look.reading.snapshot, entry)
        committed = (
            look.reading.snapshot.read(entry._replace(on_disk=False)) if entry.head_oid else b""
        )
    except (CannotError, RefusedError):
        return None
    whole = data[: data.rfind(b"\n") + 1]
    rest = data[len(whole) :]
    after: bytes | None = whole or None
    if rest and not isinstance(decode(rest), Defect) and _follows(look, path):
        after = data + b"\n"
    if not (after or b"").startswith(committed):
        return None
    return Tail(path, data, after)


def _follows(look: Look, path: str) -> bool:
    """Whether the torn line is the only thing that is wrong with its file."""
    codes = {found.code for found in look.reading.ledger.findings if found.path == path}
    return codes == {"torn-tail"}
