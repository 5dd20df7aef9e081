"""Saying in our own words why a line of front matter is not YAML, the same on every machine."""

import re

from syn.facts.collector import Collector, quote
from syn.facts.split import FRONT_LINE, near_close

DEPTH_LIMIT = 16
"""Collections inside one another, the top mapping counted."""

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]|\\U0000[dD][89a-fA-F]")


def syntax(front: str, index: int, collector: Collector) -> int:
    """Report that the line at an index (from 0) is not YAML; gives the line of the file."""
    lines = front.split("\n")
    index = min(index, len(lines) - 1)
    while index > 0 and not lines[index].strip():
        index -= 1
    index = next((i for i, line in enumerate(lines[:index]) if line.startswith("%")), index)
    near = near_close(front)
    line, number = lines[index].rstrip("\r"), FRONT_LINE + index
    if near is not None and near[0] <= number:
        message = f"expected a line that is exactly --- to close it, got {quote(near[1])}"
        remedy = "close the front matter with a line that is exactly ---"
        collector.problem(near[0], "unclosed-front-matter", message, remedy)
        return near[0]
    not_yaml(number, line, collector)
    return number


def not_yaml(number: int, line: str, collector: Collector) -> None:
    """Report that one line is not YAML, with the reason that its text shows."""
    if _SURROGATE_ESCAPE.search(line):
        lone_surrogate(number, collector)
    elif len(re.findall(r"[\[{]", line)) > DEPTH_LIMIT:
        too_deep(number, collector)
    else:
        code, message, remedy = _explain(line)
        if code != "conflict-markers" or code not in {p.code for p in collector.problems}:
            collector.problem(number, code, message, remedy)


def too_deep(number: int, collector: Collector) -> None:
    """Report collections inside one another beyond the limit."""
    message = f"collections nest over {DEPTH_LIMIT} levels"
    collector.problem(number, "too-deep", message, "flatten the structure")


def lone_surrogate(line: int, collector: Collector) -> None:
    """Report half of a surrogate pair, however it is spelled."""
    collector.problem(
        line,
        "lone-surrogate",
        "expected a character, got an escaped surrogate",
        "write the character itself, or its code point as \\UXXXXXXXX",
    )


def _explain(line: str) -> tuple[str, str, str]:
    for pattern, code, message, remedy in _EXPLANATIONS:
        if pattern.search(line):
            return code, f"{message}: {quote(line.strip())}", remedy
    return (
        "yaml-syntax",
        f"not valid YAML: {quote(line.strip())}",
        "check quotes, brackets and indentation; quote text with special characters",
    )


_EXPLANATIONS = (
    (
        re.compile(r"^(?:<{7}|={7}\s*$|>{7}|\|{7})"),
        "conflict-markers",
        "the file holds the markers of an unfinished merge",
        "resolve the conflict and remove the marker lines",
    ),
    (
        re.compile(r"^ *(?:- *)*\t"),
        "tab-indentation",
        "a tab indents the line",
        "indent with spaces",
    ),
    (re.compile(r"^%"), "directive", "a YAML directive is not allowed", "remove the line"),
    (
        re.compile(r"^ *(?:- +|[^\s#][^#]*?:[ \t]+)?[@`%]"),
        "unquoted-start",
        "a value cannot start with this character",
        "quote the value",
    ),
    (
        re.compile(
            r'^[^"]*"(?:[^"\\]|\\.)*?\\(?:[^0abt\tnvfre "/\\N_LPxuU]'
            r"|x(?![0-9a-fA-F]{2})|u(?![0-9a-fA-F]{4})|U(?![0-9a-fA-F]{8}))"
        ),
        "unknown-escape",
        "an escape that YAML does not know",
        "double the backslash, or use single quotes",
    ),
    (
        re.compile(r":[\u00a0\u2000-\u200b\u202f\u3000\ufeff]|^[\u00a0\u2000-\u200b\u3000]"),
        "yaml-syntax",
        "a look-alike blank stands where YAML needs a blank",
        "replace it by an ordinary blank",
    ),
    (
        re.compile(r"^(?:.*[:,-][ \t]+| *)\[\["),
        "yaml-syntax",
        "not valid YAML",
        "quote the value that holds the link",
    ),
    (
        re.compile(r"^[^:]*:[ \t].*:(?:[ \t]|$)"),
        "yaml-syntax",
        "a colon and a blank inside an unquoted value",
        "quote the value",
    ),
)
