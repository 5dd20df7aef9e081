"""Other programs' files to notes: what becomes what, and what is refused with its line."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syn.canon.digest import sha256
from syn.exchange.formats import FORMATS
from syn.exchange.note import Note, Read, SourceFile, note_bytes
from syn.exchange.obsidian import body_tags
from syn.exchange.placing import placed, safe_place
from syn.facts.parse import parse
from syn.facts.twins import path_problems
from syn.model.config import Config
from syn.model.fact import Fact
from syn.model.payload import Mapping
from syn.model.problem import Problem

CONFIG = Config(id="x", name="x")


def _read(form: str, **files: str | bytes) -> list[Read]:
    sources = [
        SourceFile(
            path.replace("__", "/").replace("_md", ".md"),
            data.encode() if isinstance(data, str) else data,
        )
        for path, data in files.items()
    ]
    return list(FORMATS[form].read(sources))


def _notes(found: list[Read]) -> list[Note]:
    return [item for item in found if isinstance(item, Note)]


def _codes(found: list[Read]) -> list[tuple[int, str]]:
    return [(item.line, item.code) for item in found if isinstance(item, Problem)]


def _fact(note: Note) -> Fact:
    parsed = parse(f"{safe_place(note.place)}.md", note_bytes(note, ()), CONFIG)
    assert isinstance(parsed, Fact), parsed
    return parsed


def test_markdown_is_kept_as_it_is() -> None:
    text = "---\r\n# a comment\r\nb: 'x'\r\n---\r\nBody.\r\n"
    [note] = _notes(_read("markdown", a_md=text))
    assert note_bytes(note, ()) == text.encode()


def test_a_broken_file_is_named_and_does_not_stop_the_next() -> None:
    found = _read("markdown", a_md="---\na: 1\na: 2\n---\n", b_md=b"\xff", c_md="fine")
    assert _codes(found) == [(3, "duplicate-key"), (1, "not-utf8")]
    assert [note.path for note in _notes(found)] == ["c.md"]


def test_utf16_that_says_so_is_converted_and_told() -> None:
    text = "---\nk: ö\n---\nBody #t\n"
    data = text.encode("utf-16")
    found = _read("obsidian", a_md=data, b_md=data[:-1], c_md=text.encode("utf-16-le"))
    assert _codes(found) == [(1, "converted"), (1, "wide-encoding"), (1, "wide-encoding")]
    [note] = _notes(found)
    assert note.digest == sha256(data)
    assert (_fact(note).fields.get("k"), _fact(note).tags) == ("ö", ("t",))


def test_obsidian_tags_and_old_key_names() -> None:
    text = (
        "---\ntags: [one, '#two']\nalias: Short\n---\n# Title\n#three/below text #four, `#no`\n"
        "```\n#code\n```\n[[Note#heading]] https://x.example/#frag %% #hidden %% #123 #größe #1a\n"
    )
    [note] = _notes(_read("obsidian", n_md=text))
    fact = _fact(note)
    assert fact.tags == ("one", "two", "three/below", "four", "größe", "1a")
    assert fact.aliases == ("Short",)
    assert fact.title == "Title"


def test_obsidian_without_anything_to_add_is_kept() -> None:
    text = "---\ntags: [one, two]\n---\ntext #one\n"
    [note] = _notes(_read("obsidian", n_md=text))
    assert note_bytes(note, ()) == text.encode()


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("#a", ["a"]),
        ("a#b", []),
        ("(#a)", []),
        ("#a-b_c/d", ["a-b_c/d"]),
        ("# heading", []),
        ("#", []),
        ("\\#a", []),
        ("~~~\n#a\n~~~\n#b", ["b"]),
    ],
)
def test_what_a_tag_is(body: str, tags: list[str]) -> None:
    assert list(body_tags(body)) == tags


ADR_TOOLS = (
    "# 1. Use Markdown\n\nDate: 2024-01-02\n\n## Status\n\nSuperceded by [2. X](0002-x.md)\n\n"
    "## Context\n"
)


def test_adr_tools_status_and_links_become_supersession_on_both_sides() -> None:
    found = _read("adr", **{"0001-a_md": ADR_TOOLS, "0002-x_md": "# 2. X\n\n## Status\n\nAccepted"})
    first, second = _notes(found)
    assert first.superseded_by == ("0002-x",)
    assert second.supersedes == ("0001-a",)
    fact = _fact(first)
    assert (fact.type, fact.status, fact.title) == ("decision", "superseded", "Use Markdown")
    assert fact.fields.get("date") == "2024-01-02"
    assert _fact(second).status == "accepted"


def test_madr_front_matter_and_numbers() -> None:
    new = '---\nstatus: "superseded by ADR-0002"\ndate: 2024-05-01\n---\n# Choose a thing\n'
    old = "# Other\n\n* Status: accepted\n* Date: 2023-01-01\n"
    first, second = _notes(_read("adr", **{"0001-a_md": new, "0002-b_md": old}))
    assert _fact(first).status == "superseded"
    assert first.superseded_by == ("0002-b",)
    assert (_fact(second).status, _fact(second).fields.get("date")) == ("accepted", "2023-01-01")


def test_adr_names_a_reference_that_leads_nowhere() -> None:
    found = _read("adr", **{"0001-a_md": "# 1. A\n\n## Status\n\nSuperseded by 9\n"})
    assert _codes(found) == [(5, "unknown-record")]
    assert _notes(found)[0].superseded_by == ()


def test_basic_memory_observations_and_relations() -> None:
    text = (
        "---\ntitle: Coffee\ntype: note\npermalink: coffee-brewing\ntags: [coffee]\n---\n# Coffee\n"
        "- [method] Pour over #brewing #light. (mine)\n- [ ] a task #no\n- [x] done #no\n"
        "- relates_to [[Bean Origins]] (why)\n- [[Bare]]\n- requires [[Grind|Grinding]]\n"
    )
    [note] = _notes(_read("basic-memory", c_md=text))
    fact = _fact(note)
    assert fact.tags == ("coffee", "brewing", "light")
    assert fact.aliases == ("coffee-brewing",)
    relations = fact.fields.get("relations")
    assert isinstance(relations, Mapping)
    assert relations.items == (
        ("relates_to", ("[[Bare]]", "[[Bean Origins]]")),
        ("requires", ("[[Grind]]",)),
    )


def test_claude_code_kinds_and_includes() -> None:
    rule = "---\nname: Style\npaths: src/**\n---\nUse tabs.\n"
    topic = "---\nname: db\nmetadata:\n  type: project\n---\nUses sqlite.\n"
    found = _read(
        "claude-code",
        CLAUDE_md="See @docs/guide.md and `@not/this.md`, mail a@b.example\n",
        rules__style_md=rule,
        memory__db_md=topic,
    )
    assert [_fact(note).type for note in _notes(found)] == ["instructions", "rule", "project"]
    assert [_fact(note).title for note in _notes(found)] == ["CLAUDE", "Style", "db"]
    assert _codes(found) == [(1, "include-not-followed")]


def test_mcp_memory_entities_relations_and_bad_lines() -> None:
    lines = (
        '{"type":"entity","name":"Ada","entityType":"person","observations":["a","two\\nlines"]}\n'
        '{"type":"relation","from":"Ada","to":"Acme","relationType":"works_at"}\n'
        '{"type":"relation","from":"Nobody","to":"Ada","relationType":"knows"}\n'
        "{broken\n"
        '{"type":"entity","name":"Ada","entityType":"x","observations":[]}\n'
        '{"type":"entity","name":"B","name":"C","entityType":"x","observations":[]}\n'
        '{"type":"entity","name":"D","entityType":"x","observations":"text"}\n'
        '{"type":"relation","from":"Ada","to":7,"relationType":"x"}\n'
        '{"type":"other"}\n[]\n'
        '{"type":"entity","name":"\\ud800","entityType":"x","observations":[]}\n'
    )
    found = _read("mcp-memory", **{"m.jsonl": lines})
    assert sorted(_codes(found)) == [
        (3, "unknown-entity"),
        (4, "not-json"),
        (5, "duplicate-entity"),
        (6, "duplicate-key"),
        (7, "bad-entity"),
        (8, "bad-relation"),
        (9, "unknown-type"),
        (10, "not-json"),
        (11, "lone-surrogate"),
    ]
    [note] = _notes(found)
    fact = _fact(note)
    assert (fact.title, fact.type, fact.body) == ("Ada", "person", "- a\n- two\n  lines\n")
    assert fact.source.external


def test_mem0_lists_members_and_broken_items() -> None:
    text = (
        '{"count": 1.5, "results": [\n {"id": "m1", "memory": "Likes tea\\nand more",'
        ' "categories": ["food"], "metadata": {"score": 0.50}, "user_id": null},\n'
        ' {"id": "m2", "memory": ""}, 7, {"id": "m1", "memory": "again"},\n'
        ' {"id": "m3", "a": 1, "a": 2, "memory": "x"}, {"memory": "no id"} , oops ]}'
    )
    found = _read("mem0", **{"m.json": text})
    assert _codes(found) == [
        (3, "bad-memory"),
        (3, "bad-memory"),
        (3, "duplicate-id"),
        (4, "duplicate-key"),
        (4, "not-json"),
    ]
    first, second = _notes(found)
    fact = _fact(first)
    assert (fact.title, fact.tags, fact.type) == ("Likes tea", ("food",), "memory")
    assert b"score: 0.50" in note_bytes(first, ())
    assert second.record == second.digest[7:23]


def test_mcp_memory_as_one_graph() -> None:
    text = (
        '{"entities": [\n {"name": "Ada", "entityType": "person", "observations": ["a"]},\n'
        ' {"name": "", "entityType": "x", "observations": []}, 7],\n'
        '"relations": [{"from": "Ada", "to": "B", "relationType": "knows"}]}\n'
    )
    found = _read("mcp-memory", **{"m.json": text})
    assert _codes(found) == [(3, "bad-entity"), (3, "not-json")]
    [note] = _notes(found)
    assert (note.record, note.line) == ("Ada", 2)
    assert b"[[B]]" in note_bytes(note, ())


def test_mem0_names_the_graph_that_it_does_not_take() -> None:
    text = '{"results": [{"id": "a", "memory": "x"}], "relations": [{"source": "a"}, {}]}'
    assert _codes(_read("mem0", **{"m.json": text})) == [(0, "graph-not-taken")]


@pytest.mark.parametrize("text", ["", "{}", "7", "[", '{"results": 3}', "[" * 100_000, b"\xff"])
def test_mem0_without_a_list_is_one_reason(text: str | bytes) -> None:
    assert [code for _, code in _codes(_read("mem0", **{"m.json": text}))] in (
        ["not-json"],
        ["not-utf8"],
    )


def test_deep_json_is_a_reason() -> None:
    deep = '{"type":"entity","name":"a","entityType":"x","observations":[],"more":' + "[" * 50
    found = _read("mcp-memory", **{"m.jsonl": deep + "]" * 50 + "}\n" + "[" * 100_000})
    assert _codes(found) == [(1, "too-deep"), (2, "not-json")]


# Places.


def _at(*places: str) -> Iterator[Note]:
    for number, place in enumerate(places):
        yield Note(path=f"{number}.md", digest="", place=place, body="", record=place)


@pytest.mark.parametrize(
    ("place", "safe"),
    [
        ("a/b", "a/b"),
        ("My Note", "My Note"),
        ("../../etc/passwd", "note/note/etc/passwd"),
        ("/abs", "abs"),
        ("", "note"),
        ("C++: intro", "C++- intro"),
        ("con", "con-"),
        ("a\\b", "a-b"),
        (".git/config", "git/config"),
        ("tail. ", "tail"),
        ("a\u202eb", "a-b"),
        ("Cafe\u0301", "Café"),
    ],
)
def test_names_are_made_safe(place: str, safe: str) -> None:
    assert safe_place(place) == safe


def test_names_that_fall_together_each_get_their_own_digits() -> None:
    names = [note.place for note in placed(_at("A", "a", "b", "x:y", "x?y"))]
    assert len({name.casefold() for name in names}) == 5
    assert "b" in names
    again = [note.place for note in placed(_at("x?y", "b", "x:y", "a", "A"))]
    assert sorted(names) == sorted(again)


def test_a_changed_file_name_is_kept_as_an_alias() -> None:
    [note] = placed(_notes(_read("obsidian", **{"C++: intro_md": "---\naliases: [I]\n---\nx"})))
    assert _fact(note).aliases == ("I", "C++: intro")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_every_name_ends_as_one_that_every_system_holds(name: str) -> None:
    place = safe_place(name)
    assert not path_problems([(f"{place}.md".encode(), "file")])
    assert safe_place(place) == place


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.binary(max_size=200))
def test_no_bytes_make_a_reader_fail(form: str, data: bytes) -> None:
    for item in FORMATS[form].read([SourceFile("0001-a.md", data)]):
        assert isinstance(item, Note | Problem)
