"""The normative pages: the example again with plain Python, the lists against the code."""

import hashlib
import json
import re

from syn.index.lines import manifest_columns
from syn.index.rows import TABLES
from syn.index.store import schema
from tests.support.examples import examples
from tests.support.indexes import digest_of, manifest, rows_of
from tests.support.shared import ROOT

PAGE = examples("manifest.md")
FILES = {"facts/owner-1.md": PAGE["owner-1"], "facts/owner-2.md": PAGE["owner-2"]}


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def canonical(value: object) -> str:
    return json.dumps(  # noqa: TID251 - on purpose not our encoder
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )


def test_the_example_is_what_the_program_gives() -> None:
    assert manifest(FILES).decode() == PAGE["manifest"]
    assert digest_of(rows_of(FILES)) + "\n" == PAGE["inputs"]


def test_the_digest_is_plain_sha256_of_the_lines() -> None:
    assert sha256(PAGE["manifest"].encode()) + "\n" == PAGE["digest"]


def test_every_line_is_plain_sorted_json() -> None:
    lines = PAGE["manifest"].splitlines()
    assert [canonical(json.loads(line)) for line in lines] == lines


def test_digests_and_words_can_be_made_by_hand() -> None:
    rows = [json.loads(line) for line in PAGE["manifest"].splitlines()]
    facts = {row["path"]: row for row in rows if row.get("table") == "fact"}
    states = [row for row in rows if row.get("table") == "state"]
    assert set(facts) == set(FILES)
    for state in states:
        fact = facts[state["path"]]
        text = FILES[state["path"]]
        assert fact["source_digest"] == sha256(text.encode())
        assert fact["body_digest"] == sha256(
            text.partition("---\n")[2].partition("---\n")[2].encode()
        )
        covered = {
            name: fact[name]
            for name in ("path", "id", "valid_from", "valid_from_key", "valid_to", "valid_to_key")
        }
        covered |= {"payload": fact["payload_digest"], "body": fact["body_digest"]}
        covered |= {name: state[name] for name in ("taint", "quarantine")}
        covered["status"] = fact["status"]
        assert state["word"] == sha256(f"synapse/word/1\n{canonical(covered)}".encode())


def test_the_inputs_hash_can_be_made_by_hand() -> None:
    records = [
        f"{hashlib.sha256(FILES[path].encode()).hexdigest()}  {path}" for path in sorted(FILES)
    ]
    assert "".join(f"{record}\n" for record in records) == PAGE["records"]
    data = "".join(f"{record}\0" for record in records).encode()
    assert sha256(data) + "\n" == PAGE["inputs"]


def page(name: str) -> str:
    return (ROOT / "docs" / "formats" / name).read_text(encoding="utf-8")


def test_the_page_lists_every_table_column_and_key() -> None:
    listed = re.findall(
        r"^\| `(\w+)` \| (file|cross|both) \| (.*) \|$", page("manifest.md"), re.MULTILINE
    )
    assert [name for name, _, _ in listed] == [table.name for table in TABLES]
    for table, (_, origin, columns) in zip(TABLES, listed, strict=True):
        assert tuple(re.findall(r"`(\w+)`", columns)) == manifest_columns(table)
        assert tuple(re.findall(r"\*`(\w+)`\*", columns)) == table.key
        assert (origin == "cross") == table.cross


def test_the_page_about_the_file_agrees_with_the_code() -> None:
    text = page("index.md")
    assert f"0x{schema.APPLICATION_ID:X}" in text
    assert f"`user_version` is the version of this page, `{schema.SCHEMA}`" in text
    assert ", ".join(f"`{name}`" for name in schema.FTS_COLUMNS) in text
    source = "".join(
        path.read_text() for path in sorted((ROOT / "syn" / "index" / "store").glob("*.py"))
    )
    codes = set(re.findall(r'"(index-[a-z]+|sqlite-too-old)"', source))
    listed = re.findall(r"^\| `([a-z]+-[a-z-]+)` \| [^|]* \|$", text, re.MULTILINE)
    assert sorted(codes) == sorted(listed)
