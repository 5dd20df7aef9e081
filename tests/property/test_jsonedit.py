"""Editing somebody's JSON: one member differs afterwards, every other byte is where it was."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syn.services.doors.jsonedit import JsonEditError, member_at, read, remove_member, set_member

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
_FILES = st.dictionaries(st.text(max_size=5), _VALUES, max_size=4)
_ENTRY = {"command": "syn", "args": ["mcp"]}
_PATH = ("mcpServers", "synapse")


def _written(value: object, indent: int | None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)  # noqa: TID251 - their file


@settings(max_examples=60, deadline=None)
@given(_FILES, st.sampled_from([None, 2, 4]))
def test_only_the_member_differs(value: dict[str, object], indent: int | None) -> None:
    text = _written(value, indent)
    if not isinstance(value.get("mcpServers", {}), dict):
        with pytest.raises(JsonEditError):
            set_member(text, _PATH, _ENTRY)
        return
    edited = set_member(text, _PATH, _ENTRY)
    servers = value.get("mcpServers", {})
    assert isinstance(servers, dict)
    assert json.loads(edited) == {**value, "mcpServers": {**servers, "synapse": _ENTRY}}
    assert set_member(edited, _PATH, _ENTRY) == edited


@settings(max_examples=60, deadline=None)
@given(_FILES.filter(lambda v: isinstance(v.get("mcpServers", {}), dict)), st.sampled_from([2, 4]))
def test_taking_it_out_again_gives_the_value_back(value: dict[str, object], indent: int) -> None:
    value.setdefault("mcpServers", {"other": {"command": "x"}})
    servers = value["mcpServers"]
    assert isinstance(servers, dict)
    servers.pop("synapse", None)
    text = _written(value, indent)
    edited = remove_member(set_member(text, _PATH, _ENTRY), _PATH)
    assert json.loads(edited) == value
    if servers:
        assert edited == text


def test_comments_and_commas_stay_where_they_are() -> None:
    text = (
        '// my servers\n{\n\t"mcpServers": {\n\t\t"a": {"x": 1}, // the first\n'
        '\t\t/* a block */\n\t},\n\t"z": [1, 2,], // last\n}\n'
    )
    edited = set_member(text, _PATH, _ENTRY)
    lines, before = edited.splitlines(), text.splitlines()
    assert [line for line in before if line not in lines] == []
    assert member_at(edited, _PATH) == _ENTRY
    assert remove_member(edited, _PATH) == text


def test_an_empty_file_becomes_an_object() -> None:
    assert read(set_member("", _PATH, _ENTRY)) == {"mcpServers": {"synapse": _ENTRY}}


def test_crlf_and_a_bom_stay() -> None:
    text = '\ufeff{\r\n  "a": 1\r\n}\r\n'
    edited = set_member(text, ("b",), 2)
    assert edited == '\ufeff{\r\n  "a": 1,\r\n  "b": 2\r\n}\r\n'
    assert remove_member(edited, ("b",)) == text


@pytest.mark.parametrize("text", ["{", "[]", "nope", '{"a": }', '{"mcpServers": []}', "[" * 9000])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(JsonEditError):
        set_member(text, _PATH, _ENTRY)
