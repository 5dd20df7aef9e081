"""`syn fleet verify`: many workspaces, each verified as alone; a broken one stops no other."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from syn.errors import SynError, UsageError
from syn.model.finding import Json, Level, Verdict
from syn.model.report import Report
from syn.services.config import FILE_NAME
from syn.services.proving.proofs import Outside
from syn.services.proving.verifying import Request, verify
from syn.services.trust.outside import load_trust
from syn.services.workspace import Surroundings, find_workspace

MAX_LIST = 16 << 20
"""Bytes of a list of workspaces."""
_FEW = 5
"""Codes of findings that an outcome names."""

Observe = Callable[["Outcome", int, int], None]
"""Told of each outcome as it comes, with (workspaces done, workspaces in all)."""


class FleetError(UsageError):
    """A list that cannot be read (`fleet-list`), or a place without workspaces (`fleet-empty`)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one workspace."""

    path: str
    """As it was given."""
    verdict: Verdict
    """`incomplete` when it could not be verified at all; `error` then says why."""
    level: Level = Level.L0
    workspace: str = ""
    name: str = ""
    commit: str = ""
    inputs_hash: str = ""
    failed: tuple[str, ...] = ()
    """Invariants that did not pass and were not skipped."""
    codes: tuple[str, ...] = ()
    """Codes of the first findings that are no warnings, each once."""
    error: tuple[str, str, str] | None = None
    """Code, message and remedy of what stopped it."""


def members(places: Iterable[Path]) -> list[Path]:
    """The workspaces that folders and lists name, each once, in the order they are named.

    A folder is a workspace, or holds some; a file lists one path a line, relative to itself, with
    `#` for comments. What a list names is a member even when nothing is there.

    Raises:
        FleetError: a place is neither, cannot be read, or names or holds no workspace.
    """
    found: dict[Path, None] = {}
    for place in places:
        for path in _folders(place) if place.is_dir() else _listed(place):
            found[path] = None
    return list(found)


def _folders(place: Path) -> list[Path]:
    if (place / FILE_NAME).exists():
        return [place]
    inside = sorted(path.parent for path in place.glob(f"*/{FILE_NAME}"))
    if not inside:
        raise FleetError(
            "fleet-empty",
            f"{place}: expected a workspace or a folder of workspaces, got neither",
            "name the folders, or a file that lists them",
        )
    return inside


def _listed(place: Path) -> list[Path]:
    try:
        with place.open("rb") as file:
            text = file.read(MAX_LIST).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise FleetError("fleet-list", f"{place}: {reason}", "name a folder or a list") from error
    names = [name for line in text.splitlines() if (name := line.strip()) and name[0] != "#"]
    if not names:
        # Nothing to verify must not look like a fleet that passes.
        raise FleetError(
            "fleet-empty",
            f"{place}: expected one workspace a line, got none",
            "write their folders into it",
        )
    return [place.parent / name for name in names]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of every workspace, and with what."""

    around: Surroundings
    request: Request
    trust: tuple[Path, ...] = ()
    """`--trust` files; each workspace refuses those that lie in it."""


def verify_one(path: str, asked: Asked) -> Outcome:
    """Verify one workspace, whatever state it is in: runs here, in a pool, or on a cluster."""
    try:
        workspace = find_workspace(Path(path), asked.around)
        if workspace.root.resolve() != Path(path).resolve():
            reason = f"no {FILE_NAME} there; {workspace.root} above it is another workspace"
            return Outcome(path, "incomplete", error=("no-workspace", reason, "run syn init there"))
        outside = Outside(trust=load_trust(asked.trust, workspace))
        return _outcome(path, verify(workspace, replace(asked.request, outside=outside)))
    except SynError as error:
        return Outcome(path, "incomplete", error=(error.code, error.message, error.remedy))
    except Exception as error:  # noqa: BLE001 - one broken workspace must not stop the others
        reason = f"{type(error).__name__}: {error}"
        return Outcome(path, "incomplete", error=("internal", reason, "syn verify there says more"))


def _outcome(path: str, report: Report) -> Outcome:
    bad = [r for r in report.invariants if r.status.value not in ("pass", "skip")]
    codes = [f.code for r in bad for f in r.findings if f.severity != "warning"]
    return Outcome(
        path=path,
        verdict=report.verdict,
        level=report.level,
        workspace=report.subject.workspace,
        name=report.subject.name,
        commit=report.subject.commit,
        inputs_hash=report.subject.inputs_hash,
        failed=tuple(r.id for r in bad),
        codes=tuple(dict.fromkeys(codes))[:_FEW],
    )


def verify_fleet(
    paths: Iterable[Path], asked: Asked, executor: Executor | None, observe: Observe
) -> list[Outcome]:
    """Verify every workspace; the outcomes in the order of the paths, whatever order they come in.

    Raises:
        BrokenExecutor: the executor lost a worker for good.
    """
    names = [str(path.absolute()) for path in paths]
    found: dict[str, Outcome] = {}
    for outcome in _outcomes(names, asked, executor):
        found[outcome.path] = outcome
        observe(outcome, len(found), len(names))
    return [found[name] for name in names]


def _outcomes(names: list[str], asked: Asked, executor: Executor | None) -> Iterator[Outcome]:
    if executor is None:
        yield from (verify_one(name, asked) for name in names)
        return
    futures: list[Future[Outcome]] = [executor.submit(verify_one, name, asked) for name in names]
    for future in as_completed(futures):
        yield future.result()


def totals(outcomes: Iterable[Outcome], required: Level | None) -> dict[str, int]:
    """How many passed, failed, could not be checked, and are below the required level."""
    counts = {"pass": 0, "fail": 0, "incomplete": 0, "below": 0}
    for outcome in outcomes:
        below = required is not None and outcome.level.value < required.value
        counts["below" if outcome.verdict == "pass" and below else outcome.verdict] += 1
    return counts


def fleet_json(outcomes: list[Outcome], counts: Mapping[str, int], status: int) -> dict[str, Json]:
    """The summary as one object: an item per workspace, what they add up to, the exit status."""
    items: list[Json] = [_item(outcome) for outcome in outcomes]
    return {"items": items, "total": len(items), "next": None, **counts, "status": status}


def _item(outcome: Outcome) -> dict[str, Json]:
    error: Json = None
    if outcome.error is not None:
        error = dict(zip(("code", "message", "remedy"), outcome.error, strict=True))
    return {
        "id": outcome.workspace,
        "type": "workspace",
        "title": outcome.name,
        "path": outcome.path,
        "verdict": outcome.verdict,
        "level": outcome.level.name,
        "commit": outcome.commit,
        "inputs_hash": outcome.inputs_hash,
        "failed": [*outcome.failed],
        "codes": [*outcome.codes],
        "error": error,
    }
