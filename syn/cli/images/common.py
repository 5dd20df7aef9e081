"""What the commands of `syn image` share: options, trust, and how results are shown."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.options import Globals
from syn.cli.output import count, note, out, print_json, table

if TYPE_CHECKING:
    from syn.images.convert import Conversion
    from syn.images.outside import Outside, Signer
    from syn.images.plan import Step
    from syn.images.report import ImageReport

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


def at(context: typer.Context, path: Path) -> Path:
    """A path as the command line means it, under `-C`."""
    place = context.find_object(Globals)
    return (place.directory if place else Path()) / path


def outside_from(
    context: typer.Context,
    trust: Sequence[Path] | None = None,
    anchor: str = "",
    signed: bool = False,
    facts: bool = False,
) -> "Outside":
    """What the options say is trusted."""
    from syn.cli.options import open_workspace
    from syn.services.sessions.images import Trust, outside_of, recorded_staleness

    staleness = recorded_staleness(open_workspace(context)) if facts else None
    keys = tuple(at(context, path) for path in trust or ())
    return outside_of(Trust(keys, anchor, signed), staleness)


def signer_from(context: typer.Context, key: Path | None) -> "Signer | None":
    """The signer of `--key`, or None."""
    from syn.services.sessions.images import signer_of

    return signer_of(at(context, key) if key is not None else None)


def show_report(report: "ImageReport") -> None:
    """A report for a person."""
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


def show_conversion(target: Path, done: "Conversion", *, as_json: bool) -> None:
    """What was written, and what was left behind."""
    from syn.services.sessions.imageanswers import step_json

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
    show_steps(done.dropped)
    note(f"wrote {target}: {count(done.pages, 'page')}")
    if done.digest:
        out(done.digest)


def show_steps(steps: Iterable["Step"]) -> None:
    """The steps of a plan, one a line."""
    table((step.action, step.subject, step.code, step.detail) for step in steps)
