"""Evidence for INV-14: the check words of the index's rows, and the session images."""

from collections.abc import Iterator, Mapping

from syn.index.rows import FactRow, StateRow
from syn.index.store import IndexUnusable, open_index
from syn.keys.public import PublicKey
from syn.model.finding import Finding
from syn.services.proving.collect import NAMED_BY_DEFAULT, Pass
from syn.services.recall.indexing import INDEX, index_path
from syn.services.recall.pagein import cell_fault
from syn.services.sessions.keptimages import check_kept, image_outside, kept_images
from syn.services.workspace import Workspace
from syn.verify.evidence import CellEvidence

REBUILD = "syn repair derives the rows again"


def cell_evidence(
    workspace: Workspace,
    done: Pass,
    keys: Mapping[str, PublicKey],
    *,
    live: bool,
    name_all: bool,
) -> CellEvidence:
    """The words of the live index, and the images of the snapshot.

    The rows that count are those the files give, so that a clone without an index says the same.
    """
    found = list(_rows(workspace) if live else ())
    limit = len(found) if name_all else NAMED_BY_DEFAULT
    findings = [*found[:limit], *_more(len(found) - limit)]
    images, strays = kept_images(done.reading)
    outside = image_outside(done.reading, keys)
    root = workspace.repository.root
    pages = 0
    for image in images:
        report, faults = check_kept(root, done.reading, image, outside)
        pages += report.total if report else 0
        findings += faults
    return CellEvidence(
        rows=len(done.projection.keys),
        images=len(images),
        pages=pages,
        findings=(*findings, *strays),
    )


def _rows(workspace: Workspace) -> Iterator[Finding]:
    path = index_path(workspace)
    if not path.exists():
        return
    try:
        with open_index(path) as index:
            yield from (found for cell in index.cells() if (found := word_finding(*cell)))
    except IndexUnusable as error:
        yield Finding(
            code=error.code,
            subject=INDEX,
            path=INDEX,
            expected="rows that can be read",
            actual=error.message,
            remedy=error.remedy,
            severity="unknown",
            local=True,
        )


def word_finding(fact: FactRow, state: StateRow | None) -> Finding | None:
    """What is wrong with the check word of a row, as a finding of this machine."""
    fault = cell_fault(fact, state)
    if fault is None:
        return None
    cls, reason = fault
    return Finding(
        code="word-missing" if cls == "unchecked" else "word-mismatch",
        subject=fact.id,
        path=fact.path,
        expected="a check word over what the row says",
        actual=reason,
        remedy=REBUILD,
        severity="warning" if cls == "unchecked" else "failure",
        local=True,
    )


def _more(count: int) -> Iterator[Finding]:
    if count > 0:
        yield Finding(
            code="word-mismatch",
            subject=INDEX,
            path=INDEX,
            expected="rows whose words hold",
            actual=f"{count} more do not",
            remedy="syn scrub names them all",
            local=True,
        )
