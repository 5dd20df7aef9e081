"""The line-preserving editor: whatever the file, only what was asked changes."""

import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from syn.facts.edit import EditError, set_fields
from syn.facts.parse import parse
from syn.facts.render import FieldValue, render
from syn.model.config import Config
from syn.model.fact import Fact
from syn.model.payload import Lexical, Mapping

CONFIG = Config("i", "n")
KEYS = ("a", "bee", "c_3", "no", "x-d", "é", "two words", "12")
EASY = st.text("abz019 :#-'\"[]{},&*!|>%@`\\/=~.\t\né\u2028\x85\ufeff\U0001f600", max_size=12)
ANY = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)
TEXTS = EASY | ANY | st.sampled_from(("no", "1.10", "2026-01-01", "~", "[[x]]", "", " x ", "---"))
LEXICALS = st.builds(Lexical, st.just("int"), st.integers(-5, 10**30).map(str)) | st.sampled_from(
    (Lexical("null", ""), Lexical("null", "~"), Lexical("bool", "True"), Lexical("float", "1e3"))
)
SCALARS = TEXTS | LEXICALS
VALUES: st.SearchStrategy[FieldValue] = (
    SCALARS
    | st.lists(SCALARS, max_size=4).map(tuple)
    | st.dictionaries(st.sampled_from(KEYS), SCALARS, max_size=3).map(
        lambda items: Mapping(tuple(items.items()))
    )
)
FIELDS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5)
CHANGES = st.dictionaries(st.sampled_from(KEYS), VALUES | st.none(), max_size=3)
# One key each, in the many ways that people write them.
CHUNKS = {
    "a": ("a: x\n", "a: 'x' # why\n", "a:\n", "a: |\n  x\n\n  y\n\n", "a: >-  # why\n  x\n  y\n"),
    "bee": ("bee: [1, x]\n", "bee:\n- 1\n- x # x\n", "bee:\n  - 1\n\n  # of x\n  - x\n"),
    "c_3": (
        "c_3: {k: v}\n",
        "c_3:\n  k: v\n  # l\n  l:\n    - 1\n",
        "c_3: # why\n    k: [x,\n    y]\n",
    ),
    "no": ("no: on\n", '"no" : "12:30" \n', "? no\n: x y\n   z\n", "no:\tx\n"),
    "x-d": ("x-d: [[Some note]]\n", "x-d:\n  - [[A]]\n  - '[[B]]'\n", "x-d: x#y\n"),
}
NOISE = ("", "", "# about the next key\n", "\n", " # one column in\n\n")


@st.composite
def files(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Front matter as pieces: the key and its lines, or "" and lines that belong to none."""
    keys = draw(st.permutations(sorted(CHUNKS)))[: draw(st.integers(0, 5))]
    pieces = []
    for key in keys:
        pieces.append(("", draw(st.sampled_from(NOISE))))
        pieces.append((key, draw(st.sampled_from(CHUNKS[key]))))
    return [*pieces, ("", draw(st.sampled_from(NOISE)))]


def fact_of(data: bytes) -> Fact:
    fact = parse("a.md", data, CONFIG)
    assert isinstance(fact, Fact), fact
    return fact


def assemble(pieces: list[tuple[str, str]], *, crlf: bool, mark: bool) -> bytes:
    text = f"---\n{''.join(text for _, text in pieces)}---\nBody\n\n  more  \n"
    data = text.replace("\n", "\r\n" if crlf else "\n").encode()
    return b"\xef\xbb\xbf" + data if mark else data


def holds_empty_null(value: FieldValue | None) -> bool:
    match value:
        case tuple():
            return any(inner == Lexical("null", "") or holds_empty_null(inner) for inner in value)
        case Mapping(items=items):
            return holds_empty_null(tuple(inner for _, inner in items))
        case _:
            return False


@given(files(), CHANGES, st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_an_edit_says_what_was_asked_and_leaves_the_rest(
    pieces: list[tuple[str, str]],
    changes: dict[str, FieldValue | None],
    crlf: bool,
    mark: bool,
) -> None:
    data = assemble(pieces, crlf=crlf, mark=mark)
    before = fact_of(data)
    try:
        result = set_fields(data, changes)
    except EditError:
        # the one value that a flow collection cannot spell
        assert any(holds_empty_null(value) for value in changes.values())
        return
    after = fact_of(result)
    old = dict(before.fields.items)
    asked = {**old, **changes}
    assert dict(after.fields.items) == {k: v for k, v in asked.items() if v is not None}
    assert after.body == before.body
    changed = {key for key, value in changes.items() if old.get(key) != value}
    if not changed:
        assert result == data
    # every piece that is not a changed key stands in the result, in its order
    position = 0
    for key, text in pieces:
        if key not in changed:
            lines = text.replace("\n", "\r\n").encode() if crlf else text.encode()
            found = result.find(lines, position)
            assert found >= 0, (text, result)
            position = found + len(lines)
    assert result.startswith(b"\xef\xbb\xbf") is mark
    assert (b"\n" in result.replace(b"\r\n", b"")) is not crlf


@given(files(), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_writing_back_what_was_read_changes_no_byte(
    pieces: list[tuple[str, str]], crlf: bool, mark: bool
) -> None:
    data = assemble(pieces, crlf=crlf, mark=mark)
    fact = fact_of(data)
    assert set_fields(data, dict(fact.fields.items), fact.body) == data


@given(st.sampled_from(sorted(CHUNKS)), TEXTS)
@settings(max_examples=100, deadline=None)
def test_a_one_line_value_is_a_one_line_change(key: str, value: str) -> None:
    pieces = [(name, chunks[0]) for name, chunks in CHUNKS.items()]
    data = assemble(pieces, crlf=False, mark=False)
    result = set_fields(data, {key: value})
    before, after = data.split(b"\n"), result.split(b"\n")
    assert len(before) == len(after)
    assert sum(one != other for one, other in zip(before, after, strict=True)) <= 1


@given(FIELDS, EASY)
@settings(max_examples=80, deadline=None)
def test_what_is_rendered_is_read_the_same_by_every_reader(
    fields: dict[str, FieldValue], body: str
) -> None:
    data = render(list(fields.items()), body)
    fact = parse("a.md", data, CONFIG)
    assume(isinstance(fact, Fact))
    assert isinstance(fact, Fact)
    assert fact.fields == Mapping(tuple(fields.items()))
    assert fact.body == body
    # YAML 1.1, as PyYAML reads it, agrees on every text
    front = data.decode().split("---\n", 2)[1] if "---\n" not in body else ""
    other = yaml.safe_load(front) or {}
    for key, value in other.items():
        assert isinstance(key, str)
        if isinstance(fields[key], str):
            assert value == fields[key]


@given(st.dictionaries(st.sampled_from(KEYS), TEXTS, min_size=1, max_size=5))
@settings(max_examples=80, deadline=None)
def test_text_is_never_refused_for_its_spelling(fields: dict[str, str]) -> None:
    data = set_fields(b"---\n# mine\n---\nBody\n", fields)
    assert dict(fact_of(data).fields.items) == fields
