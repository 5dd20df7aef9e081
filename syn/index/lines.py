"""Canonical JSON lines of rows, fast: byte-equal to `syn.canon.json.encode` of the same object.

Row keys are fixed and ASCII, values are text, small integers or null, so a line is a template
filled with quoted values. A property test holds it against `syn.canon`.

A damaged database can hand out text that is not UTF-8, blobs and reals. They are given forms that
no projected row can have, so that such a row always differs and never stops the comparison.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from json.encoder import encode_basestring
from operator import itemgetter

from syn.index.rows import BY_NAME, FACT, TABLES, Scalar, Table

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
    template, pick = _TEMPLATES[table.name]
    text = template % tuple([quote(v) if v.__class__ is str else _other(v) for v in pick(row)])
    return text.encode("utf-8", "surrogateescape")


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
