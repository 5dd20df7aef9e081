"""Front matter: the strict reading of what stands between the two delimiter lines.

One document with a mapping at the top; no anchors, aliases, tags, directives, merge keys,
collections as keys, duplicate keys (design 3.1, ADR 0003). Plain scalars keep their written text
(ADR 0004).
"""

import re
from typing import Literal, TypeAlias

from syn.facts import plain
from syn.facts.collector import Collector, quote
from syn.facts.front_values import FrontMatter, Watch
from syn.facts.split import FRONT_LINE
from syn.model.payload import Mapping

Scanner: TypeAlias = Literal["libyaml", "python"]

FRONT_LIMIT = 256 * 1024
"""Bytes of front matter."""

_BARE_CR = re.compile(r"\r(?!\n)")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_ONLY_COMMENTS = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?(?:\n|\Z))*\Z")


def read(
    front: str, watch: Watch, collector: Collector, *, scanner: Scanner | None = None
) -> FrontMatter:
    """Read front matter; whatever is wrong with it goes to the collector.

    Args:
        front: the text between the delimiter lines.
        watch: top-level keys whose scalars are noted with their lines.
        collector: takes problems and warnings.
        scanner: read by this YAML scanner and no other way (the tests compare all of them).
    """
    if not _within_limits(front, collector):
        return FrontMatter(Mapping())
    if front[:1] in ("", *"# \t\r\n") and _is_empty(front, collector):
        return FrontMatter(Mapping())
    if scanner is None and (found := plain.read(front, watch)) is not None:
        return found
    return _strictly(front, watch, collector, scanner)


def _strictly(
    front: str, watch: Watch, collector: Collector, scanner: Scanner | None
) -> FrontMatter:
    # A YAML library takes longer to load than fifty facts to read; plain ones need none.
    import yaml

    from syn.facts import diagnose, events
    from syn.facts.builder import Builder

    builder = Builder(front, watch, Collector(collector.path))
    try:
        builder.run(events.next_event(builder.prepared.text, pure=scanner == "python"))
    except yaml.MarkedYAMLError as error:
        line = diagnose.syntax(front, events.fault_line(error), collector)
        # how far a scanner has read beyond the fault differs; what stands before it does not,
        # but for an empty key, which only its successor shows
        collector.problems += [
            found
            for found in builder.collector.problems
            if found.line < line and found.code != "empty-key"
        ]
        return FrontMatter(Mapping())
    collector.problems += builder.collector.problems
    collector.warnings += builder.collector.warnings
    return builder.finish()


def _is_empty(front: str, collector: Collector) -> bool:
    if _ONLY_COMMENTS.match(front) is None:
        return False
    if comment := front.strip():
        collector.warning(
            FRONT_LINE + front[: front.index("#")].count("\n"),
            "empty-front-matter",
            f"the front matter holds only comments: {quote(comment)}",
            "write keys, or remove the two --- lines to make it text",
        )
    return True


def _within_limits(front: str, collector: Collector) -> bool:
    if len(front) > FRONT_LIMIT // 4 and (size := len(front.encode())) > FRONT_LIMIT:
        collector.problem(
            FRONT_LINE,
            "front-matter-too-large",
            f"expected at most {FRONT_LIMIT} bytes of front matter, got {size}",
            "move the text into the body",
        )
        return False
    found = _CONTROL.search(front)
    if found is not None or (found := _BARE_CR.search(front)) is not None:
        collector.problem(
            _line_at(front, found.start()),
            "control-character",
            f"expected text, got the control character U+{ord(found[0]):04X}",
            "remove the character, or write it as an escape in double quotes",
        )
        return False
    return True


def _line_at(front: str, index: int) -> int:
    return FRONT_LINE + front.count("\n", 0, index)
