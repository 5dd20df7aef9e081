"""Canonical JSON: the RFC 8785 (JCS) subset without floats that Synapse hashes and signs.

ASCII keys, text without lone surrogates, integers to 2^53-1, bool, null, list, object. On this
subset the encoder is byte-equal to JCS; `rfc8785` is the oracle in the tests. In Python: dict, list
or tuple, str, int, bool and None.
"""

import json
from typing import NoReturn

from syn.errors import CannotError
from syn.model.finding import Json

MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 64


class CanonError(CannotError):
    """Bytes that are not canonical JSON, or a value that has no canonical form."""

    def __init__(self, message: str) -> None:
        super().__init__("not-canonical", message, "")


def encode(value: object) -> bytes:
    """The canonical bytes of a value, without a final newline.

    Raises:
        CanonError: the value holds a float, an integer over 2^53-1, a key that is not ASCII text,
            a lone surrogate, another type, or nests deeper than 64 levels.
    """
    _check(value, 0)
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError as error:
        raise CanonError("text holds a lone surrogate") from error


def render(value: object) -> str:
    """JSON of an answer: as `encode` writes it, but a key is any text; never hashed or signed.

    Keys of front matter are data (design 3.4).

    Raises:
        CanonError: as `encode`, but for keys.
    """
    pending: list[object] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += [*item, *item.values()]
        elif isinstance(item, list | tuple):
            pending += item
        else:
            _check(item, 0)
    text = _ENCODER.encode(value)
    if _has_surrogate(text):
        raise CanonError("text holds a lone surrogate")
    return text


def decode(data: bytes) -> Json:
    """Read canonical JSON; refuses every spelling that does not re-encode to the same bytes.

    Raises:
        CanonError: not UTF-8, not JSON, duplicate keys, floats, or another spelling of the same
        value.
    """
    value = _load(data)
    if encode(value) != data:
        raise CanonError("expected canonical JSON, got another spelling of it")
    return value


def parse(data: bytes) -> Json:
    """Read JSON that somebody else wrote, in any spelling and with any text as key.

    Raises:
        CanonError: not UTF-8, not JSON, duplicate keys, floats, or a lone surrogate.
    """
    value = _load(data)
    if b"\\u" in data and _has_surrogate(value):
        raise CanonError("text holds a lone surrogate")
    return value


def _load(data: bytes) -> Json:
    try:
        value: Json = _DECODER.decode(data.decode())
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise CanonError(f"expected JSON, got {_reason(error)}") from error
    return value


def _check(value: object, depth: int) -> None:
    """Refuse what has no canonical form; the commonest types first, since this is a hot path."""
    if value is None or isinstance(value, str):
        return
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise CanonError("integer over 2^53-1")
    elif depth >= MAX_DEPTH:
        raise CanonError(f"nesting over {MAX_DEPTH} levels")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_key(key)
            _check(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check(inner, depth + 1)
    else:
        raise CanonError(f"{type(value).__name__} has no canonical form")


def _check_key(key: object) -> None:
    if not isinstance(key, str) or not key.isascii():
        raise CanonError(f"expected an ASCII key, got {key!r:.40}")


def _has_surrogate(value: Json) -> bool:
    pending: list[Json] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item)
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, str) and any("\ud800" <= char <= "\udfff" for char in item):
            return True
    return False


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise CanonError("duplicate key")
    return result


def _refuse_number(text: str) -> NoReturn:
    raise CanonError(f"expected an integer, got {text[:20]}")


def _reason(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:120]


# The one place where hashed bytes are made: the ban on json.dumps points here. Built once, since
# making a decoder costs as much as reading a ledger line.
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, check_circular=False
)
_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_refuse_number, parse_constant=_refuse_number
)
