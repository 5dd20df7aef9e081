"""`syn reindex`."""

from typing import Annotated

import typer

from syn.cli.options import Engine, JsonFlag, open_workspace
from syn.cli.output import count, out, print_json
from syn.cli.progress import bar

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def reindex(
    context: typer.Context,
    full: Annotated[bool, typer.Option("--full", help="Build it anew from nothing.")] = False,
    engine: Engine = "",
    json: JsonFlag = False,
) -> None:
    """Bring the index up to date; it is built in a new file and renamed into place.

    Example: syn reindex --full
    """
    from syn.services.engines.choose import open_engine
    from syn.services.recall.answers import reindexed_json
    from syn.services.recall.opening import reindex as run

    workspace = open_workspace(context)
    with open_engine(engine) as executor, bar("indexing") as progress:
        done = run(workspace, full=full, executor=executor, progress=progress)
    if json:
        print_json(reindexed_json(done))
    elif done.mode == "none":
        out(f"up to date: {count(done.facts, 'fact')}")
    else:
        removed = f", {done.removed} removed" if done.removed else ""
        out(f"{done.mode}: {count(done.facts, 'fact')}, {done.read} read{removed}")
