"""Proposals: classes with reasons, accepted as shown, refused when anything moved."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from syn.errors import SynError
from syn.services.doors.operations import operation
from syn.services.proving.verifying import Request, verify
from syn.services.recall.indexing import read_workspace
from syn.services.recall.opening import open_current
from syn.services.recall.reads import Reader, open_reader
from syn.services.writing import proposals
from syn.services.writing.changes import Add, Change, Close, Edit, NewFact, Supersede
from syn.services.writing.gate import GateError, Override
from syn.services.writing.pending import (
    Asked,
    ChangedSinceShownError,
    Consent,
    Judged,
    StaleError,
    accept,
    propose,
    reject,
    show,
)
from syn.services.writing.proposals import Damaged, find_proposal, queue
from syn.services.writing.writes import Terms, write
from tests.support.workspaces import NOW, Place, make_workspace

BOT = Asked("bot-1", reason="read it")


def quiet(_: str) -> None:
    """Takes the talk of a service."""


def ask(place: Place, *changes: Change, asked: Asked = BOT, now: str = NOW) -> Judged:
    return propose(place.open(now), changes, asked, quiet)


def take(place: Place, name: str, consent: Consent | None = None) -> list[tuple[str, str]]:
    consent = consent or Consent()
    workspace = place.open()
    (shown,) = show(workspace, [name], quiet, supersede=consent.supersede)
    done = accept(workspace, shown, consent, quiet)
    return [(entry.action, entry.fact) for _, entry in done.entries]


def statement(value: str, valid_from: str = "", valid_to: str = "") -> Add:
    new = NewFact(title=f"Owner {value}", subject="payments", field="owner", value=value)
    return Add(replace(new, valid_from=valid_from, valid_to=valid_to))


def sound(place: Place) -> bool:
    return verify(place.open(), Request(deep=True)).verdict == "pass"


def waiting(place: Place) -> list[str]:
    return [item.file for item in queue(place.open())]


CLASSES: list[tuple[str, Change, str, list[str]]] = [
    ("clear", Add(NewFact(title="New", body="x\n")), "", []),
    ("clear", statement("risk", valid_to="2025-01-01"), "", []),
    ("clear", statement("risk", valid_from="2024-01-01", valid_to="2024-06-01"), "", []),
    ("conflict", statement("risk"),
     "owner-1 says payments / owner = ledger from 2025-01-01",
     ["value-overlaps", "value-overlaps"]),
    ("conflict", statement("risk", valid_from="2025-06-01", valid_to="2025-07-01"),
     "owner-1 says payments / owner = ledger from 2025-01-01 to 2026-04-15, not risk",
     ["value-overlaps"]),
    ("duplicate", statement("checkout", valid_from="2026-05-01"),
     "owner-2 says payments / owner = checkout already, from 2026-04-15 on", ["same-statement"]),
    ("duplicate", Add(NewFact(title="Refund limit", id="other", body="Two people.\r\n")),
     "limit has the same title and the same body", ["same-text"]),
    ("tainted", Add(NewFact(title="Web", source=(("url", "https://example.org/x"),))),
     "web comes from outside: https://example.org/x", ["external"]),
    ("screened", Add(NewFact(title="Key", body="AKIAIOSFODNN7EXAMPLE\n")),
     "facts/key.md:5 holds a secret: AWS Access Key", ["secret"]),
    ("screened", Add(NewFact(title="Turned", body="a\u202eb\n")),
     "facts/turned.md:5 holds a hidden character: U+202E RIGHT-TO-LEFT OVERRIDE",
     ["hidden-character"]),
    ("screened", Add(NewFact(title="Bell", body="a\x07\n")),
     "facts/bell.md:5 holds a control character: U+0007", ["control-character"]),
    ("conflict", Edit("owner-1", reserved=(("valid_to", "2026-05-01"),)),
     "owner-2 says payments / owner = checkout from 2026-04-15 on, not ledger",
     ["value-overlaps"]),
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return make_workspace(tmp_path_factory.mktemp("pending"))


@pytest.mark.parametrize(("kind", "change", "message", "codes"), CLASSES)
def test_the_gate_names_what_speaks_against_it(
    place: Place, kind: str, change: Change, message: str, codes: list[str]
) -> None:
    judged = ask(place, change)
    assert judged.verdict.kind == kind
    assert [reason.code for reason in judged.verdict.reasons] == codes
    assert not message or judged.verdict.reasons[0].message.startswith(message)
    again = ask(place, change, now="2026-12-01T00:00:00Z")
    assert again.proposal == judged.proposal, "the same proposal waits only once"
    assert again.verdict == judged.verdict


def test_several_values_are_no_conflict_where_the_field_holds_several(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    config = place.root / "synapse.toml"
    config.write_text(config.read_text().replace("exclude = []", 'exclude = []\nmulti = ["owner"]'))
    assert ask(place, statement("risk")).verdict.kind == "clear"
    assert ask(place, statement("checkout", valid_from="2026-05-01")).verdict.kind == "duplicate"


def test_a_proposal_writes_nothing(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    before = read_workspace(place.open()).ledger.recorded
    judged = ask(place, statement("risk"))
    assert read_workspace(place.open()).ledger.recorded == before
    file = place.root / ".git/synapse/pending" / judged.proposal.file
    assert json.loads(file.read_bytes())["actor"] == "bot-1"
    assert sound(place)


def test_accepting_records_one_decision_that_names_the_proposal(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    judged = ask(place, Add(NewFact(title="New")), Close("owner-2"), Edit("limit", tag=("x",)))
    assert take(place, judged.proposal.short) == [
        ("create", "new"), ("close", "owner-2"), ("update", "limit"),
    ]  # fmt: skip
    assert waiting(place) == []
    entries = [e for _, e in read_workspace(place.open()).ledger.ledger.entries() if e.proposal]
    assert {entry.proposal for entry in entries} == {judged.proposal.digest}
    assert {entry.reason for entry in entries} == {"read it (proposed by bot-1)"}
    assert len({entry.batch for entry in entries}) == 1
    assert sound(place)


def test_a_conflict_needs_a_decision(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    name = ask(place, statement("risk", valid_from="2026-09-01")).proposal.short
    with pytest.raises(GateError) as caught:
        take(place, name)
    assert caught.value.code == "conflict"
    assert take(place, name, Consent(supersede=True)) == [
        ("close", "owner-2"), ("supersede", "owner-risk"),
    ]  # fmt: skip
    assert sound(place)


def test_anyway_stands_beside_and_supersede_needs_a_conflict(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    name = ask(place, Add(NewFact(title="New"))).proposal.short
    with pytest.raises(SynError) as caught:
        take(place, name, Consent(supersede=True))
    assert caught.value.code == "nothing-to-supersede"
    name = ask(place, statement("risk", valid_from="2026-09-01")).proposal.short
    take(place, name, Consent(override=Override(anyway=True)))
    recorded = read_workspace(place.open()).ledger.recorded["owner-risk"]
    entries = dict(read_workspace(place.open()).ledger.ledger.entries())
    assert entries[recorded.heads[0]].review == "named"


def test_what_the_screen_holds_is_not_taken_with_anyway(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    secret = Add(NewFact(title="Key", body="-----BEGIN OPENSSH PRIVATE KEY-----\n"))
    name = ask(place, secret).proposal.short
    with pytest.raises(GateError) as caught:
        take(place, name, Consent(override=Override(anyway=True)))
    assert caught.value.code == "screened"
    take(place, name, Consent(override=Override(screened=True)))
    body = (place.root / "facts/key.md").read_text()
    assert "-----BEGIN OPENSSH PRIVATE KEY-----\n" in body


def test_taint_is_recorded_and_inherited(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    web = NewFact(title="Web", value="1", source=(("url", "https://example.org/x"),))
    take(place, ask(place, Add(web)).proposal.short)
    take(place, ask(place, Supersede(("web",), NewFact(title="Next", value="2"))).proposal.short)
    recorded = read_workspace(place.open()).ledger.recorded
    assert (recorded["web"].taint, recorded["next"].taint) == ("external", "web")


def test_it_is_refused_when_its_facts_changed(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    name = ask(place, Edit("limit", tag=("x",))).proposal.short
    write(place.open(), [Edit("limit", body="Other.\n")], Terms(), quiet)
    with pytest.raises(StaleError) as caught:
        take(place, name)
    assert caught.value.code == "out-of-date"
    (judged,) = show(place.open(), [name], quiet)
    assert judged.stale is not None
    (place.root / "facts/limit.md").write_text("by hand\n")
    (judged,) = show(place.open(), [name], quiet)
    assert judged.stale is not None
    assert judged.stale.code == "undecided"


def test_it_is_refused_when_it_is_not_what_was_shown(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    name = ask(place, statement("risk", valid_from="2027-01-01", valid_to="2028-01-01")).proposal
    workspace = place.open()
    (shown,) = show(workspace, [name.short], quiet)
    other = NewFact(title="Z", subject="payments", field="owner", value="zed",
                    valid_from="2027-06-01", valid_to="2027-07-01")  # fmt: skip
    write(place.open(), [Add(other)], Terms(override=Override(anyway=True)), quiet)
    with pytest.raises(ChangedSinceShownError):
        accept(workspace, shown, Consent(override=Override(anyway=True)), quiet)
    assert waiting(place) == [name.file]


def test_a_changed_file_of_the_queue_is_damaged(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    proposal = ask(place, Edit("limit", tag=("x",))).proposal
    file = place.root / ".git/synapse/pending" / proposal.file
    file.write_bytes(file.read_bytes().replace(b'["x"]', b'["y"]'))
    (found,) = queue(place.open())
    assert isinstance(found, Damaged)
    with pytest.raises(SynError) as caught:
        find_proposal(place.open(), proposal.short)
    assert caught.value.code == "damaged-proposal"
    reject(place.open(), [proposal.short], "damaged", quiet)
    assert waiting(place) == []
    assert sound(place)


def test_rejecting_is_a_decision(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    one, two = (ask(place, Edit(name, tag=("x",))).proposal for name in ("limit", "owner-2"))
    entries = reject(place.open(), [one.short, two.digest], "no source", quiet)
    assert [(e.action, e.fact, e.proposal, e.reason) for _, e in entries] == [
        ("reject", "limit", one.digest, "no source"),
        ("reject", "owner-2", two.digest, "no source"),
    ]
    assert waiting(place) == []
    assert sound(place)


def test_names_are_exact_or_suggested(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    for name in ("", "abc", "ffff", "../../x"):
        with pytest.raises(SynError) as caught:
            find_proposal(place.open(), name)
        assert caught.value.code == "unknown-proposal"


def test_the_queue_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make_workspace(tmp_path)
    monkeypatch.setattr(proposals, "MAX_PENDING", 1)
    ask(place, Edit("limit", tag=("x",)))
    with pytest.raises(SynError) as caught:
        ask(place, Edit("limit", tag=("y",)))
    assert caught.value.code == "queue-full"
    monkeypatch.setattr(proposals, "MAX_BYTES", 100)
    with pytest.raises(SynError) as caught:
        ask(place, Edit("limit", tag=("z",)))
    assert caught.value.code == "queue-full"


def _reader(place: Place) -> Reader:
    return open_reader(place.open(), quiet, "agent")


def test_the_operations_of_both_doors(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    reader = _reader(place)
    with reader.index:
        asked = operation("propose-supersede").run(
            reader, id="owner-2", value="risk", valid_from="2026-09-01", agent="bot"
        )
        batch = '[{"op":"close","id":"limit","at":"2027-01-01"},{"op":"delete","id":"owner-1"}]'
        operation("propose-batch").run(reader, changes=batch)
        operation("propose").run(reader, title="New", tags=["a"], source_url="https://x.example/")
        operation("propose-edit").run(reader, id="limit", add_tags=["b"])
        operation("propose-close").run(reader, id="limit")
        operation("propose-link").run(reader, id="limit", to="owner-2")
        operation("propose-rm").run(reader, id="limit")
        with pytest.raises(SynError) as caught:
            operation("propose-batch").run(reader, changes="{")
        assert caught.value.code == "bad-change"
        listed = operation("pending-list").run(reader)
        shown = operation("pending-show").run(reader, id=asked["id"])
    assert (asked["class"], asked["via"], asked["actor"]) == ("clear", "mcp", "bot")
    assert listed["total"] == 7
    items = shown["items"]
    assert isinstance(items, list)
    assert [(i["action"], i["id"]) for i in items if isinstance(i, dict)] == [
        ("close", "owner-2"), ("supersede", "checkout-owns-payments"),
    ]  # fmt: skip


def test_a_proposal_is_judged_by_what_holds_now(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    index, _ = open_current(place.open(), quiet)
    index.close()
    judged = ask(place, statement("risk", valid_from="2027-01-01", valid_to="2027-02-01"))
    assert judged.verdict.kind == "conflict"
    write(place.open(), [Close("owner-2", "2026-12-01")], Terms(), quiet)
    (today,) = show(place.open(), [judged.proposal.short], quiet)
    assert today.verdict.kind == "clear"
