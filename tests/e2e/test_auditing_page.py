"""The five commands of docs/auditing.md, as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

from tests.support.inside import done
from tests.support.parties import Parties, edit
from tests.support.shared import ROOT


def _block() -> list[str]:
    page = (ROOT / "docs/auditing.md").read_text("utf-8")
    found = re.search(r"## Five commands\n\n```sh\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def test_from_nothing_to_a_verdict(tmp_path: Path) -> None:
    parties = Parties(tmp_path)
    edit(parties.owner, "# Plain\n\nMore.\n")
    done(parties.owner, "checkpoint")
    commands = _block()
    assert len(commands) == 5
    assert commands[0].startswith("pip install")
    script = "\n".join(["set -e", *commands[1:]]).replace("syn ", f"{sys.executable} -m syn ")
    auditor = {
        **parties.auditor.env,
        "REPOSITORY": parties.owner.root.as_uri(),
        "WITNESS": str(parties.witness),
        "KEY": str(parties.key),
    }
    ran = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env=auditor, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    verdicts = [line for line in ran.stdout.decode().splitlines() if line.startswith("PASS")]
    assert verdicts == ["PASS (level L4)", "PASS (level L4)"]
    assert (tmp_path / "evidence.json").exists()
