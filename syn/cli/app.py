"""The command tree: every module under `commands/` is a command, imported when it is asked for."""

import importlib
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from syn import __version__
from syn.cli import commands
from syn.cli.options import Globals
from syn.cli.sections import by_section
from syn.cli.sparing import spare, spare_group

if TYPE_CHECKING:
    from syn.services.recall.pagein import Audience


class _Commands(dict[str, Any]):
    """Command names to commands; a name costs a directory listing, a command its import."""

    def __init__(self) -> None:
        found = sorted(m.name for m in pkgutil.iter_modules(commands.__path__))
        self._modules = {name.rstrip("_").replace("_", "-"): name for name in found}
        super().__init__(dict.fromkeys(self._modules))

    def get(self, name: str, default: Any = None) -> Any:  # type: ignore[explicit-override]
        """The command, imported the first time it is asked for."""
        if name not in self:
            return default
        if self[name] is None:
            module = importlib.import_module(f"{commands.__name__}.{self._modules[name]}")
            self[name] = spare_group(get_command(module.app))
            self[name].name = name
            if hasattr(self[name], "commands"):
                _list_whole(self[name])
        return self[name]


class _LazyGroup(TyperGroup):
    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # type: ignore[explicit-override]
        """Every command under what it is for."""
        for title, names in by_section(self.commands):
            _write_commands(formatter, title, self.commands, names)


def _list_whole(group: Any) -> None:
    """Let a group list its commands with whole sentences."""

    def format_commands(_: Any, formatter: Any) -> None:
        _write_commands(formatter, "Commands", group.commands, list(group.commands))

    group.format_commands = format_commands


def _write_commands(formatter: Any, title: str, commands: Any, names: list[str]) -> None:
    with formatter.section(title):
        formatter.write_dl([(name, summary(commands.get(name))) for name in names])


def summary(command: Any) -> str:
    """The first paragraph of a command's help."""
    return " ".join((command.help or "").split("\n\n", 1)[0].split())


app = typer.Typer(
    cls=_LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    help=(
        "A git-native memory that proves, offline, that it was not silently corrupted.\n\n"
        "Example: syn init && syn adopt && syn verify"
    ),
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"syn {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    directory: Annotated[
        str,
        typer.Option("-C", "--directory", metavar="DIR", help="Run as if started in DIR."),
    ] = ".",
    audience: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="WHOM",
            envvar="SYNAPSE_AUDIENCE",
            help="person, or agent: a read withholds what nobody decided on.",
        ),
    ] = "person",
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if audience not in ("person", "agent"):
        raise typer.BadParameter(f"expected person or agent, got {audience!r:.40}")
    whom: Audience = "agent" if audience == "agent" else "person"
    context.obj = Globals(Path(directory), whom)


def build() -> Any:
    """The root command, ready to be run."""
    return spare(get_command(app))
