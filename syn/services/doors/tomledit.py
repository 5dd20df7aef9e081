"""Changing one table of somebody else's TOML file; tomlkit keeps every other byte."""

from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from syn.errors import RefusedError


class TomlEditError(RefusedError):
    """A file that is no TOML, or has something else where a table is needed."""

    def __init__(self, message: str) -> None:
        super().__init__("not-toml", message, "mend the file, or add the server by hand")


def _document(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise TomlEditError(f"expected TOML: {error}") from error


def table_at(text: str, path: tuple[str, str]) -> Any:
    """One table as plain values, or None."""
    value: Any = _document(text).unwrap()
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def set_table(text: str, path: tuple[str, str], entry: Mapping[str, Any]) -> str:
    """The text with one table set.

    Raises:
        TomlEditError: it is no TOML, or the outer step is no table.
    """
    document = _document(text)
    outer, inner = path
    if outer not in document:
        document.append(outer, tomlkit.table(is_super_table=True))
    servers: Any = document[outer]
    if not isinstance(servers, dict):
        raise TomlEditError(f"expected a table {outer}")
    table = tomlkit.table()
    for key, value in entry.items():
        table.append(key, value)
    servers[inner] = table
    return _checked(document, text, path, dict(entry))


def remove_table(text: str, path: tuple[str, str]) -> str:
    """The text without one table; raises as `set_table`."""
    document = _document(text)
    outer, inner = path
    servers: Any = document.get(outer)
    if not isinstance(servers, dict) or inner not in servers:
        return text
    del servers[inner]
    return _checked(document, text, path, None)


def _checked(document: tomlkit.TOMLDocument, before: str, path: tuple[str, str], entry: Any) -> str:
    """The text, when reading it gives what was there but for the one table."""
    after = tomlkit.dumps(document)
    was, now = _document(before).unwrap(), _document(after).unwrap()
    outer, inner = path
    others = {key: value for key, value in was.get(outer, {}).items() if key != inner}
    found = dict(now.get(outer, {}))
    mine = found.pop(inner, None)
    rest = {key: value for key, value in was.items() if key != outer}
    if mine != entry or found != others or {k: v for k, v in now.items() if k != outer} != rest:
        raise TomlEditError("the file cannot be edited safely")
    return after
