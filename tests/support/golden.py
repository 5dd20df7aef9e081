"""The golden files: what fixed reports look like in every form. `make golden` writes them."""

import base64
from collections.abc import Iterator

from syn.canon import dsse
from syn.canon.json import encode
from syn.keys import openssh
from syn.keys.signing import sign_envelope
from syn.model.finding import Level
from syn.report import annotations, badge, diff, html, markdown, sarif, statement, text, vsa
from syn.report.document import comparable, signable, signed, to_json
from tests.support import reports
from tests.support.shared import ROOT

FOLDER = ROOT / "fixtures" / "golden" / "report"
KEY = openssh.from_seed(bytes(range(32)))
TIMELINE = html.Timeline(
    reports.decisions(),
    (html.Succession("payments-owner", "payments-owner-2", "2026-04-13"),),
    977,
)
OLD = "---\nowner: team-a\nid: e\u0301\n---\n\nCall the team first.\r\nThen wait.\n"
NEW = "---\nowner: team-b\nid: é\n---\n\nCall the\u200b team first.\nThen wait.\n\u202eDone."


def report_files() -> Iterator[tuple[str, bytes]]:
    """Every golden file of the reports: name and content."""
    passing, failing = reports.passing(), reports.failing()
    for name, report in (("pass", passing), ("fail", failing)):
        for width in (60, 80, 120):
            yield f"{name}-{width}.txt", text.render(report, width, color=False).encode()
        yield f"{name}-80.ansi", text.render(report, 80, color=True).encode()
        yield f"{name}.json", encode(to_json(report)) + b"\n"
        yield f"{name}.comparable.json", comparable(to_json(report))
        yield f"{name}.sarif", encode(sarif.to_sarif(report)) + b"\n"
        yield f"{name}.html", html.render(report, TIMELINE).encode()
        yield f"{name}.svg", badge.render(report).encode()
        yield f"{name}.md", markdown.render(report).encode()
        yield f"{name}.annotations", annotations.render(report).encode()
    yield "below.svg", badge.render(passing, required=Level.L3).encode()
    yield "diff.txt", diff.render(OLD, NEW, color=False).encode()
    yield "diff.ansi", diff.render(OLD, NEW, color=True).encode()
    document = to_json(passing)
    sig = base64.b64encode(KEY.sign(signable(document))).decode()
    yield "signed.json", encode(signed(document, sig, KEY.public.line())) + b"\n"
    for name, payload in (
        ("report.dsse", statement.payload(passing)),
        ("vsa.dsse", vsa.payload(passing)),
    ):
        yield name, dsse.render(sign_envelope(statement.PAYLOAD_TYPE, payload, [KEY]))
