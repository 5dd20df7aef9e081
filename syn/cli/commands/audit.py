"""`syn audit`: the ledger by itself."""

from typing import Annotated, Any

import typer

from syn.cli import exits
from syn.cli.options import JsonFlag, Ref, open_workspace
from syn.cli.output import count, note, out, print_json
from syn.services.recall.answers import Answer

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=(
        "The ledger by itself: verify its chains, list its decisions, replay it.\n\n"
        "Example: syn audit verify"
    ),
)

_STATUS = {"pass": exits.OK, "fail": exits.FAIL, "incomplete": exits.INCOMPLETE}


@app.command()
def verify(context: typer.Context, ref: Ref = "", json: JsonFlag = False) -> None:
    """Check every chain of the ledger and every reference between decisions.

    Example: syn audit verify
    """
    from syn.services.proving.audit import audit_verify

    answer: Any = audit_verify(open_workspace(context), ref)
    if not json:
        for writer in answer["writers"]:
            out(f"{writer['writer']}  {count(writer['entries'], 'decision')}  {writer['head']}")
        for item in answer["findings"]:
            place = f"{item['path']}:{item['line']}" if item["line"] else item["path"]
            out(f"{place}: {item['severity']}: {item['code']}")
            out(f"    expected {item['expected']}")
            out(f"    actual   {item['actual']}")
            out(f"    {item['remedy']}")
    _end(answer, f"{count(answer['entries'], 'decision')} chained", json=json)


@app.command()
def log(
    context: typer.Context,
    fact: Annotated[str, typer.Argument(help="Only decisions on this fact.")] = "",
    limit: Annotated[int, typer.Option(help="At most this many.")] = 50,
    json: JsonFlag = False,
) -> None:
    """List decisions, newest first; the same as `syn log`.

    Example: syn audit log refund-limit
    """
    from syn.cli.commands.log import render
    from syn.services.doors.operations import operation
    from syn.services.recall.reads import open_reader

    reader = open_reader(open_workspace(context), note)
    with reader.index:
        answer = operation("log").run(reader, fact=fact, limit=limit)
    if json:
        print_json(answer)
    else:
        render(answer)


@app.command()
def replay(context: typer.Context, ref: Ref = "", json: JsonFlag = False) -> None:
    """Replay the decisions in several legal orders; every order has to give one state.

    Example: syn audit replay --json
    """
    from syn.services.proving.audit import audit_replay

    answer: Any = audit_replay(open_workspace(context), ref)
    if not json:
        for fact in answer["diverging"]:
            out(f"{fact}: the state depends on the order")
        for writer in answer["unordered"]:
            out(f".synapse/ledger/{writer}: two histories are mixed, there is no legal order")
    summary = f"{count(answer['entries'], 'decision')} in {count(answer['orders'], 'order')}"
    _end(answer, f"{summary}, state {answer['digest'] or 'empty'}", json=json)


def _end(answer: Answer, summary: str, *, json: bool) -> None:
    """The last line states the verdict, and so does the exit status."""
    verdict = str(answer["verdict"])
    if json:
        print_json(answer)
    else:
        out(f"{verdict.upper()}: {summary}")
    raise typer.Exit(_STATUS[verdict])
