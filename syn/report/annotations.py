"""Findings as GitHub workflow commands, one line each (docs/formats/report.md, "Annotations").

A runner reads commands from any line a step prints. What else is printed there goes between
`stop(token)` and `resume(token)`, or a fact could issue commands.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from syn.model.finding import Finding, InvariantResult, Severity
from syn.model.report import Report
from syn.report.escape import clip, printable
from syn.report.sarif import sentence

_COMMAND: dict[Severity, str] = {"failure": "error", "warning": "warning", "unknown": "error"}
_MAX_MESSAGE = 2000
"""Characters of one message; the whole text stands in the JSON report."""


def render(
    report: Report, changed: Mapping[str, Sequence[int]] | None = None, limit: int | None = None
) -> str:
    """One command per finding, each ending in LF; "" when there are none.

    Args:
        report: what to show.
        changed: the lines that a change wrote, by path. Findings on them come first, then others
            in those files; one on the whole file (no line, or the first) stands on the first of
            them, so that it shows in the review.
        limit: commands of one kind (errors, warnings); a runner drops what is over its own limit,
            so the others are counted in a last command.
    """
    lines = changed or {}
    found = [
        _Placed(result, finding, lines.get(finding.path))
        for result in report.invariants
        for finding in sorted(result.findings, key=Finding.sort_key)
    ]
    return "".join(_bounded(sorted(found, key=_Placed.distance), limit))


def error(title: str, message: str) -> str:
    """A command for what stopped the run itself."""
    return f"::error title={_property(printable(title))}::{_message(message)}\n"


def stop(token: str) -> str:
    """The command after which the runner reads no commands; the token must not be guessable."""
    return f"::stop-commands::{token}\n"


def resume(token: str) -> str:
    """The command that ends what `stop` began."""
    return f"::{token}::\n"


@dataclass(frozen=True, slots=True)
class _Placed:
    """A finding of an invariant, and the lines that a change wrote in its file."""

    result: InvariantResult
    finding: Finding
    changed: Sequence[int] | None
    """None where the change did not touch the file."""

    @property
    def kind(self) -> str:
        return _COMMAND[self.finding.severity]

    @property
    def line(self) -> int:
        """Its line; for a finding on the whole file, the first line that changed."""
        whole = self.finding.line <= 1
        return self.changed[0] if whole and self.changed else self.finding.line

    def distance(self) -> int:
        """0 on a changed line, 1 in a changed file, 2 elsewhere."""
        if self.changed is None:
            return 2
        return 0 if not self.line or self.line in self.changed else 1


def _bounded(found: Sequence[_Placed], limit: int | None) -> Iterator[str]:
    shown: Counter[str] = Counter()
    for item in found:
        shown[item.kind] += 1
        if limit is None or shown[item.kind] <= limit:
            yield _command(item)
    left = sum(max(0, number - limit) for number in shown.values()) if limit is not None else 0
    if left:
        yield f"::notice title=syn verify::{left:,} more in the job summary and the report\n"


def _command(item: _Placed) -> str:
    title = f"{item.result.id} {item.finding.code}"
    properties = {"title": title}
    if item.finding.path:
        properties = {"file": printable(item.finding.path, data=True), **properties}
        if item.line:
            properties["line"] = str(item.line)
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{item.kind} {listed}::{_message(sentence(item.result, item.finding))}\n"


def _message(text: str) -> str:
    return _data(clip(printable(text), _MAX_MESSAGE))


def _data(value: str) -> str:
    """A message: percent first, then what would end the line."""
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    """A property: also what would end it or begin the message."""
    return _data(value).replace(":", "%3A").replace(",", "%2C")
