"""The image of a session: what an agent was handed, page by page (design 13, 14).

Each answer is written down at once, in a transcript beside the repository; when the session ends,
the transcript becomes an image under `images/`. A session that was killed leaves its transcript,
of which `syn image record` makes the same image.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from syn.canon import json as canonical
from syn.errors import CannotError, SynError, UsageError
from syn.model.finding import Json
from syn.services.recall.answers import Answer
from syn.services.workspace import Workspace

IMAGES = "images"
SESSIONS = "sessions"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

PayloadAt = Callable[[str], str]
"""Path of a fact that was just handed out, to the digest of its payload."""


def session_name(given: str, workspace: Workspace) -> str:
    """The name of a session's image: what was given, or the time.

    Raises:
        UsageError: it is no plain name, or an image has it.
    """
    name = given or workspace.around.now.strftime("session-%Y%m%dT%H%M%S%fZ")
    if not _NAME.fullmatch(name):
        raise UsageError(
            "session-name",
            f"expected letters, digits, dots and dashes as the name of a session, got {name!r:.60}",
        )
    if (workspace.root / IMAGES / name).exists():
        raise UsageError("session-exists", f"images/{name} stands there already", "another name")
    return name


class Recording:
    """Writes down what one session is handed. Not safe for several threads at once."""

    def __init__(self, workspace: Workspace, name: str) -> None:
        """Open the transcript.

        Raises:
            CannotError: it cannot be written.
        """
        self.name = name
        self.image = workspace.root / IMAGES / name
        self.transcript = workspace.private_dir / SESSIONS / f"{name}.jsonl"
        self._pages = 0
        try:
            self.transcript.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = self.transcript.open("xb")
        except OSError as error:
            raise CannotError(
                "recording", f"cannot record the session: {self.transcript}: {error.strerror}"
            ) from error

    def keep(self, role: str, answer: Answer, payload_at: PayloadAt) -> None:
        """Write down one answer: a page for each fact in it, or one for the whole."""
        for value, fact in _pages(answer, payload_at):
            line: dict[str, Json] = {"role": role, "text": canonical.encode(value).decode()}
            if fact:
                line["fact"] = {"id": fact[0], "payload": fact[1]}
            self._file.write(canonical.encode(line) + b"\n")
            self._pages += 1
        self._file.flush()

    def finish(self) -> Path | None:
        """Make the image of the transcript; None when nothing was handed out.

        Raises:
            SynError: it cannot be made; the transcript stays.
        """
        from syn.services.sessions.images import read_lines, record_transcript, seal_reason

        self._file.close()
        if self._pages:
            try:
                self.image.parent.mkdir(exist_ok=True)
                lines = read_lines(self.transcript)
                record_transcript(self.image, self.name, lines, screen=seal_reason)
            except (SynError, OSError) as error:
                raise CannotError(
                    "recording",
                    f"the session's image was not made: {error}",
                    f"syn image record makes it of {self.transcript}",
                ) from error
        self.transcript.unlink()
        return self.image if self._pages else None


def _pages(answer: Answer, payload_at: PayloadAt) -> Iterator[tuple[Json, tuple[str, str] | None]]:
    """What of an answer is kept, and the fact (id, payload) that it is from."""
    items = answer.get("items")
    found = [(item, _fact(item, payload_at)) for item in items] if isinstance(items, list) else []
    if any(fact for _, fact in found):
        yield from found
    else:
        yield answer, _fact(answer, payload_at)


def _fact(item: Json, payload_at: PayloadAt) -> tuple[str, str] | None:
    if not isinstance(item, dict) or "withheld" in item:
        return None
    identity, path = item.get("id"), item.get("path")
    if not isinstance(identity, str) or not isinstance(path, str) or not path:
        return None
    payload = item.get("payload_digest") or payload_at(path)
    return (identity, payload) if isinstance(payload, str) and payload else None
