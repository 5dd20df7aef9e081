"""What is wrong with a ledger, as a value with a stable code (docs/formats/ledger.md)."""

from dataclasses import dataclass

from syn.model.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a segment, or of how entries refer to each other."""

    code: str
    """Stable, kebab-case; the list is in docs/formats/ledger.md."""
    subject: str
    """The writer whose chain it is about, or the fact for a fault of decision heads."""
    path: str
    line: int
    """Line in the file, from 1; 0 for a whole file."""
    byte: int
    """Offset in the file, from 0, of the line or of its first wrong byte; 0 when unknown."""
    expected: str
    actual: str
    remedy: str
    severity: Severity = "failure"

    def sort_key(self) -> tuple[str, int, int, str, str, str]:
        """Order of faults in every answer."""
        return (self.path, self.line, self.byte, self.code, self.subject, self.actual)

    def finding(self) -> Finding:
        """The fault as verify, scrub and doctor report it."""
        at = f" (byte {self.byte})" if self.byte else ""
        return Finding(
            code=self.code,
            subject=self.subject,
            path=self.path,
            line=self.line,
            expected=self.expected,
            actual=f"{self.actual}{at}",
            remedy=self.remedy,
            severity=self.severity,
        )


RESTORE = (
    "restore the file from git (git checkout HEAD -- {path}); if it was committed like this, "
    "syn verify --deep names the commit, and an acknowledge decision accepts it for the record"
)
"""The remedy for damage inside a segment: the ledger is never edited to make it fit."""
