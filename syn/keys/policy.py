"""The policy file `.synapse/policy`: who may sign what (docs/formats/policy.md, ADR 0010).

One key a line, in the shape of an allowed-signers file with options of our own:
`alice roles="admin,writer",state="active" ssh-ed25519 AAAA… comment`. This module reads, writes and
compares policies; which policy holds at a commit is decided by position in history, in
`syn.verify`, and never by a date.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from syn.errors import UsageError
from syn.keys import public, signers
from syn.keys.public import PublicKey, PublicKeyError
from syn.keys.signers import SignerLineError
from syn.model.problem import Problem

Role: TypeAlias = Literal["admin", "writer", "publisher", "forge"]
KeyState: TypeAlias = Literal["active", "retired", "compromised"]
Standing: TypeAlias = Literal["allowed", "unknown", "role", "retired", "compromised"]
"""Why a key may or may not act: `role` is a known key without that role."""

ROLES: tuple[Role, ...] = get_args(Role)
STATES: tuple[KeyState, ...] = get_args(KeyState)
PATH = ".synapse/policy"
MAX_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._@+-]{0,63}\Z")
_PUBLISHER = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}\Z")
_OPTIONS = {"roles", "state"}


class PolicyKeyError(UsageError):
    """A key that has no line in a policy file; the codes of a policy's problems."""


class _LineError(ValueError):
    """What is wrong with one line; becomes a `Problem` with the line's number."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class PolicyKey:
    """One line of a policy."""

    name: str
    """Who holds the key; several lines may share a name (rotation)."""
    roles: tuple[Role, ...]
    """At least one, in the order of `ROLES`."""
    state: KeyState
    key: PublicKey
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy that could be read; every key stands once."""

    keys: tuple[PolicyKey, ...]

    def find(self, key: PublicKey) -> PolicyKey | None:
        """The line of this key, or None."""
        return next((item for item in self.keys if item.key == key), None)

    def with_role(self, role: Role) -> tuple[PolicyKey, ...]:
        """Every key with this role, in any state."""
        return tuple(item for item in self.keys if role in item.roles)


@dataclass(frozen=True, slots=True)
class BrokenPolicy:
    """A policy file that could not be read: it allows nobody anything."""

    problems: tuple[Problem, ...]
    """At least one, with line numbers."""


@dataclass(frozen=True, slots=True)
class PolicyFault:
    """A rule that a change of policy breaks."""

    code: str
    """`policy-first`, `policy-unsigned`, `policy-signer`, `policy-reinstated`, `policy-removed`,
    `policy-no-admin`."""
    message: str


def parse(data: bytes) -> Policy | BrokenPolicy:
    """Read a policy file; any problem makes the whole file unusable, and all of them are named."""
    if len(data) > MAX_BYTES:
        return BrokenPolicy((_problem(0, "policy-limit", "expected at most 1 MiB"),))
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        return BrokenPolicy((_problem(0, "policy-form", "expected UTF-8"),))
    keys: dict[PublicKey, PolicyKey] = {}
    problems = []
    for number, line in enumerate(lines, 1):
        if not line.strip(" \t") or line.lstrip(" \t").startswith("#"):
            continue
        try:
            item = _parse_line(line)
        except _LineError as error:
            problems.append(_problem(number, error.code, error.message))
            continue
        if item.key in keys:
            problems.append(_problem(number, "policy-key-twice", "the key stands on two lines"))
        keys[item.key] = item
    return BrokenPolicy(tuple(problems)) if problems else Policy(tuple(keys.values()))


def render(policy: Policy) -> bytes:
    """A policy file; `parse(render(policy)) == policy`."""
    return "".join(f"{render_key(item)}\n" for item in policy.keys).encode()


def render_key(item: PolicyKey) -> str:
    """One line of a policy file, without newline.

    Raises:
        PolicyKeyError: the line would not read back as it was meant.
    """
    options = f'roles="{",".join(item.roles)}",state="{item.state}"'
    line = f"{item.name} {options} {item.key.line(item.comment)}"
    try:
        read = _parse_line(line)
    except _LineError as error:
        raise PolicyKeyError(error.code, error.message) from error
    if read != item:
        raise PolicyKeyError("policy-form", f"{item.name[:40]!r} cannot be written as one line")
    return line


def add_key(data: bytes, item: PolicyKey) -> bytes:
    """The file with one more line at its end; every other byte stays."""
    gap = b"" if not data or data.endswith(b"\n") else b"\n"
    return data + gap + f"{render_key(item)}\n".encode()


def replace_key(data: bytes, item: PolicyKey) -> bytes:
    """The file with the line of this key rewritten; every other byte stays.

    Raises:
        KeyError: the file has no line with this key.
    """
    lines = data.split(b"\n")
    for position, line in enumerate(lines):
        read = parse(line)
        if isinstance(read, Policy) and read.find(item.key):
            lines[position] = render_key(item).encode()
            return b"\n".join(lines)
    raise KeyError(item.key.fingerprint)


def export(policy: Policy) -> bytes:
    """The active keys as a plain allowed-signers file for OpenSSH and git.

    Publishers carry the namespace of checkpoints too, so that the file also serves as `--trust`.
    """
    lines = []
    for item in policy.keys:
        if item.state != "active":
            continue
        names = ["git", "synapse-report"]
        if "publisher" in item.roles:
            names.append("synapse-checkpoint")
        lines.append(f'{item.name} namespaces="{",".join(names)}" {item.key.line(item.comment)}\n')
    return "".join(lines).encode()


def standing(policy: Policy, key: PublicKey, role: Role) -> Standing:
    """Whether this policy lets the key act in the role, or why not."""
    item = policy.find(key)
    if item is None:
        return "unknown"
    if item.state != "active":
        return item.state
    return "allowed" if role in item.roles else "role"


def allowed(policy: Policy, key: PublicKey, role: Role) -> bool:
    """Whether this policy lets the key act in the role."""
    return standing(policy, key, role) == "allowed"


def standing_in_all(policies: Iterable[Policy], key: PublicKey, role: Role) -> Standing:
    """The standing under several parents' policies: allowed only when every one allows it.

    Without any policy a key is `unknown`. The reason given is the gravest one.
    """
    gravity: tuple[Standing, ...] = ("compromised", "unknown", "retired", "role", "allowed")
    found = {standing(policy, key, role) for policy in policies}
    return next((item for item in gravity if item in found), "unknown")


def change_faults(
    old: Policy | None, new: Policy, signer: PublicKey | None
) -> tuple[PolicyFault, ...]:
    """The rules that a change from `old` to `new`, signed by `signer`, breaks; empty when none.

    Authority comes from the old policy alone. Keys are never taken off the list, so that what they
    signed before stays decidable; `compromised` is for ever; somebody must remain who may change
    the policy. Without an old policy the change is valid only as a pinned trust root.
    """
    faults = []
    if old is None:
        faults.append(PolicyFault("policy-first", "a first policy counts only as a pinned root"))
    else:
        faults.extend(_signer_fault(old, signer))
        faults.extend(_key_faults(old, new))
    if not any(item.state == "active" for item in new.with_role("admin")):
        faults.append(PolicyFault("policy-no-admin", "no active admin key is left"))
    return tuple(faults)


def change_allowed(old: Policy | None, new: Policy, signer: PublicKey | None) -> bool:
    """Whether the change breaks no rule; a first policy never is allowed by itself."""
    return not change_faults(old, new, signer)


def _signer_fault(old: Policy, signer: PublicKey | None) -> Iterable[PolicyFault]:
    if signer is None:
        yield PolicyFault("policy-unsigned", "the change of policy is not signed")
        return
    found = standing(old, signer, "admin")
    if found != "allowed":
        yield PolicyFault(
            "policy-signer",
            f"expected an active admin key as signer, got {signer.fingerprint} ({found})",
        )


def _key_faults(old: Policy, new: Policy) -> Iterable[PolicyFault]:
    for before in old.keys:
        after = new.find(before.key)
        shown = f"{before.name} {before.key.fingerprint}"
        if after is None:
            yield PolicyFault("policy-removed", f"the key of {shown} was taken off the list")
        elif before.state == "compromised" and after.state != "compromised":
            yield PolicyFault("policy-reinstated", f"the compromised key of {shown} was reinstated")


def _parse_line(line: str) -> PolicyKey:
    """Read one line; a `_LineError` carries the code and message of its problem."""
    if any(char < " " and char != "\t" for char in line):
        raise _LineError("policy-form", "the line holds a control character (CRLF line ends?)")
    try:
        parts = signers.parse(line)
        key = public.from_words(parts.key_type, parts.encoded)
    except SignerLineError as error:
        raise _LineError("policy-form", error.message) from error
    except PublicKeyError as error:
        raise _LineError("policy-key", error.message) from error
    options = {name: value or "" for name, value in parts.options}
    if options.keys() != _OPTIONS:
        raise _LineError("policy-option", "expected exactly the options roles and state")
    roles = _parse_roles(options["roles"])
    pattern = _PUBLISHER if "publisher" in roles else _NAME
    if not pattern.match(parts.principals):
        raise _LineError("policy-name", f"expected a name, got {parts.principals[:40]!r}")
    return PolicyKey(parts.principals, roles, _parse_state(options["state"]), key, parts.comment)


def _parse_roles(text: str) -> tuple[Role, ...]:
    written = text.split(",")
    roles = tuple(role for role in ROLES if role in written)
    if len(roles) != len(written):
        raise _LineError("policy-role", f"expected roles out of {', '.join(ROLES)}, got {text!r}")
    return roles


def _parse_state(text: str) -> KeyState:
    for state in STATES:
        if state == text:
            return state
    raise _LineError("policy-state", f"expected a state out of {', '.join(STATES)}, got {text!r}")


def _problem(line: int, code: str, message: str) -> Problem:
    return Problem(PATH, line, code, message, "correct the line, or restore the recorded policy")
