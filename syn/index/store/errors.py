"""Why an index cannot be used, each with its own code and remedy."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from syn.errors import CannotError

REBUILD = "delete the file and run syn reindex: it is derived, the Markdown is the truth"
_FULL = "free disk space and run syn reindex"
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_PLACE = frozenset(
    {
        *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
        *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM),
    }
)


class IndexUnusable(CannotError):  # noqa: N818 - a state of the index, one class for its codes
    """The index is missing, foreign, of another version, busy, damaged, or cannot be written.

    Codes: `index-missing`, `index-foreign`, `index-version`, `index-locked`, `index-schema`,
    `index-corrupt`, `index-place`, `index-io`, `sqlite-too-old`.
    """


@contextmanager
def guard(path: Path) -> Iterator[None]:
    """Turn what SQLite or the system says of an index into `IndexUnusable`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _of_sqlite(path, error) from error
    except UnicodeDecodeError as error:
        raise IndexUnusable("index-corrupt", f"{path.name}: {error}", REBUILD) from error
    except OSError as error:
        raise IndexUnusable(
            "index-place",
            f"{path}: {error.strerror or error}",
            f"make the directory {path.parent} readable and writable, with free space",
        ) from error


def _of_sqlite(path: Path, error: sqlite3.DatabaseError) -> IndexUnusable:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _BUSY:
        remedy = "close the program that holds it and run again"
        return IndexUnusable("index-locked", f"{path.name}: {error}", remedy)
    if code in _PLACE:
        return IndexUnusable("index-io", f"{path.name}: {error}", _FULL)
    return IndexUnusable("index-corrupt", f"{path.name}: {error}", REBUILD)
