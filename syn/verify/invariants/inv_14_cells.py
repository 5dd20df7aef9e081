"""INV-14: the cells of recall carry words that hold."""

from syn.verify.evidence import Evidence
from syn.verify.invariant import Checked, Invariant, plural


def _check(evidence: Evidence) -> Checked:
    cells = evidence.cells
    if cells is None:
        return Checked("", {}, (), skip="the cells were not read")
    return Checked(
        summary=f"{plural(cells.rows, 'row')} and {plural(cells.pages, 'page')} of "
        f"{plural(cells.images, 'image')}",
        evidence={"rows": cells.rows, "images": cells.images, "pages": cells.pages},
        findings=cells.findings,
        skip="" if cells.rows or cells.images or cells.findings else "there is no fact, no image",
    )


INVARIANT = Invariant(
    number=14,
    title="cells",
    integrity="A",
    when="deep",
    check=_check,
    explanation=(
        "Every row of the index carries the check word of what it says, and every page of the "
        "session images kept under images/ checks in its own format. A page whose fact changed "
        "since is stale, one without a word unchecked: warnings. A word is no signature: whoever "
        "edits a row and computes its word anew is found by INV-1, at page-in, and by scrub."
    ),
)
