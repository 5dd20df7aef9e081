"""Reports with fixed values: what the golden files show and the other report tests start from."""

import hashlib

from syn.model.finding import Finding, InvariantResult, Level, Status
from syn.model.ledger import Entry
from syn.model.report import CheckpointState, Report, Subject

WORKSPACE = "6f1c1f0e-3c1b-4d57-9f0a-0d9b6a7f2c11"
COMMIT = "3ceddd0c1f4e5a6b7c8d9e0f1a2b3c4d5e6f7a8b"
TREE = "9daeafb9864cf43055ae93beb0afd6c7d144bfa4"
INPUTS = "sha256:" + "1a" * 32
EVIDENCE = "sha256:" + "2b" * 32
MANIFEST = "sha256:" + "3c" * 32
ROOT = "sha256:" + "4d" * 32
KEY = "SHA256:q1cW3oXvC1sQ0sZbYw8mWc9Wb1bq2m7n0o4p5r6s7t8"
TS = "2026-04-15T10:00:00.000000Z"

LIMITS = (
    "that what a fact says is true",
    "that a person who holds every key did not rewrite everything before the first witness",
)

CHECKPOINT = CheckpointState(
    origin="memory.example/6f1c1f0e-3c1b-4d57-9f0a-0d9b6a7f2c11/alice",
    size=41,
    root=ROOT,
    key=KEY,
    commit=COMMIT,
    unanchored=0,
    authorized=True,
)


def clean_subject() -> Subject:
    """A clean work tree at a commit."""
    return Subject(
        workspace=WORKSPACE,
        name="payments",
        git_ref="worktree",
        worktree="clean",
        inputs_hash=INPUTS,
        evidence_hash=EVIDENCE,
        commit=COMMIT,
        tree=TREE,
    )


def passing() -> Report:
    """A run in which everything that could be checked held."""
    return Report(
        subject=clean_subject(),
        tool_version="0.1.0",
        profile="standard",
        verdict="pass",
        level=Level.L2,
        level_reason="L3 needs a witness under a key from outside the repository (--since)",
        trust_root="local-only",
        manifest_digest=MANIFEST,
        invariants=(
            InvariantResult(
                "INV-1",
                "reindex fixpoint",
                "C",
                Status.PASS,
                "412 facts: the rebuilt manifest equals the index and checkpoint 41",
                {"facts": 412, "manifest": MANIFEST},
            ),
            InvariantResult(
                "INV-2", "content", "A", Status.PASS, "412 facts equal their decision heads"
            ),
            InvariantResult(
                "INV-3", "history", "B", Status.PASS, "3 segments, 977 entries, 41 head records"
            ),
            InvariantResult("INV-8", "receipts", "A", Status.SKIP, "no receipts are stored"),
        ),
        ts=TS,
        checkpoint=CHECKPOINT,
        limits=LIMITS,
        local={"index": "present", "python": "3.11.2"},
    )


def failing() -> Report:
    """A run with a finding of each severity, one on this machine only, and hostile text."""
    return Report(
        subject=Subject(
            workspace=WORKSPACE,
            name="payments",
            git_ref="worktree",
            worktree="dirty",
            inputs_hash=INPUTS,
            evidence_hash=EVIDENCE,
        ),
        tool_version="0.1.0",
        profile="standard",
        verdict="fail",
        level=Level.L0,
        level_reason="an invariant failed; any failure claims L0",
        trust_root="local-only",
        manifest_digest=MANIFEST,
        invariants=(
            InvariantResult(
                "INV-1",
                "reindex fixpoint",
                "C",
                Status.FAIL,
                "1 of 412 rows of the live index differs from the rebuild",
                {"facts": 412},
                (
                    Finding(
                        "index-diverged",
                        "payments-owner",
                        "facts/payments.md",
                        0,
                        "value = team-a",
                        "value = team-b",
                        "syn repair",
                        local=True,
                    ),
                ),
            ),
            InvariantResult(
                "INV-2",
                "content",
                "A",
                Status.FAIL,
                "2 of 412 facts differ from their decision heads",
                {"facts": 412, "changed": 1},
                (
                    Finding(
                        "reformatted",
                        "runbook",
                        "facts/runbook.md",
                        0,
                        "source sha256:aa…",
                        "source sha256:bb…, same payload",
                        "syn adopt facts/runbook.md",
                        "warning",
                    ),
                    Finding(
                        "payload-changed",
                        "evil\u202e\x1b]0;owned\x07<script>alert(1)</script>",
                        "facts/ev|il\u200b, [x](y)%.md",
                        4,
                        "owner = team-a",
                        "owner = team-b\n::error::x",
                        "syn adopt, or syn restore",
                    ),
                ),
            ),
            InvariantResult(
                "INV-3",
                "history",
                "B",
                Status.INCOMPLETE,
                "segment 2 of writer w1 could not be read",
                {},
                (
                    Finding(
                        "segment-unreadable",
                        "w1/000002",
                        ".synapse/ledger/w1/000002.jsonl",
                        17,
                        "a readable object",
                        "object absent",
                        "git fetch --unshallow",
                        "unknown",
                    ),
                ),
            ),
        ),
        ts=TS,
        limits=LIMITS,
        local={"index": "present"},
    )


def decisions() -> tuple[tuple[str, Entry], ...]:
    """Three decisions, newest first, one with hostile text."""
    return (
        (
            "sha256:" + "5e" * 32,
            Entry(
                writer="w1",
                seq=3,
                prev="sha256:" + "5d" * 32,
                ts="2026-04-14T09:30:00.000000Z",
                actor="Agent <b>Smith</b> <agent@example.org>",
                via="mcp",
                action="update",
                review="unreviewed",
                fact="notes/\u202egnp",
                path="facts/notes/\u202egnp.md",
                taint="external",
                reason='said so"><img src=x onerror=alert(1)>',
            ),
        ),
        (
            "sha256:" + "5d" * 32,
            Entry(
                writer="w1",
                seq=2,
                prev="sha256:" + "5c" * 32,
                ts="2026-04-13T09:30:00.000000Z",
                actor="Alice <alice@example.org>",
                via="cli",
                action="supersede",
                review="seen",
                fact="payments-owner-2",
                path="facts/payments-owner-2.md",
                reason="the team was renamed",
            ),
        ),
        (
            "sha256:" + "5c" * 32,
            Entry(
                writer="w1",
                seq=1,
                prev="sha256:" + "5b" * 32,
                ts="2026-04-12T09:30:00.000000Z",
                actor="Alice <alice@example.org>",
                via="cli",
                action="create",
                review="seen",
                fact="خانه",
                path="facts/خانه.md",
                reason="می‌خواهم",
            ),
        ),
    )


def hex_of(data: bytes) -> str:
    """SHA-256 of the bytes, as Statements write it."""
    return hashlib.sha256(data).hexdigest()
