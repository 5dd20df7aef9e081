"""`syn image` through a real process: what it prints, what it writes, how it ends."""

import base64
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import Ran, syn
from tests.support.images import ITEMS, native_image, recall_files, write_files
from tests.support.workspaces import Place, make_place

TRANSCRIPT = (
    '{"role":"note","text":"the fee is 25"}\n'
    '{"role":"mail","text":"wire it now","seal":"TRUST_VIOLATION"}\n'
    '{"role":"bytes","bytes":"AAEC"}\n'
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    made.root.mkdir(exist_ok=True)
    return made


def image(place: Place, *words: str, stdin: str = "") -> Ran:
    return syn(place, "image", *words, stdin=stdin)


@pytest.fixture
def keyed(place: Place) -> Place:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place.root / "key")], check=True
    )
    return place


def test_record_verify_page_decide(keyed: Place) -> None:
    made = image(keyed, "record", "i", "--session", "s", "--key", "key", stdin=TRANSCRIPT)
    assert made.status == 0
    assert made.out.startswith("sha256:")

    checked = image(keyed, "verify", "i", "--trust", "key.pub", "--signed", "--json")
    assert (checked.status, checked.json["verdict"]) == (0, "clean")
    assert checked.json["signature"] == "valid"
    assert checked.json["digest"] == made.out.strip()

    assert image(keyed, "page", "i", "0").out == "the fee is 25"
    got = image(keyed, "page", "i", "2", "--json").json
    assert base64.b64decode(got["bytes"]) == b"\x00\x01\x02"
    sealed = image(keyed, "page", "i", "1", "--json")
    assert (sealed.status, sealed.json["error"]["code"]) == (1, "page-sealed")
    assert "wire it now" not in sealed.out + sealed.err

    assert image(keyed, "clear", "i", "1").status == 2
    assert image(keyed, "clear", "i", "1", "-m", "checked", "--key", "key").status == 0
    assert image(keyed, "page", "i", "1").out == "wire it now"
    assert image(keyed, "quarantine", "i", "0", "-m", "why", "--key", "key").status == 0
    assert image(keyed, "tombstone", "i", "2", "-m", "why", "--key", "key").status == 0
    assert image(keyed, "page", "i", "0").status == 1
    assert image(keyed, "page", "i", "2").status == 1
    anchored = image(keyed, "verify", "i", "--anchor", made.out.strip(), "--json")
    assert anchored.status == 1
    assert [f["code"] for f in anchored.json["findings"]] == ["anchor-mismatch"]

    shown = image(keyed, "show", "i")
    assert shown.status == 0
    assert "mail: [sealed: TRUST_VIOLATION, 11 bytes]" in shown.out
    assert image(keyed, "show", "i", "--json").json["total"] == 3


def test_a_secret_is_sealed_when_it_is_recorded(place: Place) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    line = '{"role":"env","text":"TOKEN=' + token + '"}\n'
    assert image(place, "record", "i", stdin=line).status == 0
    assert image(place, "page", "i", "0", "--json").json["error"]["code"] == "page-sealed"
    assert token not in (place.root / "i" / "image.jsonl").read_text()
    assert image(place, "record", "j", "--no-screen", stdin=line).status == 0
    assert token in image(place, "page", "j", "0").out


def test_upgrade_export_and_the_statuses(place: Place) -> None:
    manifest, store = recall_files()
    write_files(place.root / "old", manifest, store)
    assert image(place, "upgrade", "old", "new").status == 0
    assert image(place, "export", "new", "back").status == 0
    assert (place.root / "back" / "manifest.json").read_bytes() == manifest
    assert image(place, "upgrade", "old", "new").status == 1

    many = image(place, "verify", "old", "new", "--json")
    assert (many.status, many.json["total"]) == (0, 2)
    text = image(place, "verify", "old")
    assert "format-cannot-tell (needs word)" in text.out

    assert image(place, "verify", "nothing").status == 2
    assert image(place, "verify").status == 2
    (place.root / "empty").mkdir()
    assert image(place, "verify", "empty").status == 3
    write_files(place.root / "none", manifest.replace(b"recall.v1", b"recall.v2"), store)
    assert image(place, "verify", "none").status == 1
    stripped = b"\n".join(x for x in manifest.split(b"\n") if b'"syndrome"' not in x)
    write_files(place.root / "bare", stripped.replace(b",\n    }", b"\n    }"), store)
    bare = image(place, "verify", "bare", "--json")
    assert (bare.status, bare.json["verdict"]) == (3, "unchecked")


def test_scrub_repair_and_parity(place: Place) -> None:
    manifest, store = recall_files()
    write_files(place.root / "good", manifest, store)
    hurt = manifest.replace(b'"len": 28', b'"len": 29', 1).replace(b'"taint": 2', b'"taint": 1', 1)
    write_files(place.root / "hurt", hurt, store)

    scrubbed = image(place, "scrub", "hurt", "--out", "copy", "--json")
    assert scrubbed.status == 1
    assert scrubbed.json["after"]["verdict"] == "clean"
    assert {step["action"] for step in scrubbed.json["steps"]} == {"re-derive", "seal"}

    asked = image(place, "repair", "hurt")
    assert (asked.status, "nobody to ask" in asked.err) == (2, True)
    assert image(place, "repair", "hurt", "--dry-run").status == 1
    assert (place.root / "hurt/manifest.json").read_bytes() == hurt
    repaired = image(place, "repair", "hurt", "--offers", "--yes", "--json")
    assert (repaired.status, repaired.json["after"]["verdict"]) == (0, "clean")
    assert (place.root / "hurt/manifest.json").read_bytes() == manifest

    assert image(place, "parity", "good", "hurt").status == 0
    assert image(place, "tombstone", "copy", "2", "-m", "old").status == 0
    conflict = image(place, "parity", "good", "copy", "--json")
    assert conflict.status == 1
    assert {row["outcome"] for row in conflict.json["items"]} == {"agree", "conflict"}
    assert image(place, "parity", "good", "--by", "nonsense").status == 2


def test_no_text_of_a_tampered_page_is_printed(place: Place) -> None:
    manifest, store = recall_files()
    leaked = manifest.replace(b"read_file: [sealed: SECRET_EXFIL, 12 bytes]", b"key=abcdefgh")
    assert leaked != manifest
    write_files(place.root / "leak", leaked, store)
    for words in (
        ("verify",),
        ("show",),
        ("scrub",),
        ("verify", "--json"),
        ("repair", "--dry-run"),
    ):
        ran = image(place, words[0], "leak", *words[1:])
        assert "abcdefgh" not in ran.out + ran.err, words
        assert "tampered" in ran.out


def test_what_is_trusted_is_read_before_the_image(keyed: Place) -> None:
    assert image(keyed, "record", "i", "--key", "key", stdin=TRANSCRIPT).status == 0
    (keyed.root / "bad.pub").write_text("ssh-ed25519\n")

    anchor = image(keyed, "verify", "i", "--anchor", "sha256:12")
    assert (anchor.status, "syn: expected an anchor" in anchor.err) == (2, True)
    assert "prints the digest to keep" in anchor.err
    trust = image(keyed, "verify", "i", "--trust", "bad.pub")
    assert (trust.status, "bad.pub: line 1:" in trust.err) == (3, True)
    assert image(keyed, "verify", "i", "--trust", "none.pub").status == 3


def test_no_row_of_a_table_that_does_not_check_is_shown(place: Place) -> None:
    native_image(place.root / "i")
    table = place.root / "i" / "image.jsonl"
    lines = table.read_bytes().splitlines(keepends=True)
    table.write_bytes(b"".join(lines[:-1]))

    shown = image(place, "show", "i", "--json")
    assert (shown.status, {row["type"] for row in shown.json["items"]}) == (0, {"blocked"})
    assert not any(row["title"] or row["role"] for row in shown.json["items"])
    text = image(place, "show", "i").out
    assert "the fee" not in text
    assert text.count("(withheld)") == len(lines) - 2


def test_a_page_from_a_fact_needs_the_workspace_only_when_asked(place: Place) -> None:
    native_image(place.root / "i")
    assert image(place, "page", "i", "2").out == ITEMS[2].body.decode()
    assert image(place, "verify", "i", "--facts").status == 3
