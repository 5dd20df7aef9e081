"""The worked examples of docs/formats/image.md, recomputed."""

import hashlib
import subprocess
from pathlib import Path

from syn.images.native import TABLE
from syn.images.outside import Outside, Signer
from syn.images.record import parse_transcript
from syn.images.store import check_image
from syn.images.word import recall_word_of
from syn.images.write import Decision
from syn.keys.openssh import from_seed
from syn.services.sessions.images import decide, record_items
from tests.support.examples import examples

DOC = examples("image.md")
KEY = from_seed(bytes(range(32)))
SIGNER = Signer(KEY.public.fingerprint, KEY.sign)


def example(folder: Path) -> Path:
    lines = DOC["transcript"].encode().splitlines(keepends=True)
    record_items(folder, "example-session", parse_transcript(lines), SIGNER)
    decision = Decision(0, "out of date", "Ana <ana@example.org>")
    decide("tombstone", folder, decision, SIGNER)
    return folder


def test_the_example_is_what_the_code_writes(tmp_path: Path) -> None:
    folder = example(tmp_path / "image")
    assert (folder / TABLE).read_text("utf-8") == DOC["table"]

    outside = Outside(lambda key, m, s: KEY.public.verify(m, s) if key == SIGNER.key else None)
    report = check_image(folder, outside)
    assert (report.verdict, report.signature) == ("clean", "valid")
    assert report.digest == DOC["digest"].strip()


def test_the_coreutils_lines_compute_word_and_digest(tmp_path: Path) -> None:
    folder = example(tmp_path / "image")
    run = subprocess.run(
        ["bash", "-ec", DOC["coreutils"]], cwd=folder, capture_output=True, check=True, text=True
    )
    word, digest = (line.split()[0] for line in run.stdout.splitlines())
    first = DOC["table"].splitlines()[1]
    assert first.endswith(f'"word":"sha256:{word}"}}')
    assert f"sha256:{digest}" == DOC["digest"].strip()


def test_the_recall_word_is_of_the_bytes_that_are_shown() -> None:
    *parts, digest = DOC["recall"].split()
    data = bytes.fromhex("".join(parts))
    assert len(data) == 116
    assert hashlib.sha256(data).hexdigest() == digest
    address = data[8:72].decode()
    assert recall_word_of(address, 197, 2, True, "q1") == digest[:16]
