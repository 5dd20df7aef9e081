"""Right answers to the public cases: YAML, front matter, Markdown, encodings."""

from tests.support.world import World, answers


def unreadable(world: World, *expected: tuple[str, int, str]) -> None:
    """Nothing is indexed by half: doctor and verify name file, line and code."""
    world.init()
    assert {p for p in world.problems() if p in expected} == set(expected)
    status, verdict, findings = world.verdict()
    assert (status, verdict) == (1, "fail")
    assert {f"{code} {path}:{line}" for path, line, code in expected} <= findings
    broken = {path for path, _, _ in expected}
    assert not broken & {path for _, path in world.listed()}


def fields_are(world: World, identifier: str, **expected: object) -> None:
    world.recorded()
    found = world.fields(identifier)
    assert {key: found[key] for key in expected} == expected
    world.rebuilds_alike()


@answers("Y01")
def bare_words(world: World) -> None:
    fields = {"default": "no", "accepted": ["sv", "no", "da"], "toggle": "on", "flag": "y"}
    fields_are(world, "lang-1", fields=fields)


@answers("Y02")
def bare_word_as_key(world: World) -> None:
    fields_are(world, "keys-1", no="Oslo", se="Stockholm")


@answers("Y04")
def trailing_zero(world: World) -> None:
    fields_are(world, "rel-1", version="3.10", previous="3.1")


@answers("Y05")
def clock_times(world: World) -> None:
    times = {"start": "14:30", "end": "09:30", "long": "12:30:00", "mac": "12:34:50:10:20:30"}
    fields_are(world, "meet-1", **times)
    file = world.root / "facts/meeting.md"
    before = file.read_bytes()
    world.ok("edit", "meet-1", "--title", "Daily")
    assert file.read_bytes() == before.replace(b"title: Stand-up", b'title: "Daily"') or (
        file.read_bytes() == before.replace(b"title: Stand-up", b"title: Daily")
    )


@answers("Y07")
def exponents(world: World) -> None:
    fields_are(world, "col-1", colour="4210e3", commit="7312e456", plain="1e5", dotted="1.0e+5")


@answers("Y08")
def bare_and_quoted_date(world: World) -> None:
    world.recorded()
    assert world.fields("d-1")["created"] == world.fields("d-2")["created"] == "2026-01-05"
    world.rebuilds_alike()


@answers("Y10")
def zero_date(world: World) -> None:
    unreadable(world, ("facts/zero.md", 4, "invalid-date"))


@answers("Y11")
def impossible_dates(world: World) -> None:
    # Only date keys are checked as dates: `created` of m13.md is text (cases/README.md, ADR 0035).
    unreadable(world, ("facts/feb.md", 4, "invalid-date"))
    assert world.listed() == [("leap-2", "facts/leapok.md"), ("m13-1", "facts/m13.md")]


@answers("Y12")
def years_out_of_range(world: World) -> None:
    unreadable(world, ("facts/old.md", 5, "invalid-date"))
    file = world.root / "facts/old.md"
    file.write_text(file.read_text().replace("valid_to: 10000-01-01\n", ""))
    world.ok("adopt", "--yes")
    assert world.fields("old-1")["valid_from"] == "0044-03-15"
    assert world.found("antiquity", "--as-of", "2026-01-01") == ["old-1"]
    assert world.found("antiquity", "--as-of", "0043-01-01") == []


@answers("Y14")
def spellings_of_null(world: World) -> None:
    world.recorded()
    assert ("facts/null.md", 3, "null-title") in world.problems()
    found = world.fields("null-1")
    assert [found[key] for key in "abcdef"] == [None, None, None, "null", "none", "nUll"]
    before = world.show("null-1")["payload_digest"]
    file = world.root / "facts/null.md"
    file.write_text(file.read_text().replace("a: ~\n", "a:\n"))
    # Another spelling of null is another value (design 3.4): the digest says so, as documented.
    assert world.show("null-1")["payload_digest"] != before
    world.fails("payload-changed facts/null.md:1")


@answers("Y15")
def huge_numbers(world: World) -> None:
    numbers = {"serial": "18446744073709551615", "neg": "-9223372036854775809"}
    fields_are(world, "123456789012345678901234567890", **numbers)


@answers("Y17")
def underscores(world: World) -> None:
    fields_are(world, "us-1", build="1_000", ticket="20_26", hexid="0xBEEF", bits="0b101")


@answers("Y18")
def not_a_number(world: World) -> None:
    fields_are(world, "nan-1", ratio=".nan", max=".inf", minus="-0.0")


@answers("Y20")
def key_twice(world: World) -> None:
    unreadable(world, ("facts/dup.md", 5, "duplicate-key"), ("facts/dup.md", 8, "duplicate-key"))
    assert "on line 3 and here" in world.ok("doctor").out


@answers("Y21")
def key_twice_by_merge(world: World) -> None:
    unreadable(world, ("facts/m.md", 13, "duplicate-key"))
    # Where it came from is git's to say (ADR 0035).
    assert world.box.git("log", "-1", "--format=%s", "--", "facts/m.md")


@answers("Y22")
def alias_bomb(world: World) -> None:
    unreadable(world, ("facts/bomb.md", 4, "anchor"), ("facts/bomb.md", 5, "alias"))


@answers("Y24")
def merge_key(world: World) -> None:
    unreadable(world, ("facts/merge.md", 4, "anchor"), ("facts/merge.md", 8, "merge-key"))
    assert not any(code == "duplicate-key" for _, _, code in world.problems())


@answers("Y25")
def tabs(world: World) -> None:
    unreadable(
        world, ("facts/tab.md", 5, "tab-indentation"), ("facts/tab3.md", 4, "tab-indentation")
    )
    assert world.show("tab-2")["title"] == "Tabbed value"


@answers("Y27")
def odd_starts(world: World) -> None:
    unreadable(
        world,
        ("facts/at.md", 4, "unquoted-start"),
        ("facts/pct.md", 4, "unquoted-start"),
        ("facts/amp.md", 4, "anchor"),
        ("facts/amp.md", 5, "alias"),
        ("facts/bang.md", 4, "tag"),
    )
    assert ("facts/wl.md", 4, "unquoted-link") in world.problems()
    dangling = world.ok("graph", "wl-1", "--json").json["dangling"]
    assert {item["target"] for item in dangling} == {"Other note", "Quoted"}


@answers("Y28")
def hash_cuts_value(world: World) -> None:
    world.recorded()
    assert ("facts/hash.md", 3, "comment-cuts-value") in world.problems()


@answers("Y30")
def beyond_the_bmp(world: World) -> None:
    fields_are(world, "emo-1", flag="\U0001f5c2", title="Plan \U0001f5fa\ufe0f \U0001d518nicode")


@answers("Y31")
def other_line_ends(world: World) -> None:
    fields_are(world, "nel-1", title="one\u2028two", note="a\x85b")
    assert world.show("nel-1")["body"] == "Body\u2028line\fpage\n"


@answers("Y32")
def second_document(world: World) -> None:
    world.recorded()
    assert world.listed() == [("multi-1", "facts/multi.md")]
    assert world.show("multi-1")["body"] == "id: multi-2\ntitle: Two\n---\nBody\n"


@answers("Y34")
def not_a_mapping(world: World) -> None:
    unreadable(world, ("facts/list.md", 2, "not-a-mapping"), ("facts/str.md", 2, "not-a-mapping"))


@answers("Y35")
def tags(world: World) -> None:
    unreadable(
        world,
        *(("facts/tag.md", n, "tag") for n in (3, 4)),
        *(("facts/tag2.md", n, "tag") for n in (3, 4, 5)),
    )


@answers("Y37")
def anchor_twice(world: World) -> None:
    unreadable(world, *(("facts/anc.md", n, "anchor") for n in (4, 5)))


@answers("F01")
def dots_at_the_end(world: World) -> None:
    unreadable(world, ("facts/dots.md", 4, "unclosed-front-matter"))


@answers("F02")
def byte_order_mark(world: World) -> None:
    world.recorded()
    assert world.listed() == [("bom-1", "facts/bom.md")]
    world.ok("edit", "bom-1", "--title", "Mark")
    assert (world.root / "facts/bom.md").read_bytes().startswith(b"\xef\xbb\xbf---\n")
    world.passes()


@answers("F04")
def old_line_ends(world: World) -> None:
    unreadable(world, ("facts/cr.md", 1, "cr-line-ends"))
    ran = world.run("verify", "--ref", "HEAD", "--json")
    assert ran.status == 1
    assert "cr-line-ends" in ran.out


@answers("F05")
def dashes_in_a_value(world: World) -> None:
    unreadable(world, ("facts/col0.md", 4, "yaml-syntax"))
    assert world.fields("tbl-1") == {
        "id": "tbl-1",
        "title": "Table",
        "last": "---",
        "table": "| a | b |\n| --- | --- |\n---\nend\n",
    }


@answers("F07")
def rule_at_the_start(world: World) -> None:
    # Comments alone between two rules are empty front matter, quoted by a warning (README).
    world.recorded()
    assert ("facts/hr.md", 2, "empty-front-matter") in world.problems()
    assert "# First part" in world.ok("doctor").out
    assert world.show("facts/hr4")["body"] == "----\nfirst section\n----\nrest\n"
    assert world.show("facts/dashword")["body"] == "---dashes then words\ntext\n---\nrest\n"


@answers("F08")
def long_closing_line(world: World) -> None:
    unreadable(world, ("facts/longclose.md", 4, "unclosed-front-matter"))


@answers("F10")
def not_closed(world: World) -> None:
    unreadable(
        world,
        ("facts/open.md", 1, "unclosed-front-matter"),
        ("facts/openrule.md", 5, "yaml-syntax"),
    )


@answers("F11")
def empty_front_matter(world: World) -> None:
    # A fact needs no id (README): the path is one.
    world.recorded()
    assert [world.show(f"facts/{n}")["body"] for n in ("empty", "emptycom", "emptyspace")] == [
        "Body\n"
    ] * 3
    assert ("facts/emptycom.md", 2, "empty-front-matter") in world.problems()


@answers("F12")
def no_body(world: World) -> None:
    world.recorded()
    assert [world.show(n)["body"] for n in ("nb-1", "nb-2")] == ["", ""]
    world.passes()


@answers("F14")
def other_front_matter(world: World) -> None:
    unreadable(
        world,
        ("facts/json.md", 1, "other-front-matter"),
        ("facts/semi.md", 1, "other-front-matter"),
    )
    assert world.show("facts/brace")["body"] == "{\nnot json at all\n}\nBody\n"


@answers("F15")
def blanks_around_the_body(world: World) -> None:
    world.recorded()
    assert world.show("code-1")["body"] == "\n    indented = code\n\ntext  \n\n\n"
    file = world.root / "facts/code.md"
    file.write_bytes(file.read_bytes()[:-1])
    world.fails("payload-changed facts/code.md:1")


@answers("F17")
def phantom_heading(world: World) -> None:
    world.recorded()
    assert world.show("st-1")["title"] == "Real title"
    targets = [i["target"] for i in world.ok("graph", "st-1", "--json").json["dangling"]]
    assert targets == ["Link"]


@answers("F18")
def lines_of_the_file(world: World) -> None:
    # There is no table of headings (README): the lines are those of links.
    file = world.root / "facts/off.md"
    file.write_text(file.read_text().replace("# Intro", "[[Away]]"))
    world.recorded()
    assert world.ok("graph", "off-1", "--json").json["dangling"][0]["line"] == 6


@answers("F19")
def conflict_markers(world: World) -> None:
    unreadable(
        world,
        ("facts/conf.md", 3, "conflict-markers"),
        ("facts/confbody.md", 5, "conflict-markers"),
    )


@answers("E01")
def not_utf8(world: World) -> None:
    unreadable(world, ("facts/latin.md", 3, "not-utf8"), ("facts/cut.md", 5, "not-utf8"))
    assert "offset 22" in world.ok("doctor").out


@answers("E02")
def utf16(world: World) -> None:
    unreadable(world, ("facts/u16.md", 1, "wide-encoding"), ("facts/u16be.md", 1, "wide-encoding"))


@answers("E04")
def composed_and_decomposed(world: World) -> None:
    world.recorded()
    graph = world.ok("graph", "nfd-1", "--json").json
    assert graph["dangling"] == []
    assert (world.root / "facts/nfd.md").read_bytes() == world.case.files[0][1]
    world.passes()


@answers("E05")
def invisible_characters(world: World) -> None:
    unreadable(world, ("facts/zw.md", 2, "bad-id"))
    file = world.root / "facts/zw.md"
    file.write_text(file.read_text().replace("zw-1\\u200b", "zw-1").replace("zw-1\u200b", "zw-1"))
    world.ok("adopt", "facts/zw.md", "--yes")
    assert world.show("zw-1")["title"].endswith("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
    assert "\u202e" not in world.ok("list").out
    assert "\u202e" not in world.ok("show", "zw-1").out
