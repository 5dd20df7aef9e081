"""Where notes go: names that every file system holds, the same for the same source, never shared.

A name is kept as it is wherever that is safe, so that links by name still lead to it. What Windows
or git cannot hold is replaced; of names that would then be one file, each gets a few digits of the
digest of its own name, whatever the order they come in.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from syn.canon.digest import sha256
from syn.exchange.markdown import Opened, merged, open_markdown
from syn.exchange.note import Note, SourceFile
from syn.facts.twins import fold, path_problems

MAX_NAME = 120
"""UTF-8 bytes of one name; file systems take 255."""
_UNSAFE = re.compile(r'[<>:"\\|?*\x00-\x1f\x7f]')
_DIGITS = 8


def placed(notes: Iterable[Note]) -> list[Note]:
    """The notes with a place each that no other has, sorted by place.

    A note whose name had to be changed keeps the old one as an alias.
    """
    found = [(note, safe_place(note.place)) for note in notes]
    shared = Counter(fold(place) for _, place in found)
    done = []
    for note, place in found:
        unique = place if shared[fold(place)] == 1 else tagged(place, note.place + note.record)
        done.append(replace(_named(note, unique), place=unique))
    return sorted(done, key=lambda note: (note.place, note.path, note.line))


def tagged(place: str, name: str) -> str:
    """A place with some digits of a name's digest at its end."""
    return f"{place}-{sha256(name.encode())[7 : 7 + _DIGITS]}"


def safe_place(place: str) -> str:
    """A path of names that every file system holds, never leading upwards."""
    names = [_safe_name(name) for name in place.split("/") if name not in ("", ".")]
    return "/".join(names) or "note"


def _safe_name(name: str) -> str:
    text = unicodedata.normalize("NFC", name)
    kept = "".join("-" if unicodedata.category(char)[0] == "C" else char for char in text)
    kept = _UNSAFE.sub("-", kept).strip(". ") or "note"
    if len(kept.encode()) > MAX_NAME:
        short = kept.encode()[: MAX_NAME - _DIGITS - 1].decode("utf-8", "ignore").strip(". ")
        kept = tagged(short, name)
    return f"{kept}-" if path_problems([(f"{kept}.md".encode(), "file")]) else kept


def _named(note: Note, place: str) -> Note:
    """The note with its old name as an alias, where links may still use that."""
    old, new = (text.rpartition("/")[2] for text in (note.place, place))
    if note.base is None or fold(old) == fold(new):
        return note
    there = dict(note.fields).get("aliases")
    if not isinstance(there, tuple):
        opened = open_markdown(SourceFile(note.path, note.base))
        there = opened.texts("aliases") if isinstance(opened, Opened) else ()
    texts = (text for text in there if isinstance(text, str))
    fields = {**dict(note.fields), "aliases": merged(texts, (old,))}
    return replace(note, fields=tuple(fields.items()))
