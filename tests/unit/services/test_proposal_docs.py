"""The worked example of docs/formats/proposal.md, computed again."""

import re

from syn.canon import json as canonical
from syn.services.writing.proposals import parse_proposal, to_json
from tests.support.shared import ROOT


def test_the_worked_example_is_right() -> None:
    text = (ROOT / "docs/formats/proposal.md").read_text()
    line = re.search(r"```\n(\{.*\})\n```", text)
    name = re.search(r"Its id: `(sha256:[0-9a-f]{64})`", text)
    assert line is not None
    assert name is not None
    proposal = parse_proposal(line[1].encode())
    assert proposal.digest == name[1]
    assert canonical.encode(to_json(proposal)).decode() == line[1]
