"""`syn acknowledge`."""

from typing import Annotated

import typer

from syn.cli.options import JsonFlag, Reason, open_workspace
from syn.cli.output import count, note, out, print_json

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def acknowledge(
    context: typer.Context,
    subjects: Annotated[
        list[str], typer.Argument(metavar="COMMIT|ENTRY...", help="What syn verify named.")
    ],
    reason: Reason = "",
    json: JsonFlag = False,
) -> None:
    """Accept a fault that history cannot lose: an unsigned commit, a late merge, a cut segment.

    It stays listed in every later run, and fails --profile strict. Under a policy it takes an
    admin's key.

    Example: syn acknowledge 3ceddd0c -m "made on a machine without the key"
    """
    from syn.services.writing.acknowledge import acknowledge as run

    entries = run(open_workspace(context), subjects, reason)
    if json:
        print_json({"entries": [digest for digest, _ in entries]})
        return
    out(f"acknowledged {count(len(entries), 'fault')}")
    note("syn verify lists them from now on as acknowledged")
