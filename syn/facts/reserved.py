"""Lifting the reserved keys out of front matter (design 3.2): shapes, ids, dates, references."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from syn.facts.collector import Collector, quote
from syn.facts.dates import InstantError, parse_instant
from syn.facts.front_values import FrontMatter, Watch
from syn.model.config import FactKeys
from syn.model.fact import Instant, Source
from syn.model.payload import Lexical, Mapping, Value, scalar_text

RESERVED = (
    *("id", "type", "title", "tags", "aliases", "status", "subject", "field", "value"),
    *("valid_from", "valid_to", "supersedes", "superseded_by", "source"),
)
_COLLECTIONS = (Mapping, tuple)
_TEXTS = ("type", "status", "subject", "field", "value")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_WIKI = re.compile(r"\[\[([^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\]")
_HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


@dataclass(slots=True)
class Reserved:
    """The values of the reserved keys that could be read."""

    id: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    texts: dict[str, str | None] = field(default_factory=dict)
    """`type`, `status`, `subject`, `field`, `value`."""
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    source: Source = field(default_factory=Source)


@lru_cache(maxsize=16)
def vault_names(keys: FactKeys, relations: tuple[str, ...]) -> tuple[dict[str, str], Watch]:
    """Reserved key → the name it has in this vault, and the keys to watch. Not to be changed."""
    names = {name: keys.of(name) for name in RESERVED}
    return names, Watch(frozenset(relations), frozenset(names.values()))


def lift(front: FrontMatter, names: dict[str, str], collector: Collector) -> Reserved:
    """Read the reserved keys; problems and warnings go to the collector."""
    reader = _Reader(front, names, collector)
    return Reserved(
        id=reader.id(),
        title=reader.title(),
        tags=reader.tags(),
        aliases=reader.aliases(),
        texts={name: reader.text(name) for name in _TEXTS},
        valid_from=reader.instant("valid_from"),
        valid_to=reader.instant("valid_to"),
        supersedes=reader.references("supersedes"),
        superseded_by=reader.references("superseded_by"),
        source=reader.source(),
    )


class _Reader:
    """One front matter under this vault's names."""

    def __init__(self, front: FrontMatter, names: dict[str, str], collector: Collector) -> None:
        values = dict(front.fields.items)
        # By reserved name: most files have a few of them, and every one is asked for.
        self._values = {name: values[key] for name, key in names.items() if key in values}
        self._lines = dict(front.key_lines)
        self._names = names
        self._collector = collector

    def id(self) -> str | None:
        value = self._get("id")
        if value is None:
            return None
        text = scalar_text(value)
        if text is None:
            self._problem("id", "bad-id", "expected text, got " + shape(value), "write one text")
            return None
        if (fault := id_fault(text)) is not None:
            shown = f" {quote(text)}" if text.strip() else ""
            self._problem("id", "bad-id", f"the id{shown} {fault}", "choose another id")
            return None
        return text

    def title(self) -> str | None:
        value = self._get("title")
        if isinstance(value, Lexical) and value.type == "null":
            self._warn("title", "null-title", "the title is null", "write a title or drop the key")
        text = self.text("title")
        return text if text and text.strip() else None

    def text(self, name: str) -> str | None:
        value = self._get(name)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, _COLLECTIONS):
            self._unexpected(name, "one text", value)
        return scalar_text(value)

    def tags(self) -> tuple[str, ...]:
        value = self._get("tags")
        if value is None:
            return ()
        if isinstance(value, str):
            parts = value.split(",") if "," in value else value.split()
        else:
            parts = self._texts("tags", value)
        return _unique(part.strip().removeprefix("#") for part in parts)

    def aliases(self) -> tuple[str, ...]:
        value = self._get("aliases")
        return () if value is None else _unique(map(str.strip, self._texts("aliases", value)))

    def instant(self, name: str) -> Instant | None:
        value = self._get(name)
        if value is None or (isinstance(value, Lexical) and value.type == "null"):
            return None
        text = scalar_text(value)
        if text is None:
            self._problem(
                name, "invalid-date", f"expected a date, got {shape(value)}", "write one date"
            )
            return None
        try:
            return parse_instant(text)
        except InstantError as error:
            self._problem(name, error.code, error.message, error.remedy)
            return None

    def references(self, name: str) -> tuple[str, ...]:
        value = self._get(name)
        if value is None:
            return ()
        texts = []
        for part in value if isinstance(value, tuple) else (value,):
            text = scalar_text(part)
            if text is not None and text.strip():
                texts.append(_unwrap(text))
            elif isinstance(part, _COLLECTIONS):
                self._problem(
                    name,
                    "bad-reference",
                    f"expected an id or a list of ids, got {shape(part)} in it",
                    "write ids",
                )
        return _unique(texts)

    def source(self) -> Source:
        value = self._get("source")
        if value is None:
            return _NO_SOURCE
        if isinstance(value, Mapping):
            members = {key: scalar_text(value.get(key)) or "" for key in _SOURCE_MEMBERS}
            return Source(**members)
        if isinstance(value, tuple):
            self._unexpected("source", "a mapping", value)
        text = scalar_text(value) or ""
        return Source(url=text) if _URL.fullmatch(text) else Source(kind=text)

    def _get(self, name: str) -> Value | None:
        return self._values.get(name)

    def _texts(self, name: str, value: Value) -> list[str]:
        texts = []
        for part in value if isinstance(value, tuple) else (value,):
            text = scalar_text(part)
            if text is not None:
                texts.append(text)
            elif isinstance(part, _COLLECTIONS):
                self._unexpected(name, "texts", part)
        return texts

    def _unexpected(self, name: str, expected: str, value: Value) -> None:
        key = self._names[name]
        self._warn(
            name,
            "unexpected-shape",
            f"{quote(key)}: expected {expected}, got {shape(value)}; it is kept but not understood",
            "write it as expected, or use another key",
        )

    def _problem(self, name: str, code: str, message: str, remedy: str) -> None:
        key = self._names[name]
        self._collector.problem(self._lines.get(key, 1), code, f"{quote(key)}: {message}", remedy)

    def _warn(self, name: str, code: str, message: str, remedy: str) -> None:
        line = self._lines.get(self._names[name], 1)
        self._collector.warning(line, code, message, remedy)


_NO_SOURCE = Source()
_SOURCE_MEMBERS = ("kind", "agent", "session", "url")


def id_fault(text: str) -> str | None:
    """Why a text cannot be an id, or None.

    Two ids that look the same must be the same, so nothing invisible stands in one.
    """
    if not text.strip():
        return "is empty"
    if text != text.strip():
        return "starts or ends with a blank"
    if text.isascii():
        return None if text.isprintable() else "holds a control character"
    for char in text:
        category = unicodedata.category(char)
        if category in ("Cc", "Cf", "Zl", "Zp", "Co", "Cn") or _HIDDEN.match(char):
            return f"holds the invisible character U+{ord(char):04X}"
        if category == "Zs" and char != " ":
            return f"holds the look-alike blank U+{ord(char):04X}"
    return None


def look_alikes(front: FrontMatter, names: dict[str, str], collector: Collector) -> None:
    """Warn of keys that look the same as another key, or as a reserved one, and are not."""
    if not front.odd_keys:
        return
    seen = {name: (name, 0) for name in names.values()}
    seen |= {key: (key, line) for key, line in front.key_lines if key.isascii()}
    for key, line in front.odd_keys:
        other, other_line = seen.setdefault(visible(key), (key, line))
        if other != key:
            where = f" on line {other_line}" if other_line else ""
            collector.warning(
                line,
                "similar-keys",
                f"the key {ascii(key)[1:-1]} looks the same as {ascii(other)[1:-1]}{where}",
                "use one spelling",
            )


def visible(text: str) -> str:
    """What a reader sees of a key: compatibility forms folded, invisible characters dropped."""
    folded = unicodedata.normalize("NFKC", text)
    return "".join(
        char
        for char in folded
        if unicodedata.category(char) not in ("Cf", "Cc") and not _HIDDEN.match(char)
    ).strip()


def comment_cuts(front: FrontMatter, names: dict[str, str], collector: Collector) -> None:
    """Warn where a `#` ends the plain value of a reserved key."""
    reserved = set(names.values())
    for scalar in front.scalars:
        if scalar.cut and scalar.key in reserved:
            collector.warning(
                scalar.last_line,
                "comment-cuts-value",
                f"{quote(scalar.key)} ends at the comment: the value is {quote(scalar.text)!r}",
                "quote the value if the # belongs to it",
            )


def bidi_controls(front_text: str, first_line: int, collector: Collector) -> None:
    """Warn of characters that turn the direction of displayed text around."""
    found = _BIDI.search(front_text)
    if found is not None:
        collector.warning(
            first_line + front_text.count("\n", 0, found.start()),
            "bidi-control",
            f"the front matter holds the direction control U+{ord(found[0]):04X}",
            "remove it; what is shown differs from what is read",
        )


def shape(value: Value | None) -> str:
    """What a value is, for a message."""
    match value:
        case Mapping():
            return "a mapping"
        case tuple():
            return "a list"
        case Lexical(type="null") | None:
            return "null"
        case _:
            return "text"


def _unwrap(text: str) -> str:
    found = _WIKI.fullmatch(text.strip())
    return found[1].strip() if found else text


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
