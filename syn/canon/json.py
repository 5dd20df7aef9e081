"""Canonical JSON: the RFC 8785 (JCS) subset without floats that Synapse hashes and signs.

ASCII keys, text without lone surrogates, integers to 2^53-1, bool, null, list, object. On this
subset the
encoder is byte-equal to JCS; `rfc8785` is the oracle in the tests.
"""

import json
from collections.abc import Mapping, Sequence
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
    # The one place where hashed bytes are made: the ban on json.dumps points here.
    text = json.dumps(  # noqa: TID251 - see above
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise CanonError("text holds a lone surrogate") from error


def decode(data: bytes) -> Json:
    """Read canonical JSON; refuses every spelling that does not re-encode to the same bytes.

    Raises:
        CanonError: not UTF-8, not JSON, duplicate keys, floats, or another spelling of the same
        value.
    """
    try:
        value: Json = json.loads(
            data.decode(),
            object_pairs_hook=_unique,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise CanonError(f"expected canonical JSON, got {_reason(error)}") from error
    if encode(value) != data:
        raise CanonError("expected canonical JSON, got another spelling of it")
    return value


def _check(value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise CanonError(f"nesting over {MAX_DEPTH} levels")
    match value:
        case None | bool() | str():
            pass
        case int():
            if abs(value) > MAX_INTEGER:
                raise CanonError(f"integer over 2^53-1: {str(value)[:20]}")
        case Mapping():
            for key, inner in value.items():
                if not isinstance(key, str) or not key.isascii():
                    raise CanonError(f"expected an ASCII key, got {key!r:.40}")
                _check(inner, depth + 1)
        case Sequence() if not isinstance(value, bytes | bytearray):
            for inner in value:
                _check(inner, depth + 1)
        case _:
            raise CanonError(f"{type(value).__name__} has no canonical form")


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise CanonError("duplicate key")
    return result


def _refuse_number(text: str) -> NoReturn:
    raise CanonError(f"expected an integer, got {text[:20]}")


def _reason(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:120]
