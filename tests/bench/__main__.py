"""`make bench`: builds workspaces, measures, prints a table of ratios, writes JSON and pages."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from tests.bench import page
from tests.bench.generate import commit_history, write_notes
from tests.bench.identity import COMMITS, identity_figures
from tests.bench.images import image_figures
from tests.bench.mcp import mcp_figures
from tests.bench.measure import Figure, figure

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
SYN = [sys.executable, "-m", "syn"]
FLOOR = """
import hashlib, pathlib
for file in sorted(pathlib.Path('.').rglob('*')):
    if file.is_file() and '.git/' not in str(file) and not str(file).endswith('.db'):
        hashlib.sha256(file.read_bytes()).digest()
"""
INTEGRITY = """
import sqlite3
assert sqlite3.connect('.synapse/index.db').execute('PRAGMA integrity_check').fetchone() == ('ok',)
"""
MANY = 10_000
"""Facts of the large adoption; measured where there are as many."""


@dataclass(frozen=True, slots=True)
class Place:
    """One workspace to measure on."""

    name: str
    root: Path
    facts: int
    commits: int = 0
    pages: int = 0


def environment(home: Path) -> dict[str, str]:
    """A home of its own, so that nobody's configuration is measured."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "B", "GIT_AUTHOR_EMAIL": "b@example.org",
        "GIT_COMMITTER_NAME": "B", "GIT_COMMITTER_EMAIL": "b@example.org",
    }  # fmt: skip


def corpora(folder: Path, env: Mapping[str, str]) -> Iterator[Place]:
    """The real corpora, where they are."""
    shared = ROOT.parent / "shared" / "corpora"
    for name, include in (
        ("dendron-vault", "vault/**/*.md"),
        ("endoflife-products", "products/**/*.md"),
    ):
        bundle = shared / f"{name}.bundle"
        if not bundle.exists():
            print(f"{name}: absent, left out")
            continue
        root = folder / name
        call(["git", "clone", "-q", str(bundle), str(root)], folder, env)
        yield adopted(name, root, include, env)


def generated(
    folder: Path, sizes: list[int], histories: list[int], env: Mapping[str, str]
) -> Iterator[Place]:
    """Workspaces of many sizes, then of the first size with histories of many lengths."""
    for size, commits in [*((size, 0) for size in sizes), *((sizes[0], n) for n in histories)]:
        name = f"generated {size:,}" + (f" with {commits:,} commits" if commits else "")
        root = folder / name.replace(" ", "-").replace(",", "")
        root.mkdir()
        call(["git", "init", "-q", "-b", "main", "."], root, env)
        write_notes(root, size)
        made = adopted(name, root, "facts/**/*.md", env)
        if commits:
            commit_history(root, commits, env)
            call(["git", "repack", "-adq"], root, env)
        yield Place(made.name, made.root, made.facts, history(root, env))


def adopted(name: str, root: Path, include: str, env: Mapping[str, str]) -> Place:
    """Make a folder a workspace, record every fact, sign, commit everything."""
    call([*SYN, "init", "--include", include, "--no-commit"], root, env)
    call([*SYN, "key", "init"], root, env)
    call(["git", "add", "-A"], root, env)
    call(["git", "commit", "-q", "-m", "facts"], root, env)
    call([*SYN, "adopt", "--yes", "-m", "bench"], root, env)
    call([*SYN, "reindex"], root, env)
    call(["git", "add", "-A"], root, env)
    call(["git", "commit", "-q", "-m", "adopted"], root, env)
    call(["git", "repack", "-adq"], root, env)
    return Place(name, root, sum(1 for _ in root.rglob("*.md")), history(root, env))


def history(root: Path, env: Mapping[str, str]) -> int:
    """How many commits there are."""
    words = ["git", "rev-list", "--count", "HEAD"]
    return int(subprocess.run(words, cwd=root, env=env, check=True, capture_output=True).stdout)


def call(command: list[str], cwd: Path, env: Mapping[str, str]) -> None:
    """Run a step of the set-up; a failure stops the bench."""
    subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True)


def measure(place: Place, env: Mapping[str, str], runs: int) -> list[Figure]:
    """Everything that is measured on one workspace, git's own work first."""
    root = place.root
    files = sorted(path for path in root.rglob("*.md") if ".git" not in path.parts)
    victim = files[len(files) // 2]
    first = subprocess.run(
        ["git", "rev-parse", "HEAD~1"], cwd=root, env=env, check=True, capture_output=True
    ).stdout.decode()

    def touch(count: int = 1) -> None:
        for path in [victim] if count == 1 else files[:count]:
            path.write_text(path.read_text("utf-8") + "\nmore\n", "utf-8")

    def again(name: str, *words: str, **options: object) -> Figure:
        return figure(name, [*SYN, *words], root, env, runs=runs, **options)  # type: ignore[arg-type]

    def outside(name: str, *words: str) -> Figure:
        return figure(name, list(words), root, env, runs=runs)

    some = subprocess.run(
        [*SYN, "list", "--limit", "1", "--json"], cwd=root, env=env, check=True, capture_output=True
    )
    name = json.loads(some.stdout)["items"][0]["id"]

    def baseline() -> None:
        call([*SYN, "verify", "--incremental", "-q"], root, env)

    def incremental() -> Figure:
        return again(UNCHANGED, "verify", "-q", "--incremental", before=baseline)

    figures = [
        outside("git fsck --full", "git", "fsck", "--full", "--no-dangling"),
        outside("git status", "git", "status"),
        outside("git log", "git", "log", "--format=%H"),
        outside("read and hash", sys.executable, "-c", FLOOR),
        outside("sqlite integrity_check", sys.executable, "-c", INTEGRITY),
        outside("python -c pass", sys.executable, "-c", "pass"),
        again("syn --version", "--version"),
        again("syn status", "status"),
        again("syn show", "show", name),
        again("syn search (cold)", "search", "refund"),
        again("syn list", "list", "--limit", "1"),
        again("syn reindex (no-op)", "reindex"),
        again("syn reindex --full", "reindex", "--full"),
        again("syn verify", "verify", "-q"),
        incremental(),
        again("syn verify --rebuild", "verify", "-q", "--rebuild"),
        again("syn verify --deep", "verify", "-q", "--deep"),
        again("syn verify --since", "verify", "-q", "--since", first.strip()),
        again("syn scrub", "scrub"),
        again("syn reindex (one file)", "reindex", before=touch),
    ]
    figures += mcp_figures(root, env, runs)
    if place.facts >= MANY:
        touch(MANY)
        figures.append(figure(f"syn adopt of {MANY:,}", [*SYN, *ADOPT], root, env, runs=1))
    figures.append(again("syn adopt of 1", *ADOPT, before=touch))
    return figures


UNCHANGED = "syn verify --incremental (unchanged)"
ADOPT = ("adopt", "--yes", "-m", "bench")


def searched(place: Place, env: Mapping[str, str]) -> list[str]:
    """p50 and p95 of search in one process, in milliseconds."""
    words = [sys.executable, "-m", "tests.bench.search", str(place.root)]
    done = subprocess.run(words, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    return done.stdout.split()[-2:]


RATIOS = {
    "syn verify": "git fsck --full",
    "syn verify --rebuild": "git fsck --full",
    "syn verify --deep": "git fsck --full",
    "syn verify --since": "git fsck --full",
    UNCHANGED: "read and hash",
    "syn scrub": "syn verify --deep",
    "syn image verify": "hash the image",
    "syn reindex (one file)": "syn status",
    "syn status": "git status",
    "syn --version": "python -c pass",
    "syn show": "python -c pass",
    "syn reindex --full": "read and hash",
    "syn search (cold)": "python -c pass",
    "INV-9": "Ed25519 alone",
    "ancestry": "git log --format=%H",
}


def show(place: Place, figures: list[Figure]) -> None:
    """The table of one workspace."""
    by_name = {found.name: found for found in figures}
    what = f"{place.pages:,} pages" if place.pages else f"{place.facts:,} facts"
    print(f"\n{place.name}: {what}, {place.commits:,} commits")
    print(f"  {'':<38}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}   ratio of processor time")
    for found in figures:
        base = by_name.get(RATIOS.get(found.name, ""))
        ratio = f"{found.cpu / max(base.cpu, 0.001):6.2f} x {base.name}" if base else ""
        print(
            f"  {found.name:<38}{found.wall:>9.3f}{found.cpu:>9.3f}"
            f"{found.memory / 1e6:>9.0f}   {ratio}",
            flush=True,
        )


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def _about(runs: int) -> dict[str, Any]:
    git = subprocess.run(["git", "--version"], check=True, capture_output=True, text=True)
    return {
        "when": datetime.now(UTC).strftime("%Y-%m-%d"),  # noqa: TID251 - a port
        "python": platform.python_version(),
        "git": git.stdout.strip(),
        "processors": os.cpu_count(),
        "load": f"{os.getloadavg()[0]:.1f}",
        "runs": runs,
        "places": [],
    }


def _kept(place: Place, figures: list[Figure], search: list[str] | None) -> dict[str, Any]:
    return {
        "name": place.name,
        "facts": place.facts,
        "commits": place.commits,
        "pages": place.pages,
        "search": search,
        "figures": [asdict(found) for found in figures],
    }


def _special(folder: Path, env: Mapping[str, str], asked: argparse.Namespace) -> Iterator[Any]:
    """A long signed history, and a session image."""
    if asked.signed:
        place = Place("signed history", folder / "signed", 0, COMMITS)
        place.root.mkdir()
        figures = identity_figures(place.root, env, asked.runs)
        show(place, figures)
        yield _kept(place, figures, None)
    if asked.pages:
        place = Place("session image", folder / "images", 0, 0, asked.pages)
        place.root.mkdir()
        figures = image_figures(place.root, env, asked.pages, asked.runs)
        show(place, figures)
        yield _kept(place, figures, None)


def main() -> int:
    """Measure; write `bench/results/`, docs/performance.md and its charts."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--sizes", default="1000,20000", help="facts of the generated workspaces")
    parser.add_argument("--histories", default="2000,10000", help="commits, at the first size")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pages", type=int, default=100_000, help="pages of the session image")
    parser.add_argument("--no-signed", dest="signed", action="store_false")
    parser.add_argument("--no-corpora", dest="corpora", action="store_false")
    parser.add_argument("--keep", action="store_true", help="add to the results of the last run")
    asked = parser.parse_args()
    results = _about(asked.runs)
    RESULTS.mkdir(parents=True, exist_ok=True)
    latest = RESULTS / "latest.json"
    if asked.keep and latest.exists():
        results["places"] = json.loads(latest.read_text("utf-8"))["places"]
    with tempfile.TemporaryDirectory(prefix="synapse-bench-") as name:
        folder = Path(name)
        env = environment(folder)
        made = generated(folder, _numbers(asked.sizes), _numbers(asked.histories), env)
        real = corpora(folder, env) if asked.corpora else iter(())
        for place in chain(real, made):
            figures = measure(place, env, asked.runs)
            show(place, figures)
            results["places"].append(_kept(place, figures, searched(place, env)))
        results["places"] += _special(folder, env, asked)
    # What is measured again takes the place of what was kept.
    results["places"] = list({place["name"]: place for place in results["places"]}.values())
    text = json.dumps(results)  # noqa: TID251 - a result file, nothing that is hashed
    latest.write_text(text + "\n")
    with (RESULTS / "history.jsonl").open("a") as kept:
        kept.write(text + "\n")
    page.write(results, ROOT / "docs")
    print(f"\nwritten to {RESULTS.relative_to(ROOT)} and docs/performance.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
