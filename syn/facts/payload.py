"""The payload of a fact: what it says, in canonical form (design 3.4, docs/formats/payload.md)."""

from syn.canon.digest import tagged_json
from syn.model.finding import Json
from syn.model.payload import Lexical, Mapping, Value

DOMAIN = "payload/1"


def payload_digest(fields: Mapping, body: str) -> str:
    """`sha256:<hex>` of what a fact says.

    The same for every spelling that says the same: order of keys, quotes, line ends and comments
    do not count; the written text of every value does.
    """
    return tagged_json(DOMAIN, payload(fields, body))


def payload(fields: Mapping, body: str) -> dict[str, Json]:
    """The value whose canonical JSON is hashed."""
    return {"body": body.replace("\r\n", "\n"), "fields": _encode(fields)}


def _encode(value: Value) -> Json:
    match value:
        case str():
            return value
        case Lexical(type=kind, text=text):
            return {"t": kind, "v": text}
        case Mapping(items=items):
            # code point order is the byte order of UTF-8
            return {"m": [[key, _encode(inner)] for key, inner in sorted(items, key=_by_key)]}
        case _:
            return [_encode(inner) for inner in value]


def _by_key(item: tuple[str, Value]) -> str:
    return item[0]
