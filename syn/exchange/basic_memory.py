"""`basic-memory`: Markdown notes whose lists hold observations and relations.

`- [category] text #tag (context)` is an observation, `- relation [[Target]] (context)` a relation.
The text stays; tags, the permalink and the relations become fields.
"""

import re
from collections.abc import Iterable, Iterator

from syn.exchange.markdown import Opened, merged, opened, prose_lines
from syn.exchange.note import Note, Read, SourceFile
from syn.exchange.relations import relations_value

_OBSERVATION = re.compile(r"\s*[-*+]\s+\[(?P<category>[^\]\[]{1,80})\]\s+(?P<text>\S.*)")
_RELATION = re.compile(r"\s*+[-*+]\s++(?P<type>[^\[\]]*+)\[\[(?P<target>[^\[\]]+)\]\]")
_TAG = re.compile(r"(?:^|(?<=\s))#([^\s#()]+)")
_TASK = frozenset((" ", "x", "X", "-"))
"""What stands in the brackets of a task, which is no category."""


def read(files: Iterable[SourceFile]) -> Iterator[Read]:
    """Every note."""
    for found in opened(files):
        yield _note(found) if isinstance(found, Opened) else found


def _note(file: Opened) -> Note:
    tags: list[str] = []
    relations: list[tuple[str, str]] = []
    for _, line in prose_lines(file.body):
        if found := _OBSERVATION.fullmatch(line):
            if found["category"] not in _TASK:
                tags += (tag.rstrip(".,;:") for tag in _TAG.findall(found["text"]))
        elif found := _RELATION.match(line):
            target = found["target"].partition("|")[0].strip()
            relations.append((found["type"].strip().strip(' "') or "relates_to", target))
    there = file.texts("tags")
    wanted = merged(_plain(there), tags)
    permalink = file.text("permalink")
    aliases = merged(file.texts("aliases"), (permalink,) if permalink else ())
    return file.note(
        ("tags", wanted if len(wanted) > len(there) else None),
        ("aliases", aliases if aliases != file.texts("aliases") else None),
        ("relations", None if file.fields.get("relations") else relations_value(relations)),
    )


def _plain(tags: Iterable[str]) -> Iterator[str]:
    for text in tags:
        yield from (part.strip().removeprefix("#") for part in text.split(",") if part.strip())
