"""`syn image`: session images."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from syn.cli import exits
from syn.cli.options import Globals, JsonFlag, Reason, Yes
from syn.cli.output import count, note, on_terminal, out, print_json, table
from syn.cli.progress import bar

if TYPE_CHECKING:
    from syn.images.convert import Conversion
    from syn.images.outside import Outside, Signer
    from syn.images.plan import Step
    from syn.images.report import ImageReport

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Session images: record, check, repair and hand out the pages of finished sessions.",
)

Image = Annotated[Path, typer.Argument(metavar="IMAGE", help="A directory, or a .faksession.")]
Images = Annotated[list[Path], typer.Argument(metavar="IMAGE...", help="One or more images.")]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="A new directory to write.")]
Page = Annotated[int, typer.Argument(metavar="PAGE", min=0, help="Its place in the table, from 0.")]
Key = Annotated[
    Path | None, typer.Option("--key", metavar="FILE", help="Sign with this OpenSSH private key.")
]
TrustFiles = Annotated[
    list[Path] | None,
    typer.Option("--trust", metavar="FILE", help="Public keys from outside; repeatable."),
]
Anchor = Annotated[str, typer.Option(metavar="DIGEST", help="The image's digest, kept elsewhere.")]
Signed = Annotated[
    bool, typer.Option("--signed", help="Fail without a valid signature under a trusted key.")
]
Facts = Annotated[
    bool, typer.Option("--facts", help="Hold pages from facts against the workspace's record.")
]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who decides.")]


def _at(context: typer.Context, path: Path) -> Path:
    place = context.find_object(Globals)
    return (place.directory if place else Path()) / path


def _outside(
    context: typer.Context,
    trust: Sequence[Path] | None = None,
    anchor: str = "",
    signed: bool = False,
    facts: bool = False,
) -> "Outside":
    from syn.cli.options import open_workspace
    from syn.services.images import Trust, outside_of, recorded_staleness

    staleness = recorded_staleness(open_workspace(context)) if facts else None
    keys = tuple(_at(context, path) for path in trust or ())
    return outside_of(Trust(keys, anchor, signed), staleness)


@app.command()
def verify(
    context: typer.Context,
    images: Images,
    trust: TrustFiles = None,
    anchor: Anchor = "",
    signed: Signed = False,
    facts: Facts = False,
    json: JsonFlag = False,
) -> None:
    """Check every page, the table, the ledger and the store of images.

    Exit status: 0 clean, 1 a fault, 2 usage, 3 pages without a word, or it could not be read.

    Example: syn image verify images/monday --trust keys.pub
    """
    from syn.images.report import report_json
    from syn.services.images import verdict_of, verify_images

    paths = [_at(context, path) for path in images]
    outside = _outside(context, trust, anchor, signed, facts)
    with bar("checking (MiB)") as progress:
        reports = verify_images(paths, outside, progress)
    if json and len(reports) == 1:
        print_json(report_json(reports[0]))
    elif json:
        items = [report_json(report) for report in reports]
        print_json({"items": list(items), "total": len(items), "next": None})
    else:
        for report in reports:
            _show_report(report)
    raise typer.Exit(exits.VERDICTS[verdict_of(reports)])


def _show_report(report: "ImageReport") -> None:
    kind = report.format or "no known format"
    out(f"{report.name}: {report.verdict} ({kind}, {count(report.total, 'page')})")
    if report.verdict != "refused":
        classes = ", ".join(f"{number} {name}" for name, number in report.counts.items() if number)
        out(f"  pages      {classes or 'none'}")
        load = "refused: no page is served" if report.blocked is None else "ok"
        out(f"  load       {load}")
        out(f"  signature  {report.signature}")
        out(f"  digest     {report.digest}")
    for finding in report.findings:
        out(f"  {finding.severity}: {finding.subject}: {finding.code}")
        if finding.expected:
            out(f"      expected {finding.expected}")
        out(f"      got      {finding.actual or 'something else'}")
        if finding.remedy:
            out(f"      remedy   {finding.remedy}")
    for limit in report.limits:
        out(f"  format-cannot-tell (needs {limit.needs}): {limit.what}")


@app.command()
def show(
    context: typer.Context, image: Image, trust: TrustFiles = None, json: JsonFlag = False
) -> None:
    """List the pages; the texts of a page that does not check are withheld.

    Example: syn image show images/monday
    """
    from syn.services.images import show_image

    report, rows = show_image(_at(context, image), _outside(context, trust))
    if json:
        print_json(
            {
                "items": [
                    {
                        "id": str(row.position),
                        "type": row.cls,
                        "title": row.descriptor,
                        "path": report.name,
                        "role": row.role,
                        "len": row.length,
                        "qid": row.qid,
                        "hidden": row.hidden,
                    }
                    for row in rows
                ],
                "total": len(rows),
                "next": None,
            }
        )
        return
    out(f"{report.name}: {report.verdict} ({report.format}, session {report.session or 'unnamed'})")
    table(
        (
            str(row.position),
            row.cls,
            row.qid + (" hidden" if row.hidden else ""),
            f"{row.length} B",
            row.descriptor if row.cls == "clean" else "(withheld)",
        )
        for row in rows
    )


@app.command()
def page(
    context: typer.Context,
    image: Image,
    number: Page,
    as_of: Annotated[
        int | None, typer.Option("--as-of", metavar="TICK", help="Hold bounded pages against it.")
    ] = None,
    revoked: Annotated[
        list[str] | None, typer.Option(metavar="WITNESS", help="A refuted witness; repeatable.")
    ] = None,
    trust: TrustFiles = None,
    anchor: Anchor = "",
    signed: Signed = False,
    facts: Facts = False,
    json: JsonFlag = False,
) -> None:
    """Hand out exactly the bytes of one page, or refuse (exit status 1).

    Example: syn image page images/monday 4 > result
    """
    from syn.canon import base64
    from syn.images.pagein import Conditions
    from syn.services.images import serve_page

    outside = _outside(context, trust, anchor, signed, facts)
    given = Conditions(as_of, tuple(revoked or ()), outside.staleness)
    served = serve_page(_at(context, image), number, given, outside)
    for text in served.notes:
        note(f"page {served.step}: {text}")
    if json:
        print_json(
            {
                "page": served.step,
                "role": served.role,
                "descriptor": served.descriptor,
                "digest": f"sha256:{served.digest}",
                "bytes": base64.encode(served.body),
                "notes": list(served.notes),
            }
        )
        return
    sys.stdout.buffer.write(served.body)
    sys.stdout.buffer.flush()


@app.command()
def record(
    context: typer.Context,
    target: Out,
    transcript: Annotated[
        Path, typer.Option("--transcript", metavar="FILE", help="JSON lines; - is stdin.")
    ] = Path("-"),
    session: Annotated[str, typer.Option(help="The session's id.")] = "",
    previous: Annotated[
        str, typer.Option(metavar="DIGEST", help="The image before this one.")
    ] = "",
    screen: Annotated[
        bool, typer.Option(help="Seal results with secrets or hidden characters.")
    ] = True,
    key: Key = None,
    json: JsonFlag = False,
) -> None:
    """Record a session from a transcript of tool results.

    Each line is an object: role, and text or bytes (base64); also durability, valid_to, witness,
    seal (a reason code) and fact (id, payload).

    Example: syn image record images/monday --session s-17 --transcript results.jsonl
    """
    from syn.canon.digest import is_digest
    from syn.errors import UsageError
    from syn.services.images import read_lines, record_transcript, seal_reason

    if previous and not is_digest(previous):
        raise UsageError("previous", "--previous: expected a digest `sha256:<hex>`")
    lines: Iterator[bytes] = (
        iter(sys.stdin.buffer) if str(transcript) == "-" else read_lines(_at(context, transcript))
    )
    done = record_transcript(
        _at(context, target),
        session,
        lines,
        _signer(context, key),
        previous=previous,
        screen=seal_reason if screen else None,
    )
    _show_conversion(target, done, as_json=json)


def _signer(context: typer.Context, key: Path | None) -> "Signer | None":
    from syn.services.images import signer_of

    return signer_of(_at(context, key) if key is not None else None)


def _show_conversion(target: Path, done: "Conversion", *, as_json: bool) -> None:
    from syn.services.images import step_json

    if as_json:
        dropped = [step_json(step) for step in done.dropped]
        print_json(
            {
                "image": str(target),
                "pages": done.pages,
                "digest": done.digest,
                "dropped": list(dropped),
            }
        )
        return
    _show_steps(done.dropped)
    note(f"wrote {target}: {count(done.pages, 'page')}")
    if done.digest:
        out(done.digest)


def _show_steps(steps: Iterable["Step"]) -> None:
    table((step.action, step.subject, step.code, step.detail) for step in steps)


@app.command()
def upgrade(
    context: typer.Context,
    image: Image,
    target: Out,
    key: Key = None,
    anchor: Anchor = "",
    json: JsonFlag = False,
) -> None:
    """Write an image that checks anew as synapse.image/1.

    Example: syn image upgrade images/old images/new --key ~/.ssh/id_ed25519
    """
    _convert(context, "upgrade", (image, target), (key, anchor), as_json=json)


@app.command()
def export(context: typer.Context, image: Image, target: Out, json: JsonFlag = False) -> None:
    """Write an image that checks as recall.v1, for programs that read that.

    Example: syn image export images/monday /tmp/for-them
    """
    _convert(context, "export", (image, target), (None, ""), as_json=json)


def _convert(
    context: typer.Context,
    action: Literal["upgrade", "export"],
    paths: tuple[Path, Path],
    key_and_anchor: tuple[Path | None, str],
    *,
    as_json: bool,
) -> None:
    from syn.services.images import convert

    (image, target), (key, anchor) = paths, key_and_anchor
    signer, outside = _signer(context, key), _outside(context, anchor=anchor)
    done = convert(action, _at(context, image), _at(context, target), signer, outside)
    _show_conversion(target, done, as_json=as_json)


@app.command()
def scrub(
    context: typer.Context,
    image: Image,
    target: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write a stricter copy here.")
    ] = None,
    key: Key = None,
    trust: TrustFiles = None,
    json: JsonFlag = False,
) -> None:
    """Read an image off the path, twice before a fault is believed; with --out, write a copy.

    The copy is re-stamped and only ever stricter; everything that it leaves out is listed.

    Example: syn image scrub images/monday --out images/monday-scrubbed
    """
    from syn.services.images import VERDICTS, scrub_image, scrub_json

    copy = _at(context, target) if target is not None else None
    outside = _outside(context, trust)
    result = scrub_image(_at(context, image), copy, _signer(context, key), outside)
    if json:
        print_json(scrub_json(result))
    else:
        _show_report(result.report)
        for finding in result.transient:
            out(f"  transient: {finding.subject}: {finding.code}, in one of two readings only")
        _show_steps(result.steps)
        if result.after is not None:
            out()
            _show_report(result.after)
    raise typer.Exit(exits.VERDICTS[VERDICTS[result.report.verdict]])


@app.command()
def repair(
    context: typer.Context,
    image: Image,
    copies: Annotated[
        list[Path] | None,
        typer.Option("--from", metavar="IMAGE", help="A copy to take lost bytes from; repeatable."),
    ] = None,
    offers: Annotated[
        bool, typer.Option("--offers", help="Also put back stamped states that are stricter.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the plan.")] = False,
    yes: Yes = False,
    json: JsonFlag = False,
) -> None:
    """Derive again what derives, restore bytes that hash to their digest, and leave the rest.

    Prints its plan, keeps a backup of what it replaces, and checks again.

    Example: syn image repair images/monday --from /backup/monday
    """
    from syn.images.report import report_json
    from syn.services.images import VERDICTS, plan_image, repair_image, step_json

    sources = [_at(context, copy) for copy in copies or ()]
    opened, plan = plan_image(_at(context, image), sources, offers=offers)
    if not json:
        _show_steps(plan.steps)
    if dry_run or not plan.does:
        after, backup = plan.report, None
    else:
        _ask(yes=yes)
        result = repair_image(opened, plan)
        after, backup = result.after, result.backup
    if json:
        print_json(
            {
                "steps": [step_json(step) for step in plan.steps],
                "backup": str(backup) if backup is not None else None,
                "dry_run": dry_run,
                "after": report_json(after),
            }
        )
    else:
        if backup is not None:
            note(f"what was replaced is kept in {backup}")
        _show_report(after)
    raise typer.Exit(exits.VERDICTS[VERDICTS[after.verdict]])


def _ask(*, yes: bool) -> None:
    from syn.errors import UsageError

    if yes:
        return
    if not on_terminal():
        message = "a repair to apply, and nobody to ask"
        raise UsageError("not-a-terminal", message, "--yes applies it; --dry-run prints the plan")
    if not typer.confirm("apply this?", err=True):
        raise typer.Abort


@app.command()
def parity(
    context: typer.Context,
    images: Images,
    by: Annotated[
        str, typer.Option(help="What makes rows copies of each other: step, or role.")
    ] = "",
    revoked: Annotated[
        list[str] | None, typer.Option(metavar="WITNESS", help="A refuted witness; repeatable.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Compare copies: agree, resolved by exactly one live witness, or conflict (exit status 1).

    Several images are compared by step; the rows of a single one by role.

    Example: syn image parity images/a images/b
    """
    from syn.errors import UsageError
    from syn.services.images import compare, outcome_of, parity_json

    by = by or ("step" if len(images) > 1 else "role")
    if by not in ("step", "role"):
        raise UsageError("by", f"--by: expected step or role, got {by!r:.40}")
    paths = [_at(context, path) for path in images]
    rows = compare(paths, cast("Literal['step', 'role']", by), tuple(revoked or ()))
    if json:
        print_json(parity_json(rows))
    else:
        table(
            (
                row.outcome,
                row.resource,
                f"page {row.authoritative.position} of {row.authoritative.copy} holds"
                if row.authoritative
                else "",
                f"{len(row.against)} against" if row.against else "",
            )
            for row in rows
        )
        if not all(row.protected for row in rows):
            note("recall.v1 protects no witness: what one resolves there is no proof")
    raise typer.Exit(exits.VERDICTS[outcome_of(rows)])


@app.command()
def quarantine(
    context: typer.Context,
    image: Image,
    number: Page,
    reason: Reason = "",
    by: By = "operator",
    key: Key = None,
    json: JsonFlag = False,
) -> None:
    """Seal a page: it is not handed out until a clear names its seal.

    Example: syn image quarantine images/monday 4 -m "asks for a wire transfer"
    """
    _decide(context, "quarantine", (image, number), (reason, by, key), as_json=json)


@app.command()
def clear(
    context: typer.Context,
    image: Image,
    number: Page,
    reason: Reason = "",
    by: By = "operator",
    key: Key = None,
    json: JsonFlag = False,
) -> None:
    """Open the seal of one page (synapse.image/1 only: recall.v1 protects no clearance).

    Example: syn image clear images/monday 4 -m "checked with the bank"
    """
    _decide(context, "clear", (image, number), (reason, by, key), as_json=json)


@app.command()
def tombstone(
    context: typer.Context,
    image: Image,
    number: Page,
    reason: Reason = "",
    by: By = "operator",
    key: Key = None,
    json: JsonFlag = False,
) -> None:
    """Hide a page for good; its bytes and its row stay as evidence.

    Example: syn image tombstone images/monday 8 -m "stale"
    """
    _decide(context, "tombstone", (image, number), (reason, by, key), as_json=json)


def _decide(
    context: typer.Context,
    action: Literal["quarantine", "clear", "tombstone"],
    place: tuple[Path, int],
    said: tuple[str, str, Path | None],
    *,
    as_json: bool,
) -> None:
    from syn.errors import UsageError
    from syn.images.write import Decision
    from syn.services.images import decide

    (image, number), (reason, by, key) = place, said
    if not reason.strip():
        raise UsageError("no-reason", "expected a reason: -m TEXT")
    decision = Decision(number, reason, by)
    qid = decide(action, _at(context, image), decision, _signer(context, key))
    if as_json:
        print_json({"action": action, "page": number, "qid": qid})
    else:
        out(f"{action}: page {number}" + (f" ({qid})" if qid else ""))
