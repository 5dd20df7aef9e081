"""`docs/performance.md` and its charts, written from what `make bench` measured last."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.bench.charts import Points, exponent, growth

FACTS = (
    "syn verify",
    "syn verify --incremental (unchanged)",
    "syn reindex --full",
    "syn status",
    "syn reindex (one file)",
    "git fsck --full",
    "git status",
)
COMMITS = ("syn verify", "syn verify --deep", "git fsck --full", "git log")
GOALS: Mapping[str, tuple[tuple[str, float, str], ...]] = {
    "syn verify": (("git fsck --full", 1.0, "corpora"), ("git fsck --full", 15.0, "generated")),
    "syn verify --deep": (("git fsck --full", 2.0, "corpora"),),
    "syn verify --incremental (unchanged)": (("read and hash", 1.5, ""),),
    "syn reindex (one file)": (("syn status", 1.5, ""),),
    "syn status": (("git status", 3.0, ""),),
    "syn show": (("python -c pass", 25.0, ""),),
    "syn --version": (("python -c pass", 10.0, ""),),
    "syn scrub": (("syn verify --deep", 1.5, ""),),
}
"""Command to what it is held against, the ratio that is wanted, and on which workspaces."""

Results = Mapping[str, Any]


def write(results: Results, docs: Path) -> None:
    """The page and its two charts."""
    facts, commits = _by(results, "facts", FACTS), _by(results, "commits", COMMITS)
    lines = [*_head(results), *_tables(results)]
    for name, title, found in (
        ("facts", "Processor time by facts", facts),
        ("commits", "Processor time by commits", commits),
    ):
        if all(len(points) < 2 for points in found.values()) or not found:
            continue
        (docs / f"performance-{name}.svg").write_text(growth(title, name, found), "utf-8")
        lines += [f"## {title}", "", f"![{title}](performance-{name}.svg)", ""]
        lines += [*_exponents(found), ""]
    (docs / "performance.md").write_text("\n".join(lines).rstrip() + "\n", "utf-8")


def _head(results: Results) -> Iterator[str]:
    yield "# Performance"
    yield ""
    yield "Written by `make bench` from what it measured; not edited by hand."
    yield ""
    yield (
        f"Measured on {results['when']}: {results['processors']} processors, Python "
        f"{results['python']}, {results['git']}; load average {results['load']} when it began, "
        "so much else ran beside it: ratios tell more than seconds. Each figure is the "
        "median over runs of a whole process; ratios are of processor time. A process counts at "
        "least the memory of the one that started it, about 45 MB."
    )
    yield ""
    yield (
        "A wanted ratio that is not reached says so in the last column. Floors: `read and hash` "
        "reads and hashes every file once in Python."
    )
    yield ""


def _tables(results: Results) -> Iterator[str]:
    for place in results["places"]:
        kind = f"{place['facts']:,} facts" if place["facts"] else f"{place['pages']:,} pages"
        if place["commits"]:
            kind += f", {place['commits']:,} commits"
        runs = max(figure["runs"] for figure in place["figures"])
        kind += f"; {runs} run{'s' * (runs > 1)} of each"
        yield f"## {place['name']} ({kind})"
        yield ""
        yield "| what | processor s | wall s | peak MB | ratio | wanted |"
        yield "| --- | --- | --- | --- | --- | --- |"
        by_name = {figure["name"]: figure for figure in place["figures"]}
        for figure in place["figures"]:
            ratio, wanted = _ratio(figure, by_name, str(place["name"]))
            memory = f"{figure['memory'] / 1e6:.0f}"
            times = f"{figure['cpu']:.2f} | {figure['wall']:.2f}"
            yield f"| {figure['name']} | {times} | {memory} | {ratio} | {wanted} |"
        yield ""
        if place.get("search"):
            p50, p95 = place["search"]
            yield (
                f"Search in one process, 200 questions: p50 {p50} ms, p95 {p95} ms of processor "
                "time."
            )
            yield ""


def _ratio(figure: Results, by_name: Mapping[str, Results], place: str) -> tuple[str, str]:
    for base, most, where in GOALS.get(figure["name"], ()):
        if where and (where == "generated") != place.startswith("generated"):
            continue
        if base in by_name:
            found = figure["cpu"] / max(by_name[base]["cpu"], 0.001)
            said = "reached" if found <= most else "missed"
            return f"{found:.2f} x {base}", f"{most:g} x, {said}"
    return "", ""


def _by(results: Results, axis: str, names: tuple[str, ...]) -> dict[str, Points]:
    """Per command, (count, seconds) over the generated workspaces that differ in this count."""
    other = "commits" if axis == "facts" else "facts"
    made = [place for place in results["places"] if place["name"].startswith("generated")]
    least = min((place[other] for place in made), default=0)
    found: dict[str, Points] = {}
    for name in names:
        points = [
            (float(place[axis]), float(figure["cpu"]))
            for place in made
            if place[other] == least or axis == "facts"
            for figure in place["figures"]
            if figure["name"] == name and place[axis]
        ]
        kept = _first_of_each(points) if axis == "facts" else points
        if len(kept) > 1:
            found[name] = kept
    return found


def _first_of_each(points: Points) -> Points:
    kept: dict[float, float] = {}
    for x, y in points:
        kept.setdefault(x, y)
    return list(kept.items())


def _exponents(lines: Mapping[str, Points]) -> Iterator[str]:
    yield "| what | exponent (wanted: at most 1.1) |"
    yield "| --- | --- |"
    for name, points in lines.items():
        slope = exponent(points)
        yield f"| {name} | {'' if slope is None else f'{slope:.2f}'} |"
