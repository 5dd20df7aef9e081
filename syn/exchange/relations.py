"""Typed ties between notes as front matter: relation name to the notes it leads to."""

import re
from collections.abc import Iterable, Iterator

from syn.model.payload import Mapping, Value

RELATIONS = "relations"
_LINKABLE = re.compile(r"[^\[\]|#\n\r]+")


def relations_value(pairs: Iterable[tuple[str, str]]) -> Mapping | None:
    """`{"works_at": ["[[Acme]]"]}`, sorted and each once; None for none."""
    found: dict[str, set[str]] = {}
    for name, target in pairs:
        found.setdefault(name, set()).add(target)
    if not found:
        return None
    return Mapping(
        tuple((name, tuple(_link(t) for t in sorted(found[name]))) for name in sorted(found))
    )


def relation_pairs(value: Value | None) -> Iterator[tuple[str, str]]:
    """The pairs again; what has another shape is left out."""
    for name, targets in value.items if isinstance(value, Mapping) else ():
        for target in targets if isinstance(targets, tuple) else (targets,):
            if isinstance(target, str):
                yield name, unlinked(target)


def unlinked(text: str) -> str:
    """A wiki link's target, or the text itself."""
    inner = text[2:-2] if text.startswith("[[") and text.endswith("]]") else ""
    return inner if _LINKABLE.fullmatch(inner) else text


def _link(target: str) -> str:
    return f"[[{target}]]" if _LINKABLE.fullmatch(target) and target == target.strip() else target
