"""`syn parity`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.images import reading
from syn.cli.options import Globals, JsonFlag
from syn.cli.output import count, note, out, print_json
from syn.cli.progress import bar

if TYPE_CHECKING:
    from syn.services.proving.parity import CloneParity, FactParity

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def parity(
    context: typer.Context,
    copies: Annotated[list[Path], typer.Argument(metavar="A B...", help="Clones, or images.")],
    by: Annotated[
        str, typer.Option(help="Images: what makes rows copies of each other, step or role.")
    ] = "",
    revoked: Annotated[
        list[str] | None,
        typer.Option(metavar="WITNESS", help="A refuted decision or witness; repeatable."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Compare clones of a workspace, or session images: agree, resolved, or conflict.

    Where clones differ, the one last decision of all their ledgers resolves it; anything else is a
    conflict (exit status 1). Images are compared as `syn image parity` does.

    Example: syn parity . ../clone
    """
    from syn.errors import UsageError
    from syn.services.proving.parity import compare_clones, is_clone, parity_json
    from syn.services.workspace import surroundings

    around = surroundings(os.environ)  # noqa: TID251 - a port
    place = context.find_object(Globals) or Globals(Path())
    paths = [place.directory / path for path in copies]
    clones = [is_clone(path, around) for path in paths]
    if not any(clones):
        reading.parity(context, copies, by, revoked, json)
        return
    if not all(clones) or by:
        raise UsageError(
            "mixed-copies", "expected clones or images, got both", "compare like with like"
        )
    with bar("reading clones") as progress:
        found = compare_clones(paths, around, tuple(revoked or ()), progress)
    if json:
        print_json(parity_json(found))
    else:
        _show(found)
    raise typer.Exit(exits.VERDICTS[found.verdict])


def _show(found: "CloneParity") -> None:
    for clone in found.clones:
        if clone.faults:
            note(f"{clone.name}: its ledger does not hold: {', '.join(clone.faults)}")
    for fact in found.facts:
        if fact.outcome != "agree":
            _fact(fact)
    agreed = sum(fact.outcome == "agree" for fact in found.facts)
    note(f"{agreed:,} of {count(len(found.facts), 'fact')} agree")


def _fact(fact: "FactParity") -> None:
    out(f"{fact.outcome:<8}  {fact.fact}  {fact.reason}")
    for copy in fact.copies:
        says = copy.payload[7:19] or "gone"
        mark = "" if fact.outcome == "conflict" or copy.payload != fact.holds else "  holds"
        held = "  quarantined" if copy.quarantined else ""
        why = f"  {copy.fault}" if copy.fault else ""
        out(f"          {copy.clone}  {says}{mark}{held}{why}")
