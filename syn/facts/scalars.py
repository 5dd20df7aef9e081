"""Resolution of plain scalars by the YAML 1.2 core schema, keeping the written text.

YAML 1.2.2, section 10.3.2. `no`, `12:30`, `2025-01-01`, `1_000` and `0b1` are text.
"""

import re

from syn.model.payload import Lexical, ScalarType

_WORDS: dict[str, ScalarType] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), "null"),
    **dict.fromkeys(("true", "True", "TRUE", "false", "False", "FALSE"), "bool"),
}
_NUMBER = re.compile(
    r"(?P<int>[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
)
_NUMERIC_START = frozenset("0123456789+-.")


def resolve(text: str) -> str | Lexical:
    """What a plain scalar is: text, or an int, float, bool or null as it is written."""
    if text and text[0] in _NUMERIC_START:
        found = _NUMBER.fullmatch(text)
        if found is None:
            return text
        return Lexical("float" if found["int"] is None else "int", text)
    word = _WORDS.get(text)
    return text if word is None else Lexical(word, text)
