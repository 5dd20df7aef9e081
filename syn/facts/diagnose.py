"""Saying in our own words why a line of front matter is not YAML, the same on every machine."""

import re

from syn.facts.collector import Collector, quote
from syn.facts.split import FRONT_LINE, near_close

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]|\\U0000[dD][89a-fA-F]")


def syntax(front: str, index: int, collector: Collector) -> None:
    """Report that the line at an index (from 0) of the front matter is not YAML."""
    lines = front.split("\n")
    index = min(index, len(lines) - 1)
    while index > 0 and not lines[index].strip():
        index -= 1
    line = lines[index].rstrip("\r")
    if _SURROGATE_ESCAPE.search(line):
        lone_surrogate(FRONT_LINE + index, collector)
        return
    code, message, remedy = _explain(line)
    if code == "conflict-markers" and any(p.code == code for p in collector.problems):
        return
    near = near_close(front)
    if near is not None and code == "yaml-syntax":
        collector.problem(
            near[0],
            "unclosed-front-matter",
            f"expected a line that is exactly --- to close the front matter, got {quote(near[1])}",
            "close the front matter with a line that is exactly ---",
        )
        return
    collector.problem(FRONT_LINE + index, code, message, remedy)


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
        re.compile(r'^[^"]*"(?:[^"\\]|\\.)*?\\[^0abt\tnvfre "/\\N_LPxuU]'),
        "unknown-escape",
        "an escape that YAML does not know",
        "double the backslash, or use single quotes",
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
