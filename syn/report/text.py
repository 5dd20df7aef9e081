"""The report for people, on a terminal (design 9): one pass from the table to the verdict.

The last line states the verdict in every case, so that a reader of the tail of a log is not misled.
"""

import io
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from syn.model.finding import Finding, InvariantResult, Level, Severity, Status
from syn.model.report import CheckpointState, Report
from syn.report.escape import clip, printable
from syn.report.verdict import MAX_FINDINGS, MAX_TEXT, count, place, verdict_line

WIDE = 100
"""Columns from which title and evidence stand side by side and digests are whole."""
SHORT = len("sha256:") + 16
"""Characters of a digest where it would not fit on a line; the JSON form has all of it."""

_NAMED = 5
"""New files that are named."""

_STATUS_STYLE = {
    Status.PASS: "green",
    Status.FAIL: "bold red",
    Status.SKIP: "dim",
    Status.INCOMPLETE: "bold yellow",
}
_SEVERITY_STYLE: dict[Severity, str] = {"failure": "red", "warning": "yellow", "unknown": "yellow"}
_SEVERITY_WORD: dict[Severity, str] = {
    "failure": "failure",
    "warning": "warning",
    "unknown": "could not be read",
}
_VERDICT_STYLE = {"PASS": "bold green", "FAIL": "bold red"}


def render(
    report: Report,
    width: int,
    color: bool,
    *,
    required: Level | None = None,
    limit: int = MAX_FINDINGS,
) -> str:
    """The whole report as text that ends in LF.

    Args:
        report: what to show.
        width: columns of the terminal; 40 at least are used.
        color: whether to write ANSI colours. Nothing is said by colour alone.
        required: the level the caller asked for; a pass below it is said to be below it.
        limit: findings shown of one invariant.
    """
    parts: list[RenderableType] = [_header(report, width), Text(), _table(report.invariants, width)]
    for result in report.invariants:
        if result.findings:
            parts += [Text(), _findings(result, limit)]
    parts += [
        Text(),
        _standing(report),
        Text(),
        Text(verdict_line(report, required), _tone(report)),
    ]
    return _to_text(Group(*parts), max(width, 40), color)


def _header(report: Report, width: int) -> Table:
    subject = report.subject
    state = "" if subject.worktree == "none" else f", {subject.worktree}"
    rows = [
        ("workspace", f"{printable(subject.name, data=True)}  {subject.workspace}"),
        ("read", f"{printable(subject.git_ref)}{state}"),
        ("commit", subject.commit or "none holds exactly these inputs"),
        ("new", _new(report)),
        ("inputs", _digest(subject.inputs_hash, width)),
        ("manifest", _digest(report.manifest_digest, width)),
        ("baseline", _baseline(report, width)),
        ("profile", f"{report.profile}, syn {printable(report.tool_version)}, {report.ts}"),
    ]
    return _pairs((name, value) for name, value in rows if value)


def _new(report: Report) -> str:
    """Files that are no facts yet: nothing is said about them, so that is said."""
    new = report.local.get("new")
    if not isinstance(new, list) or not new:
        return ""
    named = ", ".join(printable(str(path)) for path in new[:_NAMED])
    more = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
    return f"{named}{more}: neither tracked nor recorded, so not checked (syn adopt)"


def _baseline(report: Report, width: int) -> str:
    """What an incremental run started from, or why from nothing."""
    told = report.local.get("baseline")
    if not isinstance(told, dict):
        return ""
    if not report.baseline:
        text = f"none, so everything was derived: {printable(str(told.get('reason')))}"
    else:
        signer, ts = printable(str(told.get("signer"))), printable(str(told.get("ts")))
        text = f"{_digest(report.baseline, width)} of {ts}, signed by {signer}: "
        text += f"{told.get('unchanged')} facts unchanged by digest, {told.get('derived')} derived"
    kept = told.get("kept")
    return f"{text}; not kept for the next run: {printable(str(kept))}" if kept else text


def _digest(digest: str, width: int) -> str:
    return digest if width >= WIDE or len(digest) <= SHORT else f"{digest[:SHORT]}…"


def _table(results: Sequence[InvariantResult], width: int) -> Table:
    table = _grid(3 if width < WIDE else 4)
    for result in results:
        title, summary = Text(printable(result.title)), Text(printable(result.summary, data=True))
        cells = [title, summary] if width >= WIDE else [Group(title, summary)]
        status = Text(result.status.value, _STATUS_STYLE[result.status])
        table.add_row(Text(result.id), status, *cells)
    return table


def _findings(result: InvariantResult, limit: int) -> Group:
    ordered = sorted(result.findings, key=Finding.sort_key)
    heading = Text(f"{result.id} {printable(result.title)}: {count(ordered)}", "bold")
    parts: list[RenderableType] = [heading, *map(_finding, ordered[:limit])]
    if len(ordered) > limit:
        rest = f"{len(ordered) - limit:,} more; --json lists all of them"
        parts.append(Padding(Text(rest, "dim"), (0, 0, 0, 2)))
    return Group(*parts)


def _finding(finding: Finding) -> Padding:
    where = place(finding)
    subject = "" if finding.subject in ("", finding.path) else printable(finding.subject)
    notes = [finding.code, *([_SEVERITY_WORD[finding.severity]] * (finding.severity != "failure"))]
    if finding.local:
        notes.append("on this machine")
    head = Text.assemble(
        (where or subject, "bold"), "  ", (", ".join(notes), _SEVERITY_STYLE[finding.severity])
    )
    if where and subject:
        head.append(f"  {subject}")
    rows = [("expected", finding.expected), ("actual", finding.actual), ("remedy", finding.remedy)]
    shown = [(name, printable(clip(value, MAX_TEXT))) for name, value in rows if value]
    return Padding(Group(head, Padding(_pairs(shown), (0, 0, 0, 2))), (0, 0, 0, 2))


def _standing(report: Report) -> Table:
    rows: list[tuple[str, str]] = [("trust root", report.trust_root)]
    if report.checkpoint is not None:
        rows.append(("checkpoint", _checkpoint(report.checkpoint)))
    if report.witness_status != "none":
        rows.append(("witness", printable(report.witness_status)))
    rows.append(("level", report.level.name))
    if report.level_reason:
        rows.append(("why not more", printable(report.level_reason, data=True)))
    rows += [
        ("not proven" if n == 0 else "", printable(limit, data=True))
        for n, limit in enumerate(report.limits)
    ]
    return _pairs(rows)


def _checkpoint(state: CheckpointState) -> str:
    who = "unsigned"
    if state.key:
        who = f"signed by {printable(state.key)}"
        who += "" if state.authorized else ", which policy does not name as publisher"
    origin = printable(state.origin)
    later = f"{state.unanchored:,} decisions after it" if state.unanchored else "nothing after it"
    return f"{origin} of {state.size:,} records, {who}, {later}"


def _pairs(rows: Iterable[tuple[str, str]]) -> Table:
    table = _grid(2)
    for name, value in rows:
        table.add_row(Text(name, "dim"), Text(value))
    return table


def _grid(columns: int) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    for n in range(columns):
        last = n == columns - 1
        table.add_column(
            overflow="fold", no_wrap=n < min(columns - 1, 2), ratio=1 if last else None
        )
    return table


def _tone(report: Report) -> str:
    return _VERDICT_STYLE.get(report.verdict.upper(), "bold yellow")


def _to_text(renderable: RenderableType, width: int, color: bool) -> str:
    file = io.StringIO()
    console = Console(
        file=file,
        width=width,
        color_system="standard" if color else None,
        force_terminal=color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )
    console.print(renderable)
    return "\n".join(line.rstrip() for line in file.getvalue().split("\n"))
