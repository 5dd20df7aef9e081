"""`syn adopt`."""

from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.options import JsonFlag, Reason, Yes, open_workspace
from syn.cli.output import count, note, on_terminal, out, print_json, table

if TYPE_CHECKING:
    from syn.services.adopt import Adoption

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def adopt(
    context: typer.Context,
    paths: Annotated[list[str] | None, typer.Argument(help="Only these files or folders.")] = None,
    reason: Reason = "",
    yes: Yes = False,
    skip_unreadable: Annotated[
        bool, typer.Option("--skip-unreadable", help="Put unreadable facts into facts.exclude.")
    ] = False,
    deletes: Annotated[
        bool, typer.Option("--deletes", help="Many facts are gone, and that is meant.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Record what is in the facts and the configuration now, as decisions.

    Shows what it would record and asks; without a terminal it needs --yes, and the entries say
    that nobody looked.

    Example: syn adopt -m "moved the owner" facts/payments
    """
    from syn.errors import UsageError
    from syn.services.adopt import Consent, plan_adopt
    from syn.services.adopt import adopt as run

    workspace = open_workspace(context)
    named = tuple(paths or ())
    shown = plan_adopt(workspace, named, note)
    asked = not yes and shown.edits
    if asked:
        if not on_terminal():
            raise UsageError(
                "not-a-terminal",
                f"{count(len(shown.edits), 'change')} to record, and nobody to ask",
                "--yes records them as unreviewed; syn status lists them",
            )
        _show(shown)
        if not typer.confirm("record this?", err=True):
            raise typer.Abort
    consent = Consent(
        review="seen" if asked else "unreviewed",
        reason=reason,
        skip_unreadable=skip_unreadable,
        deletes=deletes,
    )
    entries = run(workspace, shown, named, consent, note)
    if json:
        print_json({"recorded": len(entries), "entries": [digest for digest, _ in entries]})
    elif entries:
        out(f"recorded {count(len(entries), 'decision')}")
    else:
        out("nothing to record: everything is as it is recorded")


def _show(shown: "Adoption") -> None:
    table((edit.kind, edit.id, edit.path) for edit in shown.edits)
