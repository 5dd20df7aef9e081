"""Receipts and INV-8: issued from a checkpoint, checked without a repository, and in one."""

import json
from pathlib import Path

import pytest

from syn.canon import receipt as canon
from syn.canon.note import NoteError, UnknownKeyError
from syn.errors import Cause, SynError
from syn.keys.policy import PolicyKey
from syn.keys.trust import Trust, TrustedKey
from syn.model.finding import Finding, Status
from syn.services.proving.verifying import Request, verify
from syn.services.trust.key_init import init_key
from syn.services.trust.keyring import keys_here
from syn.services.trust.policy_change import add_key, set_state
from syn.services.trust.publishing import Wishes, make_checkpoint
from syn.services.trust.receipts import (
    Issued,
    NotCoveredError,
    check_proofs,
    check_trusted,
    issue,
    stored,
)
from syn.services.trust.witnesses import NoCheckpointError
from tests.support.proofs import private_key
from tests.support.workspaces import Place, adopt_all, make_workspace


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_workspace(tmp_path)
    workspace = made.open()
    init_key(workspace.around, workspace, slot="identity", name="alice", policy=True)
    make_checkpoint(made.open(), Wishes())
    return made


def _trust(place: Place) -> Trust:
    return Trust((TrustedKey(keys_here(place.open().around)[0].key, 1),))


def _findings(place: Place) -> dict[str, str]:
    report = verify(place.open(), Request())
    result = next(item for item in report.invariants if item.id == "INV-8")
    return {finding.code: finding.severity for finding in result.findings}


def _issued(place: Place) -> Issued:
    return issue(place.open(), "owner-2")


def test_a_receipt_needs_no_repository(place: Place) -> None:
    done = _issued(place)
    found = check_trusted(done.data, _trust(place))
    assert (found.fact, found.path) == ("owner-2", "facts/owner-2.md")
    assert found.record.commit == done.record.commit
    assert len(found.verified) == 1
    assert (place.root / done.path).read_bytes() == done.data
    assert [item["fact"] for item in stored(place.open())] == ["owner-2"]
    (one,) = stored(place.open(), done.id[:12])
    assert one["text"] == done.data.decode()
    with pytest.raises(SynError, match="no receipt starts with 'nope'") as unknown:
        stored(place.open(), "nope")
    assert (unknown.value.code, unknown.value.cause) == ("unknown-receipt", Cause.USAGE)


def test_it_is_stored_and_recorded_once(place: Place) -> None:
    first = _issued(place)
    again = _issued(place)
    assert first.made
    assert not again.made
    assert again.data == first.data
    report = verify(place.open(), Request())
    result = next(item for item in report.invariants if item.id == "INV-8")
    assert (result.status, report.verdict) == (Status.PASS, "pass")


def test_it_goes_on_proving_what_held(place: Place) -> None:
    done = _issued(place)
    path = place.root / "facts/owner-2.md"
    path.write_text(path.read_text("utf-8") + "More.\n", "utf-8")
    adopt_all(place)
    make_checkpoint(place.open(), Wishes())
    assert _findings(place) == {}
    assert check_trusted(done.data, _trust(place)).payload == canonical_payload(done)
    assert issue(place.open(), "owner-2").data != done.data


def canonical_payload(done: Issued) -> str:
    """The payload that the receipt's row states."""
    row = json.loads(canon.decode(done.data).row)
    assert isinstance(row, dict)
    return str(row["payload_digest"])


def test_what_no_checkpoint_covers_has_no_receipt(place: Place, tmp_path: Path) -> None:
    (place.root / "facts/new.md").write_text("New.\n")
    adopt_all(place)
    with pytest.raises(NotCoveredError, match="facts/new: there is no such fact"):
        issue(place.open(), "facts/new")
    with pytest.raises(NoCheckpointError):
        issue(make_workspace(tmp_path / "else").open(), "limit")


def test_strangers_and_changed_receipts(place: Place) -> None:
    data = _issued(place).data
    with pytest.raises(UnknownKeyError):
        check_trusted(data, Trust((TrustedKey(private_key(5).public, 1),)))
    value = json.loads(data)
    for part, old, new in (
        ("row", "checkout", "ledger-x"),
        ("entry", "facts/owner-2.md", "facts/owner-3.md"),
        ("record", '"projection":1', '"projection":2'),
        ("checkpoint", "\n1\n", "\n2\n"),
    ):
        changed = {**value, part: value[part].replace(old, new)}
        assert changed != value
        with pytest.raises(SynError):
            check_trusted(canon_bytes(changed), _trust(place))
    with pytest.raises(NoteError):
        check_trusted(canon_bytes({**value, "checkpoint": "nothing"}), _trust(place))


def canon_bytes(value: object) -> bytes:
    """A receipt file with these members."""
    from syn.canon.json import encode

    return encode(value) + b"\n"


def test_a_row_and_a_decision_of_two_facts(place: Place) -> None:
    one = json.loads(_issued(place).data)
    two = json.loads(issue(place.open(), "limit").data)
    mixed = {
        **one,
        "entry": two["entry"],
        "proofs": {**one["proofs"], "entry": two["proofs"]["entry"]},
    }
    with pytest.raises(canon.ReceiptError, match="same fact"):
        check_proofs(canon_bytes(mixed))


def test_a_stored_receipt_is_never_changed(place: Place) -> None:
    done = _issued(place)
    file = place.root / done.path
    file.write_bytes(done.data.replace(b"checkout", b"checkers"))
    assert _findings(place)["receipt-changed"] == "failure"
    file.unlink()
    assert _findings(place) == {"receipt-missing": "failure"}
    file.write_bytes(done.data)
    assert _findings(place) == {}


def test_a_receipt_that_nobody_recorded(place: Place) -> None:
    data = _issued(place).data
    (place.root / ".synapse/receipts/other.json").write_bytes(data)
    assert _findings(place) == {"receipt-unrecorded": "failure", "receipt-name": "failure"}


def _rotate(place: Place, state: str) -> None:
    around = place.open().around
    init_key(around, place.open(), slot="new", name="alice", policy=True)
    old, new = keys_here(around)
    add_key(place.open(), PolicyKey("alice", ("admin", "writer", "publisher"), "active", new.key))
    set_state(place.open(), old.key, "retired" if state == "retired" else "compromised")


@pytest.mark.parametrize(
    ("state", "expected"),
    [("retired", {}), ("compromised", {"receipt-unanchored": "warning"})],
)
def test_after_the_key_was_rotated(place: Place, state: str, expected: dict[str, str]) -> None:
    _issued(place)
    _rotate(place, state)
    assert _findings(place) == expected


def test_a_record_or_decision_that_is_not_here(place: Place) -> None:
    _issued(place)
    for name in ("heads/alice.jsonl", "heads/alice.checkpoint"):
        (place.root / ".synapse" / name).unlink()
    assert _findings(place) == {"receipt-record": "failure"}


def test_findings_name_their_file(place: Place) -> None:
    done = _issued(place)
    (place.root / done.path).unlink()
    report = verify(place.open(), Request())
    result = next(item for item in report.invariants if item.id == "INV-8")
    finding: Finding = result.findings[0]
    assert (finding.path, finding.subject) == (done.path, done.id)
