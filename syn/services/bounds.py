"""Every answer is bounded: what is too long is cut, and the answer says that it was (design 14).

Agents' clients drop an answer that is too long as a whole. Lists have a limit and a cursor of
their own; this is the last measure, for a title of a megabyte or a thousand tags.
"""

from syn.model.finding import Json
from syn.report.escape import json_text
from syn.services.answers import Answer

ANSWER_LENGTH = 100_000
"""Characters of one answer: the most that common clients take."""
_STEPS = ((20_000, 1_000), (4_000, 400), (1_000, 200), (200, 200), (60, 100), (20, 20), (10, 5))
"""Longest text and longest inner list, from what is tried first to what always fits."""
_AROUND = 4
"""Characters of JSON around a value: quotes, comma, brackets."""


def bounded(answer: Answer) -> Answer:
    """The answer, or a shorter one with `truncated: true`; `items` keep their number."""
    if _size(answer) <= ANSWER_LENGTH:
        return answer
    cut = answer
    for text, items in _STEPS:
        cut = {key: _cut(value, text, items, key == "items") for key, value in answer.items()}
        if _size(cut) <= ANSWER_LENGTH:
            break
    return {**cut, "truncated": True}


def _cut(value: Json, text: int, items: int, whole: bool = False) -> Json:
    match value:
        case str():
            return value if len(value) <= text else f"{value[:text]}…"
        case list():
            return [_cut(inner, text, items) for inner in (value if whole else value[:items])]
        case dict():
            pairs = list(value.items())[: max(items, 30)]
            return {_cut_key(key, text): _cut(inner, text, items) for key, inner in pairs}
        case _:
            return value


def _cut_key(key: str, text: int) -> str:
    return key if len(key) <= text else f"{key[:text]}…"


def _size(value: Json) -> int:
    """About how many characters its JSON has."""
    match value:
        case str():
            plain = value.isascii() and value.isprintable()
            return (len(value) if plain else len(json_text(value))) + _AROUND
        case list():
            return sum(map(_size, value)) + _AROUND
        case dict():
            return sum(len(key) + _AROUND + _size(inner) for key, inner in value.items()) + _AROUND
        case _:
            return 8
