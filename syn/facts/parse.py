"""From the bytes of one file to a fact, or to the problems that keep it from being one."""

import re
from sys import intern

from syn.canon.digest import sha256
from syn.facts import front_matter, links, reserved
from syn.facts.collector import Collector
from syn.facts.front_values import FrontMatter
from syn.facts.payload import payload_digest
from syn.facts.split import FRONT_LINE, Parts, split
from syn.facts.text import conflict_markers, decode
from syn.model.config import Config
from syn.model.fact import Fact, Link, Parsed, Unreadable
from syn.model.payload import Mapping
from syn.model.problem import Problem

PROBLEM_LIMIT = 100
"""Problems that are reported of one file."""

_HEADING = re.compile(r"\s*?^ {0,3}#{1,6}(?:[ \t]++([^\r\n]*+))?\r?$", re.MULTILINE)
_LONE_CR = re.compile(r"\r(?!\n)")


def parse(path: str, data: bytes, config: Config) -> Parsed:
    """Read one file. Never raises: what is wrong comes back as values.

    Args:
        path: from the root, `/`-separated, valid UTF-8; names are judged by `syn.facts.twins`.
        data: the exact bytes.
        config: key names, relation fields and link order of the workspace.

    Returns:
        a `Fact`, with warnings, or `Unreadable` with every problem that could be found.
    """
    collector = Collector(path)
    digest = sha256(data)
    text = decode(data, collector)
    parts = split(text, collector) if text is not None else None
    if text is not None:
        conflict_markers(text, collector)
    fact = None
    if parts is not None:
        fact = _read(path, parts, config, collector, digest, len(data))
    if fact is None:
        return Unreadable(path, digest, _bounded(collector.problems))
    return fact


def _bounded(problems: list[Problem]) -> tuple[Problem, ...]:
    """The problems in order, and how many there are beyond the limit."""
    if not problems:
        return ()
    found = sorted(set(problems))
    if len(found) <= PROBLEM_LIMIT:
        return tuple(found)
    last, more = found[PROBLEM_LIMIT], len(found) - PROBLEM_LIMIT
    message = f"{more} more problems from this line on"
    rest = Problem(last.path, last.line, "more-problems", message, "solve the first ones")
    return (*found[:PROBLEM_LIMIT], rest)


def _read(
    path: str, parts: Parts, config: Config, collector: Collector, digest: str, size: int
) -> Fact | None:
    names, watch = reserved.vault_names(config.keys, config.relations)
    front = FrontMatter(Mapping())
    if parts.front is not None:
        front = front_matter.read(parts.front, watch, collector)
        reserved.bidi_controls(parts.front, FRONT_LINE, collector)
    values = reserved.lift(front, names, collector)
    if collector.problems:
        return None
    reserved.look_alikes(front, names, collector)
    reserved.comment_cuts(front, names, collector)
    found = _links(parts, front, config, collector)
    _body_warnings(parts, size, collector)
    default_id = path.removesuffix(".md")
    return Fact(
        path=path,
        id=intern(values.id or default_id),
        explicit_id=values.id is not None,
        title=values.title or heading_title(parts.body) or default_id.rpartition("/")[2],
        type=values.texts["type"],
        status=values.texts["status"],
        tags=values.tags,
        aliases=values.aliases,
        subject=values.texts["subject"],
        field=values.texts["field"],
        value=values.texts["value"],
        valid_from=values.valid_from,
        valid_to=values.valid_to,
        supersedes=values.supersedes,
        superseded_by=values.superseded_by,
        source=values.source,
        fields=front.fields,
        body=parts.body,
        body_line=parts.body_line,
        links=found,
        key_lines=front.key_lines,
        source_digest=digest,
        payload_digest=payload_digest(front.fields, parts.body),
        size=size,
        warnings=_bounded(collector.warnings),
    )


def heading_title(body: str) -> str | None:
    """The text, as written, of an ATX heading on the body's first non-blank line."""
    if "#" not in body[:200] and "#" not in body:
        return None
    found = _HEADING.match(body)
    if found is None or not found[1]:
        return None
    return _without_closing_hashes(found[1]).strip() or None


def _without_closing_hashes(text: str) -> str:
    """An ATX heading without the hashes that may close it; a pattern takes quadratic time here."""
    kept = text.rstrip(" \t")
    bare = kept.rstrip("#")
    closed = bare != kept and (not bare or bare[-1] in " \t")
    return bare if closed else text


def _links(
    parts: Parts, front: FrontMatter, config: Config, collector: Collector
) -> tuple[Link, ...]:
    body = links.body_links(parts.body, parts.body_line, config.link_order)
    if body is None:
        collector.warning(
            parts.body_line,
            "links-not-read",
            "the body is over the budget for links: its size, lines, brackets or nesting",
            "split the file",
        )
    return (*_front_links(front, config), *(body or ()))


def _front_links(front: FrontMatter, config: Config) -> list[Link]:
    found = []
    for scalar in front.scalars:
        relation = scalar.key in config.relations
        if not relation and "[[" not in scalar.text:
            continue
        targets = list(links.text_links(scalar.text, config.link_order))
        if relation and not targets and scalar.text.strip():
            targets = [(scalar.text.strip(), "", "")]
        found += [
            Link(scalar.line, "relation" if relation else "frontmatter", *target, scalar.key)
            for target in targets
        ]
    return found


def _body_warnings(parts: Parts, size: int, collector: Collector) -> None:
    if size == 0:
        collector.warning(1, "empty-file", "the file is empty", "write something, or remove it")
    found = _LONE_CR.search(parts.body)
    if found is not None:
        collector.warning(
            parts.body_line + parts.body.count("\n", 0, found.start()),
            "lone-carriage-return",
            "the body holds a CR that ends no line; only LF and CRLF are line ends",
            "convert the line ends to LF",
        )
