"""Every answer is bounded: what is too long is cut, and the answer says that it was (design 14).

Agents' clients drop an answer that is too long as a whole. Lists have a limit and a cursor of
their own; this is the last measure, for a title of a megabyte or a thousand tags.
"""

from syn.model.finding import Json
from syn.report.escape import json_text
from syn.services.recall.answers import Answer

ANSWER_LENGTH = 100_000
"""Characters of one answer: the most that common clients take."""
MAX_BODY = 60_000
"""Characters of a body that one answer holds at most; `start` reads on."""
ROOM = ANSWER_LENGTH * 4 // 5
"""Characters after which a list of whole facts ends."""
_BESIDE = ANSWER_LENGTH * 3 // 10
"""Characters of a fact beside its body."""
_STEPS = ((20_000, 1_000), (4_000, 400), (1_000, 200), (200, 200), (60, 100), (20, 20), (10, 5))
"""Longest text and longest inner list, from what is tried first to what always fits."""
_AROUND = 4
"""Characters of JSON around a value: quotes, comma, brackets."""


def bounded(answer: Answer, limit: int = ANSWER_LENGTH) -> Answer:
    """The answer, or a shorter one with `truncated: true`; `items` keep their number."""
    if size_of(answer) <= limit:
        return answer
    cut = answer
    for text, items in _STEPS:
        cut = {key: _cut(value, text, items, key == "items") for key, value in answer.items()}
        if size_of(cut) <= limit:
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


def size_of(value: Json) -> int:
    """About how many characters its JSON has."""
    match value:
        case str():
            plain = value.isascii() and value.isprintable()
            return (len(value) if plain else len(json_text(value))) + _AROUND
        case list():
            return sum(map(size_of, value)) + _AROUND
        case dict():
            inner = (len(key) + _AROUND + size_of(item) for key, item in value.items())
            return sum(inner) + _AROUND
        case _:
            return 8


def cut_body(answer: Answer, start: int, length: int) -> Answer:
    """A fact with a part of its body; what is left out is said: `truncated` and `next`."""
    body = answer.get("body")
    if not isinstance(body, str):
        return answer
    rest = bounded({key: value for key, value in answer.items() if key != "body"}, _BESIDE)
    start = max(start, 0)
    part = body[start : start + max(1, min(length, MAX_BODY))]
    while size_of(part) > ROOM - _BESIDE:
        part = part[: len(part) // 2]
    end = start + len(part)
    shown: Answer = {**rest, "body": part}
    if len(part) < len(body):
        shown["body_length"] = len(body)
    return {**shown, "truncated": True, "next": str(end)} if end < len(body) else shown
