"""Witness, key, policy, report and acknowledge commands: what they print, refuse and remember."""

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from syn.canon import checkpoint, cosignature, tlogproof
from syn.canon import note as notes
from syn.keys import vkey
from syn.keys.signing import note_signer, note_verifier
from tests.support.inside import done, inside
from tests.support.parties import Parties, edit, git
from tests.support.proofs import private_key


@pytest.fixture
def parties(tmp_path: Path) -> Parties:
    return Parties(tmp_path)


def _trusted(parties: Parties) -> tuple[str, str]:
    return "--trust", str(parties.key)


def _error(out: str) -> str:
    return str(json.loads(out)["error"]["code"])


def test_show_believes_nothing(parties: Parties) -> None:
    shown = done(parties.auditor, "witness", "show", str(parties.witness), "--json").json
    assert (shown["size"], shown["verified"]) == (1, False)
    assert shown["origin"].startswith("memory.example/")
    assert shown["commit"] == git(parties.owner, "rev-parse", "HEAD~1")


def test_verify_with_and_without_a_clone(parties: Parties, tmp_path: Path) -> None:
    ran = done(parties.auditor, "witness", "verify", str(parties.witness), *_trusted(parties))
    assert ran.out.startswith("consistent: memory.example/")
    elsewhere = tmp_path / "nowhere"
    elsewhere.mkdir()
    ran = done(
        parties.auditor,
        *("-C", str(elsewhere), "witness", "verify", str(parties.witness), *_trusted(parties)),
        "--json",
    )
    assert ran.json["status"] == "file-only"
    unknown = inside(parties.auditor, "witness", "verify", str(parties.witness), "--json")
    assert (unknown.status, _error(unknown.out)) == (3, "note-unknown-key")


def test_first_use_is_asked_for_and_said(parties: Parties) -> None:
    ran = done(parties.auditor, "witness", "pin", str(parties.witness), "--json")
    assert ran.json["first_use"] is True
    again = done(parties.auditor, "witness", "pin", str(parties.witness), "--json")
    assert (again.json["first_use"], again.json["changed"]) == (False, False)
    listed = done(parties.auditor, "witness", "list", "--json").json
    assert listed["items"][0]["witnesses"][0]["size"] == 1
    pins = Path(parties.auditor.env["SYNAPSE_CONFIG_DIR"]) / "pins"
    (file,) = pins.glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(pins.stat().st_mode) == 0o700
    file.write_text("{}")
    damaged = inside(parties.auditor, "verify", "--since", "pin", "--json")
    assert (damaged.status, _error(damaged.out)) == (3, "pins-damaged")


def test_a_pin_moves_only_forward(parties: Parties) -> None:
    done(parties.auditor, "witness", "pin", str(parties.witness), *_trusted(parties))
    edit(parties.owner, "# Plain\n\nOn.\n")
    done(parties.owner, "checkpoint")
    newer = parties.folder / "newer"
    done(parties.owner, "witness", "publish", "-o", str(newer))
    behind = inside(parties.auditor, "witness", "pin", str(newer), "--json")
    assert (behind.status, _error(behind.out)) == (1, "pin-behind")
    parties.fetch()
    moved = done(parties.auditor, "witness", "pin", str(newer), "--json").json
    assert [item["size"] for item in moved["witnesses"]] == [1, 2]
    assert moved["root"] == moved["witnesses"][0]["commit"]
    down = inside(parties.auditor, "witness", "pin", str(parties.witness), "--json")
    assert (down.status, _error(down.out)) == (1, "pin-down")
    old = parties.verify()
    found = old.json["predicate"]["local"]["findings"]
    assert old.status == 0
    assert [f["code"] for f in found if f["invariant"] == "INV-12"] == ["witness-newer-pin"]
    first = git(parties.auditor, "rev-list", "--max-parents=0", "HEAD")
    done(parties.auditor, "witness", "pin", git(parties.auditor, "rev-parse", "HEAD"))
    refused = inside(parties.auditor, "witness", "pin", first, "--json")
    assert (refused.status, _error(refused.out)) == (1, "pin-down")


def _forked(parties: Parties) -> Path:
    """A witness of the same size with another root, signed by the owner's real key."""
    from syn.keys import openssh

    key = openssh.load(Path(parties.owner.env["SYNAPSE_CONFIG_DIR"]) / "keys/identity")
    proof = tlogproof.parse(parties.witness.read_bytes())
    assert proof.extra is not None
    other = proof.extra.replace(b'"projection":1', b'"projection":2')
    from syn.canon import merkle

    origin = checkpoint.parse(proof.note.text).origin
    text = checkpoint.render(checkpoint.Checkpoint(origin, 1, merkle.root([other])))
    note = notes.sign(text, (note_signer(key, origin),))
    path = parties.folder / "forked"
    path.write_bytes(tlogproof.render(tlogproof.TlogProof(other, 0, (), note)))
    return path


def test_two_histories_of_one_size_are_never_pinned(parties: Parties) -> None:
    done(parties.auditor, "witness", "pin", str(parties.witness), *_trusted(parties))
    forked = _forked(parties)
    refused = inside(parties.auditor, "witness", "pin", str(forked), "--json")
    assert (refused.status, _error(refused.out)) == (1, "pin-forked")
    parties.witness = forked
    ran = parties.verify()
    assert (ran.status, ran.json["predicate"]["witness_status"]) == (1, "forked")


def test_cosignatures(parties: Parties) -> None:
    done(parties.auditor, "key", "init", "--no-policy")
    signed = parties.folder / "cosigned"
    name = "auditor.example/w"
    given = ("--name", name, *_trusted(parties), "-o", str(signed))
    made = done(parties.auditor, "witness", "cosign", str(parties.witness), *given, "--json").json
    line = done(parties.auditor, "key", "export", "--cosigner", name).out.strip()
    key = vkey.parse(line)
    note = tlogproof.parse(signed.read_bytes()).note
    (verified,) = notes.verify(note, (note_verifier(key),))
    (found,) = cosignature.cosigners((verified,))
    assert (found.name, found.time) == (name, made["time"])
    trust = parties.folder / "cosigner.vkey"
    trust.write_text(line + "\n")
    third = parties.clone("third")
    ran = inside(third, "verify", "--json", "--since", str(signed), "--trust", str(trust))
    assert ran.json["predicate"]["level"] == "L4", ran.out
    assert ran.json["predicate"]["trust_root"] == "published-witness"
    forked = inside(parties.auditor, "witness", "cosign", str(_forked(parties)), *given, "--json")
    assert (forked.status, _error(forked.out)) == (1, "cosign-forked")


def test_a_cosigner_follows_only_what_extends(parties: Parties) -> None:
    done(parties.auditor, "key", "init", "--no-policy")
    trusted = _trusted(parties)
    done(parties.auditor, "witness", "cosign", str(parties.witness), *trusted)
    edit(parties.owner, "# Plain\n\nOn.\n")
    done(parties.owner, "checkpoint")
    newer = parties.folder / "newer"
    done(parties.owner, "witness", "publish", "-o", str(newer))
    behind = inside(parties.auditor, "witness", "cosign", str(newer), *trusted, "--json")
    assert (behind.status, _error(behind.out)) == (1, "cosign-behind")
    outside = inside(
        parties.auditor,
        *("-C", str(parties.folder), "witness", "cosign", str(newer), *trusted, "--json"),
    )
    assert (outside.status, _error(outside.out)) == (3, "cosign-unproven")
    parties.fetch()
    done(parties.auditor, "witness", "cosign", str(newer), *trusted)
    older = inside(parties.auditor, "witness", "cosign", str(parties.witness), *trusted, "--json")
    assert (older.status, _error(older.out)) == (1, "cosign-older")
    bad = inside(
        parties.auditor, "witness", "cosign", str(newer), *trusted, "--name", "a b", "--json"
    )
    assert (bad.status, _error(bad.out)) == (2, "cosigner-name")


def test_the_publisher_is_no_cosigner(parties: Parties) -> None:
    done(
        parties.owner, "witness", "cosign", str(parties.witness), *_trusted(parties), "--name", "x"
    )
    line = done(parties.owner, "key", "export", "--cosigner", "x").out
    trust = parties.folder / "x.vkey"
    trust.write_text(line)
    ran = inside(
        parties.auditor, "verify", "--json", "--since", str(parties.witness), "--trust", str(trust)
    )
    predicate = ran.json["predicate"]
    assert (predicate["witness_status"], predicate["trust_root"]) == ("consistent", "local-only")
    assert predicate["level"] == "L2"


def test_publishing_needs_a_checkpoint_and_a_place(parties: Parties, tmp_path: Path) -> None:
    from tests.support.workspaces import make_workspace

    bare = make_workspace(tmp_path / "fresh")
    none = inside(bare, "witness", "publish")
    assert (none.status, none.err.splitlines()[0]) == (1, "syn: no signed checkpoint covers HEAD")
    before = parties.witness.read_bytes()
    lost = inside(parties.owner, "witness", "publish", "-o", str(tmp_path / "no/such/place"))
    assert lost.status == 3
    assert done(parties.owner, "witness", "publish").out.encode() == before


def test_a_full_disk_leaves_the_old_witness(parties: Parties) -> None:
    before = parties.witness.read_bytes()
    edit(parties.owner, "# Plain\n\nOn.\n")
    done(parties.owner, "checkpoint")
    command = f"ulimit -f 0; exec {sys.executable} -m syn witness publish -o {parties.witness}"
    ran = subprocess.run(
        ["sh", "-c", command],
        cwd=parties.owner.root,
        env=parties.owner.env,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 3, ran.stderr
    assert parties.witness.read_bytes() == before
    assert not list(parties.witness.parent.glob(".syn*"))


def test_a_checkpoint_under_an_outside_key(parties: Parties) -> None:
    ran = inside(parties.auditor, "verify", "--json", *_trusted(parties))
    assert ran.json["predicate"]["trust_root"] == "checkpoint-witnessed"
    assert ran.json["predicate"]["level"] == "L2"


# Reports


def _files(parties: Parties) -> dict[str, Path]:
    names = ("report", "vsa", "sarif", "html", "badge")
    return {name: parties.folder / f"out.{name}" for name in names}


def _write_all(parties: Parties, *words: str) -> dict[str, Path]:
    files = _files(parties)
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    done(parties.owner, "verify", "--ref", "HEAD", *options, *words)
    return files


def _read(parties: Parties, path: Path, *words: str) -> Any:
    return inside(parties.auditor, "report", "verify", str(path), *_trusted(parties), *words)


def test_reports_verify_elsewhere(parties: Parties) -> None:
    files = _write_all(parties, "--deep")
    ran = _read(parties, files["report"], "--recheck", "--json")
    assert ran.status == 0, ran.out
    assert (ran.json["kind"], ran.json["verdict"]) == ("report", "pass")
    assert ran.json["differences"] == []
    ran = _read(parties, files["vsa"], "--json")
    assert (ran.status, ran.json["level"]) == (0, "L2")
    assert json.loads(files["sarif"].read_bytes())["version"] == "2.1.0"
    assert "script" not in files["html"].read_text("utf-8")
    assert "pass L2" in files["badge"].read_text("utf-8")
    printed = done(parties.owner, "verify", "--json")
    signed = parties.folder / "signed.json"
    signed.write_text(printed.out)
    assert printed.json["sig"]
    assert _read(parties, signed).status == 0


def test_a_report_of_another_commit_is_a_replay(parties: Parties) -> None:
    files = _write_all(parties)
    edit(parties.owner, "# Plain\n\nLater.\n")
    old = git(parties.owner, "rev-parse", "HEAD~1")
    parties.fetch()
    for name in ("report", "vsa"):
        ran = _read(parties, files[name], "--json")
        assert (ran.status, _error(ran.out)) == (1, "report-subject")
        assert _read(parties, files[name], "--ref", old).status == 0


def test_summaries_bind_verifier_and_resource(parties: Parties) -> None:
    files = _write_all(parties)
    wrong = _read(parties, files["vsa"], "--verifier", "https://example.org/v", "--json")
    assert (wrong.status, _error(wrong.out)) == (1, "statement-mismatch")
    wrong = _read(parties, files["vsa"], "--resource", "urn:uuid:0", "--json")
    assert (wrong.status, _error(wrong.out)) == (1, "statement-mismatch")


def test_reports_by_strangers_and_changed_ones(parties: Parties) -> None:
    files = _write_all(parties)
    stranger = parties.folder / "stranger.pub"
    stranger.write_text(private_key(9).public.line() + "\n")
    ran = inside(
        parties.auditor,
        "report",
        "verify",
        str(files["report"]),
        "--trust",
        str(stranger),
        "--json",
    )
    assert (ran.status, _error(ran.out)) == (3, "envelope-unknown-key")
    envelope = json.loads(files["report"].read_bytes())
    other = json.loads(files["vsa"].read_bytes())
    envelope["payload"] = other["payload"]
    files["report"].write_text(json.dumps(envelope))  # noqa: TID251 - somebody else's spelling
    ran = _read(parties, files["report"], "--json")
    assert (ran.status, _error(ran.out)) == (1, "envelope-bad")
    none = inside(parties.auditor, "report", "verify", str(files["vsa"]), "--json")
    assert (none.status, _error(none.out)) == (2, "no-trust")


def test_a_recheck_finds_what_a_report_hides(parties: Parties) -> None:
    """A report by the real key that claims another manifest than this commit gives."""
    from syn.canon.json import parse
    from syn.keys import openssh
    from syn.report.seal import sign_document

    document = done(parties.owner, "verify", "--ref", "HEAD", "--json").out.encode()
    value = parse(document)
    assert isinstance(value, dict)
    predicate = value["predicate"]
    assert isinstance(predicate, dict)
    lie = "sha256:" + "0" * 64
    key = openssh.load(Path(parties.owner.env["SYNAPSE_CONFIG_DIR"]) / "keys/identity")
    changed = sign_document({**value, "predicate": {**predicate, "manifest_digest": lie}}, key)
    path = parties.folder / "lie.json"
    from syn.canon.json import encode

    path.write_bytes(encode(changed))
    assert _read(parties, path).status == 0
    ran = _read(parties, path, "--recheck", "--json")
    assert ran.status == 1
    assert [item["what"] for item in ran.json["differences"]] == ["manifest_digest"]


def test_envelopes_need_a_key_and_a_commit(parties: Parties) -> None:
    path = str(parties.folder / "r")
    none = inside(parties.auditor, "verify", "--report", path, "--json")
    assert (none.status, _error(none.out)) == (3, "no-key")
    (parties.owner.root / "facts/plain.md").write_text("Dirty.\n")
    dirty = inside(parties.owner, "verify", "--report", path, "--json")
    assert (dirty.status, _error(dirty.out)) == (1, "no-commit")
    assert not Path(path).exists()


def test_failing_runs_are_signed_too(parties: Parties) -> None:
    (parties.owner.root / "facts/plain.md").write_text("Changed behind the ledger.\n")
    git(parties.owner, "commit", "-q", "-am", "sneaky")
    files = _files(parties)
    ran = inside(
        parties.owner, "verify", "--report", str(files["report"]), "--vsa", str(files["vsa"])
    )
    assert ran.status == 1
    parties.fetch()
    for name in ("report", "vsa"):
        found = _read(parties, files[name], "--json")
        assert (found.status, found.json["verdict"]) == (1, "fail")


def test_explain_says_where_proof_ends(parties: Parties) -> None:
    text = done(parties.owner, "verify", "--explain").out
    assert "Tamper-evident, not tamper-proof" in text
    assert "A lone clone cannot convict its own owner" in " ".join(text.split())
    members = done(parties.owner, "verify", "--explain", "--json").json
    assert [item["id"] for item in members["invariants"]][:3] == ["INV-1", "INV-2", "INV-3"]


# Levels, profiles, acknowledgements


def test_levels_and_their_statuses(parties: Parties) -> None:
    below = inside(parties.auditor, "verify", "--require", "L3", "-q")
    assert (below.status, below.out.startswith("BELOW L3")) == (4, True)
    assert inside(parties.auditor, "verify", "--require", "L2").status == 0
    assert inside(parties.auditor, "verify", "--require", "L9").status == 2
    head = inside(parties.auditor, "verify", "--root", "HEAD~1", "--json")
    assert head.status == 0
    identity = next(i for i in head.json["predicate"]["invariants"] if i["id"] == "INV-9")
    assert identity["evidence"]["pinned"] is False


def test_unsigned_commits_cap_the_level_until_they_are_acknowledged(parties: Parties) -> None:
    (parties.owner.root / "notes.txt").write_text("no fact\n")
    git(parties.owner, "add", "notes.txt")
    git(parties.owner, "commit", "-q", "-m", "by hand, unsigned")
    commit = git(parties.owner, "rev-parse", "HEAD")
    parties.fetch()
    capped = parties.verify("--require", "L4")
    assert (capped.status, capped.json["predicate"]["level"]) == (4, "L3")
    strict = parties.verify("--profile", "strict")
    assert strict.status == 1
    done(parties.owner, "acknowledge", commit[:10], "-m", "known")
    parties.fetch()
    accepted = parties.verify()
    assert (accepted.status, accepted.json["predicate"]["level"]) == (0, "L4")
    codes = {f["code"] for i in accepted.json["predicate"]["invariants"] for f in i["findings"]}
    assert "unsigned-acknowledged" in codes
    assert parties.verify("--profile", "strict").status == 1


def test_only_an_admin_acknowledges(parties: Parties) -> None:
    stranger = inside(parties.auditor, "acknowledge", "HEAD", "--json")
    assert (stranger.status, _error(stranger.out)) == (1, "not-admin")
    unknown = inside(parties.owner, "acknowledge", "sha256:" + "0" * 64, "--json")
    assert (unknown.status, _error(unknown.out)) == (2, "unknown-decision")


def test_a_removed_line_is_acknowledged_only_by_an_admins_signature(parties: Parties) -> None:
    """A thief with write access commits a cut ledger and an unsigned acknowledgement of it."""
    (segment,) = (parties.owner.root / ".synapse/ledger").glob("*/000001.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:-1]))
    git(parties.owner, "commit", "-q", "-am", "cut")
    segment.write_bytes(b"".join(lines))
    git(parties.owner, "commit", "-q", "-am", "back")
    cut = git(parties.owner, "rev-parse", "HEAD~1")
    assert inside(parties.owner, "verify", "-q").status == 1
    stranger = {"SYNAPSE_KEY": ""}
    stranger["SYNAPSE_CONFIG_DIR"] = str(parties.folder / "stranger")
    refused = inside(parties.owner, "acknowledge", cut, "--json", env=stranger)
    assert _error(refused.out) == "not-admin"
    done(parties.owner, "acknowledge", cut)
    ran = inside(parties.owner, "verify", "--json")
    assert ran.status == 0, ran.out
    codes = {f["code"] for i in ran.json["predicate"]["invariants"] for f in i["findings"]}
    assert "evidence-shrank-acknowledged" in codes
