"""`syn fleet`: many workspaces at once."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.options import Engine, JsonFlag, surroundings_here
from syn.cli.output import count, note, out, print_json, table
from syn.cli.progress import bar
from syn.cli.trusting import TrustFiles, profile_of, required_level, trust_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from syn.model.finding import Level
    from syn.services.proving.fleet import Outcome

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def fleet() -> None:
    """Verify many workspaces at once.

    Example: syn fleet verify ~/memories
    """


@app.command()
def verify(
    places: Annotated[
        list[Path], typer.Argument(help="Workspaces, folders of workspaces, or lists of them.")
    ],
    deep: Annotated[bool, typer.Option("--deep", help="Every invariant, all of history.")] = False,
    profile: Annotated[
        str, typer.Option(help="standard, or strict: warnings and skips fail too.")
    ] = "standard",
    require: Annotated[
        str, typer.Option(metavar="LEVEL", help="L1 to L4: exit 4 when one is lower.")
    ] = "",
    trust: TrustFiles = None,
    engine: Engine = "",
    json: JsonFlag = False,
) -> None:
    """Verify every workspace as `syn verify` does; one that is broken stops no other.

    Exit status: the gravest of all, in the order 1 fail, 3 could not check, 4 below the required
    level, 0 pass.

    Example: syn fleet verify --require L2 ~/memories workspaces.txt
    """
    from syn.services.engines.choose import open_engine
    from syn.services.engines.pool import processors
    from syn.services.proving.fleet import Asked, fleet_json, members, totals, verify_fleet
    from syn.services.proving.verifying import Request

    required = required_level(require)
    request = Request(deep=deep, profile=profile_of(profile))
    trust_of(trust, None)
    asked = Asked(surroundings_here(), request, tuple(trust or ()))
    paths = members(places)
    several = min(len(paths), processors()) > 1
    name = engine or ("processes" if several else "")
    with open_engine(name) as executor, bar("verifying workspaces") as progress:
        came: Counter[str] = Counter()

        def tell(outcome: "Outcome", done: int, total: int) -> None:
            if progress is not None:
                came[outcome.verdict] += 1
                progress(done, total, ", ".join(f"{n:,} {verdict}" for verdict, n in came.items()))
                if outcome.verdict != "pass":
                    note(f"{outcome.verdict}: {outcome.path}")

        outcomes = verify_fleet(paths, asked, executor, tell)
    counts = totals(outcomes, required)
    status = _status(counts)
    if json:
        print_json(fleet_json(outcomes, counts, status))
    else:
        _show(outcomes, counts, required)
    raise typer.Exit(status)


def _status(counts: "Mapping[str, int]") -> int:
    """The gravest of all, in the order of docs/formats/exit-codes.md."""
    if counts["fail"]:
        return exits.FAIL
    if counts["incomplete"]:
        return exits.INCOMPLETE
    return exits.BELOW_LEVEL if counts["below"] else exits.OK


def _show(outcomes: "list[Outcome]", counts: "Mapping[str, int]", required: "Level | None") -> None:
    table([_row(outcome) for outcome in outcomes])
    said = [f"{counts['pass']:,} pass"]
    if required is not None:
        said.append(f"{counts['below']:,} below {required.name}")
    said += [f"{counts['fail']:,} fail", f"{counts['incomplete']:,} could not be checked"]
    out(f"{count(len(outcomes), 'workspace')}: {', '.join(said)}")


def _row(outcome: "Outcome") -> list[str]:
    why = " ".join((*outcome.failed, *outcome.codes))
    if outcome.error is not None:
        code, message, remedy = outcome.error
        why = f"{code}: {message}" + (f" ({remedy})" if remedy else "")
    return [outcome.verdict, outcome.level.name, outcome.path, why]
