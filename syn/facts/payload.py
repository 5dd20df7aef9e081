"""The payload of a fact: what it says, in canonical form (design 3.4, docs/formats/payload.md)."""

from json.encoder import encode_basestring
from typing import assert_never

from syn.canon.digest import tagged
from syn.canon.json import CanonError
from syn.model.payload import Lexical, Mapping, Value

DOMAIN = "payload/1"


def payload_digest(fields: Mapping, body: str) -> str:
    """`sha256:<hex>` of what a fact says.

    The same for every spelling that says the same: order of keys, quotes, line ends and comments
    do not count; the written text of every value does.

    Raises:
        CanonError: a text holds a lone surrogate, which no file does.
    """
    return tagged(DOMAIN, payload(fields, body))


def payload(fields: Mapping, body: str) -> bytes:
    """The canonical JSON that is hashed.

    Written directly, since the members and their order are known: twice as fast as the general
    encoder of `syn.canon.json`, to which the tests compare it byte for byte.
    """
    text = f'{{"body":{encode_basestring(body.replace(_CRLF, _LF))},"fields":{_encode(fields)}}}'
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise CanonError("text holds a lone surrogate") from error


def same_value(one: Value | None, other: Value | None) -> bool:
    """Whether two values are one in a payload: the order of keys does not count."""
    if one is None or other is None or one == other:
        return one == other
    return _encode(one) == _encode(other)


_CRLF, _LF = "\r\n", "\n"


def _encode(value: Value) -> str:
    match value:
        case str():
            return encode_basestring(value)
        case Lexical(type=kind, text=text):
            return f'{{"t":"{kind}","v":{encode_basestring(text)}}}'
        case Mapping(items=items):
            # code point order is the byte order of UTF-8
            pairs = [
                f"[{encode_basestring(key)},{_encode(inner)}]"
                for key, inner in sorted(items, key=_by_key)
            ]
            return f'{{"m":[{",".join(pairs)}]}}'
        case tuple():
            return f"[{','.join([_encode(inner) for inner in value])}]"
        case _:
            assert_never(value)


def _by_key(item: tuple[str, Value]) -> str:
    return item[0]
