"""`syn checkpoint`."""

from typing import Annotated

import typer

from syn.cli.options import JsonFlag, open_workspace
from syn.cli.output import note, out, print_json
from syn.cli.progress import bar

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def checkpoint(
    context: typer.Context,
    publisher: Annotated[
        str, typer.Option(help="Your name in the policy, where several keys here may publish.")
    ] = "",
    host: Annotated[
        str, typer.Option(help="First part of a new log's origin, as example.org.")
    ] = "",
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Sign what HEAD holds, though verify does not pass.")
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Continue a log whose clone is gone.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """State what HEAD holds in a head record, sign the log, and commit both.

    Refuses a dirty work tree and a verify that does not pass.

    Example: syn checkpoint
    """
    from syn.services.trust.publishing import Wishes, make_checkpoint, root_text

    wishes = Wishes(publisher=publisher, host=host, anyway=anyway, take_over=take_over)
    with bar("checking") as progress:
        done = make_checkpoint(open_workspace(context), wishes, progress)
    if json:
        print_json(
            {
                "origin": done.checkpoint.origin,
                "size": done.checkpoint.size,
                "root": root_text(done.checkpoint),
                "of": done.record.commit,
                "commit": done.commit,
                "key": done.key,
                "made": done.made,
            }
        )
        return
    out(f"{done.checkpoint.origin} {done.checkpoint.size} {root_text(done.checkpoint)}")
    if done.made:
        note(f"signed by {done.key}, committed as {done.commit[:12]}")
        note("syn witness publish -o FILE gives it to somebody outside")
    else:
        note("the newest checkpoint says the same; nothing was signed")
