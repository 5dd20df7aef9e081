"""Findings as GitHub workflow commands, one line each (docs/formats/report.md, "Annotations").

A runner reads commands from any line a step prints. What else is printed there goes between
`stop(token)` and `resume(token)`, or a fact could issue commands.
"""

from syn.model.finding import Finding, Severity
from syn.model.report import Report
from syn.report.escape import printable
from syn.report.sarif import sentence

_COMMAND: dict[Severity, str] = {"failure": "error", "warning": "warning", "unknown": "error"}


def render(report: Report) -> str:
    """One command per finding, each ending in LF; "" when there are none."""
    return "".join(
        _command(finding, f"{result.id} {finding.code}", sentence(result, finding))
        for result in report.invariants
        for finding in sorted(result.findings, key=Finding.sort_key)
    )


def stop(token: str) -> str:
    """The command after which the runner reads no commands; the token must not be guessable."""
    return f"::stop-commands::{token}\n"


def resume(token: str) -> str:
    """The command that ends what `stop` began."""
    return f"::{token}::\n"


def _command(finding: Finding, title: str, message: str) -> str:
    properties = {"title": title}
    if finding.path:
        properties = {"file": printable(finding.path, data=True), **properties}
        if finding.line:
            properties["line"] = str(finding.line)
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMAND[finding.severity]} {listed}::{_data(printable(message))}\n"


def _data(value: str) -> str:
    """A message: percent first, then what would end the line."""
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    """A property: also what would end it or begin the message."""
    return _data(value).replace(":", "%3A").replace(",", "%2C")
