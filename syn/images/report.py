"""What a check says of an image: classes, findings, and what its format cannot tell.

A report holds positions, codes, digests and numbers; never a piece of a body, a descriptor or
another free text of the image.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from syn.images.classify import Fault, PageClass, class_of
from syn.images.malformed import MalformedError
from syn.images.search import Candidate, Diagnosis
from syn.images.survey import STORE_CODES, ImageFault
from syn.images.table import Format
from syn.model.finding import Finding, Json, Severity

SCHEMA = "synapse.image-report/1"

Verdict: TypeAlias = Literal["clean", "unchecked", "sealed-without-word", "fault", "refused"]
"""`clean`: everything the format protects agrees · `unchecked`: pages without a word, nothing
else · `sealed-without-word`: the reference program's own scrub or dream sealed pages and left the
word of the state before · `fault`: see the findings · `refused`: no image, nothing was read."""

SEALED_WITHOUT_WORD = "sealed-without-word"


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """The outcome of one page that is not clean."""

    position: int
    faults: tuple[Fault, ...]
    diagnosis: Diagnosis | None = None

    @property
    def cls(self) -> PageClass:
        """The class that the faults add up to."""
        return class_of(self.faults)


@dataclass(frozen=True, slots=True)
class Limit:
    """Something the format cannot tell, and what a reader would need to tell it."""

    needs: Literal["word", "root", "key", "anchor"]
    what: str


@dataclass(frozen=True, slots=True)
class ImageReport:
    """One check of one image."""

    name: str
    format: Format | None
    verdict: Verdict
    session: str = ""
    total: int = 0
    """Pages in the table."""
    bodies: int = 0
    """Bytes of bodies in the store."""
    sealed: int = 0
    hidden: int = 0
    """Pages under a tombstone."""
    pages: tuple[PageVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    blocked: frozenset[int] | None = frozenset()
    """Pages that image-level faults keep from being served; None is every page."""
    untrusted: bool = False
    """Whether the page table or the ledger as a whole does not check: no row can be told from a
    forged one."""
    digest: str = ""
    """`sha256:<hex>` of the whole image: keep it elsewhere and give it back as an anchor."""
    signature: Literal["none", "valid", "untrusted", "invalid"] = "none"
    limits: tuple[Limit, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Pages by class."""
        faulty = Counter[str](page.cls for page in self.pages)
        names = ("clean", "unchecked", "repairable", "tampered", "erasure")
        return {name: faulty[name] for name in names} | {"clean": self.total - len(self.pages)}

    def page(self, position: int) -> PageVerdict | None:
        """The verdict on one page, or None when the page is clean."""
        return next((page for page in self.pages if page.position == position), None)


@dataclass(slots=True)
class Collected:
    """What the readers gather before a verdict is drawn from it."""

    name: str
    format: Format
    faults: dict[int, list[Fault]] = field(default_factory=dict)
    diagnoses: dict[int, Diagnosis] = field(default_factory=dict)
    image: list[ImageFault] = field(default_factory=list)
    total: int = 0

    def add(self, position: int, faults: Iterable[Fault]) -> None:
        """Add faults of one page."""
        for fault in faults:
            self.faults.setdefault(position, []).append(fault)

    def verdicts(self) -> tuple[PageVerdict, ...]:
        """The pages that are not clean, in order."""
        return tuple(
            PageVerdict(position, tuple(faults), self.diagnoses.get(position))
            for position, faults in sorted(self.faults.items())
        )

    def blocked(self) -> frozenset[int] | None:
        """The pages that image-level failures keep from being served."""
        failures = [fault for fault in self.image if fault.severity == "failure"]
        if any(fault.pages is None for fault in failures):
            return None
        return frozenset(page for fault in failures for page in fault.pages or ())

    def untrusted(self) -> bool:
        """Whether the table or the ledger as a whole does not check."""
        return any(
            fault.severity == "failure" and fault.pages is None and fault.code not in STORE_CODES
            for fault in self.image
        )

    def verdict(self) -> Verdict:
        """The verdict that pages and image add up to."""
        pages = self.verdicts()
        codes = {fault.code for page in pages for fault in page.faults}
        failures = [fault for fault in self.image if fault.severity == "failure"]
        by_scrub = SEALED_WITHOUT_WORD in codes | {fault.code for fault in failures}
        if by_scrub and all(_explained(page) for page in pages) and self.blocked() is not None:
            return "sealed-without-word"
        if failures or any(page.cls != "unchecked" for page in pages):
            return "fault"
        if any(fault.code != "word-missing" for page in pages for fault in page.faults):
            return "fault"
        return "unchecked" if pages else "clean"

    def findings(self) -> tuple[Finding, ...]:
        """Everything found, in the order of findings."""
        found = [
            finding_of_page(self.name, page.position, fault, page.diagnosis)
            for page in self.verdicts()
            for fault in page.faults
        ]
        found += [finding_of_image(self.name, fault) for fault in self.image]
        return tuple(sorted(found, key=Finding.sort_key))


def _explained(page: PageVerdict) -> bool:
    """Whether a page's state is what the program's own scrub or dream leaves behind."""
    return page.cls == "erasure" or all(f.code == SEALED_WITHOUT_WORD for f in page.faults)


REMEDIES: dict[PageClass, str] = {
    "clean": "",
    "unchecked": "upgrade the image; the page is not served until it has a word",
    "repairable": "syn image repair",
    "tampered": "syn image quarantine the page, or take the image from a copy",
    "erasure": "restore bytes that hash to the digest: syn image repair --from COPY",
}


def finding_of_page(
    name: str, position: int, fault: Fault, diagnosis: Diagnosis | None = None
) -> Finding:
    """A page's fault as a finding; a diagnosis stands in what was found, marked as such."""
    severity: Severity = "unknown" if fault.code == "word-missing" else "failure"
    actual = fault.actual
    if diagnosis is not None and fault.code == "word-mismatch":
        actual = f"{actual}; {sentence(diagnosis)}"
    return Finding(
        code=fault.code,
        subject=f"page {position}: {fault.cls}",
        path=name,
        expected=fault.expected,
        actual=actual,
        remedy=REMEDIES[fault.cls],
        severity=severity,
    )


_REMEDIES = {
    "orphan": "syn image scrub --out DIR lists and drops it",
    "signature-missing": "give --trust the signer's key; syn image upgrade --key signs a copy",
    "stray-file": "move it out of the image's folder",
    "page-stale": "read the fact itself; syn image tombstone hides the page",
    "index-stale": "bundle it again with the program that wrote it",
}


def finding_of_image(name: str, fault: ImageFault) -> Finding:
    """An image's fault as a finding."""
    severity: Severity = "warning" if fault.severity == "warning" else "failure"
    return Finding(
        code=fault.code,
        subject=fault.subject,
        path=name,
        expected=fault.expected,
        actual=fault.actual,
        remedy=_REMEDIES.get(fault.code, "take the image from a copy whose digest was kept"),
        severity=severity,
    )


def sentence(diagnosis: Diagnosis) -> str:
    """A diagnosis in words: what was stamped, if anything fits; never called proof."""
    if not diagnosis.candidates:
        ended = "no stamped state fits" if diagnosis.exhausted else "no stamped state found yet"
        return f"diagnosis: {ended}; the word itself, or an address that is gone, may have rotted"
    told = [_candidate_text(c) for c in diagnosis.candidates]
    if diagnosis.exchanged >= 0:
        told.append(f"it is the word of page {diagnosis.exchanged}: the two were exchanged")
    return "diagnosis: " + " or ".join(told)


def _candidate_text(candidate: Candidate) -> str:
    parts = (f"{c.field} {c.present} was {c.stamped}" for c in candidate.changes)
    offered = "; stricter, may be put back" if candidate.correctable else ""
    return f"stamped state fits with {', '.join(parts)} ({candidate.direction}{offered})"


def refused_report(name: str, error: MalformedError, kind: Format | None = None) -> ImageReport:
    """The report on bytes that a strict reader refuses."""
    finding = Finding(
        code=error.code,
        subject="image: refused",
        path=name,
        line=error.line,
        expected="",
        actual=error.message,
        remedy=error.remedy,
    )
    return ImageReport(name, kind, "refused", findings=(finding,), blocked=None)


def report_json(report: ImageReport) -> dict[str, Json]:
    """The report as one JSON object (`synapse.image-report/1`, docs/formats/image.md)."""
    return {
        "schema": SCHEMA,
        "name": report.name,
        "format": report.format,
        "verdict": report.verdict,
        "load": "refused" if report.blocked is None else "ok",
        "session": report.session,
        "digest": report.digest,
        "signature": report.signature,
        "total": report.total,
        "bodies": report.bodies,
        "sealed": report.sealed,
        "hidden": report.hidden,
        "classes": dict(report.counts),
        "pages": [_page_json(page) for page in report.pages],
        "findings": [finding_json(finding) for finding in report.findings],
        "format_cannot_tell": [{"needs": x.needs, "what": x.what} for x in report.limits],
    }


def _page_json(page: PageVerdict) -> Json:
    result: dict[str, Json] = {
        "page": page.position,
        "class": page.cls,
        "codes": [fault.code for fault in page.faults],
    }
    if page.diagnosis is not None:
        result["diagnosis"] = _diagnosis_json(page.diagnosis)
    return result


def _diagnosis_json(diagnosis: Diagnosis) -> Json:
    return {
        "proof": False,
        "hashes": diagnosis.hashes,
        "exhausted": diagnosis.exhausted,
        "exchanged_with": diagnosis.exchanged if diagnosis.exchanged >= 0 else None,
        "candidates": [
            {
                "direction": candidate.direction,
                "correctable": candidate.correctable,
                "changes": [
                    {"field": c.field, "present": c.present, "stamped": c.stamped}
                    for c in candidate.changes
                ],
            }
            for candidate in diagnosis.candidates
        ],
    }


def finding_json(finding: Finding) -> Json:
    """A finding as JSON."""
    return {
        "code": finding.code,
        "severity": finding.severity,
        "subject": finding.subject,
        "path": finding.path,
        "line": finding.line,
        "expected": finding.expected,
        "actual": finding.actual,
        "remedy": finding.remedy,
    }
