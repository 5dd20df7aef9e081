"""How long ancestry and signatures of a long history take, beside git and the bare Ed25519 work."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from pygit2.enums import ObjectType

from syn.git.graph import explore
from syn.git.parse import Ident, add_signature, render_commit
from syn.git.repository import open_repository
from syn.keys import sshsig
from syn.services.proving.identity import identity_evidence
from tests.bench.measure import Figure, figure
from tests.support.proofs import private_key
from tests.support.signed import Past, policy

COMMITS = 20_000


def signed_history(folder: Path, commits: int) -> tuple[Path, str, str]:
    """A packed history of signed commits: the repository, its root and its head."""
    past = Past(folder)
    root = head = past.commit(policy=policy(("ada", 1, "admin,writer,publisher")))
    tree, key = past.repository.store.commit(root).tree, private_key(1)
    for number in range(commits):
        who = Ident("Ada", "ada@example.org", 1_700_000_000 + number)
        raw = render_commit(tree, (head,), who, who, f"change {number}")
        signed = add_signature(raw, sshsig.sign(key, raw, "git"))
        head = str(past.repository.pg.odb.write(ObjectType.COMMIT, signed))
    branch = past.path / "refs/heads/main"
    branch.parent.mkdir(parents=True, exist_ok=True)
    branch.write_text(f"{head}\n")
    subprocess.run(["git", "repack", "-adq"], cwd=past.path, check=True)
    return past.path, root, head


def identity_figures(folder: Path, env: Mapping[str, str], runs: int) -> list[Figure]:
    """`git log`, the bare signatures, the walk, and the whole of INV-9 over one history."""
    path, root, head = signed_history(folder, COMMITS)
    own = [sys.executable, "-m", "tests.bench.identity"]

    def again(name: str, *words: str) -> Figure:
        return figure(name, list(words), path, env, runs=runs)

    log = ["git", "-c", "core.commitGraph=false", "log", "--format=%H", head]
    return [
        again("git log --format=%H", *log),
        again("start", *own, "start", root, head),
        again("Ed25519 alone", *own, "ed25519", root, head),
        again("ancestry", *own, "ancestry", root, head),
        again("INV-9", *own, "identity", root, head),
    ]


def main(work: str, root: str, head: str) -> None:
    """One of the measured pieces of work, on the repository of the current folder."""
    repository = open_repository(Path())
    if work == "ancestry":
        explore(repository.store, head, root)
    elif work == "identity":
        found = identity_evidence(repository, head, root, (), ())
        if found.signed != COMMITS or found.findings:
            raise SystemExit(1)
    elif work == "ed25519":
        key, message = private_key(1), bytes(400)
        signature = key.sign(message)
        for _ in range(COMMITS):
            key.public.verify(message, signature)


if __name__ == "__main__":
    main(*sys.argv[1:])
