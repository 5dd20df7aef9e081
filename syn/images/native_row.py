"""Rows of a `synapse.image/1` table: encoding, strict reading, and single-bit correction. Pure."""

import hashlib
import json
from collections.abc import Mapping
from json.encoder import encode_basestring as _quote
from typing import Any, NamedTuple, NoReturn

from syn.canon.digest import is_digest
from syn.canon.json import MAX_INTEGER
from syn.images.malformed import MalformedError
from syn.images.native import address_of, check_members, malformed_row, read_object
from syn.images.table import FactRef, Page
from syn.images.word import native_word

_WORD_SIZE = len(',"word":"sha256:') + 64 + len('"}')
_WORD_START = b',"word":"sha256:'


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


SEARCHED = 4096
"""Bytes of the longest row in which a flipped bit is looked for: about 0.1 s of trying."""
_decode = json.JSONDecoder(parse_float=_no_number, parse_constant=_no_number).raw_decode


def row_text(page: Page) -> str:
    """The canonical JSON of a page without its word.

    One expression instead of the general encoder: it is what a check of 100,000 pages spends its
    time on. `syn.canon.json` is its oracle in the tests.
    """
    at = f'"at":{page.offset},' if page.offset >= 0 else ""
    durability = f'"durability":{_quote(page.durability)},' if page.durability else ""
    fact = _fact_text(page.fact) if page.fact is not None else ""
    qid = f'"qid":{_quote(page.qid)},' if page.qid else ""
    reason = f'"reason":{_quote(page.reason)},' if page.reason else ""
    epoch = f',"trust_epoch":{page.trust_epoch}' if page.trust_epoch else ""
    utility = f',"utility":{_quote(page.utility)}' if page.utility else ""
    valid_to = f',"valid_to":{page.valid_to}' if page.valid_to else ""
    witness = f',"witness":{_quote(page.witness)}' if page.witness else ""
    return (
        f'{{{at}"descriptor":{_quote(page.descriptor)},"digest":"sha256:{page.digest}",'
        f'{durability}{fact}"len":{page.length},{qid}'
        f'"quarantined":{"true" if page.sealed else "false"},{reason}"role":{_quote(page.role)},'
        f'"step":{page.step},"taint":{page.taint}{epoch}{utility}{valid_to}{witness}}}'
    )


def _fact_text(fact: FactRef) -> str:
    return f'"fact":{{"id":{_quote(fact.id)},"payload":"{fact.payload}"}},'


def encode_page(page: Page, prefix: bytes) -> tuple[bytes, str]:
    """A page's line (without its LF) and its word; `page.word` is not looked at.

    Args:
        page: the row.
        prefix: `syn.images.word.native_prefix` of the session.
    """
    row = row_text(page).encode()
    word = native_word(prefix, row)
    return row[:-1] + f',"word":"{word}"}}'.encode(), word


class Row(NamedTuple):
    """A row as it was read."""

    page: Page
    """`page.word` is the stored word."""
    computed: str
    """The word over the row's exact bytes."""
    rotted: bool = False
    """Whether one bit of the line was flipped; `page` is the row without that error."""


def parse_row(line: bytes, prefix: bytes, number: int) -> Row:
    """Read one page row.

    Raises:
        MalformedError: the row is no canonical JSON object of a page with a word at its end.
    """
    cut = len(line) - _WORD_SIZE
    if cut < 1 or line[cut : cut + len(_WORD_START)] != _WORD_START or line[-2:] != b'"}':
        raise malformed_row(number, "no-word", "expected a row that ends with its word")
    stored = line[-73:-2].decode("ascii", "backslashreplace")
    row = line[:cut] + b"}"
    page = _plain_page(row, stored)
    if page is None:
        page = _page(read_object(row, number), stored, number)
    return Row(page, native_word(prefix, row))


def _plain_page(row: bytes, word: str) -> Page | None:
    """The page of a row that is exactly what `row_text` gives; None sends it the strict way.

    To render what was read and compare is to check types, names, order and spelling at once.
    """
    try:
        text = row.decode()
        page = _page_of(_decode(text)[0], word)
        if row_text(page) == text and page.fact is None and _in_range(page):
            return page
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    return None


def _in_range(page: Page) -> bool:
    return (
        -MAX_INTEGER <= page.step <= MAX_INTEGER
        and -MAX_INTEGER <= page.length <= MAX_INTEGER
        and -MAX_INTEGER <= page.offset <= MAX_INTEGER
        and -MAX_INTEGER <= page.taint <= MAX_INTEGER
        and -MAX_INTEGER <= page.valid_to <= MAX_INTEGER
        and -MAX_INTEGER <= page.trust_epoch <= MAX_INTEGER
        and _is_number(page.utility)
    )


def read_row(line: bytes, prefix: bytes, number: int, *, mend: bool = True) -> Row:
    """Read one page row, with a single flipped bit put back.

    Raises:
        MalformedError: the row is none, and no single bit makes it one.
    """
    try:
        row = parse_row(line, prefix, number)
        if row.page.word == row.computed or not mend:
            return row
        error = None
    except MalformedError as malformed:
        row, error = None, malformed
    fixed = flipped_back(line, prefix) if mend else None
    if fixed is not None:
        whole = parse_row(fixed, prefix, number)
        return Row(whole.page, whole.computed, rotted=True)
    if row is None:
        raise error or malformed_row(number, "no-word", "expected a row")
    return row


def flipped_back(line: bytes, prefix: bytes) -> bytes | None:
    """The row that one flipped bit turned into this line, when there is one; its word proves it.

    A single error is corrected as a memory controller does it, but by trying: 256 bits of word
    leave no room for a second row that fits. The time grows with the square of the row, so a row of
    more than `SEARCHED` bytes is left as it is.
    """
    cut = len(line) - _WORD_SIZE
    if cut < 1:
        return None
    row, word = line[:cut] + b"}", line[-73:-2]
    computed = native_word(prefix, row).encode()
    framed = line[:cut] + _WORD_START + word.removeprefix(b"sha256:")[-64:] + b'"}'
    if framed != line and framed[-73:-2] == computed and _bits_apart(framed, line) == 1:
        return framed
    if len(word) == len(computed) and _bits_apart(word, computed) == 1:
        return line[:-73] + computed + line[-2:]
    if cut > SEARCHED:
        return None
    hasher, at = hashlib.sha256(prefix), 0
    wanted = word.removeprefix(b"sha256:")
    for at in range(cut):
        for bit in range(8):
            trial = hasher.copy()
            trial.update(bytes((row[at] ^ (1 << bit),)) + row[at + 1 :])
            if trial.hexdigest().encode() == wanted:
                return line[:at] + bytes((line[at] ^ (1 << bit),)) + line[at + 1 :]
        hasher.update(row[at : at + 1])
    return None


def _bits_apart(left: bytes, right: bytes) -> int:
    return sum((a ^ b).bit_count() for a, b in zip(left, right, strict=True))


_PAGE_TYPES: Mapping[str, type] = {
    "at": int,
    "descriptor": str,
    "digest": str,
    "durability": str,
    "fact": dict,
    "len": int,
    "qid": str,
    "quarantined": bool,
    "reason": str,
    "role": str,
    "step": int,
    "taint": int,
    "trust_epoch": int,
    "utility": str,
    "valid_to": int,
    "witness": str,
}
_PAGE_REQUIRED = frozenset({"descriptor", "digest", "len", "quarantined", "role", "step", "taint"})


def _page(values: dict[str, Any], word: str, number: int) -> Page:
    check_members(values, _PAGE_TYPES, _PAGE_REQUIRED, number)
    address_of(values["digest"], number)
    if not _is_number(values.get("utility", "")):
        raise malformed_row(number, "wrong-type", "expected a number as the utility")
    return _page_of(values, word)._replace(fact=_fact(values.get("fact"), number))


def _page_of(values: dict[str, Any], word: str) -> Page:
    get = values.get
    return Page(
        values["step"],
        values["role"],
        values["descriptor"],
        values["digest"][7:],
        values["len"],
        values["taint"],
        values["quarantined"],
        get("qid", ""),
        get("reason", ""),
        get("durability", ""),
        get("valid_to", 0),
        get("witness", ""),
        get("trust_epoch", 0),
        get("utility", ""),
        word,
        get("at", -1),
        get("fact"),
    )


def _fact(value: Any, number: int) -> FactRef | None:
    if value is None:
        return None
    if value.keys() != {"id", "payload"} or not is_digest(str(value["payload"])):
        raise malformed_row(number, "wrong-type", "expected a fact with id and payload digest")
    return FactRef(str(value["id"]), value["payload"])


def _is_number(text: str) -> bool:
    try:
        return not text or float(text) is not None
    except ValueError:
        return False
