"""Who writes: the actor's name for the ledger and the commit, and the key that signs, if any."""

from syn.canon import base64
from syn.git.identity import identity
from syn.git.parse import Ident
from syn.keys.policy import Role
from syn.keys.sshsig import NAMESPACE_GIT, sign
from syn.ledger.build import Signer
from syn.services.trust.policy import own_key
from syn.services.workspace import Workspace
from syn.services.writing.decision import Recorder

FALLBACK = ("syn", "syn@localhost")
"""Used where git has no identity; every machine writes the same."""


def recorder(workspace: Workspace, role: Role = "writer") -> Recorder:
    """The recorder of this command: git's identity here, and the key that HEAD's policy holds.

    Raises:
        KeyFileError, LooseKeyError: that key cannot be used; an unsigned entry would cost the
            workspace its level without anybody noticing.
    """
    found = own_key(workspace, role) or own_key(workspace, "writer")
    if found is None:
        return Recorder(ident=ident(workspace))
    key = found.load()
    return Recorder(
        ident=ident(workspace),
        signer=Signer(key.public.fingerprint, lambda message: base64.encode(key.sign(message))),
        sign_commit=lambda raw: sign(key, raw, NAMESPACE_GIT),
    )


def ident(workspace: Workspace) -> Ident:
    """Name and address from the environment, then from git's configuration, then a fallback."""
    variables = workspace.around.variables
    name, email = identity(workspace.repository)
    name = variables.get("GIT_AUTHOR_NAME") or name or FALLBACK[0]
    email = variables.get("GIT_AUTHOR_EMAIL") or email or FALLBACK[1]
    return Ident(_plain(name), _plain(email), int(workspace.around.now.timestamp()))


def actor(workspace: Workspace) -> str:
    """`name <email>`, as entries name the actor."""
    return ident(workspace).text


def _plain(text: str) -> str:
    """Without what would end a name in a commit header."""
    return "".join(c for c in text if c.isprintable() and c not in "<>").strip() or FALLBACK[0]
