"""Commands on a terminal of forty columns, and the same in a pipe."""

import os
import subprocess
import sys

import pytest

from tests.support.workspaces import Place, adopt_all, make_workspace

pty = pytest.importorskip("pty", reason="needs a pseudo terminal")
ID = "payments-api-owner-of-the-year-2026"
TITLE = "The payments interface is owned by the checkout team since the reorganisation"
FACT = f"---\nid: {ID}\ntype: decision\ntitle: {TITLE}\n---\nA body.\n"
PATH = "facts/teams/payments/interface-owner-2026.md"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = make_workspace(tmp_path_factory.mktemp("narrow"), {PATH: FACT})
    (place.root / "facts" / "a-note-that-nobody-has-adopted-so-far.md").write_text("Text.\n")
    adopt_all(place)
    (place.root / PATH).write_text(FACT.replace("A body", "Another body"))
    return place


def _on_terminal(place: Place, *words: str) -> str:
    """What a command prints on a terminal of forty columns."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "syn", *words],
        cwd=place.root,
        env={**place.env, "COLUMNS": "40", "NO_COLOR": "1", "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        text += data
    os.close(ours)
    done.communicate()
    return text.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("list",), (ID, TITLE, PATH, "decision")),
        (("search", "interface"), (ID, TITLE, PATH)),
        (("status",), ("changed", ID, PATH)),
        (("log",), (ID, "unreviewed", "Ada Author <ada@example.org>")),
        (("blame", ID), (ID, PATH)),
        (("get", ID), (ID, TITLE, PATH)),
        (("doctor",), ("links:",)),
        (("health",), ("[facts-changed]",)),
        (("scrub",), (PATH, "expected")),
        (("completions", "status"), ("bash", "absent")),
        (("fleet", "verify", "."), ("fail",)),
    ],
)
def test_nothing_is_lost_and_no_id_is_cut(
    place: Place, words: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    text = _on_terminal(place, *words)
    said = text.split()
    for expected in shown:
        for word in expected.split():
            assert word in said, (word, text)
    long = [line for line in text.splitlines() if len(line) > 40]
    assert all(len(line.split()) == 1 for line in long), long


def test_a_pipe_gets_a_line_a_row(place: Place) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "syn", "list"],
        cwd=place.root,
        env={**place.env, "COLUMNS": "40"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert any(line.split()[0] == ID and line.endswith(PATH) for line in done.stdout.splitlines())
