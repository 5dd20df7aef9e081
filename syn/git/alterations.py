"""What in a repository could make git tell another history than its objects do (proofs 3.4).

Nothing of it changes what Synapse reads; it is reported, because people read with git too.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import pygit2

from syn.git.commitgraph import disagreements
from syn.git.objects import alternates
from syn.git.repository import CorruptRefsError, Repository
from syn.model.problem import display_path

AlterationKind: TypeAlias = Literal[
    "replace", "grafts", "shallow", "alternates", "commit-graph", "ref-name", "broken-ref"
]


@dataclass(frozen=True, slots=True, order=True)
class Alteration:
    """One such thing."""

    kind: AlterationKind
    """`ref-name` is a reference whose name is not UTF-8; `broken-ref` names no object id."""
    detail: str
    """What is affected: an object's id, a path, a reference; unprintable bytes escaped."""


def alterations(repo: Repository, *, commit_graph: bool = True) -> tuple[Alteration, ...]:
    """Everything of that kind, sorted.

    With `commit_graph` the commit-graph files are compared with the commits, which costs one read
    of every commit they name; git itself trusts them unseen.
    """
    found = [*_references(repo), *_grafts(repo)]
    found += [Alteration("shallow", oid) for oid in repo.shallow_commits()]
    borrowed, lost = alternates(repo.common_dir / "objects")
    found += [Alteration("alternates", str(path)) for path in borrowed]
    found += [Alteration("alternates", f"{path} (not found)") for path in lost]
    if commit_graph:
        objects = repo.common_dir / "objects"
        found += [Alteration("commit-graph", text) for text in disagreements(repo.store, objects)]
    return tuple(sorted(found))


def references(repo: Repository) -> tuple[bytes, ...]:
    """The full names of all references, as bytes, sorted; HEAD is not among them.

    Raises:
        CorruptRefsError: they cannot be listed.
    """
    try:
        return tuple(sorted(repo.pg.raw_listall_references()))
    except (pygit2.GitError, ValueError) as error:
        raise CorruptRefsError(str(error)) from error


def _references(repo: Repository) -> Iterator[Alteration]:
    listed = references(repo)
    for name in listed:
        if name.startswith(b"refs/replace/"):
            yield Alteration("replace", display_path(name.removeprefix(b"refs/replace/")))
        try:
            name.decode("utf-8")
        except UnicodeDecodeError:
            yield Alteration("ref-name", display_path(name))
    # libgit2 passes over files that are no reference, or one to nothing.
    for name in sorted(_loose_files(repo) - set(listed)):
        yield Alteration("broken-ref", display_path(name))


def _loose_files(repo: Repository) -> set[bytes]:
    root = os.fsencode(repo.common_dir)
    return {
        folder[len(root) + 1 :] + b"/" + name
        for folder, _, names in os.walk(root + b"/refs")
        for name in names
        if not name.endswith(b".lock")
    }


def _grafts(repo: Repository) -> Iterator[Alteration]:
    try:
        lines = (repo.common_dir / "info" / "grafts").read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        if line.strip() and not line.startswith(b"#"):
            yield Alteration("grafts", display_path(line.split()[0]))
