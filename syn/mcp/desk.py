"""The worker's end of the line: each question is answered in a thread of its own (ADR 0037)."""

import json
import sys
import threading
import traceback
from collections.abc import Mapping
from typing import Any

from syn import __version__
from syn.errors import SynError
from syn.mcp.pipes import Pipes
from syn.mcp.tools import Reply, call_tool, failed, find_operation, list_tools, tool_name
from syn.report.escape import json_text, printable
from syn.services.doors.operation import Operation
from syn.services.doors.operations import operations
from syn.services.doors.session import Session
from syn.services.recall.answers import Answer
from syn.services.sessions.recording import Recording


def note(text: str) -> None:
    """Talk goes to stderr: stdout is the protocol's."""
    sys.stderr.write(f"syn mcp: {printable(text)}\n")


class Desk:
    """One session, asked over a pair of pipes."""

    def __init__(self, pipes: Pipes, session: Session, recording: Recording | None) -> None:
        self._pipes = pipes
        self._session = session
        self._recording = recording
        self._recorded = threading.Lock()
        self._written = threading.Lock()

    def serve(self) -> None:
        """Answer until the server leaves; then finish the recording."""
        threading.Thread(target=self._session.warm, daemon=True).start()
        try:
            for line in self._pipes.source:
                message = json.loads(line)
                threading.Thread(target=self._reply, args=(message,), daemon=True).start()
        finally:
            self._session.close()
            if self._recording is not None:
                _finish(self._recording)

    def _reply(self, message: Mapping[str, Any]) -> None:
        reply: object
        try:
            reply = self._answer(message)
        except Exception as error:  # noqa: BLE001 - a server answers every call and lives on
            note(traceback.format_exc())
            reply = failed(
                "internal", f"internal error: {type(error).__name__}", "see the server's log"
            )
        line = json.dumps({"n": message["n"], "reply": reply})  # noqa: TID251 - nothing that is hashed
        with self._written:
            self._pipes.sink.write(line.encode() + b"\n")
            self._pipes.sink.flush()

    def _answer(self, message: Mapping[str, Any]) -> object:
        match message["ask"]:
            case "tools":
                return describe()
            case "capabilities":
                return json_text(capabilities())
            case "ready":
                return True
            case _:
                found = find_operation(message["tool"])
                assert found is not None  # noqa: S101 - the server asks for what it was told of
                return self._call(found, message["arguments"])

    def _call(self, operation: Operation, arguments: dict[str, Any]) -> Reply:
        handed: list[Answer] = []

        def run(found: Operation, values: dict[str, Any]) -> Answer:
            handed.append(self._session.run(found, values))
            return handed[0]

        reply = call_tool(run, operation, arguments)
        if self._recording is not None and operation.kind == "read" and handed:
            with self._recorded:
                self._recording.keep(tool_name(operation), handed[0], self._session.payload_at)
        return reply


def describe() -> dict[str, Any]:
    """The tools in order, and what the server has to know of each beside: kind, and `alone`."""
    return {
        "tools": list_tools(),
        "kinds": {tool_name(found): found.kind for found in operations()},
        "long": [tool_name(found) for found in operations() if found.needs == "workspace"],
    }


def capabilities() -> Answer:
    """What this server can do, and what it never does."""
    return {
        "version": __version__,
        "reads": [tool_name(found) for found in operations() if found.kind == "read"],
        "proposals": [tool_name(found) for found in operations() if found.kind == "propose"],
        "maintenance": [tool_name(found) for found in operations() if found.kind == "maintain"],
        "never": ["accept", "delete", "change the policy", "read outside the workspace"],
    }


def _finish(recording: Recording) -> None:
    try:
        image = recording.finish()
    except SynError as error:
        note(f"{error.message}\n{error.remedy}")
    else:
        note(f"the session's image is {image}" if image else "nothing was handed out")
