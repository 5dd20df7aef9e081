"""The one error root.

A problem in a user's data is a value (`syn.model.problem`), never one of these.
"""

from enum import Enum


class Cause(Enum):
    """Why an operation stopped; the port maps it to an exit status (docs/formats/exit-codes.md)."""

    REFUSED = "refused"
    """The operation is well-formed and was refused: a conflict, a gate, a failed check."""
    USAGE = "usage"
    """The caller asked for something that does not exist or makes no sense."""
    CANNOT = "cannot"
    """The evidence or the place could not be read or written: never a pass, never an accusation."""


class SynError(Exception):
    """An operation that stopped.

    Attributes:
        code: stable, kebab-case, one per situation (`busy`, `unknown-fact`).
        message: lower case, names its subject, "expected X, got Y".
        remedy: what the person can do about it, or "" when there is nothing to do.
        cause: how the port turns it into an exit status.
    """

    def __init__(self, code: str, message: str, remedy: str, cause: Cause) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.cause = cause


class UsageError(SynError):
    """The caller named something that does not exist or combined what does not go together."""

    def __init__(self, code: str, message: str, remedy: str = "") -> None:
        super().__init__(code, message, remedy, Cause.USAGE)


class RefusedError(SynError):
    """The operation would break a rule, so nothing was done."""

    def __init__(self, code: str, message: str, remedy: str = "") -> None:
        super().__init__(code, message, remedy, Cause.REFUSED)


class CannotError(SynError):
    """Something needed could not be read or written."""

    def __init__(self, code: str, message: str, remedy: str = "") -> None:
        super().__init__(code, message, remedy, Cause.CANNOT)
