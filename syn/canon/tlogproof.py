"""C2SP tlog-proof files (https://c2sp.org/tlog-proof): one leaf's inclusion under a checkpoint.

The first line names the format; `extra` carries opaque bytes that nothing authenticates by itself;
then the leaf's index, its audit path, a blank line and the signed checkpoint as it is.
"""

from dataclasses import dataclass

from syn.canon import base64, note
from syn.canon.checkpoint import parse_decimal
from syn.canon.merkle import HASH_SIZE, MAX_PROOF
from syn.canon.note import Note
from syn.errors import RefusedError

MAX_BYTES = 1 << 20
HEADER = "c2sp.org/tlog-proof@v1"


class TlogProofError(RefusedError):
    """A file that is no tlog-proof, or over the limits: `tlogproof-limit`, `tlogproof-form`."""


@dataclass(frozen=True, slots=True)
class TlogProof:
    """The parts of a proof file."""

    extra: bytes | None
    index: int
    hashes: tuple[bytes, ...]
    """The audit path, leaf side first."""
    note: Note
    """The signed checkpoint; not verified."""


def parse(data: bytes) -> TlogProof:
    """Read a proof file; checks its form only.

    Raises:
        TlogProofError: it has another form or is over 1 MiB or 63 hashes.
        NoteError: the part after the blank line is no signed note.
    """
    if len(data) > MAX_BYTES:
        raise TlogProofError(
            "tlogproof-limit", f"expected a proof of at most 1 MiB, got {len(data)} bytes"
        )
    head, blank, rest = data.partition(b"\n\n")
    try:
        lines = head.decode("ascii").split("\n")
    except UnicodeDecodeError as error:
        raise _form("expected ASCII before the checkpoint") from error
    if not blank or lines[0] != HEADER:
        raise _form(f"expected the first line {HEADER!r} and a blank line, got {lines[0][:60]!r}")
    extra, lines = _parse_extra(lines[1:])
    number = parse_decimal(lines[0].removeprefix("index ")) if lines else None
    if number is None or not lines[0].startswith("index "):
        raise _form(f"expected an index line, got {lines[0][:60]!r}" if lines else "no index line")
    return TlogProof(extra, number, _parse_hashes(lines[1:]), note.parse(rest))


def render(proof: TlogProof) -> bytes:
    """The bytes of a proof file; `parse(render(proof)) == proof`."""
    lines = [HEADER]
    if proof.extra is not None:
        lines.append(f"extra {base64.encode(proof.extra)}")
    lines.append(f"index {proof.index}")
    lines.extend(base64.encode(item) for item in proof.hashes)
    return "\n".join((*lines, "", "")).encode("ascii") + note.render(proof.note)


def _parse_extra(lines: list[str]) -> tuple[bytes | None, list[str]]:
    if not lines or not lines[0].startswith("extra "):
        return None, lines
    extra = base64.decode(lines[0].removeprefix("extra "))
    if extra is None:
        raise _form("expected canonical Base64 in extra")
    return extra, lines[1:]


def _parse_hashes(lines: list[str]) -> tuple[bytes, ...]:
    if len(lines) > MAX_PROOF:
        raise TlogProofError(
            "tlogproof-limit", f"expected at most {MAX_PROOF} hashes, got {len(lines)}"
        )
    hashes = []
    for line in lines:
        data = base64.decode(line)
        if data is None or len(data) != HASH_SIZE:
            raise _form(f"expected 32 bytes in canonical Base64, got {line[:60]!r}")
        hashes.append(data)
    return tuple(hashes)


def _form(message: str) -> TlogProofError:
    return TlogProofError("tlogproof-form", message)
