"""What the commands that write facts share: options of a new fact, the body, the answer."""

import functools
import inspect
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from syn.cli.output import count, note, on_terminal, out, print_json

if TYPE_CHECKING:
    from syn.services.writing.changes import NewFact
    from syn.services.writing.gate import Override
    from syn.services.writing.writes import Written

Title = Annotated[str, typer.Option("--title", help="The title.")]
Id = Annotated[str, typer.Option("--id", help="The id; default: made from the title.")]
Type = Annotated[str, typer.Option("--type", help="The type.")]
Status = Annotated[str, typer.Option("--status", help="The status.")]
Subject = Annotated[str, typer.Option("--subject", help="What the statement is about.")]
Field = Annotated[str, typer.Option("--field", help="Which property of it.")]
Value = Annotated[str, typer.Option("--value", help="The property's value.")]
ValidFrom = Annotated[
    str, typer.Option("--valid-from", metavar="DATE", help="From when it holds (included).")
]
ValidTo = Annotated[
    str, typer.Option("--valid-to", metavar="DATE", help="Until when it holds (not included).")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; repeatable.")]
More = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=TEXT", help="Further front matter; repeatable."),
]
Body = Annotated[
    str | None,
    typer.Option("--body", help="The body; - reads it from stdin. Default on a terminal: $EDITOR."),
]
Place = Annotated[str, typer.Option("--path", help="The file; default: made from the id.")]
Source = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="KEY=TEXT",
        help="Who or what said so: kind, agent, session or url; repeatable.",
    ),
]
Anyway = Annotated[
    bool, typer.Option("--anyway", help="Record it although it conflicts or repeats.")
]
Screened = Annotated[
    bool, typer.Option("--screened", help="Record what the screen holds, by name.")
]


def pairs(words: list[str] | None, option: str) -> tuple[tuple[str, str], ...]:
    """`KEY=TEXT` words as pairs."""
    from syn.errors import UsageError

    found = []
    for word in words or ():
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise UsageError("bad-option", f"{option}: expected KEY=TEXT, got {word!r:.60}")
        found.append((key, text))
    return tuple(found)


def body_text(given: str | None, current: str = "", *, edit: bool = True) -> str | None:
    """The body an option names: as it is, from stdin, or from an editor on a terminal."""
    if given == "-":
        return sys.stdin.buffer.read().decode("utf-8")
    if given is not None:
        return given if not given or given.endswith("\n") else f"{given}\n"
    return _from_editor(current) if edit and on_terminal() else None


def _from_editor(current: str) -> str | None:
    """What the person leaves in `$VISUAL` or `$EDITOR`; None without one."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")  # noqa: TID251 - a port
    if not command:
        return None
    with tempfile.TemporaryDirectory(prefix="synapse-") as folder:
        file = Path(folder) / "body.md"
        file.write_text(current, encoding="utf-8", newline="")
        done = subprocess.run([*shlex.split(command), str(file)], check=False)  # noqa: S603 - theirs
        if done.returncode:
            raise typer.Abort
        return file.read_bytes().decode("utf-8")


def answer(done: "Written", *, as_json: bool) -> None:
    """Print what was recorded: ids on stdout, the rest on stderr."""
    from syn.services.writing.writes import written_json

    if as_json:
        print_json(written_json(done))
        return
    for path in done.taken_back:
        out(path)
        note(f"restore  {path}, as it is recorded; what stood there is kept in git")
    if done.taken_back and not done.entries:
        return
    if not done.entries:
        note("nothing to record: that is what it says already")
        return
    for reason in done.verdict.reasons:
        note(f"{reason.kind}: {reason.message}")
    for item in done.plan.items:
        out(item.id)
        moved = f"{item.was} -> " if item.was else ""
        note(f"{item.action}  {moved}{item.path}")
    note(f"recorded {count(len(done.entries), 'decision')} as {done.entries[0][0][7:19]}")


_NEW_FACT: tuple[tuple[str, Any, object], ...] = (
    ("title", Title, ""),
    ("id", Id, ""),
    ("type", Type, ""),
    ("status", Status, ""),
    ("subject", Subject, ""),
    ("field", Field, ""),
    ("value", Value, ""),
    ("valid_from", ValidFrom, ""),
    ("valid_to", ValidTo, ""),
    ("tags", Tags, None),
    ("more", More, None),
    ("source", Source, None),
    ("body", Body, None),
    ("path", Place, ""),
)


def takes_new_fact(run: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a new fact; it gets them as its parameter `new`."""

    @functools.wraps(run)
    def command(**values: Any) -> None:
        asked = {name: values.pop(name) for name, _, _ in _NEW_FACT}
        run(new=_new_fact(asked), **values)

    own = [p for p in inspect.signature(run).parameters.values() if p.name != "new"]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
        for name, hint, default in _NEW_FACT
    ]
    own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
    command.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in (*own, *shared)}
    return command


def _new_fact(asked: dict[str, Any]) -> "NewFact":
    from syn.services.writing.changes import NewFact

    return NewFact(
        tags=tuple(asked.pop("tags") or ()),
        more=pairs(asked.pop("more"), "--set"),
        source=pairs(asked.pop("source"), "--source"),
        body=body_text(asked.pop("body")) or "",
        **asked,
    )


def override(anyway: bool, screened: bool) -> "Override":
    """What the person takes on."""
    from syn.services.writing.gate import Override

    return Override(anyway=anyway, screened=screened)
