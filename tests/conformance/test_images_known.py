"""Every known image gets its right verdict: the table is `expect.json` beside the project."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from syn.canon.json import encode
from syn.images.goform import manifest_text
from syn.images.malformed import MalformedError
from syn.images.pagein import Conditions, PageRefusedError
from syn.images.report import ImageReport, report_json
from syn.images.store import RecallImage, check_image, open_image, page_in
from tests.support.bodies import bodies_of
from tests.support.shared import ROOT, shared_path

FOLDER = ROOT.parent / "shared" / "images"
SEALED_WITHOUT_WORD = {
    "cli-dream-out",
    "base-dreamed",
    "base-scrubbed",
    "scrubbed",
    "scrub-misdirected",
}


@cache
def expected() -> dict[str, Any]:
    table = FOLDER / "expect.json"
    return json.loads(table.read_text("utf-8"))["images"] if table.exists() else {}


def names(*, real: bool) -> list[Any]:
    found = [name for name, row in expected().items() if row["real"] is real]
    return found or [pytest.param("", marks=pytest.mark.skip(reason="shared/images is absent"))]


@dataclass(frozen=True)
class Right:
    """A prose verdict in our terms."""

    verdict: str
    pages: dict[int, str]
    codes: frozenset[str] = frozenset()
    blocked: bool = False
    stamped: str = ""
    """`field=value` that the diagnosis must name."""


def fault(pages: dict[int, str], *codes: str, blocked: bool = False, stamped: str = "") -> Right:
    return Right("fault", pages, frozenset(codes), blocked, stamped)


def refused(code: str) -> Right:
    return Right("refused", {}, frozenset({code}), blocked=True)


UNTOLD = Right("clean", {})
"""What `recall.v1` cannot tell: the pages check, and the report says what it does not prove."""

RIGHT = {
    "t-unseal-flag": fault({6: "tampered"}, "word-mismatch", stamped="quarantined=true"),
    "t-unseal-strip-word": fault({6: "tampered"}, "word-stripped"),
    "t-unseal-forge-word": fault({6: "tampered"}, "descriptor-mismatch"),
    "t-repoint-digest": fault({0: "tampered"}, "word-mismatch", stamped="digest=786ff8bfb228"),
    "t-repoint-same-len": fault({11: "tampered"}, "word-mismatch", stamped="digest=bf7d7054914c"),
    "t-len-rot": fault({1: "repairable"}, "len-rotted"),
    "t-taint-rot": fault({3: "tampered"}, "word-mismatch", stamped="taint=0"),
    "t-len-and-taint-rot": fault({1: "tampered"}, "word-mismatch", stamped="len=35"),
    "t-qid-swap": fault({4: "tampered", 6: "tampered"}, "word-mismatch", stamped="qid=q1"),
    "t-word-uppercase": fault({1: "repairable"}, "word-malformed"),
    "t-word-swap": fault({10: "tampered", 11: "tampered"}, "word-mismatch"),
    "t-body-truncated": fault({2: "erasure"}, "body-mismatch", blocked=True),
    "t-body-missing": fault({1: "erasure"}, "body-absent"),
    "t-body-null": fault({1: "erasure"}, "body-mismatch", blocked=True),
    "t-orphan-rotten": fault({}, "orphan-rotten", blocked=True),
    "t-witness-drop": UNTOLD,
    "t-witness-swap": UNTOLD,
    "t-witness-steal": UNTOLD,
    "t-trust-epoch": fault({2: "tampered"}, "epoch-order"),
    "t-valid-to-extend": UNTOLD,
    "t-valid-to-drop": fault({7: "tampered"}, "validity-mismatch"),
    "t-bounded-to-durable": fault({7: "tampered"}, "validity-mismatch"),
    "t-step-retarget": fault({1: "tampered"}, "step-mismatch"),
    "t-descriptor-inject": fault({0: "tampered"}, "descriptor-mismatch"),
    "t-descriptor-leak": fault({5: "tampered"}, "sealed-descriptor"),
    "t-utility-inflate": fault({11: "tampered"}, "utility-range"),
    "t-utility-negative": fault({0: "tampered"}, "utility-range"),
    "t-page-dropped-renumbered": fault({}, "tombstone-id", blocked=True),
    "t-sealed-dropped": fault({}, "seal-gap", "tombstone-id", blocked=True),
    "t-pages-swapped": fault({0: "tampered", 1: "tampered"}, "page-order", blocked=True),
    "t-pages-swapped-renumbered": fault({}, "tombstone-digest", blocked=True),
    "t-alias-unsealed": fault({12: "tampered"}, "alias-unsealed", "marker-mismatch", blocked=True),
    "t-spliced": UNTOLD,
    "t-world-ver": fault({}, "marker-mismatch", blocked=True),
    "t-version-2": refused("unknown-version"),
    "t-tombstone-dropped": UNTOLD,
    "t-tombstone-disarmed": fault({}, "tombstone-unapplied", blocked=True),
    "t-tombstone-moved": fault({}, "tombstone-digest", "tombstone-id", blocked=True),
    "t-tombstone-added": UNTOLD,
    "t-cleared-unknown": fault({}, "clearance-unknown", blocked=True),
    "t-cleared-empty-qid": fault({6: "tampered"}, "seal-inconsistent", blocked=True),
    "t-unseal-after-dream": UNTOLD,
    "t-unseal-after-scrub": UNTOLD,
    "t-key-duplicate": refused("duplicate-member"),
    "t-cas-key-duplicate": refused("duplicate-member"),
    "t-digest-upper": fault({1: "erasure"}, "address-malformed"),
    "t-digest-upper-both": fault({1: "erasure"}, "address-malformed", blocked=True),
    "t-len-wrong-forged": fault({1: "tampered"}, "len-mismatch"),
    "t-len-float": refused("wrong-type"),
    "t-word-full-width": fault({1: "repairable"}, "word-malformed"),
    "t-base64-newlines": fault({1: "erasure"}, "body-mismatch", blocked=True),
    "t-trailing-data": refused("trailing-data"),
    "t-bom": refused("byte-order-mark"),
    "t-lone-surrogate": refused("lone-surrogate"),
    "t-pages-null": refused("wrong-type"),
    "t-page-null": refused("wrong-type"),
    "t-field-null": refused("wrong-type"),
    "t-cas-null": refused("store-not-object"),
    "t-cas-absent": refused("store-absent"),
    "t-mixed-generation": fault(dict.fromkeys(range(12), "erasure"), "body-absent"),
    "t-collision": UNTOLD,
    "t-erasure-misdirect": fault({1: "erasure"}, "body-absent", "step-mismatch"),
    "t-bundle-parts-dropped": fault(
        {0: "tampered"}, "part-unlisted", "session-mismatch", blocked=True
    ),
}


def codes_of(report: ImageReport) -> set[str]:
    return {finding.code for finding in report.findings if finding.severity != "warning"}


def test_every_edited_image_is_in_the_table() -> None:
    shared_path("images")
    assert set(names(real=False)) == set(RIGHT)


@pytest.mark.parametrize("name", names(real=False))
def test_an_edited_image_gets_its_right_verdict(name: str) -> None:
    report, right = check_image(FOLDER / name), RIGHT[name]

    assert report.verdict == right.verdict
    assert {page.position: page.cls for page in report.pages} == right.pages
    assert right.codes <= codes_of(report)
    assert (report.blocked is None) is right.blocked
    stamped = {
        f"{change.field}={change.stamped}"
        for page in report.pages
        if page.diagnosis
        for candidate in page.diagnosis.candidates
        for change in candidate.changes
    }
    assert not right.stamped or any(text.startswith(right.stamped) for text in stamped)


@pytest.mark.parametrize("name", [n for n in RIGHT if RIGHT[n] is UNTOLD])
def test_what_the_format_cannot_tell_needs_more_than_it_has(name: str) -> None:
    shared_path("images")
    report = check_image(FOLDER / name)

    needs = {limit.needs for limit in report.limits}
    assert {"word", "root", "key"} >= {expected()[name]["needs"]}
    assert expected()[name]["needs"] in needs


@pytest.mark.parametrize("name", names(real=False))
def test_no_faulty_page_is_ever_handed_out(name: str) -> None:
    report = check_image(FOLDER / name)
    try:
        image = open_image(FOLDER / name)
        faulty = [page.position for page in report.pages]
        for position in faulty:
            with pytest.raises(PageRefusedError):
                page_in(image, position, Conditions())
    except MalformedError:
        assert report.verdict == "refused"


@pytest.mark.parametrize("name", names(real=True))
def test_a_real_image_verifies_clean_or_is_called_what_it_is(name: str) -> None:
    report = check_image(FOLDER / name)

    if name in SEALED_WITHOUT_WORD:
        assert report.verdict == "sealed-without-word"
        assert "sealed-without-word" in codes_of(report)
        assert all(page.cls in {"repairable", "erasure"} for page in report.pages)
    elif name == "scrub-launders":
        assert [(page.position, page.cls) for page in report.pages] == [(6, "tampered")]
    else:
        assert report.verdict == "clean"
        assert {finding.code for finding in report.findings} <= {"orphan"}


@pytest.mark.parametrize("name", names(real=True))
def test_a_real_image_comes_back_byte_for_byte(name: str) -> None:
    image = open_image(FOLDER / name)
    assert isinstance(image, RecallImage)
    head = image.check().head

    text = "".join(manifest_text(head, image.pages()))

    assert text.encode() == (FOLDER / name / "manifest.json").read_bytes()


REFUSED_AS = {
    "sealed": {"page-sealed", "page-revoked", "page-repairable"},
    "tombstoned": {"page-hidden", "page-erasure", "page-blocked"},
    "error": {"page-erasure"},
}
WEAKNESSES = {("scrub-launders", 6): "page-tampered"}
"""Pages that the program serves and we do not (its scrub stamped a page whose word was gone)."""
ELSEWHERE = {("artifacts", 0)}
"""Pages that the program refuses for what its own checkout holds, which is not in the image."""


@pytest.mark.parametrize("name", names(real=True))
def test_page_in_hands_out_the_bytes_that_the_program_serves(name: str) -> None:
    image = open_image(FOLDER / name)
    for context in expected()[name]["contexts"].values():
        given = Conditions(revoked=context["revoked"] or ())
        for row in context["pages"][:30]:
            position, wanted = row["index"], row["resolve"]
            if (name, position) in ELSEWHERE:
                continue
            try:
                got = hashlib.sha256(page_in(image, position, given).body).hexdigest()
            except PageRefusedError as error:
                got = error.code
            if (name, position) in WEAKNESSES:
                assert got == WEAKNESSES[name, position]
            elif isinstance(wanted, dict):
                assert got == wanted["sha256"]
            else:
                assert got in REFUSED_AS[wanted]


@pytest.mark.parametrize("name", ["bundle", "cli-snapshot-session"])
def test_a_packed_bundle_says_what_the_folder_says(name: str) -> None:
    folder = shared_path("images") / name
    (packed,) = folder.glob("*.faksession")

    assert check_image(packed).digest == check_image(folder).digest
    assert check_image(packed).verdict == "clean"


def test_no_report_on_any_image_holds_a_body() -> None:
    folder = shared_path("images")
    for name in expected():
        text = encode(report_json(check_image(folder / name))).decode()
        for body in bodies_of(folder / name):
            assert body not in text, name
