"""The command tree: every module under `commands/` is a command, imported when it is asked for."""

import importlib
import pkgutil
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from syn import __version__
from syn.cli import commands
from syn.cli.options import Globals


class _Commands(MutableMapping[str, Any]):
    """Command names to commands; a name costs a directory listing, a command its import."""

    def __init__(self) -> None:
        found = pkgutil.iter_modules(commands.__path__)
        self._modules = {m.name.rstrip("_").replace("_", "-"): m.name for m in found}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            module = importlib.import_module(f"{commands.__name__}.{self._modules[name]}")
            command = get_command(module.app)
            command.name = name
            self._loaded[name] = command
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._modules))

    def __len__(self) -> int:
        return len(self._modules)


class _LazyGroup(TyperGroup):
    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()


app = typer.Typer(
    cls=_LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="A git-native memory that proves, offline, that it was not silently corrupted.",
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"syn {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    directory: Annotated[
        Path,
        typer.Option("-C", "--directory", metavar="DIR", help="Run as if started in DIR."),
    ] = Path(),
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    context.obj = Globals(directory=directory)


def build() -> Any:
    """The root command, ready to be run."""
    return get_command(app)
