"""What a person or a program sees when a command stops."""

import os
import sys
from dataclasses import dataclass

import typer

from syn.cli import exits
from syn.errors import SynError

_USAGE_ERROR, _CLICK_ERROR = typer.BadParameter.__mro__[1:3]


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a command stopped, and the status it leaves with."""

    code: str
    message: str
    remedy: str
    status: int


def explain(error: Exception, *, as_json: bool) -> int:
    """Print why the command stopped and return its exit status; in JSON mode as one object."""
    if isinstance(error, typer.Exit):
        return int(error.exit_code)
    if type(error).__name__ == "NoArgsIsHelpError" and not as_json:
        # The group's help, made by us: its line ends are to stay.
        sys.stderr.write(f"{error}\n")
        return exits.USAGE
    stop = stop_of(error)
    if stop.code == INTERNAL and os.environ.get("SYN_DEBUG"):  # noqa: TID251 - a port reads the environment
        raise error
    _print(stop.code, stop.message, stop.remedy, as_json=as_json)
    return stop.status


INTERNAL = "internal"


def stop_of(error: Exception) -> Stop:
    """What an error means to whoever runs the command."""
    if isinstance(error, SynError):
        return Stop(error.code, error.message, error.remedy, exits.CAUSES[error.cause])
    if isinstance(error, _CLICK_ERROR):
        return Stop("usage", _usage(error), _hint(error), exits.USAGE)
    remedy, status = "", exits.INCOMPLETE
    match error:
        case typer.Abort():
            code, message, status = "interrupted", "interrupted", exits.INTERRUPTED
        case RecursionError() | MemoryError():
            code, message = "limits", "the input is too deep or too large to read"
        case UnicodeEncodeError(encoding="utf-8"):
            # The system hands bytes that are not UTF-8 over as lone surrogates.
            code, message, status = (
                "not-utf8",
                f"expected UTF-8, got {error.object!a:.80}",
                exits.USAGE,
            )
        case OSError():
            code, message, remedy = "io", _os_error(error), "check the disk and the permissions"
        case _:
            code, message = INTERNAL, f"internal error: {type(error).__name__}: {error}"
            remedy = "please report it; SYN_DEBUG=1 prints where it happened"
    return Stop(code, message, remedy, status)


def _usage(error: Exception) -> str:
    message = getattr(error, "format_message", None)
    # The library that coerces values says so in front of what is wrong with one.
    return str(message() if callable(message) else error).replace("Value error, ", "")


def _hint(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    how = f"{context.command_path} --help shows how" if context is not None else "syn --help"
    unknown = getattr(error, "option_name", None) and hasattr(error, "possibilities")
    return f"{how}; a name that starts with a dash goes after --" if unknown else how


def _os_error(error: OSError) -> str:
    name = f"{error.filename}: " if error.filename else ""
    return f"{name}{(error.strerror or str(error)).lower()}"


def _print(code: str, message: str, remedy: str, *, as_json: bool) -> None:
    from syn.cli.output import print_json
    from syn.report.escape import printable

    message = message.encode("utf-8", "backslashreplace").decode()
    if as_json:
        print_json({"error": {"code": code, "message": message, "remedy": remedy}})
    sys.stderr.write(f"syn: {printable(message)}\n")
    if remedy:
        sys.stderr.write(f"     {printable(remedy)}\n")
