"""`obsidian`: a vault. Notes stay as they are; tags in the text and old key names become fields."""

import re
from collections.abc import Iterable, Iterator

from syn.exchange.markdown import Opened, merged, opened, prose_lines
from syn.exchange.note import Note, Read, SourceFile
from syn.model.payload import Value

_CODE = re.compile(r"(?<!`)(`++).*?(?<!`)\1(?!`)")
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
# Each alternative ends where the next one could begin, so that a line takes linear time.
_TARGET = re.compile(
    r"\]\([^()]*(?:\([^()]*\)[^()]*)*+\)|\[\[[^\[\]]*\]\]|\b[a-z][a-z0-9+.-]{0,30}://\S+",
    re.IGNORECASE,
)
_TAG = re.compile(r"(?:^|(?<=\s))#([^\s#!-,.:-@\[-^`{-~\u2000-\u206f\u2e00-\u2e7f]+)")


def read(files: Iterable[SourceFile]) -> Iterator[Read]:
    """Every note of a vault."""
    for found in opened(files):
        yield _note(found) if isinstance(found, Opened) else found


def _note(file: Opened) -> Note:
    # Obsidian reads `tag` and `alias` as well, and a tag with or without its hash.
    own = [tag for key in ("tags", "tag") for tag in _split(file.texts(key))]
    tags = merged((tag.removeprefix("#") for tag in own), body_tags(file.body))
    aliases = merged(file.texts("aliases"), file.texts("alias"))
    return file.note(
        ("tags", _changed(tags, file.texts("tags"))),
        ("aliases", _changed(aliases, file.texts("aliases"))),
    )


def _changed(wanted: tuple[str, ...], there: tuple[str, ...]) -> Value | None:
    """The list, when it says more than the file's own."""
    return wanted if wanted and set(wanted) != {text.removeprefix("#") for text in there} else None


def _split(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from (part for part in re.split(r"[,\s]+", text) if part)


def body_tags(body: str) -> Iterator[str]:
    """`#tag` and `#tag/below` in the text: not in code, links or comments, and not all digits."""
    prose = "\n".join(line for _, line in prose_lines(body))
    for line in _COMMENT.sub(" ", prose).split("\n"):
        if "#" not in line:
            continue
        text = _TARGET.sub(" ", _CODE.sub(" ", line))
        for found in _TAG.finditer(text):
            tag = found[1].strip("/")
            if tag and not tag.isdigit():
                yield tag
