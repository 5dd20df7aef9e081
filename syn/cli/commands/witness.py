"""`syn witness`: what somebody outside keeps to hold this history to."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.options import JsonFlag, open_workspace
from syn.cli.output import note, out, print_json, table
from syn.cli.trusting import TrustFiles, surroundings_of, trust_of, workspace_or_none

if TYPE_CHECKING:
    from syn.model.finding import Json
    from syn.services.trust.pins import Pins
    from syn.services.trust.witnesses import Pinned
    from syn.verify.evidence import WitnessEvidence

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=(
        "Witnesses: signed checkpoints with their proof, for somebody outside to keep.\n\n"
        "Example: syn witness publish -o payments.tlog-proof"
    ),
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="The witness: a .tlog-proof file.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to.")]


@app.command()
def publish(
    context: typer.Context,
    output: Output = None,
    publisher: Annotated[str, typer.Option(help="Whose log, where there are several.")] = "",
) -> None:
    """Write the newest checkpoint with its proof into one file, for somebody outside.

    Example: syn witness publish -o payments.tlog-proof
    """
    from syn.services.files import write_file
    from syn.services.trust.witnesses import publish as make

    data, judged = make(open_workspace(context), publisher)
    if output is None:
        sys.stdout.write(data.decode())
    else:
        write_file(output, data)
    record, key = judged.log.record, judged.key
    note(f"of commit {record.commit if record else ''}, signed by {key.fingerprint if key else ''}")
    if judged.unanchored:
        note(f"{judged.unanchored} later decisions are not in it; syn checkpoint takes them in")
    note("give it away with your public key (syn key export), by different ways if you can")


@app.command()
def show(context: typer.Context, file: File, json: JsonFlag = False) -> None:
    """Show what a witness says; nothing of it is verified.

    Example: syn witness show payments.tlog-proof
    """
    from syn.canon import head
    from syn.canon.digest import text
    from syn.services.trust.outside import read_witness
    from syn.services.trust.witnesses import look

    seen = look(read_witness(file))
    record = head.decode(seen.proof.extra) if seen.proof.extra else None
    members: dict[str, Json] = {
        "origin": seen.checkpoint.origin,
        "size": seen.checkpoint.size,
        "root": text(seen.checkpoint.root),
        "workspace": seen.workspace,
        "commit": record.commit if record else "",
        "tree": record.tree if record else "",
        "manifest": record.manifest if record else "",
        "decisions": sum(item.length for item in record.segments) if record else 0,
        "signatures": [f"{s.name} {s.key_id.hex()}" for s in seen.proof.note.signatures],
        "verified": False,
    }
    if json:
        print_json(members)
        return
    for name, value in members.items():
        shown = value if isinstance(value, list) else [value]
        table((name if n == 0 else "", str(item)) for n, item in enumerate(shown))
    note("nothing of this is verified: syn witness verify FILE --trust KEY")


@app.command()
def verify(
    context: typer.Context, file: File, trust: TrustFiles = None, json: JsonFlag = False
) -> None:
    """Check a witness under keys from outside, and this history against it.

    Outside a workspace only the file is checked; syn verify --since FILE checks the rest too.

    Example: syn witness verify payments.tlog-proof --trust alice.pub
    """
    from syn.services.trust.outside import read_witness
    from syn.services.trust.witnesses import check

    workspace = workspace_or_none(context)
    done = check(
        read_witness(file), trust_of(trust, workspace), surroundings_of(workspace), workspace
    )
    signers = [f"{i.signature.name} {i.signature.key_id.hex()}" for i in done.witness.verified]
    status = done.comparison.status if done.comparison else "file-only"
    if json:
        print_json(
            {
                "origin": done.witness.checkpoint.origin,
                "size": done.witness.checkpoint.size,
                "commit": done.witness.record.commit,
                "signers": [*signers],
                "status": status,
                "findings": _findings(done.comparison),
            }
        )
    else:
        out(f"{status}: {done.witness.checkpoint.origin} of {done.witness.checkpoint.size} records")
        for signer in signers:
            out(f"  signed by {signer}")
        for finding in done.comparison.findings if done.comparison else ():
            out(f"  {finding.code}: expected {finding.expected}, got {finding.actual}")
            note(f"  {finding.remedy}")
        if done.comparison is None:
            note("no workspace here: that history extends it is not checked")
    raise typer.Exit(_status(done.comparison))


def _findings(found: "WitnessEvidence | None") -> "list[Json]":
    from syn.report.document import finding_json

    return [finding_json(finding) for finding in found.findings] if found else []


def _status(found: "WitnessEvidence | None") -> int:
    if found is None or found.status == "consistent":
        return exits.OK
    return exits.INCOMPLETE if found.status == "cannot-tell" else exits.FAIL


@app.command()
def cosign(
    context: typer.Context,
    file: File,
    trust: TrustFiles = None,
    name: Annotated[str, typer.Option(help="Your name as a cosigner.")] = "",
    slot: Annotated[
        str, typer.Option("--key", help="Which of your keys; default: the first.")
    ] = "",
    output: Output = None,
    json: JsonFlag = False,
) -> None:
    """Add your timestamped word that this is the largest checkpoint you saw of this log.

    It is given only after the witness verifies and extends the last one that you cosigned.

    Example: syn witness cosign payments.tlog-proof --trust alice.pub --name auditor.example/w
    """
    from syn.cli.commands.key import find_key
    from syn.services.files import write_file
    from syn.services.trust.cosigning import cosign as sign
    from syn.services.trust.cosigning import default_name
    from syn.services.trust.outside import read_witness

    workspace = workspace_or_none(context)
    around = surroundings_of(workspace)
    key = find_key(around, slot).load()
    done = sign(
        read_witness(file),
        key,
        name or default_name(key),
        trust_of(trust, workspace),
        around,
        workspace=workspace,
    )
    write_file(output or file, done.data)
    if json:
        print_json({"name": done.name, "time": done.time, "key": key.public.fingerprint})
        return
    out(f"{done.name} {done.time}")
    note(f"syn key export --cosigner {done.name} prints the key that verifies it")


@app.command()
def pin(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="FILE|COMMIT", help="A witness, or a commit.")],
    trust: TrustFiles = None,
    json: JsonFlag = False,
) -> None:
    """Trust a witness or a commit from now on; what is pinned may only grow.

    Without --trust and without an earlier pin, the key is taken from the policy here: trust on
    first use. Compare its fingerprint with the owner.

    Example: syn witness pin payments.tlog-proof --trust alice.pub
    """
    from syn.errors import UsageError
    from syn.git.resolve import resolve
    from syn.services.trust.outside import read_witness
    from syn.services.trust.witnesses import pin_commit, pin_witness

    workspace = workspace_or_none(context)
    if Path(target).is_file():
        data = read_witness(Path(target))
        trusted = trust_of(trust, workspace)
        done = pin_witness(data, trusted, surroundings_of(workspace), workspace)
    elif workspace is None:
        raise UsageError("no-witness", f"no file {target}", "a commit is pinned inside its clone")
    else:
        done = pin_commit(workspace, resolve(workspace.repository, target))
    if json:
        print_json({**_pins(done.pins), "first_use": done.first_use, "changed": done.changed})
        return
    _show_pinned(done)


def _show_pinned(done: "Pinned") -> None:
    out(f"{'pinned' if done.changed else 'pinned already'}: {done.pins.workspace}")
    for key in done.keys:
        note(f"under the key {key.fingerprint}")
    if done.first_use:
        note("trusted on first use: compare the fingerprint with the owner by another way")
    note(f"trust root for identities: {done.pins.root}")


@app.command("list")
def list_(context: typer.Context, json: JsonFlag = False) -> None:
    """List what is pinned on this machine.

    Example: syn witness list
    """
    from syn.services.trust.pins import list_pins

    found = list(list_pins(surroundings_of(workspace_or_none(context))))
    if json:
        print_json({"items": [_pins(item) for item in found], "total": len(found), "next": None})
        return
    for pins in found:
        table((pins.workspace, w.origin, str(w.size), w.commit) for w in pins.witnesses)
        table((pins.workspace, "commit", "", commit) for commit in pins.commits)
    if not found:
        note("nothing is pinned; syn witness pin FILE pins a witness")


def _pins(pins: "Pins") -> "dict[str, Json]":
    witnesses: list[Json] = [
        {
            "origin": item.origin,
            "size": item.size,
            "commit": item.commit,
            "keys": [key.fingerprint for key in item.keys],
        }
        for item in pins.witnesses
    ]
    return {
        "id": pins.workspace,
        "root": pins.root,
        "commits": [*pins.commits],
        "witnesses": witnesses,
    }
