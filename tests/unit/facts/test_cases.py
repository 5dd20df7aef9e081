"""Every fault case of the shared folder that is about reading one file, with the right answer.

The answers are those of the design; where a case leaves two open, docs/formats/fact.md says which
one was taken.
"""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from syn.facts.parse import parse
from syn.facts.twins import path_problems
from syn.model.config import Config
from syn.model.fact import Fact, Unreadable
from syn.model.payload import Lexical, Mapping, Value
from tests.support.shared import ROOT, shared_path

CONFIG = Config("00000000-0000-0000-0000-000000000000", "cases")
CASES = ROOT.parent / "shared" / "cases" / "cases.jsonl"
KINDS = (*"YFESLTP", "A07", "A08", "M04", "M07")


@dataclass(frozen=True)
class Good:
    """The file is a fact."""

    fields: dict[str, Value] = field(default_factory=dict)
    """Some of its fields, exactly."""
    warnings: tuple[tuple[int, str], ...] = ()
    """All of its warnings: line and code."""
    body: str | None = None
    links: tuple[tuple[int, str], ...] | None = None
    also: Callable[[Fact], bool] = lambda _: True


@dataclass(frozen=True)
class Bad:
    """The file is unreadable."""

    problems: tuple[tuple[int, str], ...]
    """All of its problems: line and code."""


def num(text: str) -> Lexical:
    return Lexical("int", text)


def flt(text: str) -> Lexical:
    return Lexical("float", text)


def null(text: str) -> Lexical:
    return Lexical("null", text)


def bad(*problems: tuple[int, str]) -> Bad:
    return Bad(problems)


def closes(fact: Fact) -> bool:
    return fact.valid_to is not None and fact.valid_to.key == "2026-04-15T00:00:00.000000000Z"


def starts(fact: Fact) -> bool:
    return fact.valid_from is not None and fact.valid_from.key == "2026-04-15T00:00:00.000000000Z"


ANSWERS: dict[str, dict[str, Good | Bad]] = {
    "Y01": {
        "lang": Good(
            {
                "fields": Mapping(
                    (
                        ("default", "no"),
                        ("accepted", ("sv", "no", "da")),
                        ("toggle", "on"),
                        ("flag", "y"),
                    )
                )
            }
        )
    },
    "Y02": {"keys": Good({"no": "Oslo", "se": "Stockholm"})},
    "Y04": {"rel": Good({"version": flt("3.10"), "previous": flt("3.1")})},
    "Y05": {
        "meeting": Good(
            {
                "start": "14:30",
                "end": "09:30",
                "long": "12:30:00",
                "mac": "12:34:50:10:20:30",
            }
        )
    },
    "Y07": {
        "col": Good(
            {
                "colour": flt("4210e3"),
                "commit": flt("7312e456"),
                "plain": flt("1e5"),
                "dotted": flt("1.0e+5"),
            }
        )
    },
    "Y08": {"d1": Good({"created": "2026-01-05"}), "d2": Good({"created": "2026-01-05"})},
    "Y10": {"zero": bad((4, "invalid-date"))},
    "Y11": {
        "feb": bad((4, "invalid-date")),
        "m13": Good({"created": "2021-21-02"}),
        "leapok": Good({"valid_from": "2024-02-29"}),
    },
    "Y12": {"old": bad((5, "invalid-date"))},
    "Y14": {
        "null": Good(
            {
                "title": null("Null"),
                "valid_to": null(""),
                "a": null("~"),
                "b": null("null"),
                "c": null("Null"),
                "d": "null",
                "e": "none",
                "f": "nUll",
                "aliases": null(""),
            },
            warnings=((3, "null-title"),),
            also=lambda fact: fact.title == "null" and fact.valid_to is None,
        )
    },
    "Y15": {
        "big": Good(
            {"serial": num("18446744073709551615"), "neg": num("-9223372036854775809")},
            also=lambda fact: fact.id == "123456789012345678901234567890",
        )
    },
    "Y17": {
        "us": Good({"build": "1_000", "ticket": "20_26", "hexid": num("0xBEEF"), "bits": "0b101"})
    },
    "Y18": {"nan": Good({"ratio": flt(".nan"), "max": flt(".inf"), "minus": flt("-0.0")})},
    "Y20": {"dup": bad((5, "duplicate-key"), (8, "duplicate-key"))},
    "Y21": {"m": Good({"a": num("1")})},
    "Y22": {
        "bomb": bad(
            (4, "anchor"),
            *((line, code) for line in range(5, 13) for code in ("alias", "anchor")),
        )
    },
    "Y24": {"merge": bad((4, "anchor"), (8, "alias"), (8, "merge-key"))},
    "Y25": {
        "tab": bad((5, "tab-indentation")),
        "tab2": Good({"title": "Tabbed value"}),
        "tab3": bad((4, "tab-indentation")),
    },
    "Y27": {
        "at": bad((4, "unquoted-start")),
        "wl": Good(
            {"related": "[[Other note]]", "ref": "[[Quoted]]"},
            warnings=((4, "unquoted-link"),),
            links=((4, "Other note"), (5, "Quoted")),
        ),
        "amp": bad((4, "anchor"), (5, "alias")),
        "bang": bad((4, "tag")),
        "pct": bad((4, "unquoted-start")),
    },
    "Y28": {
        "hash": Good(
            {"title": "Learn C# in issue", "tag": null(""), "key": null("")},
            warnings=((3, "comment-cuts-value"),),
        )
    },
    "Y30": {
        "emoji": Good({"title": "Plan \U0001f5fa\ufe0f \U0001d518nicode", "flag": "\U0001f5c2"})
    },
    "Y31": {
        "nel": Good(
            {"title": "one\u2028two", "note": "a\x85b"},
            body="Body\u2028line\x0cpage\n",
            also=lambda fact: fact.body_line == 6,
        )
    },
    "Y32": {"multi": Good({"id": "multi-1"}, body="id: multi-2\ntitle: Two\n---\nBody\n")},
    "Y34": {"list": bad((2, "not-a-mapping")), "str": bad((2, "not-a-mapping"))},
    "Y35": {
        "tag": bad((3, "tag"), (4, "tag")),
        "tag2": bad((3, "tag"), (4, "tag"), (5, "tag")),
    },
    "Y37": {"anc": bad((4, "anchor"), (5, "anchor"), (6, "alias"))},
    "F01": {"dots": bad((4, "unclosed-front-matter"))},
    "F02": {"bom": Good({"id": "bom-1", "title": "BOM"}, body="Body\n")},
    "F04": {"cr": bad((1, "cr-line-ends"))},
    "F05": {
        "tbl": Good({"table": "| a | b |\n| --- | --- |\n---\nend\n", "last": "---"}),
        "col0": bad((4, "yaml-syntax")),
    },
    "F07": {
        "hr": Good(warnings=((2, "empty-front-matter"),), body="rest\n"),
        "hr4": Good(body="----\nfirst section\n----\nrest\n"),
        "dashword": Good(body="---dashes then words\ntext\n---\nrest\n"),
    },
    "F08": {"longclose": bad((4, "unclosed-front-matter"))},
    "F10": {"open": bad((1, "unclosed-front-matter")), "openrule": bad((5, "yaml-syntax"))},
    "F11": {
        "empty": Good(body="Body\n"),
        "emptycom": Good(warnings=((2, "empty-front-matter"),), body="Body\n"),
        "emptyspace": Good(body="Body\n"),
    },
    "F12": {
        "nobody": Good({"id": "nb-1"}, body=""),
        "nobody2": Good({"id": "nb-2"}, body=""),
    },
    "F14": {
        "json": bad((1, "other-front-matter")),
        "semi": bad((1, "other-front-matter")),
        "brace": Good(body="{\nnot json at all\n}\nBody\n"),
    },
    "F15": {"code": Good(body="\n    indented = code\n\ntext  \n\n\n")},
    "F17": {"setext": Good({"category": "articles"}, links=((7, "Link"),))},
    "F18": {"off": Good(also=lambda fact: fact.body_line == 5)},
    "F19": {"conf": bad((3, "conflict-markers")), "confbody": bad((5, "conflict-markers"))},
    "E01": {"latin": bad((3, "not-utf8")), "cut": bad((5, "not-utf8"))},
    "E02": {"u16": bad((1, "wide-encoding")), "u16be": bad((1, "wide-encoding"))},
    "E04": {"nfd": Good({"title": "Cafe\u0301 plan"}, links=((5, "Caf\u00e9 plan"),))},
    "E05": {"zw": bad((2, "bad-id"))},
    "S01": {
        "z": Good({"zip": "007", "sci": "1e5", "big": "9007199254740993", "hex": "0x1F"}),
    },
    "S04": {"i": Good({"n": num("18446744073709551615")})},
    "S05": {"n": Good({"r": flt(".nan"), "m": flt(".inf")})},
    "A07": {"u": Good(warnings=((8, "similar-keys"),))},
    "T01": {"m1": Good(also=closes), "m2": Good(also=starts)},
    "T04": {
        "i1": Good({"valid_from": "2026-03-01", "valid_to": "2026-02-01"}),
        "i2": Good({"valid_from": "2026-03-01", "valid_to": "2026-03-01"}),
    },
    "T05": {
        "o1": Good(also=lambda fact: fact.superseded_by == ("o-2",)),
        "o3": Good(also=lambda fact: fact.supersedes == ("o-99",)),
    },
    "T08": {
        "i1": Good(also=lambda fact: fact.id == "007"),
        "i2": Good(also=lambda fact: fact.id == "7"),
        "i3": Good(also=lambda fact: (fact.id, fact.supersedes) == ("7", ("7",))),
    },
    "L01": {"c": Good(links=((6, "A"),))},
    "L02": {"x": Good(links=((6, "todo"), (6, "a/todo")))},
    "L04": {
        "y": Good(
            {"links": "[[Other]]", "many": ("[[A]]", "[[B]]")},
            warnings=((5, "unquoted-link"), (9, "unquoted-link")),
            links=((5, "Other"), (6, "Parent"), (8, "A"), (9, "B")),
        )
    },
    "L05": {"l": Good(links=((6, "Old name"), (6, "New name.md"), (6, "new NAME")))},
    "M04": {"d": Good({"created": "2026-05-24"})},
    "M07": {"e": Good({"start": "11:45", "pet": "goat"})},
}


@cache
def cases() -> dict[str, dict[str, Any]]:
    if not CASES.exists():
        return {}
    lines = CASES.read_text(encoding="utf-8").split("\n")
    found = (json.loads(line) for line in lines if line)
    return {case["id"]: case for case in found if case["id"].startswith(KINDS)}


def content(file: dict[str, str]) -> bytes:
    return base64.b64decode(file["base64"]) if "base64" in file else file["text"].encode()


def test_the_cases_are_there() -> None:
    assert shared_path("cases").is_dir()
    assert {name[:3] for name in cases()} >= set(ANSWERS)


@pytest.mark.parametrize("name", sorted(cases()) or [""])
def test_a_case_is_read_as_it_should_be(name: str) -> None:
    shared_path("cases")
    answers = ANSWERS.get(name[:3], {})
    for file in cases()[name]["files"]:
        parsed = parse(file["path"], content(file), CONFIG)
        assert all(p.line >= 1 and p.message and p.remedy for p in found_in(parsed))
        check(answers.get(Path(file["path"]).stem, Good()), parsed)


def found_in(parsed: Fact | Unreadable) -> list[Any]:
    return list(parsed.problems if isinstance(parsed, Unreadable) else parsed.warnings)


def check(answer: Good | Bad, parsed: Fact | Unreadable) -> None:
    found = tuple((problem.line, problem.code) for problem in found_in(parsed))
    if isinstance(answer, Bad):
        assert isinstance(parsed, Unreadable), parsed
        assert found == tuple(sorted(answer.problems))
        return
    assert isinstance(parsed, Fact), parsed
    assert found == answer.warnings
    for key, value in answer.fields.items():
        assert parsed.fields.get(key) == value
    if answer.body is not None:
        assert parsed.body == answer.body
    if answer.links is not None:
        assert tuple((link.line, link.target) for link in parsed.links) == answer.links
    assert answer.also(parsed)


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("P01", {"Café": ["unicode-twin"], "Cafe\u0301": ["unicode-twin"]}),
        ("P02", {"Plan_A": ["case-twin"], "plan_a": ["case-twin"]}),
        ("P04", {"new\nline": ["name-newline"], 'quo"te\\back': ["name-backslash"]}),
        ("P10", {}),
        ("S14", {"B": ["case-twin"], "b": ["case-twin"]}),
    ],
)
def test_the_names_of_a_case_are_judged(name: str, codes: dict[str, list[str]]) -> None:
    shared_path("cases")
    case = next(case for key, case in cases().items() if key.startswith(name))
    found = path_problems((file["path"].encode(), "file") for file in case["files"])
    stems = {Path(path.decode()).stem: problems for path, problems in found.items()}
    assert {stem: [p.code for p in problems] for stem, problems in stems.items()} == codes


@pytest.mark.parametrize(("name", "one", "other"), [("A08", "k1", "k2"), ("Y08", "d1", "d2")])
def test_the_same_said_differently(name: str, one: str, other: str) -> None:
    shared_path("cases")
    case = next(case for key, case in cases().items() if key.startswith(name))
    facts = {Path(f["path"]).stem: parse(f["path"], content(f), CONFIG) for f in case["files"]}
    first, second = facts[one], facts[other]
    assert isinstance(first, Fact)
    assert isinstance(second, Fact)
    assert first.source_digest != second.source_digest
    assert (first.payload_digest == second.payload_digest) is (name == "A08")
    assert first.fields.get("created") == second.fields.get("created")
