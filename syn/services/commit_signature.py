"""What the signature headers of one commit amount to, before anybody asks who was allowed."""

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


def signature_of(commit: Commit) -> CommitSignature:
    """Read a commit's signature, strictly: one `gpgsig` header, nothing like it beside."""
    headers = commit.signatures
    if not headers:
        return CommitSignature("unsigned")
    if len(headers) > 1 or headers[0][0] != "gpgsig":
        names = ", ".join(name for name, _ in headers)[:120]
        return CommitSignature("bad", reason=f"expected one gpgsig header, got {names}")
    armored = headers[0][1]
    kind = sshsig.kind_of(armored)
    if kind == "unknown":
        return CommitSignature("bad", reason="the signature has no known format")
    if kind != "ssh":
        return CommitSignature("foreign", reason=kind)
    return _ssh(armored, commit.payload_without_sig)


def _ssh(armored: bytes, payload: bytes) -> CommitSignature:
    try:
        key = sshsig.verify(armored, payload, NAMESPACE_GIT)
    except UnsupportedSignatureError as error:
        return CommitSignature("foreign", reason=error.message)
    except SshSignatureError as error:
        return CommitSignature("bad", reason=error.message)
    return CommitSignature("ssh", key)
