"""Reading a file: total over any bytes, and a payload that only meaning changes."""

from hypothesis import given, settings
from hypothesis import strategies as st

from syn.canon.digest import tagged_json
from syn.canon.json import encode
from syn.facts.parse import parse
from syn.facts.payload import payload, payload_digest
from syn.facts.render import FieldValue, Quotes, render, render_key, render_text
from syn.model.config import Config, FactKeys
from syn.model.fact import Fact, Unreadable
from syn.model.payload import Lexical, Mapping, Value

CONFIG = Config("i", "n", relations=("up",))
MAPPED = Config("i", "n", keys=FactKeys((("id", "uid"), ("valid_from", "created"))))
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
SCALARS = TEXTS | st.builds(
    Lexical, st.sampled_from(("int", "float", "bool", "null")), st.text("019.~ex", max_size=5)
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(TEXTS, inner, max_size=3).map(lambda d: Mapping(tuple(d.items())))
    ),
    max_leaves=8,
)
FIELDS = st.dictionaries(TEXTS, VALUES, max_size=4).map(lambda d: Mapping(tuple(d.items())))
PIECES = (
    *(
        b"---\n",
        b"---",
        b"--- \n",
        b"\r\n",
        b"\n",
        b"\r",
        b"id: x\n",
        b"id: ",
        b"title: a\n",
        b"a: 1\n",
    ),
    *(b"valid_from: ", b"2026-01-01", b"tags: [a]\n", b"supersedes: ", b"up: b\n", b"source: "),
    *(
        b"{k: v}\n",
        b"[[x]]",
        b"# c",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\0",
        b"\x85",
        b"\xc2\x85",
        b"text",
    ),
    *(
        b"+++\n",
        b"...\n",
        b"<<<<<<< a\n",
        b"=======\n",
        b">>>>>>> b\n",
        b"'",
        b'"',
        b"\t",
        b"&a ",
        b"*a",
    ),
)
FILES = st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=16).map(b"".join)


@given(FILES | st.binary(max_size=200), st.sampled_from((CONFIG, MAPPED)))
@settings(max_examples=300, deadline=None)
def test_any_bytes_give_a_fact_or_problems(data: bytes, config: Config) -> None:
    parsed = parse("facts/a.md", data, config)
    assert parsed == parse("facts/a.md", data, config)
    found = parsed.problems if isinstance(parsed, Unreadable) else parsed.warnings
    assert found or isinstance(parsed, Fact)
    lines = data.count(b"\n") + 1
    for problem in found:
        assert problem.path == "facts/a.md"
        assert 1 <= problem.line <= lines + 1
        assert problem.code
        assert problem.remedy
        assert problem.message.isprintable()
    if isinstance(parsed, Fact):
        assert parsed.id
        assert parsed.title
        assert data.endswith(parsed.body.encode())
        assert 1 <= parsed.body_line <= lines
        assert all(1 <= link.line <= lines and link.target for link in parsed.links)


@given(FIELDS, TEXTS)
@settings(max_examples=120, deadline=None)
def test_the_payload_is_canonical_json(fields: Mapping, body: str) -> None:
    value = {"fields": tree(fields), "body": body.replace("\r\n", "\n")}
    assert payload(fields, body) == encode(value)
    assert payload_digest(fields, body) == tagged_json("payload/1", value)


def tree(value: Value) -> object:
    match value:
        case str():
            return value
        case Lexical(type=kind, text=text):
            return {"t": kind, "v": text}
        case Mapping(items=items):
            pairs = [[key, tree(inner)] for key, inner in items]
            return {"m": sorted(pairs, key=lambda pair: str(pair[0]).encode())}
        case _:
            return [tree(inner) for inner in value]


QUOTES: tuple[Quotes, ...] = ("", "'", '"')
NAMES = st.sampled_from(("id", "title", "a", "no", "é", "x y", "12"))
WRITTEN = st.text("abz019 :#-'\"[]{},é\u2028\U0001f600", min_size=1, max_size=8)


@given(st.dictionaries(NAMES, WRITTEN, max_size=5), st.data())
@settings(max_examples=80, deadline=None)
def test_another_spelling_of_the_same_has_the_same_payload(
    fields: dict[str, str], data: st.DataObject
) -> None:
    items = data.draw(st.permutations(sorted(fields.items())))
    body = data.draw(st.sampled_from(("", "B\n", "a\n\nb")))
    plain: list[tuple[str, FieldValue]] = list(fields.items())
    one = parse("a.md", render(plain, body), CONFIG)
    lines = []
    for key, value in items:
        lines.append(data.draw(st.sampled_from(("", "# why\n", "\n"))))
        quotes = data.draw(st.sampled_from(QUOTES))
        lines.append(f"{render_key(key)}:  {render_text(value, quotes)}  # {key}\n")
    text = f"---\n{''.join(lines)}---\n{body}".replace("\n", "\r\n")
    other = parse("a.md", b"\xef\xbb\xbf" + text.encode(), CONFIG)
    if isinstance(one, Unreadable) or isinstance(other, Unreadable):
        assert isinstance(one, Unreadable) is isinstance(other, Unreadable)
        return
    assert one.payload_digest == other.payload_digest
    assert one.source_digest != other.source_digest


@given(FIELDS, FIELDS, TEXTS, TEXTS)
@settings(max_examples=80, deadline=None)
def test_two_payloads_are_equal_only_when_they_say_the_same(
    one: Mapping, other: Mapping, body: str, other_body: str
) -> None:
    same = tree(one) == tree(other) and fold(body) == fold(other_body)
    assert (payload_digest(one, body) == payload_digest(other, other_body)) is same


def fold(body: str) -> str:
    return body.replace("\r\n", "\n")
