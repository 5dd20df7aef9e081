"""`syn receipt`: what was true of one fact at a checkpoint."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from syn.cli.options import JsonFlag, open_workspace
from syn.cli.output import note, out, print_json, table
from syn.cli.reading import add_read
from syn.cli.trusting import TrustFiles, trust_of, workspace_or_none
from syn.services.recall.answers import Answer

if TYPE_CHECKING:
    from syn.model.finding import Json
    from syn.services.trust.receipts import CheckedReceipt

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=(
        "Receipts: proof of one fact at a checkpoint, for somebody without the repository.\n\n"
        "Example: syn receipt issue payments-owner -o owner.receipt"
    ),
)


@app.command()
def issue(
    context: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="ID", help="The fact.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write a copy here too.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Issue a receipt for a fact, as the newest checkpoint has it; it is stored and recorded.

    Example: syn receipt issue owner-2 -o owner-2.receipt
    """
    from syn.services.files import write_file
    from syn.services.trust.receipts import issue as make

    done = make(open_workspace(context), fact)
    if output is not None:
        write_file(output, done.data)
    if json:
        print_json(
            {
                "id": done.id,
                "path": done.path,
                "record": done.record.n,
                "commit": done.record.commit,
                "made": done.made,
            }
        )
        return
    out(done.id)
    note(f"{'stored as' if done.made else 'there already:'} {done.path}")
    note(f"it proves what held at {done.record.commit[:12]}, not what holds now")


@app.command()
def verify(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The receipt.")],
    trust: TrustFiles = None,
    json: JsonFlag = False,
) -> None:
    """Verify a receipt under a key from outside; no repository is needed.

    Example: syn receipt verify owner-2.receipt --trust alice.pub
    """
    from syn.canon.receipt import MAX_BYTES
    from syn.errors import UsageError
    from syn.services.files import read_file
    from syn.services.trust.receipts import check_trusted

    trusted = trust_of(trust, workspace_or_none(context))
    if trusted is None:
        raise UsageError("no-trust", "--trust names whose word a receipt is taken on")
    found = check_trusted(read_file(file, MAX_BYTES), trusted)
    members = _members(found)
    if json:
        print_json(members)
        return
    shown = (v if isinstance(v, str) else str(v) for v in members.values())
    table(zip(members, shown, strict=True))
    note("it proves what held at that commit, not what holds now")


def _render_list(answer: Answer) -> None:
    data: Any = answer
    table((i["id"], str(i["fact"]), str(i["record"]), i["commit"]) for i in data["items"])
    for item in data["items"]:
        if "text" in item:
            out(item["text"].rstrip("\n"))
    if not data["items"]:
        note("no receipt yet; syn receipt issue ID issues one")


add_read(app, "receipt-list", "list", _render_list)


def _members(found: "CheckedReceipt") -> "dict[str, Json]":
    from syn.keys.public import PublicKey

    signers = [PublicKey(item.verifier.public).fingerprint for item in found.verified]
    return {
        "id": found.id,
        "fact": found.fact,
        "path": found.path,
        "payload": found.payload,
        "entry": found.entry[0],
        "actor": found.entry[1].actor,
        "origin": found.checkpoint.origin,
        "record": found.record.n,
        "commit": found.record.commit,
        "signed_by": ", ".join(signers),
    }
