"""Messages over stdin and stdout: one JSON object a line, whatever else the process prints.

The SDK's own transport drops what it cannot parse; here every request gets its answer: what is no
JSON, no message, or too long is refused by name, and the next line is read (design 14, M01).
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import IO, Any, TypeAlias

import anyio
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from syn.mcp.pipes import Pipes

MAX_LINE = 4 * 1024 * 1024
"""Bytes of one message."""
GRACE = 10.0
"""Seconds that answers under way have after the client closed its end."""
_CHUNK = 1024 * 1024

Incoming: TypeAlias = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing: TypeAlias = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def stdio(pipes: Pipes) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The two streams that the SDK's server runs over."""
    async with anyio.create_task_group() as tasks:
        wire = _Wire(pipes, tasks.cancel_scope)
        tasks.start_soon(wire.read)
        tasks.start_soon(wire.write)
        yield wire.incoming, wire.outgoing
        tasks.cancel_scope.cancel()


class _Wire:
    def __init__(self, pipes: Pipes, scope: anyio.CancelScope) -> None:
        self._pipes = pipes
        self._scope = scope
        self._to_server, self.incoming = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ](0)
        self.outgoing, self._from_server = anyio.create_memory_object_stream[SessionMessage](0)
        self._lock = anyio.Lock()
        self._open: set[Any] = set()
        """Ids of the requests that are not answered yet."""
        self._answered = anyio.Event()

    async def read(self) -> None:
        """Hand every message to the server, until the client closes its end."""
        async with self._to_server:
            while line := await anyio.to_thread.run_sync(
                read_line, self._pipes.source, abandon_on_cancel=True
            ):
                await self._take(line)
            with anyio.move_on_after(GRACE):
                while self._open:
                    self._answered = anyio.Event()
                    await self._answered.wait()

    async def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = parse(line)
        except RefusedMessage as refused:
            await self._send(refused.answer())
            return
        if isinstance(message, types.JSONRPCRequest):
            self._open.add(message.id)
        elif isinstance(message, types.JSONRPCNotification):
            self._forget(message)
        await self._to_server.send(SessionMessage(message))

    def _forget(self, message: types.JSONRPCNotification) -> None:
        """A request that the client cancels gets no answer to wait for."""
        if message.method == "notifications/cancelled":
            self._open.discard((message.params or {}).get("requestId"))
            self._answered.set()

    async def write(self) -> None:
        """Put every message of the server on the wire."""
        async with self._from_server:
            async for item in self._from_server:
                await self._send(item.message)

    async def _send(self, message: types.JSONRPCMessage) -> None:
        try:
            async with self._lock:
                await anyio.to_thread.run_sync(_put, self._pipes.sink, render(message))
        except OSError:
            # Nobody reads any more: there is nobody to serve.
            self._scope.cancel()
            return
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._open.discard(message.id)
            self._answered.set()


def read_line(source: IO[bytes]) -> bytes:
    """The next line, b"" at the end; of one that is too long, as much as shows that it is."""
    line = source.readline(MAX_LINE + 1)
    if len(line) <= MAX_LINE or line.endswith(b"\n"):
        return line
    while rest := source.readline(_CHUNK):
        if rest.endswith(b"\n"):
            break
    return line


def _put(sink: IO[bytes], line: bytes) -> None:
    sink.write(line + b"\n")
    sink.flush()


class RefusedMessage(Exception):  # noqa: N818 - it is an answer, not a fault of ours
    """A line that the server does not take; carries the error that answers it."""

    def __init__(self, code: int, message: str, identity: str | int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.identity = identity

    def answer(self) -> types.JSONRPCError:
        """The error message; without an id when the line gives none."""
        error = types.ErrorData(code=self.code, message=self.message)
        return types.JSONRPCError(jsonrpc="2.0", id=self.identity, error=error)


def parse(line: bytes) -> types.JSONRPCMessage:
    """One message.

    Raises:
        RefusedMessage: the line is none; tells the id of the request when it can be told.
    """
    if len(line) > MAX_LINE:
        raise RefusedMessage(types.INVALID_REQUEST, f"a message has at most {MAX_LINE} bytes")
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        message = None
    # With an id that is none, the SDK takes a request for a notification and answers nothing.
    silent = isinstance(message, types.JSONRPCNotification) and b'"id"' in line
    if message is not None and not silent:
        return message
    try:
        value = json.loads(line)
    except RecursionError as error:
        raise RefusedMessage(types.PARSE_ERROR, "the message nests too deeply") from error
    except ValueError as error:
        raise RefusedMessage(types.PARSE_ERROR, "expected one JSON object in UTF-8") from error
    if message is not None and "id" not in value:
        return message
    raise RefusedMessage(types.INVALID_REQUEST, _fault(value), _identity(value))


def _fault(value: object) -> str:
    match value:
        case list():
            return "expected one message, got a batch"
        case dict():
            return "expected jsonrpc, a text or whole number as id, a method and params"
        case _:
            return "expected a JSON object"


def _identity(value: object) -> str | int | None:
    found = value.get("id") if isinstance(value, dict) else None
    if isinstance(found, bool) or not isinstance(found, str | int):
        return None
    try:
        str(found).encode()
    except UnicodeEncodeError:
        return None
    return found


def render(message: types.JSONRPCMessage) -> bytes:
    """One line; an answer that has no JSON form becomes an error, so that nobody waits for it."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError as error:
        identity = getattr(message, "id", None)
        text = f"the answer cannot be sent: {type(error).__name__}"
        failed = RefusedMessage(types.INTERNAL_ERROR, text, identity)
        return failed.answer().model_dump_json(by_alias=True).encode()
