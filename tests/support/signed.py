"""Histories of signed commits, written as raw objects: any policy, any signer, any date, any shape.

past = Past(tmp_path)
root = past.commit(policy=policy(alice=1))
head = past.commit([root], signer=1, files={"facts/a.md": "x"})
found = past.judge(head, root)
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pygit2
from pygit2.enums import ObjectType

from syn.canon import base64
from syn.git.parse import Ident, add_signature, render_commit
from syn.git.repository import Repository, open_repository
from syn.keys import policy as policies
from syn.keys import sshsig
from syn.keys.policy import KeyState, Policy, PolicyKey, Role
from syn.ledger.build import Draft, Signer, empty_tail, lines, next_entries
from syn.ledger.segments import Tail, segment_path
from syn.model.ledger import Action
from syn.services.proving.identity import identity_evidence
from syn.verify.evidence import IdentityEvidence
from tests.support.proofs import WORKSPACE, private_key

POLICY = ".synapse/policy"
TS = "2026-04-15T10:00:00.000000Z"


def policy(*items: tuple[str, int, str] | tuple[str, int, str, KeyState]) -> str:
    """A policy file: (name, key number, roles joined by commas[, state])."""
    keys = []
    for name, number, roles, *state in items:
        named: tuple[Role, ...] = tuple(r for r in policies.ROLES if r in roles.split(","))
        held: KeyState = state[0] if state else "active"
        keys.append(PolicyKey(name, named, held, private_key(number).public))
    return policies.render(Policy(tuple(keys))).decode()


class Past:
    """A bare repository whose commits the test writes one by one."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "past.git"
        pygit2.init_repository(str(self.path), bare=True, initial_head="main")
        self.repository: Repository = open_repository(self.path)
        self.files: dict[str, dict[str, str]] = {}
        """By commit, what its tree holds."""
        self.tails: dict[str, Tail] = {}
        self._clock = 1_700_000_000

    def commit(
        self,
        parents: Sequence[str] = (),
        *,
        policy: str | None = None,
        files: Mapping[str, str | None] | None = None,
        signer: int | None = None,
        date: int | None = None,
        namespace: str = "git",
    ) -> str:
        """Write a commit on top of the first parent's files; None takes a file away."""
        held = dict(self.files[parents[0]]) if parents else {}
        changes = dict(files or {})
        if policy is not None:
            changes[POLICY] = policy or None
        for path, text in changes.items():
            if text is None:
                held.pop(path, None)
            else:
                held[path] = text
        self._clock += 60
        who = Ident("Ada", "ada@example.org", self._clock if date is None else date)
        raw = render_commit(self._tree(held), tuple(parents), who, who, f"at {self._clock}")
        if signer is not None:
            raw = add_signature(raw, sshsig.sign(private_key(signer), raw, namespace))
        return self.write(raw, held)

    def write(self, raw: bytes, held: Mapping[str, str]) -> str:
        """Write these bytes as a commit whose tree holds these files."""
        oid = str(self.repository.pg.odb.write(ObjectType.COMMIT, raw))
        self.files[oid] = dict(held)
        return oid

    def again(self, commit: str, raw: bytes) -> str:
        """A commit with the same files and other bytes."""
        return self.write(raw, self.files[commit])

    def raw(self, commit: str) -> bytes:
        """The bytes of a commit."""
        return self.repository.store.commit(commit).raw

    def entry(
        self,
        on: str,
        writer: str = "w1",
        *,
        signer: int | None = None,
        action: Action = "reject",
        **more: object,
    ) -> tuple[str, dict[str, str]]:
        """The next entry of a writer after a commit: its hash, and the files that hold it."""
        tail = self.tails.get(f"{on}:{writer}") or empty_tail(WORKSPACE, writer)
        if action == "reject":
            more.setdefault("proposal", "sha256:" + "5" * 64)
        draft = Draft(actor="Ada <ada@example.org>", via="cli", action=action, **more)  # type: ignore[arg-type]
        made, after = next_entries(tail, [draft], TS, signer=_signer(signer))
        path = segment_path(writer, made[0][1].seq)
        text = self.files[on].get(path, "") + lines(made).decode()
        self._after = {f"{writer}": after}
        return made[0][0], {path: text}

    def decided(
        self,
        parent: str,
        writer: str = "w1",
        *,
        signer: int | None = None,
        by: int | None = None,
        action: Action = "reject",
        **more: object,
    ) -> tuple[str, str]:
        """A commit by key `by` with one entry signed by key `signer`: commit, entry hash."""
        digest, files = self.entry(parent, writer, signer=signer, action=action, **more)
        commit = self.commit([parent], files=files, signer=by)
        for name, tail in self.tails.copy().items():
            on, _, other = name.partition(":")
            if on == parent:
                self.tails[f"{commit}:{other}"] = tail
        self.tails[f"{commit}:{writer}"] = self._after[writer]
        return commit, digest

    def judge(
        self, head: str, root: str, *, lines: Sequence[bytes] = (), covered: Sequence[str] = ()
    ) -> IdentityEvidence:
        """INV-9's evidence from `root` to `head`."""
        return identity_evidence(self.repository, head, root, lines, covered)

    def _tree(self, held: Mapping[str, str]) -> str:
        folders: dict[str, dict[str, str]] = {}
        builder = self.repository.pg.TreeBuilder()
        for path, text in sorted(held.items()):
            name, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(name, {})[rest] = text
            else:
                blob = self.repository.pg.create_blob(text.encode())
                builder.insert(name, blob, pygit2.enums.FileMode.BLOB)
        for name, inner in folders.items():
            builder.insert(name, self._tree(inner), pygit2.enums.FileMode.TREE)
        return str(builder.write())


def _signer(number: int | None) -> Signer | None:
    if number is None:
        return None
    key = private_key(number)
    return Signer(key.public.fingerprint, lambda message: base64.encode(key.sign(message)))


def codes(found: IdentityEvidence) -> dict[str, str]:
    """Code to severity of every finding."""
    return {finding.code: finding.severity for finding in found.findings}


def forged(found: bytes) -> bytes:
    """A commit's bytes with one bit of its signature flipped."""
    at = found.index(b"\n -----END SSH") - 12
    flipped = b"A" if found[at : at + 1] != b"A" else b"B"
    return found[:at] + flipped + found[at + 1 :]
