"""A small workspace with one of everything: what the faults are injected into."""

import json
from dataclasses import dataclass
from pathlib import Path

from tests.support.inside import done
from tests.support.parties import Parties, edit, git
from tests.support.workspaces import Place

TRANSCRIPT = (
    {"role": "tool", "text": "The refund limit is two people.", "durability": "durable"},
    {"role": "tool", "text": "Payments belong to checkout."},
)


@dataclass(frozen=True, slots=True)
class Published:
    """The workspace, and what somebody outside it holds."""

    owner: Place
    witness: Path
    key: Path

    @property
    def questions(self) -> tuple[tuple[str, ...], ...]:
        """What is asked of `syn verify`: of the work tree, and of HEAD; both with a witness."""
        outside = ("--since", str(self.witness), "--trust", str(self.key), "--json")
        return ("--deep", *outside), ("--deep", "--ref", "HEAD", *outside)


def publish(folder: Path, *, packed: bool = False) -> Published:
    """Facts, an edit, keys and policy, checkpoints, a receipt, an image, an index; committed.

    `packed`: git's objects and references lie in packs, as after a git gc.
    """
    parties = Parties(folder)
    owner = parties.owner
    edit(owner, "# Plain\n\nA second decision.\n")
    lines = "".join(json.dumps(line) + "\n" for line in TRANSCRIPT)  # noqa: TID251 - input, not hashed
    transcript = folder / "transcript.jsonl"
    transcript.write_text(lines)
    done(
        owner, "image", "record", "images/one", "--session", "s-1", "--transcript", str(transcript)
    )
    git(owner, "add", "images")
    done(owner, "checkpoint", "--anyway")
    done(owner, "receipt", "issue", "owner-2")
    git(owner, "add", "-A")
    git(owner, "commit", "-q", "-m", "receipt and image", "--allow-empty")
    witness = folder / "second.tlog-proof"
    done(owner, "witness", "publish", "-o", str(witness))
    done(owner, "reindex", "--full")
    if packed:
        git(owner, "gc", "-q", "--prune=now")
        for file in (owner.root / ".git/objects").rglob("*.*"):
            file.chmod(0o644)
    return Published(owner, witness, parties.key)
