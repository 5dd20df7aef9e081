"""A second clone, elsewhere, in another time zone, locale and order of hashing, says the same."""

import subprocess
import sys
from pathlib import Path

from syn.canon.json import parse
from syn.report.document import comparable
from tests.support.inside import done
from tests.support.parties import Parties, edit
from tests.support.workspaces import Place


def _verified(place: Place, words: tuple[str, ...], **env: str) -> bytes:
    ran = subprocess.run(
        [sys.executable, "-m", "syn", "verify", "--json", *words],
        cwd=place.root,
        env={**place.env, **env},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    document = parse(ran.stdout)
    assert isinstance(document, dict)
    return comparable(document)


def test_two_clones_agree_to_the_byte(tmp_path: Path) -> None:
    parties = Parties(tmp_path)
    edit(parties.owner, "# Plain\n\nÜber all das hinaus.\n")
    done(parties.owner, "receipt", "issue", "owner-2")
    done(parties.owner, "checkpoint")
    far = parties.clone("far away, ünïcode")
    words = ("--deep", "--since", str(parties.witness), "--trust", str(parties.key))
    here = _verified(parties.owner, words, TZ="UTC", PYTHONHASHSEED="1", LC_ALL="C")
    there = _verified(
        far,
        words,
        TZ="Pacific/Kiritimati",
        PYTHONHASHSEED="77",
        LC_ALL="C.UTF-8",
        LANG="tr_TR.UTF-8",
        SYNAPSE_NOW="2031-01-01T00:00:00+13:00",
        SOURCE_DATE_EPOCH="1",
    )
    assert here == there
    plain = _verified(far, (*words, "--ref", "HEAD"), TZ="America/St_Johns")
    assert plain == here


def test_secrets_stay_at_home(tmp_path: Path) -> None:
    """No line of the private key reaches the repository, an output or another file."""
    parties = Parties(tmp_path)
    keys = Path(parties.owner.env["SYNAPSE_CONFIG_DIR"]) / "keys"
    lines = (keys / "identity").read_bytes().split(b"\n")[1:-2]
    ran = done(parties.owner, "verify", "--json")
    shown = done(parties.owner, "key", "show")
    printed = (ran.out + ran.err + shown.out + shown.err).encode()
    assert not any(line in printed for line in lines)
    for path in parties.owner.root.rglob("*"):
        assert not path.is_file() or not any(line in path.read_bytes() for line in lines)
    assert (keys / "identity").stat().st_mode & 0o777 == 0o600
    assert keys.stat().st_mode & 0o777 == 0o700
