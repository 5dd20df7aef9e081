"""Commands for reads, made from their operations: flags in, answer out, rendered or as JSON."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from syn.cli import exits
from syn.cli.options import Globals, JsonFlag, audience_of, open_workspace
from syn.cli.output import note, print_json
from syn.cli.progress import bar
from syn.services.doors.operations import Operation, Parameter, operation
from syn.services.recall.answers import Answer

Render = Callable[[Answer], None]


def read_command(name: str, render: Render) -> typer.Typer:
    """The command of one read: `--json` prints its answer, otherwise `render` shows it."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    add_read(app, name, name, render)
    return app


def add_read(app: typer.Typer, operation_name: str, command: str, render: Render) -> None:
    """Add the command of one read to a group."""
    found = operation(operation_name)

    def run(context: typer.Context, json: bool, **values: Any) -> None:
        answer = _answer(context, found, values)
        if json:
            print_json(answer)
        else:
            render(answer)
            _tell_capped(answer)
        status = exits.of_read(answer, named=found.named)
        if status != exits.OK:
            raise typer.Exit(status)

    parameters = [
        inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(_signature(parameter) for parameter in found.parameters()),
        inspect.Parameter(
            "json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JsonFlag
        ),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {item.name: item.annotation for item in parameters}
    run.__doc__ = f"{inspect.getdoc(found.run)}\n\nExample: {found.example}"
    app.command(name=command)(run)


def _tell_capped(answer: Answer) -> None:
    capped = answer.get("capped")
    for name, most in capped.items() if isinstance(capped, dict) else ():
        note(f"{name}: at most {most} at once")


def _answer(context: typer.Context, found: Operation, values: dict[str, Any]) -> Answer:
    from syn.services.recall.reads import open_reader

    workspace = open_workspace(context)
    if found.needs == "workspace":
        return found.answer(workspace, **values)
    place = context.find_object(Globals)
    if place is not None and place.at:
        from syn.services.recall.timetravel import at_commit

        with at_commit(workspace, place.at, place.audience) as then:
            return found.answer(then, **values)
    with bar("indexing") as progress:
        reader = open_reader(workspace, note, audience_of(context), progress)
    with reader.index:
        return found.answer(reader, **values)


def _signature(parameter: Parameter) -> inspect.Parameter:
    if parameter.positional:
        detail: Any = typer.Argument(help=parameter.help)
    else:
        detail = typer.Option(f"--{parameter.name.replace('_', '-')}", help=parameter.help)
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if parameter.required else parameter.default,
        annotation=Annotated[parameter.type, detail],
    )
