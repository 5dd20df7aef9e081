"""Names of commits: full and short ids, references, and the suffixes `~n`, `^n`, `^{}`.

A commit's parents come from its raw bytes, so a graft or a replace ref leads nowhere else.
"""

import re
from difflib import get_close_matches

import pygit2

from syn.errors import UsageError
from syn.git.history import parent_of
from syn.git.parse import is_oid
from syn.git.repository import Repository, unknown_ref

_SUFFIX = re.compile(r"(?P<base>.*?)(?P<steps>(?:~\d*|\^\d*|\^\{(?:commit)?\})*)\Z", re.DOTALL)
_STEP = re.compile(r"~(\d*)|\^(\d*)(?!\{)|\^\{(?:commit)?\}")
_SHORT = re.compile(r"[0-9a-f]{4,39}\Z")
_TAG_DEPTH = 8
_DIGITS = 9


def resolve(repo: Repository, ref: str) -> str:
    """The id of the commit a name stands for.

    Raises:
        UsageError: `unknown-ref`: nothing has that name, or the name has no such parent.
        MissingObjectError: the name leads to an object that is not here (code `shallow` beyond the
            boundary of a shallow clone).
    """
    match = _SUFFIX.match(ref)
    assert match is not None  # noqa: S101 - the pattern matches any text
    oid = _peel(repo, _base(repo, match["base"] or "HEAD", ref), ref)
    for step in _STEP.finditer(match["steps"]):
        generations, nth = step.groups()
        if generations is not None:
            for _ in range(_count(generations, ref)):
                oid = _parent(repo, oid, 1, ref)
        elif nth is not None:
            oid = _parent(repo, oid, _count(nth, ref), ref)
    return oid


def _count(digits: str, ref: str) -> int:
    if len(digits) > _DIGITS:
        raise unknown_ref(ref)
    return int(digits or 1)


def _base(repo: Repository, name: str, ref: str) -> str:
    if name in {"HEAD", "@"}:
        head = repo.head().commit
        if head is None:
            raise UsageError("unknown-ref", "HEAD names no commit yet: the branch is unborn")
        return head
    if is_oid(name.lower()):
        return name.lower()
    found = _reference(repo, name)
    if found is None and _SHORT.match(name.lower()):
        found = _expand(repo, name.lower())
    if found is None:
        raise unknown_ref(ref, _near(repo, name))
    return found


def _near(repo: Repository, name: str) -> list[str]:
    """The names nearest to one that is unknown, as people write them."""
    try:
        names = [full.split("/", 2)[-1] for full in repo.pg.references]
    except (pygit2.GitError, ValueError, UnicodeDecodeError):
        names = []
    return get_close_matches(name, ["HEAD", *names], 3)


def _reference(repo: Repository, name: str) -> str | None:
    try:
        return str(repo.pg.lookup_reference_dwim(name).resolve().target)
    except (KeyError, pygit2.GitError, ValueError):
        return None


def _expand(repo: Repository, prefix: str) -> str | None:
    repo.store.packs()  # checked before libgit2 looks into their indexes
    try:
        return str(repo.pg.expand_id(prefix))
    except KeyError:
        return None
    except (pygit2.GitError, ValueError) as error:
        raise UsageError("unknown-ref", f"{prefix} is short for several objects") from error


def _peel(repo: Repository, oid: str, ref: str) -> str:
    for _ in range(_TAG_DEPTH):
        kind, data = repo.store.read(oid)
        if kind == "commit":
            return oid
        if kind != "tag" or not data.startswith(b"object "):
            raise UsageError("unknown-ref", f"expected {ref!r} to be a commit, got a {kind}")
        oid = data[7:47].decode("ascii", "replace")
    raise unknown_ref(ref)


def _parent(repo: Repository, oid: str, number: int, ref: str) -> str:
    if number == 0:
        return oid
    commit = repo.store.commit(oid)
    if number > len(commit.parents):
        raise unknown_ref(ref)
    return parent_of(repo.store, commit, number - 1, repo.shallow_commits()).oid
