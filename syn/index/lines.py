"""Canonical JSON lines of rows, fast: byte-equal to `syn.canon.json.encode` of the same object.

Row keys are fixed and ASCII, values are text, small integers or null, so a line is a template
filled with quoted values. A property test holds it against `syn.canon`.

A damaged database can hand out text that is not UTF-8, blobs and reals. They are given forms that
no projected row can have, so that such a row always differs and never stops the comparison.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any

from syn.index.rows import (
    ATTR,
    BY_NAME,
    FACT,
    LINK,
    PROBLEM,
    STATE,
    TABLES,
    TAG,
    TARGET,
    AttrRow,
    FactRow,
    FileRows,
    LinkRow,
    Row,
    Scalar,
    StateRow,
    Table,
    TagRow,
    TargetRow,
)

quote: Callable[[str], str] = encode_basestring
"""Canonical JSON of one text (RFC 8785 3.2.2.2)."""


def text_list(items: Iterable[str]) -> str:
    """Canonical JSON of a list of texts, as the list columns hold it."""
    return f"[{','.join(map(quote, items))}]"


def read_list(text: str) -> tuple[str, ...]:
    """The texts of a list column; a cell that holds no such list gives none."""
    try:
        value = json.loads(text)
    except ValueError:
        return ()
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value if isinstance(item, str))


def encode_texts(texts: Iterable[str | None]) -> bytes:
    """Some texts as one line, for a spool."""
    return f"[{','.join(['null' if t is None else quote(t) for t in texts])}]\n".encode()


def decode_texts(line: bytes) -> list[str | None]:
    """The texts behind `encode_texts`."""
    texts: list[str | None] = json.loads(line)
    return texts


def manifest_columns(table: Table) -> tuple[str, ...]:
    """The columns as the manifest names them: a fact's body stands there as its digest."""
    return (*table.columns[:-1], "body_digest") if table is FACT else table.columns


def _template(table: Table) -> tuple[str, Callable[[Sequence[object]], Sequence[object]]]:
    columns = manifest_columns(table)
    names = sorted((*columns, "table"))
    slots = ",".join(
        f'"table":"{table.name}"' if name == "table" else f'"{name}":%s' for name in names
    )
    order = [columns.index(name) for name in names if name != "table"]
    return f"{{{slots}}}\n", itemgetter(*order)


_TEMPLATES = {table.name: _template(table) for table in TABLES}


def encode_row(table: Table, row: Sequence[Scalar]) -> bytes:
    """One manifest line, with its LF; `row` in the order of the table's columns."""
    if table is FACT:
        row = (*row[:-1], body_digest(row[-1]))
    return _line(table, row).encode("utf-8", "surrogateescape")


def encode_rows(table: Table, rows: Sequence[Sequence[Scalar]]) -> bytes:
    """The manifest lines of rows that were projected or derived, not read from a database."""
    encode = _TRUSTED.get(table.name)
    if encode is not None:
        return encode(rows).encode("utf-8", "surrogateescape")
    return b"".join([encode_row(table, row) for row in rows])


def encode_chunks(table: Table, rows: Iterable[Sequence[Scalar]]) -> Iterator[bytes]:
    """The lines of rows that are known to be plain, in pieces; `rows` in primary key order."""
    if table.name in _OF_ONE_FILE:
        for _, group in groupby(rows, key=itemgetter(0)):
            yield encode_rows(table, list(group))
        return
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        yield encode_rows(table, batch)


def file_lines(rows: FileRows) -> Iterator[tuple[Table, Sequence[Row], bytes]]:
    """The manifest lines of one file, table by table; tables without rows are left out."""
    if rows.fact is not None:
        yield FACT, (rows.fact,), _fact_line(rows.fact, rows.body_digest).encode()
    for table, items in (
        *((ATTR, rows.attrs), (LINK, rows.links)),
        *((TAG, rows.tags), (PROBLEM, rows.problems)),
    ):
        if items:
            yield table, items, encode_rows(table, items)


def _line(table: Table, row: Sequence[Scalar]) -> str:
    template, pick = _TEMPLATES[table.name]
    return template % tuple([quote(v) if v.__class__ is str else _other(v) for v in pick(row)])


# The tables with many small rows, without a look at the type of each value: these rows come from
# `project` and `derive`. A property test holds each against `_line`.


def _fact_line(row: FactRow, digest: str) -> str:
    q = quote
    kind, status, subject, field, value = [_NULL if v is None else q(v) for v in row[6:11]]
    start, start_key, end, end_key = [_NULL if v is None else q(v) for v in row[11:15]]
    return (
        f'{{"aliases":{q(row.aliases)},"body_digest":"{digest}","body_line":{row.body_line},'
        f'"explicit_id":{row.explicit_id},"field":{field},"id":{q(row.id)},'
        f'"id_key":{q(row.id_key)},"path":{q(row.path)},"payload_digest":"{row.payload_digest}",'
        f'"size":{row.size},"source_agent":{q(row.source_agent)},'
        f'"source_digest":"{row.source_digest}","source_kind":{q(row.source_kind)},'
        f'"source_session":{q(row.source_session)},"source_url":{q(row.source_url)},'
        f'"status":{status},"subject":{subject},"superseded_by":{q(row.superseded_by)},'
        f'"supersedes":{q(row.supersedes)},"table":"fact","tags":{q(row.tags)},'
        f'"title":{q(row.title)},"title_key":{q(row.title_key)},"type":{kind},'
        f'"valid_from":{start},"valid_from_key":{start_key},"valid_to":{end},'
        f'"valid_to_key":{end_key},"value":{value}}}\n'
    )


_NULL = "null"


def _attr_lines(rows: Sequence[AttrRow]) -> str:
    head = f'{{"path":{quote(rows[0][0])},"pointer":'
    return "".join(
        [
            f'{head}{quote(pointer)},"table":"attr","type":"{kind}","value":{quote(value)}}}\n'
            for _, pointer, kind, value in rows
        ]
    )


def _link_lines(rows: Sequence[LinkRow]) -> str:
    path = quote(rows[0][0])
    return "".join(
        [
            f'{{"heading":{quote(heading)},"line":{line},"path":{path},'
            f'"relation":{quote(relation)},"seq":{seq},"syntax":"{syntax}","table":"link",'
            f'"target":{quote(target)},"text":{quote(text)}}}\n'
            for _, seq, line, syntax, target, text, heading, relation in rows
        ]
    )


def _tag_lines(rows: Sequence[TagRow]) -> str:
    head = f'{{"path":{quote(rows[0][0])},"table":"tag","tag":'
    return "".join([f"{head}{quote(tag)}}}\n" for _, tag in rows])


def _target_lines(rows: Sequence[TargetRow]) -> str:
    return "".join(
        [
            f'{{"candidates":{candidates},"outcome":"{outcome}","path":{quote(path)},"seq":{seq},'
            f'"step":"{step}","table":"target",'
            f'"target_path":{"null" if target is None else quote(target)}}}\n'
            for path, seq, outcome, step, target, candidates in rows
        ]
    )


def _state_lines(rows: Sequence[StateRow]) -> str:
    return "".join(
        [
            f'{{"closed":{closed},"id":{quote(name)},"path":{quote(path)},'
            f'"quarantine":{quote(quarantine)},"state":"{state}","table":"state",'
            f'"taint":{quote(taint)},"word":"{word}"}}\n'
            for path, name, state, closed, taint, quarantine, word in rows
        ]
    )


_TRUSTED: dict[str, Callable[[Any], str]] = {
    ATTR.name: _attr_lines,
    LINK.name: _link_lines,
    TAG.name: _tag_lines,
    TARGET.name: _target_lines,
    STATE.name: _state_lines,
}
_OF_ONE_FILE = frozenset({ATTR.name, LINK.name, TAG.name})
"""Tables of which the rows of one call are of one file."""
OWN_WORDS: dict[str, tuple[str, ...]] = {
    ATTR.name: ("type",),
    LINK.name: ("syntax",),
    TARGET.name: ("outcome", "step"),
    STATE.name: ("state", "word"),
}
"""Columns the fast encoders do not quote: lower-case letters, digits and colons."""
_BATCH = 500


def body_digest(body: object) -> str:
    """`sha256:<hex>` of a stored body; of what a damaged cell holds when it is no text."""
    if not isinstance(body, str):
        return _other(body)
    data = body.encode("utf-8", "surrogateescape")
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def decode_line(line: bytes) -> dict[str, Scalar]:
    """The object of one manifest line of our own making (spools, dumps)."""
    value: dict[str, Scalar] = json.loads(line.decode("utf-8", "surrogateescape"))
    return value


def decode_row(line: bytes) -> tuple[Scalar, ...]:
    """The row behind a line; a fact's last column is then its body digest."""
    value = decode_line(line)
    return tuple(value[name] for name in _COLUMNS[str(value["table"])])


_COLUMNS = {name: manifest_columns(table) for name, table in BY_NAME.items()}


def _other(value: object) -> str:
    if value is None:
        return "null"
    if value.__class__ is int:
        return str(value)
    # The lone surrogate becomes a byte that no UTF-8 line can hold.
    return quote(f"\udc80{type(value).__name__}:{value!r}")
