"""Classifying one page of an image: faults, then the class they add up to.

Pure. The classes are those of docs/cells.md; what a page cannot know by itself (shared ids, the
ledger, the marker) is `syn.images.survey`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.images.descriptor import (
    benign_descriptor,
    is_reason,
    is_seal_id,
    is_sealed_form,
)
from syn.images.table import (
    BOUNDED,
    DURABILITY,
    MAX_UTILITY,
    QUARANTINED,
    TAINTED,
    Blob,
    Page,
)
from syn.images.word import (
    RECALL_WORD_DIGITS,
    is_recall_word,
    recall_digest_of,
    recall_word,
    recall_word_of,
)

PageClass: TypeAlias = Literal["clean", "unchecked", "repairable", "tampered", "erasure"]

SEVERITY: dict[PageClass, int] = {
    "clean": 0,
    "repairable": 1,
    "unchecked": 2,
    "tampered": 3,
    "erasure": 4,
}
"""Which class wins when a page has several faults."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a page; never holds text of the page itself."""

    code: str
    cls: PageClass
    expected: str = ""
    actual: str = ""


def class_of(faults: tuple[Fault, ...]) -> PageClass:
    """The class that a page's faults add up to."""
    return max((fault.cls for fault in faults), key=SEVERITY.__getitem__, default="clean")


def page_faults(
    page: Page, position: int, blob: Blob | None, word_faults: "WordCheck"
) -> tuple[Fault, ...]:
    """Everything wrong with one page by itself, the body's faults first.

    Args:
        page: the row.
        position: where it stands in the table, from 0.
        blob: what the store holds under the page's digest, or None.
        word_faults: how the format checks a word against a page whose body is sound.
    """
    if blob is not None and is_plain(page, position, blob):
        return tuple(word_faults(page, blob))
    faults = [*_body_faults(page, blob)]
    if blob is None or faults:
        return (*faults, *_place_faults(page, position), *_field_faults(page))
    faults += word_faults(page, blob)
    faults += _place_faults(page, position)
    faults += _field_faults(page)
    faults += _descriptor_faults(page, blob)
    return tuple(faults)


def is_plain(page: Page, position: int, blob: Blob) -> bool:
    """Whether an unsealed page has, its word aside, none of the faults below.

    The common case in one expression; the tests hold it against the rules that it stands for.
    """
    return (
        not (page.sealed or page.taint or page.qid or page.reason or page.utility or blob.fault)
        and page.step == position
        and page.length == blob.size
        and (page.durability in _UNBOUNDED and page.valid_to == 0)
        and (not page.trust_epoch or page.witness != "")
        and page.descriptor == benign_descriptor(page.role, blob.line)
        and page.digest == blob.actual
    )


_UNBOUNDED = DURABILITY - {BOUNDED}

WordCheck: TypeAlias = Callable[[Page, Blob], Iterable["Fault"]]


def _body_faults(page: Page, blob: Blob | None) -> Iterator[Fault]:
    if not is_address(page.digest):
        yield Fault("address-malformed", "erasure", "64 lower-case hex digits", "another text")
    elif blob is None:
        yield Fault("body-absent", "erasure", f"a body of {page.length} bytes", "none in the store")
    elif blob.fault:
        found = f"{blob.size} bytes that hash to {blob.actual[:12]}" if blob.actual else "no bytes"
        yield Fault("body-mismatch", "erasure", f"bytes that hash to {page.digest[:12]}", found)


def is_address(text: str) -> bool:
    """Whether a text is a content address: 64 lower-case hex digits."""
    return len(text) == 64 and not text.strip("0123456789abcdef")  # noqa: PLR2004 - SHA-256 in hex


def recall_word_faults(page: Page, blob: Blob) -> Iterator[Fault]:
    """What the `recall.v1` word says of a page whose body is sound."""
    computed = recall_word(page)
    if page.word == computed:
        if page.length != blob.size:
            yield Fault("len-mismatch", "tampered", f"{blob.size} bytes", f"{page.length} bytes")
    elif not page.word:
        yield Fault("word-missing", "unchecked", "a check word", "none")
    elif not is_recall_word(page.word):
        cls: PageClass = "repairable" if _same_word(page) else "unchecked"
        size = f"{len(page.word)} characters"
        yield Fault("word-malformed", cls, "16 lower-case hex digits", size)
    elif page.word == recall_word(page._replace(length=blob.size)):
        yield Fault("len-rotted", "repairable", f"len {blob.size}", f"len {page.length}")
    elif _digits_apart(page.word, computed) == 1:
        yield Fault("word-rotted", "repairable", f"the word {computed}", page.word)
    elif page.sealed and page.word == _word_before_seal(page, blob):
        yield Fault("sealed-without-word", "repairable", f"the word {computed}", "the word before")
    else:
        yield Fault("word-mismatch", "tampered", f"the word {computed}", page.word)


def _same_word(page: Page) -> bool:
    """Whether a malformed word is the right one in capitals, or the whole SHA-256 behind it."""
    whole = recall_digest_of(page.digest, page.length, page.taint, page.sealed, page.qid)
    return page.word == whole or page.word.lower() == whole[:RECALL_WORD_DIGITS]


def _word_before_seal(page: Page, blob: Blob) -> str:
    """The word of the page as the recorder stamped it, before a scrub or dream sealed it."""
    return recall_word_of(page.digest, blob.size, TAINTED, False, "")


def _digits_apart(left: str, right: str) -> int:
    return sum(a != b for a, b in zip(left, right, strict=True))


def _place_faults(page: Page, position: int) -> Iterator[Fault]:
    if page.step != position:
        yield Fault("step-mismatch", "tampered", f"step {position}", f"step {page.step}")


def _field_faults(page: Page) -> Iterator[Fault]:
    if page.sealed:
        yield from _sealed_faults(page)
    else:
        yield from _benign_faults(page)
    if page.durability not in DURABILITY and (page.durability or not page.sealed):
        yield Fault(
            "durability-unknown", "tampered", "turn, session, durable or bounded", "another"
        )
    if (page.durability == BOUNDED) != (page.valid_to > 0) or page.valid_to < 0:
        yield Fault(
            "validity-mismatch", "tampered", "valid_to on a bounded page only", _validity(page)
        )
    if page.utility and not 0 <= float(page.utility) <= MAX_UTILITY:
        yield Fault("utility-range", "tampered", "a utility from 0 to 4", "one outside")
    if page.trust_epoch and not page.witness:
        yield Fault("epoch-without-witness", "tampered", "a witness", "an epoch alone")


def _validity(page: Page) -> str:
    bounded = "bounded" if page.durability == BOUNDED else "not bounded"
    return f"{bounded}, valid_to {page.valid_to}"


def _sealed_faults(page: Page) -> Iterator[Fault]:
    if page.taint != QUARANTINED:
        yield Fault("seal-inconsistent", "tampered", "taint 2 on a sealed page", f"{page.taint}")
    if not is_seal_id(page.qid):
        actual = "another text" if page.qid else "none"
        yield Fault("seal-inconsistent", "tampered", "a seal id on a sealed page", actual)
    if not is_reason(page.reason):
        yield Fault("seal-inconsistent", "tampered", "a reason code on a sealed page", "none")
    if page.utility and float(page.utility) != 0:
        yield Fault("seal-inconsistent", "tampered", "no utility on a sealed page", "one")


def _benign_faults(page: Page) -> Iterator[Fault]:
    if page.taint != TAINTED:
        yield Fault("taint-unearned", "tampered", "taint 0 on an unsealed page", f"{page.taint}")
    if page.qid or page.reason:
        left = "a seal id" if page.qid else "a reason"
        yield Fault("seal-inconsistent", "tampered", "no trace of a seal on an unsealed page", left)


def _descriptor_faults(page: Page, blob: Blob) -> Iterator[Fault]:
    if page.sealed:
        if not is_sealed_form(page, (page.length, blob.size)):
            yield Fault(
                "sealed-descriptor", "tampered", "the metadata-only form", _shape(page.descriptor)
            )
    elif page.descriptor != benign_descriptor(page.role, blob.line):
        yield Fault(
            "descriptor-mismatch", "tampered", "role and first line", _shape(page.descriptor)
        )


def _shape(text: str) -> str:
    """What may be said of a descriptor that does not derive: it is never quoted."""
    return f"another text of {len(text)} characters"
