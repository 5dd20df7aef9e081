"""C2SP tlog-checkpoints (https://c2sp.org/tlog-checkpoint): a log's origin, size and root.

Synapse writes no extension lines and refuses them: what a head says stands in a leaf. An origin is
`<host>/<workspace>/<publisher>`, in a grammar that no other signed format of this project can start
with (`DSSEv1 `, `SSHSIG`, `cosignature/v1`), so that one key may sign all of them (ADR 0009).
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.canon import base64
from syn.canon.merkle import HASH_SIZE
from syn.errors import RefusedError

MAX_SIZE = 2**63 - 1
_ORIGIN = re.compile(r"[a-z0-9.-]+(?:/[A-Za-z0-9._-]+)+\Z")
_DECIMAL = re.compile(r"(?:0|[1-9][0-9]{0,18})\Z")
_LINES = 3

Relation: TypeAlias = Literal["equal", "newer", "older", "forked", "other-log"]


class CheckpointError(RefusedError):
    """A note text that is no checkpoint of ours.

    Codes: `checkpoint-form`, `checkpoint-origin`, `checkpoint-size`, `checkpoint-root`,
    `checkpoint-extension`.
    """


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of a log."""

    origin: str
    size: int
    root: bytes
    """32 bytes, the RFC 6962 root at this size."""


def is_origin(text: str) -> bool:
    """Whether the text is an origin as Synapse writes it."""
    return _ORIGIN.match(text) is not None


def origin(host: str, workspace: str, publisher: str) -> str:
    """The origin of a publisher's log.

    Raises:
        CheckpointError: a part does not fit the grammar.
    """
    text = f"{host}/{workspace}/{publisher}"
    if not is_origin(text) or text.count("/") != 2:  # noqa: PLR2004 - three parts, two slashes
        raise _origin_error(text)
    return text


def parse(text: str) -> Checkpoint:
    """Read the text of a note as a checkpoint.

    Raises:
        CheckpointError: it is none, or holds extension lines.
    """
    lines = text.split("\n")
    if len(lines) <= _LINES or lines.pop() != "":
        raise CheckpointError("checkpoint-form", "expected origin, size and root, one a line")
    name, size, root = lines[:_LINES]
    if not is_origin(name):
        raise _origin_error(name)
    number = parse_decimal(size)
    if number is None:
        raise CheckpointError(
            "checkpoint-size", f"expected a decimal size below 2^63, got {size[:40]!r}"
        )
    digest = base64.decode(root)
    if digest is None or len(digest) != HASH_SIZE:
        raise CheckpointError(
            "checkpoint-root", f"expected 32 bytes in canonical Base64, got {root[:60]!r}"
        )
    if len(lines) > _LINES:
        raise CheckpointError(
            "checkpoint-extension", f"expected no extension lines, got {lines[_LINES][:60]!r}"
        )
    return Checkpoint(name, number, digest)


def render(checkpoint: Checkpoint) -> str:
    """The note text; `parse(render(checkpoint)) == checkpoint`.

    Raises:
        CheckpointError: it would not read back, so it must not be signed.
    """
    root = base64.encode(checkpoint.root)
    text = f"{checkpoint.origin}\n{checkpoint.size}\n{root}\n"
    parse(text)
    return text


def compare(old: Checkpoint, new: Checkpoint) -> Relation:
    """How `new` stands to `old` by what the two say alone.

    `newer` still needs a consistency proof; `forked` is the same size with two roots, which is
    proof by itself that the log showed two histories.
    """
    if old.origin != new.origin:
        return "other-log"
    if old.size != new.size:
        return "newer" if new.size > old.size else "older"
    return "equal" if old.root == new.root else "forked"


def parse_decimal(text: str) -> int | None:
    """A number below 2^63 in ASCII decimal without sign or leading zeros, or None."""
    if not _DECIMAL.match(text):
        return None
    number = int(text)
    return number if number <= MAX_SIZE else None


def _origin_error(text: str) -> CheckpointError:
    return CheckpointError(
        "checkpoint-origin", f"expected an origin like host/workspace/publisher, got {text[:80]!r}"
    )
