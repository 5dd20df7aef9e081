"""INV-1: the index is a reproducible build of the Markdown."""

from collections.abc import Iterator

from syn.model.finding import Finding
from syn.verify.evidence import Evidence, IndexEvidence
from syn.verify.invariant import Checked, Invariant, plural

_REBUILD = "delete .synapse/index.db and run syn reindex; the Markdown is the truth"


def _check(evidence: Evidence) -> Checked:
    index = evidence.index
    return Checked(
        summary=_summary(index, len(evidence.facts) + evidence.known),
        evidence={
            "manifest": index.projected,
            "anchored": index.anchored,
            "projection": index.projection,
        },
        findings=(*_scratch(index), *_live(index), *_anchor(index)),
    )


def _summary(index: IndexEvidence, facts: int) -> str:
    anchored = ", as in the checkpoint" if index.anchored == index.projected else ""
    return f"{index.projected[:19]}… rebuilt from {plural(facts, 'fact')}{anchored}"


def _scratch(index: IndexEvidence) -> Iterator[Finding]:
    """Without a live index the projection is built and dumped, so that the claim is about both."""
    if index.scratch_reason:
        yield Finding(
            code="scratch-unbuilt",
            subject="index",
            expected="a scratch index built from the projection",
            actual=index.scratch_reason,
            remedy="free space in the temporary directory and run again",
            severity="unknown",
        )
    elif index.scratch and index.scratch != index.projected:
        yield Finding(
            code="projection-diverged",
            subject="index",
            expected=index.projected,
            actual=index.scratch,
            remedy="this build of syn and its SQLite do not store what was projected; report it",
        )


def _live(index: IndexEvidence) -> Iterator[Finding]:
    if index.state == "unreadable":
        yield Finding(
            code="index-unreadable",
            subject=".synapse/index.db",
            path=".synapse/index.db",
            expected="an index that this program can read",
            actual=index.live_reason,
            remedy=_REBUILD,
            local=True,
        )
    if index.state == "stale":
        yield Finding(
            code="index-stale",
            subject=".synapse/index.db",
            path=".synapse/index.db",
            expected=index.projected,
            actual=index.live,
            remedy="syn reindex brings it up to date",
            severity="warning",
            local=True,
        )
    if index.faults:
        yield Finding(
            code="index-damaged",
            subject=".synapse/index.db",
            path=".synapse/index.db",
            expected="SQLite's and FTS5's own checks hold",
            actual=index.faults,
            remedy=_REBUILD,
            local=True,
        )
    yield from index.differences
    if index.state == "current" and index.live != index.projected and not index.differences:
        yield Finding(
            code="index-diverged",
            subject=".synapse/index.db",
            path=".synapse/index.db",
            expected=index.projected,
            actual=index.live,
            remedy=f"syn verify --rebuild names every fact that diverges; {_REBUILD}",
            local=True,
        )


def _anchor(index: IndexEvidence) -> Iterator[Finding]:
    if not index.anchored or index.anchored == index.projected:
        return
    if index.anchored_projection != index.projection:
        yield Finding(
            code="checkpoint-not-comparable",
            subject="checkpoint",
            expected=f"projection {index.projection}",
            actual=f"projection {index.anchored_projection}",
            remedy="make a new checkpoint with this version",
            severity="warning",
        )
        return
    yield Finding(
        code="manifest-not-anchored",
        subject="checkpoint",
        expected=index.anchored,
        actual=index.projected,
        remedy="the same inputs gave another manifest when the checkpoint was made: "
        "compare the two with syn manifest --ref",
    )


INVARIANT = Invariant(
    number=1,
    title="reindex fixpoint",
    integrity="C",
    when="default",
    check=_check,
    explanation=(
        "A projection rebuilt from the Markdown has the manifest of the live index, FTS5's own "
        "check holds, and a checkpoint over the same inputs names the same manifest. It says that "
        "the index is what the files give, not that the files are right: that is INV-2."
    ),
)
