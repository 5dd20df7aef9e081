"""Gathering what is wrong with one file while it is read, so that nothing stops at the first."""

from dataclasses import dataclass, field

from syn.model.problem import Problem

QUOTE_LIMIT = 60
"""Characters of a user's text that a message may hold."""


@dataclass(slots=True)
class Collector:
    """The problems and warnings of one file, in the order they were found."""

    path: str
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def problem(self, line: int, code: str, message: str, remedy: str) -> None:
        """Add a fault that makes the file unreadable."""
        self.problems.append(Problem(self.path, line, code, message, remedy))

    def warning(self, line: int, code: str, message: str, remedy: str) -> None:
        """Add a fault that stands beside the fact."""
        self.warnings.append(Problem(self.path, line, code, message, remedy))


def quote(text: str) -> str:
    """A short, printable quotation of a user's text for a message."""
    short = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in text[:QUOTE_LIMIT]
    )
    if len(short) < len(text) or len(short) > QUOTE_LIMIT:
        return short[: QUOTE_LIMIT - 1] + "…"
    return short
