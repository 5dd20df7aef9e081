"""Facts: from the bytes of a Markdown file to values, and back by the smallest edit.

The only home of markdown-it-py and PyYAML. Pure: bytes and values in, values out.
"""

from syn.facts.dates import InstantError, parse_instant
from syn.facts.globs import FactGlobs
from syn.facts.parse import parse
from syn.facts.payload import payload_digest
from syn.facts.twins import path_problems

__all__ = [
    "FactGlobs",
    "InstantError",
    "parse",
    "parse_instant",
    "path_problems",
    "payload_digest",
]
