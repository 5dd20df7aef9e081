"""Faults of other memory servers, from public reports: big answers, dates, odd arguments (M)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from syn.services.recall.bounds import ANSWER_LENGTH
from tests.support.agent import Agent, agent
from tests.support.cases import case
from tests.support.cli import syn
from tests.support.workspaces import Place, adopt_all, make_workspace

MANY = 400
LONG = "wörd 🌍 " * 40_000


def _facts() -> dict[str, str]:
    many = {
        f"facts/m{n:03}.md": f"---\nid: m{n:03}\ntitle: Note {n} {'x' * 300}\n---\nmany\n"
        for n in range(MANY)
    }
    return {
        **many,
        "facts/long.md": f"---\nid: long\ntitle: Long\n---\n{LONG}\n",
        "facts/title.md": f"---\nid: title\ntitle: {'T' * 200_000}\nkind: huge\n---\nword\n",
        "facts/tags.md": f"---\nid: tags\ntags: [{', '.join(map(str, range(20_000)))}]\n---\nB\n",
        "facts/dates.md": (
            "---\nid: dates\ncreated: 2026-05-24\nwhen: 2026-05-24T10:00:00Z\nat: 12:30\n"
            "big: 12345678901234567890\nsmall: 1.10\nyes: no\nnone: null\nlist: [2026-01-01, 007]\n"
            "---\nBody\n"
        ),
        "facts/tag.md": '---\nid: tag\ntags: [a, b]\nstart: 11:45\npet: "goat"\n---\nBody\n',
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return make_workspace(tmp_path_factory.mktemp("cases"), _facts())


@pytest.fixture(scope="module")
def asked(place: Place) -> Iterator[Agent]:
    with agent(place) as found:
        yield found


def _length(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))  # noqa: TID251 - measured, not compared


def test_answers_are_bounded_and_the_cursor_reaches_the_rest(asked: Agent) -> None:
    found: list[str] = []
    cursor = ""
    while True:
        page = asked.read("search", words="many", limit=1000, cursor=cursor)
        assert len(page["items"]) <= 200
        assert _length(page) <= ANSWER_LENGTH * 1.1
        assert page["total"] == MANY
        found += [item["id"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert len(found) == len(set(found)) == MANY


def test_a_long_body_is_cut_between_characters_and_can_be_read_on(asked: Agent) -> None:
    parts = []
    start = "0"
    while start:
        page = asked.read("show", id="long", start=start, length=10**9)
        assert _length(page) <= ANSWER_LENGTH * 1.1
        parts.append(page["body"])
        start = page.get("next", "")
        assert page.get("truncated", False) is bool(start)
    assert "".join(parts) == f"{LONG}\n"
    assert len(parts) > 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("show", {"id": "title"}),
        ("show", {"id": "tags"}),
        ("list", {"limit": 10**6}),
        ("list", {"limit": 200, "full": True}),
        ("get", {"ids": ["title", "tags", "long"] * 50}),
        ("counts", {}),
        ("overview", {}),
        ("log", {"limit": 10**6}),
    ],
)
def test_nothing_is_longer_than_a_client_takes(
    asked: Agent, tool: str, arguments: dict[str, object]
) -> None:
    answer = asked.read(tool, **arguments)
    assert _length(answer) <= ANSWER_LENGTH * 1.1
    whole = (
        "items" in answer and answer.get("next") is None and len(answer["items"]) == answer["total"]
    )
    assert answer.get("truncated") or answer.get("next") or whole or tool in ("counts", "overview")


def test_values_leave_as_they_are_written(asked: Agent) -> None:
    fields = asked.read("show", id="dates")["fields"]
    assert fields == {
        "id": "dates",
        "created": "2026-05-24",
        "when": "2026-05-24T10:00:00Z",
        "at": "12:30",
        "big": "12345678901234567890",
        "small": "1.10",
        "yes": "no",
        "none": None,
        "list": ["2026-01-01", "007"],
    }


@pytest.mark.parametrize(
    ("tool", "arguments", "same_as"),
    [
        ("list", {"limit": "3"}, {"limit": 3}),
        ("list", {"limit": 3.0}, {"limit": 3}),
        ("list", {"full": "true", "limit": "2"}, {"full": True, "limit": 2}),
        ("get", {"ids": '["tag", "dates"]'}, {"ids": ["tag", "dates"]}),
        ("get", {"ids": "tag"}, {"ids": ["tag"]}),
        ("get", {"ids": ["tag"], "fields": '["title"]'}, {"ids": ["tag"], "fields": ["title"]}),
        ("list", {"limit": None}, {}),
        ("show", {"id": "tag", "start": " 1 "}, {"id": "tag", "start": 1}),
    ],
)
def test_what_can_be_meant_in_one_way_is_taken(
    asked: Agent, tool: str, arguments: dict[str, object], same_as: dict[str, object]
) -> None:
    assert asked.read(tool, **arguments) == asked.read(tool, **same_as)


@pytest.mark.parametrize(
    ("tool", "arguments", "form"),
    [
        ("get", {"ids": "tag, dates"}, '["a", "b"]'),
        ("get", {"ids": "tag dates"}, '["a", "b"]'),
        ("get", {"ids": "[tag, dates]"}, '["a", "b"]'),
        ("get", {"ids": {"a": 1}}, '["a", "b"]'),
        ("get", {"ids": [["tag"]]}, '["a", "b"]'),
        ("list", {"limit": "many"}, "whole number"),
        ("list", {"limit": 2.5}, "whole number"),
        ("list", {"limit": True}, "whole number"),
        ("list", {"full": "perhaps"}, "true or false"),
        ("list", {"full": 1}, "true or false"),
        ("propose", {"title": "T", "tags": "a,b"}, '["a", "b"]'),
        ("propose", {"title": ["T"]}, "text"),
        ("show", {"id": "tag", "ident": "x"}, "one of: id"),
        ("show", {}, "text"),
    ],
)
def test_the_rest_is_refused_with_the_form(
    asked: Agent, tool: str, arguments: dict[str, object], form: str
) -> None:
    result = asked.call(tool, **arguments)
    assert result["isError"], result
    error = result["structuredContent"]["error"]
    assert error["code"] == "argument"
    assert form in error["message"] + error["remedy"]


def test_an_accepted_edit_changes_one_line(place: Place, asked: Agent) -> None:
    before = (place.root / "facts" / "tag.md").read_text().splitlines()
    proposed = asked.read("propose_edit", id="tag", status="done")
    assert syn(place, "pending", "accept", proposed["id"], "--yes").status == 0
    after = (place.root / "facts" / "tag.md").read_text().splitlines()
    assert [line for line in after if line not in before] == ["status: done"]
    assert [line for line in before if line not in after] == []
    shown = asked.read("show", id="tag")
    assert (shown["status"], shown["fields"]["start"], shown["fields"]["pet"]) == (
        "done",
        "11:45",
        "goat",
    )


@pytest.mark.parametrize("name", ["M01", "M02", "M04", "M05", "M07"])
def test_the_shared_cases(tmp_path: Path, name: str) -> None:
    found = case(name)
    place = make_workspace(
        tmp_path, {path: data.decode() for path, data in found.files}, adopted=False
    )
    adopt_all(place)
    with agent(place) as asked:
        for item in asked.read("list")["items"]:
            shown = asked.read("show", id=item["id"])
            assert shown["record"] == "recorded"
            assert _length(shown) < ANSWER_LENGTH
            assert len(shown["body"]) == 20_000 or not shown.get("truncated")
        assert asked.leave() == 0
