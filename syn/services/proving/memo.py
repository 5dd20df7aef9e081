"""Projections of files as lines, so that a later run may take them instead of deriving them.

`render` and `parse` are inverse for whatever `project_bytes` gives; a property test says so. A line
is believed only as a part of a file whose digest a trusted report signs (`baseline`).
"""

import json
from collections.abc import Sequence
from typing import Any

from syn.canon import json as canonical
from syn.index.lines import read_list
from syn.index.rows import AttrRow, FactRow, FileRows, LinkRow, ProblemRow, TagRow
from syn.model.fact import Instant, Unreadable
from syn.model.problem import Problem
from syn.services.recall.projecting import Projected
from syn.verify.evidence import FactView

_new = tuple.__new__
"""Builds a row tuple without the keyword handling of its class: three times as fast."""


def render(item: Projected, recorded_id: str) -> bytes:
    """One file's projection as canonical JSON with an LF; `recorded_id` is a moved fact's, or "".

    Raises:
        CanonError: some text has no canonical form; such a file is derived each time.
    """
    rows, view = item.rows, item.view
    value = [
        rows.path,
        rows.source_digest,
        item.blob,
        recorded_id,
        rows.fact,
        [row[1:] for row in rows.attrs],
        [row[1:] for row in rows.links],
        [row.tag for row in rows.tags],
        rows.problems,
        rows.body_digest,
        None if view is None else view.lines,
    ]
    return canonical.encode(value) + b"\n"


def path_of(values: Sequence[Any]) -> str:
    """The path of a line's file."""
    return str(values[0])


def values_of(line: bytes) -> list[Any]:
    """The values of a line.

    Raises:
        ValueError: it is no JSON.
    """
    values: list[Any] = json.loads(line)
    return values


def is_of(values: Sequence[Any], source: str, recorded_id: str) -> bool:
    """Whether a line is about these very bytes, under this recorded id."""
    return bool(values[1] == source and values[3] == recorded_id)


def parse(values: Sequence[Any], *, whole: bool = True) -> Projected:
    """The projection behind a line's values; without attributes, links and tags unless `whole`.

    Raises:
        ValueError, TypeError, IndexError: they are not what `render` wrote.
    """
    path, source, blob, _, fact, attrs, links, tags, problems, body_digest, lines = values
    row = None if fact is None else _new(FactRow, fact)
    found = tuple([_new(ProblemRow, problem) for problem in problems])
    rows = FileRows(
        path,
        source,
        row,
        tuple([_new(AttrRow, (path, *leaf)) for leaf in attrs]) if whole else (),
        tuple([_new(LinkRow, (path, *link)) for link in links]) if whole else (),
        tuple([_new(TagRow, (path, tag)) for tag in tags]) if whole else (),
        found,
        body_digest,
    )
    if row is None:
        return Projected(rows, None, _unreadable(path, source, found), blob)
    return Projected(rows, _view(row, lines), None, blob)


def _unreadable(path: str, source: str, problems: Sequence[ProblemRow]) -> Unreadable:
    found = [Problem(path, row.line, row.code, row.message, row.remedy) for row in problems]
    return Unreadable(path, source, tuple(found))


def _view(row: FactRow, lines: Sequence[Sequence[Any]]) -> FactView:
    return FactView(
        path=row.path,
        id=row.id,
        explicit_id=bool(row.explicit_id),
        payload=row.payload_digest,
        source=row.source_digest,
        subject=row.subject,
        field=row.field,
        value=row.value,
        status=row.status,
        valid_from=_instant(row.valid_from, row.valid_from_key),
        valid_to=_instant(row.valid_to, row.valid_to_key),
        supersedes=_texts(row.supersedes),
        superseded_by=_texts(row.superseded_by),
        lines=tuple([(name, line) for name, line in lines]),
    )


def _texts(text: str) -> tuple[str, ...]:
    return () if text == "[]" else read_list(text)


def _instant(text: str | None, key: str | None) -> Instant | None:
    return None if text is None or key is None else Instant(text, key)
