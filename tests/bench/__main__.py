"""`make bench`: builds workspaces, measures, prints a table of ratios, writes JSON and history."""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.generate import commit_history, write_notes
from tests.bench.identity import COMMITS, identity_figures
from tests.bench.images import image_figures
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


@dataclass(frozen=True, slots=True)
class Place:
    """One workspace to measure on."""

    name: str
    root: Path
    facts: int


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


def places(folder: Path, sizes: list[int], env: Mapping[str, str]) -> Iterator[Place]:
    """The real corpora where they are, then generated workspaces, each adopted and committed."""
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
    for size in sizes:
        root = folder / f"generated-{size}"
        root.mkdir()
        call(["git", "init", "-q", "-b", "main", "."], root, env)
        write_notes(root, size)
        yield adopted(f"generated {size:,}", root, "facts/**/*.md", env)


def adopted(name: str, root: Path, include: str, env: Mapping[str, str]) -> Place:
    """Make a folder a workspace, record every fact, commit everything."""
    call([*SYN, "init", "--include", include, "--no-commit"], root, env)
    call(["git", "add", "-A"], root, env)
    call(["git", "commit", "-q", "-m", "facts"], root, env)
    call([*SYN, "adopt", "--yes", "-m", "bench"], root, env)
    call([*SYN, "reindex"], root, env)
    call(["git", "add", "-A"], root, env)
    call(["git", "commit", "-q", "-m", "adopted"], root, env)
    return Place(name, root, sum(1 for _ in root.rglob("*.md")))


def call(command: list[str], cwd: Path, env: Mapping[str, str]) -> None:
    """Run a step of the set-up; a failure stops the bench."""
    subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True)


def measure(place: Place, env: Mapping[str, str], runs: int) -> list[Figure]:
    """Everything that is measured on one workspace, git's own work first."""
    root = place.root
    victim = sorted(root.rglob("*.md"))[place.facts // 2]

    def touch() -> None:
        victim.write_text(victim.read_text() + "\nmore\n")

    def again(name: str, *words: str, **options: object) -> Figure:
        return figure(name, [*SYN, *words], root, env, runs=runs, **options)  # type: ignore[arg-type]

    def outside(name: str, *words: str) -> Figure:
        return figure(name, list(words), root, env, runs=runs)

    figures = [
        outside("git fsck --full", "git", "fsck", "--full", "--no-dangling"),
        outside("git status", "git", "status"),
        outside("git log", "git", "log", "--format=%H"),
        outside("read and hash", sys.executable, "-c", FLOOR),
        again("syn --version", "--version"),
        outside("python -c pass", sys.executable, "-c", "pass"),
        again("syn status", "status"),
        again("syn reindex (no-op)", "reindex"),
        again("syn reindex --full", "reindex", "--full"),
        again("syn verify", "verify", "-q"),
        again("syn verify --rebuild", "verify", "-q", "--rebuild"),
        again("syn verify --deep", "verify", "-q", "--deep"),
        again("syn scrub", "scrub"),
        again("syn search (cold)", "search", "refund"),
        again("syn list", "list", "--limit", "1"),
        again("syn reindex (one file)", "reindex", before=touch),
    ]
    call(["git", "checkout", "-q", "--", "."], root, env)
    return figures


RATIOS = {
    "syn verify": "git fsck --full",
    "syn verify --rebuild": "git fsck --full",
    "syn verify --deep": "git fsck --full",
    "syn scrub": "syn verify --deep",
    "syn image verify": "hash the image",
    "syn reindex (one file)": "syn status",
    "syn status": "git status",
    "syn --version": "python -c pass",
    "syn reindex --full": "read and hash",
    "syn search (cold)": "python -c pass",
    "INV-9": "Ed25519 alone",
    "ancestry": "git log --format=%H",
}


def show(place: Place, figures: list[Figure], what: str = "facts") -> None:
    """The table of one workspace."""
    by_name = {found.name: found for found in figures}
    print(f"\n{place.name}: {place.facts:,} {what}")
    print(f"  {'':<26}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}   ratio of processor time")
    for found in figures:
        base = by_name.get(RATIOS.get(found.name, ""))
        ratio = f"{found.cpu / max(base.cpu, 0.001):6.2f} x {base.name}" if base else ""
        print(
            f"  {found.name:<26}{found.wall:>9.3f}{found.cpu:>9.3f}"
            f"{found.memory / 1e6:>9.0f}   {ratio}"
        )


def main() -> int:
    """Measure and write `bench/results/latest.json` and a line of `history.jsonl`."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--sizes", default="1000,20000", help="facts of the generated workspaces")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pages", type=int, default=100_000, help="pages of the session image")
    parser.add_argument("--commits", type=int, default=0, help="more commits of history")
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.sizes.split(",") if size]
    results: dict[str, object] = {"python": platform.python_version(), "runs": asked.runs}
    with tempfile.TemporaryDirectory(prefix="synapse-bench-") as name:
        folder = Path(name)
        env = environment(folder)
        for place in places(folder, sizes, env):
            if asked.commits:
                commit_history(place.root, asked.commits, env)
            figures = measure(place, env, asked.runs)
            show(place, figures)
            results[place.name] = {"facts": place.facts, "figures": [asdict(f) for f in figures]}
        signed = Place("signed history", folder / "signed", COMMITS)
        signed.root.mkdir()
        figures = identity_figures(signed.root, env, asked.runs)
        show(signed, figures)
        results[signed.name] = {"commits": COMMITS, "figures": [asdict(f) for f in figures]}
        if asked.pages:
            image = Place("session image", folder / "images", asked.pages)
            image.root.mkdir()
            figures = image_figures(image.root, env, asked.pages, asked.runs)
            show(image, figures, "pages")
            results[image.name] = {"pages": asked.pages, "figures": [asdict(f) for f in figures]}
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results)  # noqa: TID251 - a result file, nothing that is hashed
    (RESULTS / "latest.json").write_text(text + "\n")
    with (RESULTS / "history.jsonl").open("a") as history:
        history.write(text + "\n")
    print(f"\nwritten to {RESULTS.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
