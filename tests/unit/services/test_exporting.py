"""`syn export`: what checks and was decided on, in the same bytes each time; never over a file."""

import json
from pathlib import Path

import pytest

from tests.support.cli import syn
from tests.support.inside import done, inside
from tests.support.workspaces import Place, make_workspace


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


@pytest.mark.parametrize("form", ["json", "ndjson", "markdown", "mcp-memory"])
def test_the_same_facts_give_the_same_bytes_to_a_file_and_to_stdout(
    place: Place, form: str
) -> None:
    first = syn(place, "export", form)
    assert (first.status, "4 facts exported" in first.err) == (0, True)
    out = place.root.parent / "out"
    done(place, "export", form, "--output", str(out))
    assert out.read_text() == first.out
    assert syn(place, "export", form, env={"PYTHONHASHSEED": "7"}).out == first.out


def test_json_holds_every_fact_whole(place: Place) -> None:
    answer = inside(place, "export", "json").json
    assert answer["schema"] == "synapse.export/1"
    assert [fact["id"] for fact in answer["facts"]] == [
        "limit",
        "owner-1",
        "owner-2",
        "facts/plain",
    ]
    assert answer["facts"][1]["superseded_by"] == ["owner-2"]
    lines = inside(place, "export", "ndjson", "--tag", "money").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["limit"]
    assert (
        inside(place, "export", "json", "--as-of", "2025-06-01", "--under", "facts/").json["total"]
        == 3
    )


def test_what_does_not_check_or_nobody_decided_on_is_named_and_left_out(place: Place) -> None:
    (place.root / "facts/limit.md").write_text("---\nid: limit\n---\nOther.\n")
    (place.root / "facts/plain.md").unlink()
    ran = inside(place, "export", "json")
    assert ran.status == 1
    assert "withheld: limit (facts/limit.md)" in ran.err
    assert [fact["id"] for fact in ran.json["facts"]] == ["owner-1", "owner-2"]
    assert "limit" in [item["id"] for item in ran.json["withheld"]]


def test_quarantined_facts_come_only_when_asked_and_never_to_agents(place: Place) -> None:
    done(place, "quarantine", "limit", "-m", "doubtful")
    ran = inside(place, "export", "ndjson")
    assert (ran.status, ran.out.count("\n")) == (0, 3)
    assert "1 quarantined fact left out" in ran.err
    assert inside(place, "export", "ndjson", "--quarantined").out.count("\n") == 4
    assert inside(place, "--as", "agent", "export", "ndjson", "--quarantined").out.count("\n") == 3


def test_another_file_is_only_replaced_by_force(place: Place) -> None:
    out = place.root.parent / "out.json"
    out.write_text("mine")
    ran = inside(place, "export", "json", "-o", str(out))
    assert (ran.status, out.read_text()) == (1, "mine")
    assert "is there already" in ran.err
    done(place, "export", "json", "-o", str(out), "--force")
    done(place, "export", "json", "-o", str(out))
    assert out.read_text().startswith('{"facts"')
    assert inside(place, "export", "json", "-o", str(place.root)).status == 2
    assert inside(place, "export", "json", "-o", str(out.parent / "no" / "x")).status == 3
    assert inside(place, "export", "xml").status == 2


def test_markdown_into_a_folder_is_each_fact_byte_for_byte(place: Place) -> None:
    out = place.root.parent / "out"
    done(place, "export", "markdown", "-o", f"{out}/")
    for path in (place.root / "facts").iterdir():
        assert (out / "facts" / path.name).read_bytes() == path.read_bytes()
    (out / "facts/limit.md").write_text("mine")
    (out / "facts/plain.md").unlink()
    ran = inside(place, "export", "markdown", "-o", f"{out}/")
    assert (ran.status, (out / "facts/plain.md").exists()) == (1, False)
    done(place, "export", "markdown", "-o", f"{out}/", "--force")
    assert (out / "facts/limit.md").read_text() != "mine"
    (out / "facts/limit.md").unlink()
    (out / "facts/limit.md").symlink_to(place.root / "synapse.toml")
    assert inside(place, "export", "markdown", "-o", f"{out}/", "--force").status == 1
    assert "format" in (place.root / "synapse.toml").read_text()


def test_a_document_shows_text_as_text(tmp_path: Path) -> None:
    facts = {"facts/a.md": '---\ntitle: "<script>|x"\n---\nBody\n'}
    place = make_workspace(tmp_path, facts)
    assert "## &lt;script>\\|x" in inside(place, "export", "markdown").out


MEMORY = [
    {"type": "entity", "name": "Ada", "entityType": "", "observations": ["a", "- b\n\n  c", "  d"]},
    {"type": "entity", "name": "Größe [x]", "entityType": "o", "observations": [], "id": 7},
    {"type": "entity", "name": "a/b", "entityType": "o", "observations": ["x\ry", ""]},
    {"type": "relation", "from": "Ada", "to": "Größe [x]", "relationType": "works_at"},
    {"type": "relation", "from": "Ada", "to": "Nobody", "relationType": "type"},
    {"type": "relation", "from": "a/b", "to": "Ada", "relationType": "knows"},
]


def _set(text: str) -> set[str]:
    return {json.dumps(json.loads(line), sort_keys=True) for line in text.splitlines()}  # noqa: TID251 - only compared


def test_the_memory_servers_file_comes_back_as_it_was(tmp_path: Path) -> None:
    text = "".join(f"{json.dumps(line)}\n" for line in MEMORY)  # noqa: TID251 - somebody else's
    source = tmp_path / "memory.jsonl"
    source.write_text(text)
    first = make_workspace(tmp_path / "one", {"facts/x.md": "x\n"})
    done(first, "import", "mcp-memory", str(source), "--yes", "--screened")
    exported = inside(first, "export", "mcp-memory", "--under", "facts/memory").out
    assert _set(exported) == _set(text)
    source.write_text(exported)
    second = make_workspace(tmp_path / "two", {"facts/x.md": "x\n"})
    done(second, "import", "mcp-memory", str(source), "--yes", "--screened")
    assert inside(second, "export", "mcp-memory", "--under", "facts/memory").out == exported


def test_ordinary_facts_are_entities_too(place: Place) -> None:
    lines = [json.loads(line) for line in inside(place, "export", "mcp-memory").out.splitlines()]
    names = {line["name"]: line for line in lines if line["type"] == "entity"}
    assert names["Ledger owns payments"]["observations"][0] == "payments / owner: ledger"
    assert {
        "type": "relation",
        "from": "Checkout owns payments",
        "to": "Ledger owns payments",
        "relationType": "supersedes",
    } in lines
