"""`syn image verify|show|page|parity|scrub`: everything that changes no image."""

import sys
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from syn.cli import exits
from syn.cli.images.common import (
    Anchor,
    Facts,
    Image,
    Images,
    Key,
    Page,
    Signed,
    TrustFiles,
    at,
    outside_from,
    show_report,
    show_steps,
    signer_from,
)
from syn.cli.options import JsonFlag
from syn.cli.output import note, out, print_json, table
from syn.cli.progress import bar


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
    from syn.services.sessions.images import verdict_of, verify_images

    paths = [at(context, path) for path in images]
    outside = outside_from(context, trust, anchor, signed, facts)
    with bar("checking (MiB)") as progress:
        reports = verify_images(paths, outside, progress)
    if json and len(reports) == 1:
        print_json(report_json(reports[0]))
    elif json:
        items = [report_json(report) for report in reports]
        print_json({"items": list(items), "total": len(items), "next": None})
    else:
        for report in reports:
            show_report(report)
    raise typer.Exit(exits.VERDICTS[verdict_of(reports)])


def show(
    context: typer.Context, image: Image, trust: TrustFiles = None, json: JsonFlag = False
) -> None:
    """List the pages; the texts of a page that does not check are withheld.

    Example: syn image show images/monday
    """
    from syn.services.sessions.images import show_image

    report, rows = show_image(at(context, image), outside_from(context, trust))
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
    from syn.services.sessions.images import serve_page

    outside = outside_from(context, trust, anchor, signed, facts)
    given = Conditions(as_of, tuple(revoked or ()), outside.staleness)
    served = serve_page(at(context, image), number, given, outside)
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
    from syn.services.sessions.imageanswers import parity_json
    from syn.services.sessions.images import compare, outcome_of

    by = by or ("step" if len(images) > 1 else "role")
    if by not in ("step", "role"):
        raise UsageError("by", f"--by: expected step or role, got {by!r:.40}")
    paths = [at(context, path) for path in images]
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
    from syn.services.sessions.imageanswers import scrub_json
    from syn.services.sessions.images import VERDICTS, scrub_image

    copy = at(context, target) if target is not None else None
    outside = outside_from(context, trust)
    result = scrub_image(at(context, image), copy, signer_from(context, key), outside)
    if json:
        print_json(scrub_json(result))
    else:
        show_report(result.report)
        for finding in result.transient:
            out(f"  transient: {finding.subject}: {finding.code}, in one of two readings only")
        show_steps(result.steps)
        if result.after is not None:
            out()
            show_report(result.after)
    raise typer.Exit(exits.VERDICTS[VERDICTS[result.report.verdict]])
