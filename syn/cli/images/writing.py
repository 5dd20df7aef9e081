"""`syn image record|upgrade|export|repair|quarantine|clear|tombstone`: everything that writes."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from syn.cli import exits
from syn.cli.images.common import (
    Anchor,
    By,
    Image,
    Key,
    Out,
    Page,
    at,
    outside_from,
    show_conversion,
    show_report,
    show_steps,
    signer_from,
)
from syn.cli.options import JsonFlag, Reason, Yes
from syn.cli.output import note, on_terminal, out, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    from syn.services.sessions.images import read_lines, record_transcript, seal_reason

    if previous and not is_digest(previous):
        raise UsageError("previous", "--previous: expected a digest `sha256:<hex>`")
    lines: Iterator[bytes] = (
        iter(sys.stdin.buffer) if str(transcript) == "-" else read_lines(at(context, transcript))
    )
    done = record_transcript(
        at(context, target),
        session,
        lines,
        signer_from(context, key),
        previous=previous,
        screen=seal_reason if screen else None,
    )
    show_conversion(target, done, as_json=json)


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
    from syn.services.sessions.images import convert

    (image, target), (key, anchor) = paths, key_and_anchor
    signer, outside = signer_from(context, key), outside_from(context, anchor=anchor)
    done = convert(action, at(context, image), at(context, target), signer, outside)
    show_conversion(target, done, as_json=as_json)


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
    from syn.services.sessions.imageanswers import step_json
    from syn.services.sessions.images import VERDICTS, plan_image, repair_image

    sources = [at(context, copy) for copy in copies or ()]
    opened, plan = plan_image(at(context, image), sources, offers=offers)
    if not json:
        show_steps(plan.steps)
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
        show_report(after)
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
    from syn.services.sessions.images import decide

    (image, number), (reason, by, key) = place, said
    if not reason.strip():
        raise UsageError("no-reason", "expected a reason: -m TEXT")
    decision = Decision(number, reason, by)
    qid = decide(action, at(context, image), decision, signer_from(context, key))
    if as_json:
        print_json({"action": action, "page": number, "qid": qid})
    else:
        out(f"{action}: page {number}" + (f" ({qid})" if qid else ""))
