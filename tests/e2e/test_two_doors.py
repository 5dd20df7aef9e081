"""INV-6: the command line, the tools and the services give the same answer to every read.

The test walks the definitions that both doors are made from, so a new read is covered by being
defined. Workspaces are generated: hostile text, hand edits, quarantine, taint, waiting proposals.
"""

import random  # noqa: TID251 - seeded: every run asks the same
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syn.errors import SynError
from syn.services.doors.operation import Operation, Parameter
from syn.services.doors.operations import FACT_MEMBERS, operation, operations
from syn.services.proving.checking import MAX_FINDINGS
from syn.services.recall.graph import MAX_DEPTH
from syn.services.recall.reads import MAX_ITEMS, open_reader
from tests.support.agent import Agent, agent
from tests.support.cli import syn
from tests.support.inside import done, inside
from tests.support.workspaces import Place, make_workspace

READS = [found for found in operations() if found.kind == "read"]
WORDS = ("alpha", "Größe", "重さ", "NEAR", '"', "--", "a*", "\u202e", "team-a", "🌍")
IDS = ("f0", "f1", "f2", "f3", "f4", "f5", "größe", "nowhere")


def _text(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randrange(1, 5)))


def _fact(chance: random.Random, name: str) -> str:
    quoted = _text(chance).replace("\\", "").replace('"', '\\"')
    lines = ["---", f"id: {name}", f'title: "{quoted}"']
    if chance.random() < 0.5:
        lines += [f"type: {chance.choice(['note', 'decision'])}", "status: open"]
    if chance.random() < 0.5:
        lines += ["subject: s", f"field: {name}", f"value: v{chance.randrange(3)}"]
        lines += [f"valid_from: 2026-0{chance.randrange(1, 9)}-01"]
    if chance.random() < 0.4:
        lines += ["source:", "  kind: web", "  url: https://x.example"]
    if chance.random() < 0.3:
        lines += [f"supersedes: {chance.choice(IDS)}"]
    lines += [f"tags: [{chance.choice(['a', 'b'])}, c]", "when: 2026-05-24", "---"]
    links = " ".join(f"[[{chance.choice(IDS)}]]" for _ in range(chance.randrange(3)))
    return "\n".join([*lines, _text(chance), links, "x" * chance.choice([0, 30_000]), ""])


def _workspace(folder: Path, seed: int) -> Place:
    chance = random.Random(seed)
    facts = {f"facts/{name}.md": _fact(chance, name) for name in IDS[:-1]}
    place = make_workspace(folder, facts)
    done(place, "quarantine", "f1", "-m", "doubtful")
    done(place, "propose", "--title", "Waiting", "--body", "text")
    with (place.root / "facts" / "f2.md").open("a") as file:
        file.write("edited by hand\n")
    (place.root / "facts" / "f3.md").write_text("---\nid: f3\nid: again\n---\n")
    (place.root / "facts" / "f4.md").unlink()
    (place.root / "facts" / "new.md").write_text("---\nid: new\n---\n")
    return place


@pytest.fixture(scope="module", params=range(2))
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    return _workspace(tmp_path_factory.mktemp(f"doors{request.param}"), request.param)


@pytest.fixture(scope="module")
def asked(place: Place) -> Iterator[Agent]:
    with agent(place) as found:
        yield found


def _value(chance: random.Random, parameter: Parameter, place: Place) -> Any:
    if parameter.name in ("id", "fact", "to") and parameter.type is str:
        return chance.choice([*IDS, "facts/f0.md"])
    if parameter.name == "ids":
        return [chance.choice(IDS) for _ in range(3)]
    choices: dict[str, list[Any]] = {
        "words": [[_text(chance)]],
        "cursor": ["", "bad"],
        "as_of": ["2026-04-15", "2026-05-01T00:00:00Z", "yesterday"],
        "known_at": ["2026-11-30T12:00:00Z", "2020-01-01"],
        "ref": ["HEAD", "nowhere"],
        "type": ["note", "decision"],
        "fields": [["title"], ["body", "value"]],
        "under": ["facts", "nowhere"],
    }
    if parameter.name in choices:
        return chance.choice(choices[parameter.name])
    if parameter.type is int:
        return chance.choice([0, 1, 2, 500])
    return True if parameter.type is bool else chance.choice(["a", "open", "s", "f0"])


def _calls(operation: Operation, place: Place, waiting: str) -> Iterator[dict[str, Any]]:
    """The least that can be asked, then more and more of the parameters."""
    chance = random.Random(operation.name)
    parameters = operation.parameters()
    for share in (0.0, 0.2, 0.5, 0.5, 0.8, 1.0):
        asked = {
            p.name: _value(chance, p, place)
            for p in parameters
            if p.required or chance.random() < share
        }
        if operation.name == "pending-show":
            asked["id"] = waiting
        yield asked
        if not parameters:
            return


def _command(operation: Operation, asked: dict[str, Any]) -> list[str]:
    words = operation.name.split("-", 1)
    last: list[str] = []
    for parameter in operation.parameters():
        value = asked.get(parameter.name)
        if value is None:
            continue
        if parameter.positional:
            last += value if isinstance(value, list) else [value]
        elif parameter.type is bool:
            words += [f"--{parameter.name.replace('_', '-')}"] * value
        else:
            for item in value if isinstance(value, list) else [value]:
                words += [f"--{parameter.name.replace('_', '-')}={item}"]
    return [*words, "--json", "--", *last] if last else [*words, "--json"]


def _tool_arguments(operation: Operation, asked: dict[str, Any]) -> dict[str, Any]:
    joined = {p.name for p in operation.parameters() if p.joined}
    return {k: " ".join(v) if k in joined else v for k, v in asked.items()}


def _direct(operation: Operation, asked: dict[str, Any], place: Place) -> Any:
    values = {p.name: p.default for p in operation.parameters() if not p.required} | asked
    workspace = place.open()
    try:
        if operation.needs == "workspace":
            return operation.answer(workspace, **values)
        reader = open_reader(workspace, lambda _: None, "agent")
        with reader.index:
            return operation.answer(reader, **values)
    except SynError as error:
        found = {"code": error.code, "message": error.message, "remedy": error.remedy}
        return {"error": found}


def _comparable(operation: Operation, answer: Any) -> Any:
    """A report without its signature: an agent's is not signed."""
    if operation.name == "verify" and "subject" in answer:
        return {**answer, "sig": None, "public_key": None}
    return answer


@pytest.mark.parametrize("operation", READS, ids=lambda found: found.name)
def test_every_read_is_answered_alike(operation: Operation, place: Place, asked: Agent) -> None:
    waiting = done(place, "pending", "list", "--json").json["items"][0]["id"]
    for given in _calls(operation, place, waiting):
        if operation.name == "verify" and "limit" in given:
            continue
        direct = _comparable(operation, _direct(operation, given, place))
        tool = operation.name.replace("-", "_")
        told = asked.call(tool, **_tool_arguments(operation, given))["structuredContent"]
        assert _comparable(operation, told) == direct, given
        ran = inside(place, "--as", "agent", *_command(operation, given))
        assert _comparable(operation, ran.json) == direct, given


def test_a_process_of_its_own_answers_the_same(place: Place, asked: Agent) -> None:
    for words, tool, given in (
        (("search", "alpha"), "search", {"words": "alpha"}),
        (("show", "f0"), "show", {"id": "f0"}),
        (("list", "--full", "--limit=2"), "list", {"full": True, "limit": 2}),
    ):
        ran = syn(place, "--as", "agent", *words, "--json")
        assert ran.json == asked.call(tool, **given)["structuredContent"]


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("list", {"limit": 0}, "limit: expected 1 to 200, got 0"),
        ("search", {"words": ["alpha"], "limit": -1}, "limit: expected 1 to 200, got -1"),
        ("log", {"limit": 0}, "limit: expected 1 to 200, got 0"),
        ("diff", {"limit": 0}, "limit: expected 1 to 200, got 0"),
        ("graph", {"id": "f0", "depth": -1}, "depth: expected 1 to 5, got -1"),
        ("graph", {"id": "f0", "limit": 0}, "limit: expected 1 to 200, got 0"),
        ("show", {"id": "f0", "length": 0}, "length: expected 1 or more, got 0"),
        ("show", {"id": "f0", "start": -1}, "start: expected 0 or more, got -1"),
    ],
)
def test_a_number_that_is_too_small_is_refused_by_both(
    place: Place, asked: Agent, name: str, given: dict[str, Any], message: str
) -> None:
    found = operation(name)
    told = asked.call(name, **_tool_arguments(found, given))
    assert told["isError"]
    error = told["structuredContent"]["error"]
    assert error["message"] == message
    ran = inside(place, *_command(found, given))
    assert (ran.status, ran.json["error"]) == (2, error)


@pytest.mark.parametrize(
    ("name", "given", "capped"),
    [
        ("list", {"limit": 5000}, {"limit": 200}),
        ("search", {"words": ["alpha"], "limit": 201}, {"limit": 200}),
        ("graph", {"id": "f0", "depth": 6, "limit": 9999}, {"depth": 5, "limit": 200}),
        ("log", {"limit": 200}, None),
    ],
)
def test_a_number_that_is_too_great_is_answered_and_told_by_both(
    place: Place, asked: Agent, name: str, given: dict[str, Any], capped: dict[str, int] | None
) -> None:
    found = operation(name)
    told = asked.read(name, **_tool_arguments(found, given))
    assert told.get("capped") == capped
    assert inside(place, "--as", "agent", *_command(found, given)).json == told
    words = [word for word in _command(found, given) if word != "--json"]
    said = inside(place, *words).err
    assert ("limit: at most 200 at once" in said) == (capped is not None)


def test_bounds_are_those_of_what_answers(asked: Agent) -> None:
    tools = {tool["name"]: tool for tool in asked.ask("tools/list")["result"]["tools"]}
    for name, parameter, least, most in (
        ("verify", "limit", 0, MAX_FINDINGS),
        ("graph", "depth", 1, MAX_DEPTH),
        ("list", "limit", 1, MAX_ITEMS),
    ):
        assert tools[name]["inputSchema"]["properties"][parameter]["minimum"] == least
        (found,) = [p for p in operation(name).parameters() if p.name == parameter]
        assert (found.least, found.most) == (least, most)
        assert f"{least} to {most}." in found.help
    assert len(asked.read("list", limit=1)["items"]) == 1
    assert asked.read("list", limit=MAX_ITEMS)["next"] is None


def test_a_person_is_shown_more_and_it_is_marked(place: Place, asked: Agent) -> None:
    for name, record in (("f1", "quarantined"), ("f2", "unrecorded")):
        assert "withheld" in asked.read("show", id=name)
        shown = done(place, "show", name, "--json").json
        assert shown["record"] == record


def test_every_read_is_a_command_and_a_tool(asked: Agent) -> None:
    tools = {tool["name"] for tool in asked.ask("tools/list")["result"]["tools"]}
    assert {found.name.replace("-", "_") for found in operations()} == tools


def test_a_member_that_no_answer_has_is_refused_by_both(place: Place, asked: Agent) -> None:
    error = asked.call("get", ids=["f0"], fields=["titel"])["structuredContent"]["error"]
    assert (error["code"], error["message"]) == (
        "unknown-member",
        "fields: no answer has 'titel'",
    )
    assert error["remedy"].startswith("did you mean title")
    ran = inside(place, "get", "f0", "--fields", "titel", "--json")
    assert (ran.status, ran.json["error"]) == (2, error)
    assert "fields has the front matter" in inside(place, "get", "f0", "--fields", "x7").err


def test_every_member_of_a_fact_can_be_asked_for(place: Place) -> None:
    reader = open_reader(place.open(), lambda _: None)
    with reader.index:
        facts = operation("list").answer(reader, full=True, limit=200)["items"]
    assert isinstance(facts, list)
    found = {name for fact in facts if isinstance(fact, dict) for name in fact}
    assert {"links", "tags"} <= found
    assert found <= set(FACT_MEMBERS)
