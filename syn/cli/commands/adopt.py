"""`syn adopt`."""

from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.history import acknowledge_history
from syn.cli.options import JsonFlag, Reason, Yes, open_workspace
from syn.cli.output import count, note, on_terminal, out, print_json, table
from syn.cli.progress import bar

if TYPE_CHECKING:
    from syn.model.finding import Json
    from syn.services.writing.adopt import Adoption

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
    history: Annotated[
        bool,
        typer.Option("--history", help="Acknowledge versions that were committed unrecorded."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be recorded.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Record what is in the facts and the configuration now, as decisions.

    Shows what it would record and asks; without a terminal it needs --yes, and the entries say
    that nobody looked. What contradicts another fact, what the screen holds, and what touches a
    closed or quarantined fact has to be named by its path.

    Example: syn adopt -m "moved the owner" facts/payments/owner-2026.md
    """
    from syn.services.writing.adopt import Consent, adoption_json, plan_adopt
    from syn.services.writing.adopt import adopt as run

    workspace = open_workspace(context)
    if history:
        acknowledge_history(workspace, reason, yes=yes, as_json=json)
        return
    named = tuple(paths or ())
    with bar("indexing") as progress:
        shown = plan_adopt(workspace, named, note, progress)
    if dry_run:
        _answer(shown, adoption_json(shown), as_json=json)
        return
    asked = bool(not yes and shown.edits)
    if asked:
        _ask(shown)
    consent = Consent(
        review="seen" if asked else "unreviewed",
        reason=reason,
        skip_unreadable=skip_unreadable,
        deletes=deletes,
    )
    with bar("recording") as progress:
        entries = run(workspace, shown, named, consent, note, progress)
    if json:
        found: list[Json] = [digest for digest, _ in entries]
        print_json({**adoption_json(shown), "recorded": len(found), "entries": found})
    elif entries:
        for _, found_reason in shown.judgement.reasons:
            note(f"{found_reason.kind}: {found_reason.message}")
        out(f"recorded {count(len(entries), 'decision')}")
    else:
        out("nothing to record: everything is as it is recorded")


def _ask(shown: "Adoption") -> None:
    from syn.errors import UsageError

    if not on_terminal():
        raise UsageError(
            "not-a-terminal",
            f"{count(len(shown.edits), 'change')} to record, and nobody to ask",
            "--yes records them as unreviewed; syn adopt --dry-run shows them",
        )
    _show(shown)
    if not typer.confirm("record this?", err=True):
        raise typer.Abort


def _answer(shown: "Adoption", answer: "dict[str, Json]", *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    else:
        _show(shown)


def _show(shown: "Adoption") -> None:
    """Every edit, the fields that change, and what speaks against it."""
    from syn.cli.changes import render_fields

    table((edit.kind, edit.id, edit.path) for edit in shown.edits)
    for path, changes in shown.judgement.fields:
        out()
        out(path)
        render_fields(changes)
    if shown.judgement.reasons:
        out()
    for path, reason in shown.judgement.reasons:
        out(f"{reason.kind}  {path}: {reason.message}")
