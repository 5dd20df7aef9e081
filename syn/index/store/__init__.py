"""The SQLite file: built new, checked, fsynced, renamed; read immutable. The only home of SQLite.

`build.Builder` makes an index, and is imported where one is made; `reader.Index` reads one, `check`
says whether a file is sound.
"""

from syn.index.store.errors import IndexUnusable
from syn.index.store.files import FileRecord, StatRecord, open_spool
from syn.index.store.reader import SQLITE, Index, open_index

__all__ = [
    "SQLITE",
    "FileRecord",
    "Index",
    "IndexUnusable",
    "StatRecord",
    "open_index",
    "open_spool",
]
