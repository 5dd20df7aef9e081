"""Link resolution: the same answer on every machine, whatever the order of files (design 3.3).

Steps, in order: id, path from the root, path from the linking file, path suffix (stem included),
alias, title. The first step that finds anything decides; several candidates there are
`ambiguous`. Ids and paths compare as written; aliases and titles compare folded.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from syn.index.lines import text_list
from syn.index.rows import FactKey

_SUFFIX = ".md"
_WITHIN_VAULT = re.compile(r"dendron://[^/]+/(.+)", re.DOTALL)
"""How Dendron writes a note with the name of its vault, mostly the very same one."""
_ATTACHMENT_NAME = re.compile(
    r"\.(png|jpe?g|gif|svg|webp|avif|bmp|tiff?|pdf|mp[34]|m4a|wav|ogg|flac|webm|mov|csv|tsv|txt"
    r"|json|ya?ml|html?|zip|docx?|xlsx?|pptx?|canvas|excalidraw|drawio)\Z",
    re.IGNORECASE,
)
"""What people embed beside notes. Not "anything with a dot": note names hold dots too."""


def fold(text: str) -> str:
    """The one folding rule: NFC, full case folding, NFC. SQLite's NOCASE folds ASCII only."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", folded)


class Resolution(NamedTuple):
    """Where a target leads."""

    outcome: str
    """`resolved`, `ambiguous`, `missing`, or `attachment` (an embed of something that is no
    Markdown)."""
    step: str
    path: str | None
    candidates: int


_MISSING = Resolution("missing", "", None, 0)
_ATTACHMENT = Resolution("attachment", "", None, 0)
_Places = dict[str, "int | list[int]"]


class Resolver:
    """Look-up tables over every fact's key; about 1 kB per fact with the keys."""

    def __init__(self, keys: Sequence[FactKey]) -> None:
        self._paths = [key.path for key in keys]
        self._by_path = {path: place for place, path in enumerate(self._paths)}
        self._by_id: _Places = {}
        self._by_stem: _Places = {}
        self._by_alias: _Places = {}
        self._by_title: _Places = {}
        for place, key in enumerate(keys):
            _put(self._by_id, key.id, place)
            _put(self._by_stem, _stem(key.path), place)
            _put(self._by_title, key.title_key, place)
            for alias in dict.fromkeys(key.aliases):
                _put(self._by_alias, alias, place)

    def resolve(self, linking: str, syntax: str, target: str) -> Resolution:
        """Where a link in the file `linking` leads; an empty target is the file itself."""
        if not target:
            return Resolution("resolved", "self", linking, 1)
        found = self._find(linking, target)
        if not found and syntax == "markdown" and "%" in target:
            found = self._find(linking, unquote(target))
        if not found and (within := _WITHIN_VAULT.match(target)):
            found = self._find(linking, within[1])
        if found:
            return found
        return _ATTACHMENT if syntax == "embed" and _ATTACHMENT_NAME.search(target) else _MISSING

    def by_id(self, fact_id: str) -> tuple[str, ...]:
        """The paths of the facts with exactly this id, in path order."""
        return tuple(self._paths[place] for place in _get(self._by_id, fact_id))

    def _find(self, linking: str, target: str) -> Resolution | None:
        for step, places in self._steps(linking, target):
            if len(places) == 1:
                return Resolution("resolved", step, self._paths[places[0]], 1)
            if places:
                return Resolution("ambiguous", step, None, len(places))
        return None

    def _steps(self, linking: str, target: str) -> Iterator[tuple[str, Sequence[int]]]:
        rooted = target[0] == "/"
        relative = target.startswith(("./", "../"))
        name = target[1:] if rooted else target
        yield "id", _get(self._by_id, target)
        if not relative:
            yield "path", self._at(name)
        if not rooted:
            yield "relative", self._at(_beside(linking, target))
        if not relative:
            yield "suffix", self._ending(name)
        key = fold(target)
        yield "alias", _get(self._by_alias, key)
        yield "title", _get(self._by_title, key)

    def _at(self, path: str) -> Sequence[int]:
        for name in (path, path + _SUFFIX):
            if (place := self._by_path.get(name)) is not None:
                return (place,)
        return ()

    def _ending(self, name: str) -> Sequence[int]:
        places = _get(self._by_stem, _stem(name))
        if "/" not in name and not name.endswith(_SUFFIX):
            return places
        ends = (f"/{name}", f"/{name}{_SUFFIX}")
        return [place for place in places if f"/{self._paths[place]}".endswith(ends)]


def _beside(linking: str, target: str) -> str:
    """A target that is relative to the folder of the linking file, from the root."""
    folder = linking.rpartition("/")[0]
    joined = f"{folder}/{target}" if folder else target
    if "./" in target or "//" in target or target[-1] in "./":
        return posixpath.normpath(joined)
    return joined


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(_SUFFIX)


def _put(places: _Places, key: str, place: int) -> None:
    known = places.get(key)
    if known is None:
        places[key] = place
    elif isinstance(known, int):
        places[key] = [known, place]
    else:
        known.append(place)


def _get(places: _Places, key: str) -> Sequence[int]:
    known = places.get(key)
    if known is None:
        return ()
    return (known,) if isinstance(known, int) else known


class Wanted:
    """Which facts some links can lead to: enough of a workspace to resolve those links."""

    def __init__(self, links: Iterable[tuple[str, str]]) -> None:
        """`links` holds (path of the linking file, target)."""
        self._ids: set[str] = set()
        self._stems: set[str] = set()
        self._folded: set[str] = set()
        for linking, written in links:
            within = _WITHIN_VAULT.match(written)
            for target in {written, unquote(written), within[1] if within else ""} - {""}:
                self._ids.add(target)
                self._folded.add(fold(target))
                self._stems.update((_stem(target), _stem(_beside(linking, target))))

    def texts(self) -> tuple[str, str, str]:
        """Ids, folded titles and stems, each as a JSON list: for a query that finds enough."""
        found = (self._ids, self._folded, self._stems)
        ids, titles, stems = (text_list(sorted(texts)) for texts in found)
        return ids, titles, stems

    def covers(self, path: str, fact_id: str, title_key: str, aliases: str) -> bool:
        """Whether some step can find this fact; any fact with aliases counts."""
        return (
            fact_id in self._ids
            or title_key in self._folded
            or aliases != "[]"
            or _stem(path) in self._stems
        )


def lookup_keys(keys: Iterable[FactKey]) -> frozenset[tuple[str, ...]]:
    """Everything resolution can depend on; equal sets resolve every link equally."""
    return frozenset((key.path, key.id, key.title_key, *key.aliases) for key in keys)
