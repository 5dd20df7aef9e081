"""What the signature headers of one commit amount to, before anybody asks who was allowed."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.git.parse import Commit
from syn.keys import sshsig
from syn.keys.public import PublicKey
from syn.keys.sshsig import NAMESPACE_GIT, SshSignatureError, UnsupportedSignatureError

SignatureKind: TypeAlias = Literal["ssh", "unsigned", "foreign", "bad"]


@dataclass(frozen=True, slots=True)
class CommitSignature:
    """What the signature headers of one commit amount to."""

    kind: SignatureKind
    key: PublicKey | None = None
    """Whose signature over the commit holds; only for `ssh`."""
    reason: str = ""
    """Why it is bad, or which format is not verified here."""


_UNSIGNED = CommitSignature("unsigned")
_HEADER = b"\ngpgsig"
_HEADER_END = re.compile(rb"\n(?! )")


def signature_of(commit: Commit) -> CommitSignature:
    """Read a commit's signature, strictly: one `gpgsig` header, nothing like it beside.

    Works on the bytes: a history has as many of these as commits. `Commit.signatures` and
    `Commit.payload_without_sig` say the same, header by header.
    """
    raw = commit.raw
    end = raw.find(b"\n\n")
    end = len(raw) if end < 0 else end
    start = raw.find(_HEADER, 0, end)
    if start < 0:
        return _UNSIGNED
    value = start + len(_HEADER) + 1
    if raw[value - 1 : value] != b" " or raw.find(_HEADER, start + 1, end) >= 0:
        names = ", ".join(name for name, _ in commit.signatures)[:120]
        return CommitSignature("bad", reason=f"expected one gpgsig header, got {names}")
    found = _HEADER_END.search(raw, value)
    stop = found.start() if found else len(raw)
    return _judge(raw[value:stop].replace(b"\n ", b"\n"), raw[:start] + raw[stop:])


def _judge(armored: bytes, payload: bytes) -> CommitSignature:
    kind = sshsig.kind_of(armored)
    if kind == "unknown":
        return CommitSignature("bad", reason="the signature has no known format")
    if kind != "ssh":
        return CommitSignature("foreign", reason=kind)
    return _ssh(armored, payload)


def _ssh(armored: bytes, payload: bytes) -> CommitSignature:
    try:
        key = sshsig.verify(armored, payload, NAMESPACE_GIT)
    except UnsupportedSignatureError as error:
        return CommitSignature("foreign", reason=error.message)
    except SshSignatureError as error:
        return CommitSignature("bad", reason=error.message)
    return CommitSignature("ssh", key)
