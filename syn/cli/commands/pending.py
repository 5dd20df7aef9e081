"""`syn pending`."""

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from syn.cli.facts import Anyway, Screened, override
from syn.cli.options import JsonFlag, Reason, Yes, open_workspace
from syn.cli.output import block, count, note, on_terminal, out, print_json, table
from syn.cli.reading import add_read
from syn.services.recall.answers import Answer

if TYPE_CHECKING:
    from syn.model.finding import Json
    from syn.model.ledger import Review
    from syn.services.writing.pending import Judged
    from syn.services.writing.writes import Written

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=("Decide on what was proposed: list, show, accept, reject.\n\nExample: syn pending list"),
)
Names = Annotated[list[str], typer.Argument(metavar="ID...", help="The start of each one's id.")]


def _render_list(answer: Answer) -> None:
    data: Any = answer
    table(
        (
            item["id"].removeprefix("sha256:")[:12],
            "stale" if "stale" in item else item.get("class", item["type"]),
            item["title"],
            item.get("actor", ""),
            item.get("reason", ""),
        )
        for item in data["items"]
    )
    if not data["items"]:
        note("nothing waits")


def _render_show(answer: Answer) -> None:
    data: Any = answer
    out(f"proposal  {data['id'].removeprefix('sha256:')[:12]}")
    out(f"by        {data['actor']} via {data['via']} at {data['created']}")
    if data["reason"]:
        out(f"reason    {data['reason']}")
    out(f"class     {data['class']}")
    for reason in data["reasons"]:
        out(f"          {reason['class']}: {reason['message']}")
    if "stale" in data:
        out(f"stale     {data['stale']['message']}")
    for item in data["items"]:
        moved = f"{item['was']} -> " if "was" in item else ""
        out()
        out(f"{item['action']}  {item['id']}  {moved}{item['path']}")
        if item.get("diff"):
            sys.stdout.write(item["diff"])


add_read(app, "pending-list", "list", _render_list)
add_read(app, "pending-show", "show", _render_show)


@app.command()
def accept(
    context: typer.Context,
    ids: Names,
    supersede: Annotated[
        bool, typer.Option("--supersede", help="Put it in the place of what it contradicts.")
    ] = False,
    anyway: Anyway = False,
    screened: Screened = False,
    shown: Annotated[
        str, typer.Option("--shown", metavar="DIGEST", help="What pending show --json printed.")
    ] = "",
    reason: Reason = "",
    yes: Yes = False,
    json: JsonFlag = False,
) -> None:
    """Show exactly what each proposal would change, ask, and record it as one decision.

    It is refused when the facts, the proposal or the gate's answer are not what was shown.

    Example: syn pending accept 4f2a90c1d3e5 --supersede -m "reorganised in April"
    """
    from syn.services.writing.pending import Consent, show
    from syn.services.writing.pending import accept as run
    from syn.services.writing.writes import written_json

    workspace = open_workspace(context)
    judged = show(workspace, ids, note, supersede=supersede)
    review: Review = "seen" if _seen(judged, shown) or _ask(judged, yes) else "unreviewed"
    consent = Consent(review, reason, override(anyway, screened), supersede)
    items: list[Json] = []
    for found in judged:
        written = run(workspace, found, consent, note)
        if not json:
            _say(found, written)
        items.append({"id": found.proposal.digest, **written_json(written)})
    if json:
        print_json({"items": items, "total": len(items), "next": None})


def _seen(judged: "tuple[Judged, ...]", shown: str) -> bool:
    """Whether a program showed a person exactly this."""
    from syn.errors import UsageError
    from syn.services.writing.pending import ChangedSinceShownError

    if not shown:
        return False
    if len(judged) != 1:
        raise UsageError("shown", "--shown: expected one proposal", "accept them one by one")
    if judged[0].shown != shown:
        raise ChangedSinceShownError(judged[0].proposal)
    return True


def _ask(judged: "tuple[Judged, ...]", yes: bool) -> bool:
    """Show the exact differences and ask; False when nobody is asked."""
    from syn.errors import UsageError
    from syn.services.writing.pending import item_diff

    if yes:
        return False
    if not on_terminal():
        raise UsageError(
            "not-a-terminal",
            f"{count(len(judged), 'proposal')} to accept, and nobody to ask",
            "--yes accepts unreviewed; --shown DIGEST says that a person saw it elsewhere",
        )
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")  # noqa: TID251 - a port
    for found in judged:
        note(f"proposal {found.proposal.short} by {found.proposal.actor}: {found.verdict.kind}")
        for reason in found.verdict.reasons:
            note(f"  {reason.kind}: {reason.message}")
        for item in found.plan.items:
            note(f"{item.action}  {item.id}  {item.was + ' -> ' if item.was else ''}{item.path}")
            sys.stderr.write(item_diff(item, color=color))
    if not typer.confirm("accept this?", err=True):
        raise typer.Abort
    return True


def _say(judged: "Judged", written: "Written") -> None:
    for item in written.plan.items:
        out(item.id)
        note(f"{item.action}  {item.path}")
    decision = written.entries[0][0][7:19] if written.entries else "nothing"
    note(f"accepted {judged.proposal.short}: recorded {decision}")


@app.command()
def reject(context: typer.Context, ids: Names, reason: Reason = "", json: JsonFlag = False) -> None:
    """Take proposals off the queue, and record that and why they were rejected.

    Example: syn pending reject 4f2a90c1d3e5 -m "no source"
    """
    from syn.services.writing.pending import reject as run

    entries = run(open_workspace(context), ids, reason, note)
    if json:
        print_json({"recorded": len(entries), "entries": [digest for digest, _ in entries]})
    else:
        block(f"rejected {count(len(entries), 'proposal')}")
