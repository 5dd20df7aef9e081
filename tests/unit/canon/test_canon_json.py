"""Canonical JSON: one spelling per value, and nothing without a spelling."""

import pytest

from syn.canon import json
from syn.canon.json import CanonError
from syn.errors import Cause


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"b": 1, "a": [True, False, None, "é"]}, '{"a":[true,false,null,"é"],"b":1}'),
        ({"B": 1, "a": 2, "_": 3}, '{"B":1,"_":3,"a":2}'),
        ((1, (2,)), "[1,[2]]"),
        ('\u2028\x7f\x1f"\\/', '"\u2028\x7f\\u001f\\"\\\\/"'),
        (2**53 - 1, "9007199254740991"),
        (-(2**53) + 1, "-9007199254740991"),
        ({}, "{}"),
    ],
)
def test_encode(value: object, expected: str) -> None:
    assert json.encode(value) == expected.encode()
    assert json.encode(json.decode(expected.encode())) == expected.encode()


@pytest.mark.parametrize(
    "value",
    [1.0, 2**53, -(2**53), {"é": 1}, {1: 2}, "\ud800", ["\udfff"], b"x", {1}, object(), range(3)],
)
def test_encode_refuses_what_has_no_canonical_form(value: object) -> None:
    with pytest.raises(CanonError):
        json.encode(value)


def test_nesting_is_bounded_at_64_levels() -> None:
    deep: object = 1
    for _ in range(json.MAX_DEPTH):
        deep = [deep]
    assert json.encode(deep).startswith(b"[[[")
    for deeper in ([deep], {"a": deep}):
        with pytest.raises(CanonError, match="64 levels"):
            json.encode(deeper)
    for _ in range(json.MAX_DEPTH):
        deep = {"a": deep} if isinstance(deep, dict) else {}
    assert json.encode(deep).startswith(b'{"a":{')
    with pytest.raises(CanonError, match="64 levels"):
        json.encode({"a": {"a": deep}})


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '{"b":1,"a":2}',
        '{"a":1,"a":1}',
        '{"a":{"b":1,"b":2}}',
        '"\\u0061"',
        '"\\/"',
        '"\\u001F"',
        "1.0",
        "1e3",
        "-0",
        "01",
        "NaN",
        "Infinity",
        "-Infinity",
        "9007199254740992",
        pytest.param("1" * 5000, id="5000 digits"),
        '"\\ud800"',
        '{"é":1}',
        "{}\n",
        " {}",
        "\ufeff{}",
        "{} {}",
        "",
        "[1,]",
        "'a'",
        pytest.param("[" * 100_000, id="deep and open"),
        pytest.param("[" * 100 + "]" * 100, id="deep"),
    ],
)
def test_decode_refuses_every_other_spelling(text: str) -> None:
    with pytest.raises(CanonError) as caught:
        json.decode(text.encode("utf-8", "surrogatepass"))
    assert caught.value.code == "not-canonical"
    assert caught.value.cause is Cause.CANNOT


@pytest.mark.parametrize("data", [b"\xff", b'"\xc0\x80"', b'"\xed\xa0\x80"', b"\x00"])
def test_decode_refuses_bytes_that_are_not_utf8_json(data: bytes) -> None:
    with pytest.raises(CanonError):
        json.decode(data)


@pytest.mark.parametrize("text", ['{"a": 1, "é": "x"}', '"\\u0061"', " [1] ", '"\\ud83d\\ude00"'])
def test_parse_takes_other_spellings(text: str) -> None:
    assert json.parse(text.encode()) is not None


@pytest.mark.parametrize(
    "text",
    ['{"a":1,"a":2}', "1.5", "NaN", '"\\ud800"', '{"\\udc00":1}', '[{"a":["\\uDFFF"]}]', "x"],
)
def test_parse_refuses_what_readers_disagree_on(text: str) -> None:
    with pytest.raises(CanonError):
        json.parse(text.encode())


def test_an_answer_may_have_any_key_and_nothing_else_that_has_no_form() -> None:
    assert json.render({"é": [1, {"b": None, "a": "ü"}]}) == '{"é":[1,{"a":"ü","b":null}]}'
    assert json.render({"a": 1}).encode() == json.encode({"a": 1})
    for value in (1.5, {"a": float("nan")}, {"a": "\ud800"}, {"\ud800": 1}, [2**53]):
        with pytest.raises(CanonError):
            json.render(value)
