"""The entry point: finds the command, runs it, and maps whatever stopped it to a status."""

import gc
import io
import os
import sys
from collections.abc import Sequence
from itertools import pairwise

from syn import __version__
from syn.cli import exits


def run(arguments: Sequence[str] | None = None) -> None:
    """Run `syn` with the process's arguments and leave with one of the statuses of design 9."""
    if arguments is None:
        # Workers that are started anew do not look for modules where somebody stands.
        os.environ["PYTHONSAFEPATH"] = "1"  # noqa: TID251 - for the processes of this one
        if sys.getfilesystemencoding() != "utf-8":
            _again_in_utf8()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"]:
        sys.stdout.write(f"syn {__version__}\n")
        return
    sys.exit(_written(_status(words), as_json="--json" in words))


def _again_in_utf8() -> None:
    """Start over in Python's UTF-8 mode: names and arguments are UTF-8 whatever the locale is."""
    # -P: a folder named `syn` where somebody stands is not this program.
    interpreter = [sys.executable, "-P", "-X", "utf8", "-m", "syn"]
    os.execv(sys.executable, [*interpreter, *sys.argv[1:]])  # noqa: S606 - ourselves, no shell


def _status(words: list[str]) -> int:
    # Bulk reads make millions of small values that live to the end: collecting among them costs a
    # third of the time and finds nothing.
    gc.set_threshold(100_000, 20, 100)
    for stream in (sys.stdout, sys.stderr):
        # Facts are UTF-8 whatever the locale is, and output must never fail half-way.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        if words and words[-1] == "mcp":
            _serve_agents(words)
        from syn.cli.app import build
        from syn.cli.completing import answer, asked

        if not words and asked():
            return answer()
        _refuse_empty(words)
        result = build().main(args=words, prog_name="syn", standalone_mode=False)
    except KeyboardInterrupt:
        result = exits.INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # Typer leaves with status 1 when the pipe is gone, which would read as a failed check.
        return _reader_gone()
    except Exception as error:  # noqa: BLE001 - the last resort: a message and a status, no traceback
        from syn.cli.errors import explain

        return explain(error, as_json="--json" in words)
    if result == exits.INTERRUPTED:
        # Typer makes a status of the interruption; somebody has to say what it means.
        sys.stderr.write("\nsyn: interrupted; nothing was concluded\n")
    return result if isinstance(result, int) else exits.OK


def _serve_agents(words: list[str]) -> None:
    """Become the server, when that is all that is asked for."""
    from syn.cli.serving import become_server, plain

    folder = plain(words)
    if folder is not None:
        become_server([folder])


_DECISIVE = frozenset(
    {"--ref", "--since", "--trust", "--root", "--anchor", "--require", "--as-of", "--known-at"}
)
"""Options that decide what is checked: an empty one is an unset variable, never "not asked for"."""


def _refuse_empty(words: list[str]) -> None:
    """Stop before a check that was asked for is silently left out."""
    from syn.errors import UsageError

    for word, value in pairwise([*words, "-"]):
        name = word.removesuffix("=")
        if name in _DECISIVE and (word != name or not value):
            raise UsageError(
                "empty-option",
                f"{name}: expected a value, got an empty text",
                f"is a variable unset? give {name} its value, or leave it out",
            )


def _written(status: int, *, as_json: bool) -> int:
    """The status, once all of the output has gone where it should."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_gone()
    except OSError as error:
        from syn.cli.errors import explain

        _reader_gone()
        return explain(error, as_json=as_json)
    return status


def _reader_gone() -> int:
    """The reader of our output left before the end: nothing was concluded for anybody."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exits.INCOMPLETE
