"""What a verification said of a fault, and whether that is right.

Right is: it fails or cannot tell, and names the file; or it passes, and what it read is, as a
whole, what was there before. Passing over another state without a word is an escape.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.fault.faults import Fault
from tests.fault.published import Published
from tests.support.cli import Ran
from tests.support.inside import inside

Outcome = Literal["fail", "incomplete", "warned", "equal", "UNNAMED", "ESCAPE", "CRASH"]
WRONG: tuple[Outcome, ...] = ("UNNAMED", "ESCAPE", "CRASH")


@dataclass(frozen=True, slots=True)
class Judged:
    """One fault and its outcome."""

    fault: Fault
    outcome: Outcome
    said: str = ""
    """The answer, where it was wrong."""


class Judge:
    """Knows the whole workspace, and asks about it with one fault in it."""

    def __init__(self, published: Published) -> None:
        self._published = published
        self.root = published.owner.root
        ran = [self._ask(words) for words in published.questions]
        assert [r.status for r in ran] == [0, 0], [r.out for r in ran]
        self._whole = [_state(r.json) for r in ran]

    def judge(self, fault: Fault) -> Judged:
        """Inject it, ask, take it back."""
        file = self.root / fault.path
        before = file.read_bytes()
        after = fault.apply(before)
        if after == before:
            return Judged(fault, "equal")
        if after is None:
            file.unlink()
        else:
            file.write_bytes(after)
        try:
            return self._judged(fault)
        finally:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(before)

    def untouched(self) -> bool:
        """Whether a workspace without a fault passes."""
        return all(self._ask(words).status == 0 for words in self._published.questions)

    def _judged(self, fault: Fault) -> Judged:
        outcomes: list[Judged] = []
        for words, whole in zip(self._published.questions, self._whole, strict=True):
            one = self._one(fault, self._ask(words), whole)
            if one.outcome in ("fail", "incomplete", *WRONG):
                return one
            outcomes.append(one)
        return next((one for one in outcomes if one.outcome == "warned"), outcomes[0])

    def _one(self, fault: Fault, ran: Ran, whole: dict[str, str]) -> Judged:
        said = (ran.out + ran.err)[:2000]
        if "internal error" in ran.err:
            return Judged(fault, "CRASH", said)
        if ran.status != 0:
            outcome: Outcome = "fail" if ran.status == 1 else "incomplete"
            return Judged(fault, outcome if _named(fault.path, ran) else "UNNAMED", said)
        if _warned(fault.path, ran.json):
            return Judged(fault, "warned")
        return Judged(fault, "equal" if _state(ran.json) == whole else "ESCAPE", said)

    def _ask(self, words: Iterable[str]) -> Ran:
        return inside(self._published.owner, "verify", *words)


def _state(report: dict[str, Any]) -> dict[str, str]:
    subject, predicate = report["subject"], report["predicate"]
    return {
        "inputs": subject["inputs_hash"],
        "evidence": subject["evidence_hash"],
        "manifest": predicate["manifest_digest"],
        # No index at all, as in a fresh clone, is no other state.
        "index": predicate["local"]["index_manifest"] or predicate["manifest_digest"],
        "level": predicate["level"],
    }


def _warned(path: str, report: dict[str, Any]) -> bool:
    findings = [f for i in report["predicate"]["invariants"] for f in i["findings"]]
    findings += report["predicate"]["local"]["findings"]
    return any(path == f["path"] or path in f["subject"] for f in findings)


def _named(path: str, ran: Ran) -> bool:
    text = ran.out + ran.err
    if path.startswith(".git/objects/pack/"):
        # A pack holds many objects: whichever can no longer be read is named, or the pack.
        return "pack" in text
    if path.startswith(".git/objects/"):
        return "".join(Path(path).parts[-2:]) in text
    if path.startswith(".git/"):
        # HEAD, a reference or git's settings are broken: what cannot be reached is what is named.
        return True
    # An image is one thing in several files: its folder and the page are named.
    return path.rpartition("/")[0] in text if path.startswith("images/") else path in text
