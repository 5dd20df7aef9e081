"""What the commands publish, read by git, Go's sumdb, OpenSSL and securesystemslib."""

import base64
import json
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from securesystemslib.dsse import Envelope
from securesystemslib.signer._key import SSlibKey

from syn.canon import checkpoint, cosignature, merkle, tlogproof
from syn.canon import note as notes
from syn.keys import public, vkey
from syn.keys.public import PublicKey
from tests.conformance.test_note_go import ask, encoded, judge
from tests.support.inside import done, inside
from tests.support.parties import Parties, edit, git

__all__ = ["judge"]


@pytest.fixture(scope="module")
def parties(tmp_path_factory: pytest.TempPathFactory) -> Parties:
    """An owner with two checkpoints, and an auditor who cosigned the second."""
    found = Parties(tmp_path_factory.mktemp("published"))
    edit(found.owner, "# Plain\n\nMore.\n")
    done(found.owner, "checkpoint")
    done(found.owner, "witness", "publish", "-o", str(found.witness))
    found.fetch()
    done(found.auditor, "key", "init", "--no-policy")
    given = ("--trust", str(found.key), "--name", "auditor.example/w")
    done(found.auditor, "witness", "cosign", str(found.witness), *given)
    return found


def _key(parties: Parties) -> PublicKey:
    return public.parse_line(parties.key.read_text())[0]


def test_go_opens_the_checkpoint_and_its_proof(parties: Parties, judge: Path) -> None:
    proof = tlogproof.parse(parties.witness.read_bytes())
    signed = checkpoint.parse(proof.note.text)
    line = done(parties.owner, "key", "export", "--log", signed.origin).out.strip()
    assert proof.extra is not None
    question = (
        "record",
        " ".join(encoded(item) for item in proof.hashes),
        str(signed.size),
        encoded(signed.root),
        str(proof.index),
        encoded(merkle.leaf_hash(proof.extra)),
    )
    assert ask(judge, [("note", line, encoded(notes.render(proof.note))), question]) == [
        "yes",
        "yes",
    ]


def _pem(key: PublicKey, path: Path) -> Path:
    pem = Ed25519PublicKey.from_public_bytes(key.raw)
    path.write_bytes(pem.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path


def _openssl(pem: Path, message: bytes, signature: bytes, folder: Path) -> int:
    (folder / "message").write_bytes(message)
    (folder / "sig").write_bytes(signature)
    words = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(pem), "-rawin"]
    words += ["-in", str(folder / "message"), "-sigfile", str(folder / "sig")]
    return subprocess.run(words, capture_output=True, check=False).returncode


def test_openssl_verifies_both_signatures_of_the_witness(parties: Parties, tmp_path: Path) -> None:
    """From the specification alone: what is signed is the text, or time and text."""
    text, _, tail = parties.witness.read_bytes().partition(b"\n\n")[2].rpartition(b"\n\n")
    lines = [base64.b64decode(line.rsplit(b" ", 1)[1]) for line in tail.splitlines()]
    (own, cosigned) = lines
    pem = _pem(_key(parties), tmp_path / "owner.pem")
    assert _openssl(pem, text + b"\n", own[4:], tmp_path) == 0
    time = int.from_bytes(cosigned[4:12], "big")
    exported = done(parties.auditor, "key", "export", "--cosigner", "auditor.example/w").out
    auditor = _pem(vkey.parse(exported.strip()).key, tmp_path / "auditor.pem")
    message = b"cosignature/v1\ntime %d\n" % time + text + b"\n"
    assert cosignature.message(time, text + b"\n") == message
    assert _openssl(auditor, message, cosigned[12:], tmp_path) == 0
    assert _openssl(auditor, text + b"\n", cosigned[12:], tmp_path) != 0


def test_git_verifies_every_commit_after_the_policy(parties: Parties, tmp_path: Path) -> None:
    signers = tmp_path / "allowed_signers"
    signers.write_text(done(parties.owner, "policy", "export").out)
    policy = git(parties.owner, "log", "--format=%H", "--diff-filter=A", "--", ".synapse/policy")
    commits = git(parties.owner, "rev-list", f"{policy}..HEAD").split()
    assert len(commits) == 3
    option = f"gpg.ssh.allowedSignersFile={signers}"
    git(parties.owner, "-c", option, "verify-commit", *commits)


def test_a_commit_by_git_itself_counts(parties: Parties) -> None:
    """`git commit -S` with the same key, as `syn key show` tells, is a signed commit to INV-9."""
    third = parties.clone("third")
    identity = Path(parties.owner.env["SYNAPSE_CONFIG_DIR"]) / "keys/identity.pub"
    options = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={identity}")
    git(third, *options, "commit", "-q", "-S", "--allow-empty", "-m", "by git")
    asked = ("--since", str(parties.witness), "--trust", str(parties.key))
    ran = inside(third, "verify", "--json", *asked)
    assert ran.json["predicate"]["level"] == "L4", ran.out


def test_others_verify_reports_and_summaries(parties: Parties, tmp_path: Path) -> None:
    key = _key(parties)
    theirs = SSlibKey(key.fingerprint, "ed25519", "ed25519", {"public": key.raw.hex()})
    report, vsa = tmp_path / "report", tmp_path / "vsa"
    done(parties.owner, "verify", "--ref", "HEAD", "--report", str(report), "--vsa", str(vsa))
    for path in (report, vsa):
        data = json.loads(path.read_bytes())
        envelope = Envelope.from_dict(json.loads(path.read_bytes()))
        assert list(envelope.verify([theirs], 1)) == [key.fingerprint]
        payload = base64.b64decode(data["payload"])
        head = f"DSSEv1 {len(data['payloadType'])} {data['payloadType']} {len(payload)} ".encode()
        signature = base64.b64decode(data["signatures"][0]["sig"])
        pem = _pem(key, tmp_path / "key.pem")
        assert _openssl(pem, head + payload, signature, tmp_path) == 0
    statement = json.loads(base64.b64decode(json.loads(vsa.read_bytes())["payload"]))
    commit = git(parties.owner, "rev-parse", "HEAD")
    assert statement["subject"][0]["digest"]["gitCommit"] == commit
    assert statement["predicate"]["verifiedLevels"] == ["SYNAPSE_LEVEL_2"]
