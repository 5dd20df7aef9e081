"""Workspaces to measure on: linked notes, statements, decisions, commits; the same every time."""

import random  # noqa: TID251 - seeded below: every run measures the same files
import subprocess
from collections.abc import Mapping
from pathlib import Path

WORDS = [
    "payment",
    "refund",
    "ledger",
    "queue",
    "region",
    "owner",
    "limit",
    "client",
    "version",
    "review",
    "service",
    "token",
    "deploy",
    "incident",
    "customer",
    "order",
    "invoice",
    "capture",
    "settlement",
    "retry",
    "budget",
    "backup",
    "index",
]


def write_notes(root: Path, count: int, seed: int = 1) -> None:
    """`count` notes of about a kilobyte, in folders of 200, each linked to two others."""
    chance = random.Random(seed)
    for number in range(count):
        folder = root / "facts" / f"d{number // 200:04}"
        if number % 200 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        (folder / f"n{number:06}.md").write_text(note(number, count, chance))


def note(number: int, count: int, chance: random.Random) -> str:
    """One note; every fifth is a statement with an interval."""
    lines = ["---", f"id: n{number:06}", f"title: Note {number} about {chance.choice(WORDS)}"]
    if number % 5 == 0:
        lines += [f"subject: s{number:06}", "field: state", f"value: v{number % 7}"]
        lines += ["valid_from: 2026-01-01"]
    lines += [f"tags: [{chance.choice(WORDS)}, {chance.choice(WORDS)}]", "---"]
    links = " and ".join(f"[[n{chance.randrange(count):06}]]" for _ in range(2))
    paragraphs = [" ".join(chance.choice(WORDS) for _ in range(60)) for _ in range(2)]
    return "\n".join([*lines, f"# Note {number}", "", f"See {links}.", "", *paragraphs, ""])


def commit_history(root: Path, commits: int, env: Mapping[str, str]) -> None:
    """Commits that each change a file beside the facts, made in one `git fast-import`."""
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, env=env, capture_output=True, text=True, check=True
    ).stdout.strip()
    stream = []
    for number in range(commits):
        data = f"change {number}\n"
        stream.append(
            f"commit refs/heads/main\ncommitter B <b@example.org> {1_700_000_000 + number} +0000\n"
            f"data 1\nc\n"
            + (f"from {head}\n" if number == 0 else "")
            + f"M 100644 inline log/{number % 100:02}.txt\n"
            f"data {len(data)}\n{data}\n"
        )
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=root, env=env, input="".join(stream).encode(), check=True,
    )  # fmt: skip
    subprocess.run(["git", "reset", "-q", "--hard"], cwd=root, env=env, check=True)
