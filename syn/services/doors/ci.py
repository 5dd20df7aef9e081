"""A verification in a CI job: what the runner says was pushed, and which lines that changed.

The event is read as data only. Branch names, titles and whatever else a stranger may choose in it
are never looked at; the two commits that are taken must be object ids.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syn.errors import CannotError, SynError, UsageError
from syn.git.history import ancestors, changed_paths
from syn.git.objects import ObjectStore
from syn.git.repository import Repository
from syn.model.report import Report
from syn.services.files import read_file, write_file
from syn.services.workspace import Workspace

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MAX_EVENT = 32 << 20
HISTORY = "fetch-depth: 0 on actions/checkout fetches all of it"


@dataclass(frozen=True, slots=True)
class Change:
    """What a job is about."""

    head: str
    """The commit to verify: what was pushed, or the head of the pull request, never its merge."""
    base: str
    """The commit it is compared with for changed lines, or ""."""


def read_change(variables: Mapping[str, str]) -> Change:
    """What the runner's event names; without an event file, `GITHUB_SHA` alone.

    Raises:
        UsageError: there is no commit: this is no GitHub job (`no-job`).
        CannotError: the event file cannot be read (`event`).
    """
    event = _event(variables.get("GITHUB_EVENT_PATH", ""))
    pull = event.get("pull_request")
    if pull is not None:
        head = _oid(_member(pull, "head", "sha"))
        if not head:
            raise CannotError("event", "the event's pull request names no head commit")
        return Change(head, _oid(_member(pull, "base", "sha")))
    head = _oid(variables.get("GITHUB_SHA"))
    if not head:
        raise UsageError(
            "no-job",
            "GITHUB_SHA names no commit: this is no job of a GitHub workflow",
            "elsewhere: syn verify --deep --sarif FILE",
        )
    return Change(head, _oid(event.get("before")))


def _event(path: str) -> dict[str, Any]:
    if not path:
        return {}
    data = read_file(Path(path), _MAX_EVENT)
    try:
        found = json.loads(data) if data.strip() else {}
    except (ValueError, RecursionError) as error:
        raise CannotError("event", f"{path}: expected JSON, got {data[:40]!r}") from error
    if not isinstance(found, dict):
        raise CannotError("event", f"{path}: expected an object, got {type(found).__name__}")
    return found


def _member(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _oid(value: Any) -> str:
    """An object id, or "": nothing else of an event is believed; all zeros mean none."""
    good = isinstance(value, str) and _OID.fullmatch(value) and value.strip("0")
    return value if good else ""


def expect_commit(workspace: Workspace, commit: str) -> None:
    """Say in the words of a workflow that the checkout lacks the commit to verify.

    Raises:
        CannotError: `no-head`.
    """
    if not workspace.repository.store.has(commit):
        raise CannotError(
            "no-head",
            f"commit {commit} is not in this checkout",
            f"check out the pull request's head, not its merge; {HISTORY}",
        )


def shallow_note(workspace: Workspace, report: Report) -> str:
    """One sentence when the verdict is incomplete and the checkout is shallow, else ""."""
    if report.verdict != "incomplete" or not workspace.repository.is_shallow:
        return ""
    return f"this checkout is shallow, so history could not be checked: {HISTORY}"


def outside_input(folder: Path, name: str, text: str) -> str:
    """What an input names: a file or a commit as it is, or a file made of the text it holds.

    A workflow has keys and witnesses in variables as often as in files. An id of zeros, which an
    event gives as what was there before a new branch, names nothing.

    Raises:
        CannotError: the file cannot be written.
    """
    text = text.strip()
    if _OID.fullmatch(text) and not text.strip("0"):
        return ""
    if len(text.split()) < 2 and ("+" not in text or Path(text).is_file()):  # noqa: PLR2004 - a name
        return text
    path = folder / name
    write_file(path, text.encode() + b"\n")
    return str(path)


def changed_lines(
    repository: Repository, change: Change, paths: Collection[str]
) -> dict[str, tuple[int, ...]]:
    """The lines, from 1, that a change wrote in these of its files; {} when nobody can tell.

    A pull request is compared with where it left its base.
    """
    if not change.base or not paths:
        return {}
    store = repository.store
    try:
        before = store.commit(_fork(repository, change)).tree
        after = store.commit(change.head).tree
        names = [path.encode("utf-8", "surrogateescape") for path in paths]
        return {
            found.path.decode("utf-8", "surrogateescape"): tuple(
                _written(_lines(store, found.old_oid), _lines(store, found.new_oid))
            )
            for found in changed_paths(store, before, after, names)
        }
    except SynError:
        # A hint for where to show a finding, never a finding: the base may not be fetched.
        return {}


def _fork(repository: Repository, change: Change) -> str:
    """Where the head's history left the base's, or the base where that is not one commit."""
    store, shallow = repository.store, repository.shallow_commits()
    old = ancestors(store, change.base, shallow)
    pending, seen, forks = [change.head], {change.head}, set()
    while pending:
        commit = pending.pop()
        if commit in old:
            forks.add(commit)
            continue
        fresh = [p for p in store.commit(commit).parents if p not in seen and store.has(p)]
        seen.update(fresh)
        pending += fresh
    return forks.pop() if len(forks) == 1 else change.base


def _lines(store: ObjectStore, oid: str) -> list[bytes]:
    return store.blob(oid).splitlines() if oid else []


def _written(old: list[bytes], new: list[bytes]) -> Iterator[int]:
    """The numbers of the lines that are not of the old text, in time linear in both.

    What stands between the common beginning and the common end was changed; of that, lines that
    the old text had there too are left out, unless nothing else is left.
    """
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    before = set(old[start : len(old) - end])
    between = range(start, len(new) - end)
    fresh = [number + 1 for number in between if new[number] not in before]
    yield from fresh or (number + 1 for number in between)


def _common(one: list[bytes], other: list[bytes]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
