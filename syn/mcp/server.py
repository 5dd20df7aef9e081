"""The server: the official SDK over our stdio, one session per process (design 14)."""

import asyncio
import logging
import sys
import threading
import traceback
from functools import partial
from typing import Any
from urllib.parse import unquote

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from syn import __version__
from syn.errors import SynError
from syn.mcp.pipes import Pipes
from syn.mcp.texts import PROMPTS
from syn.mcp.tools import call_tool, error_result, find_operation, list_tools, tool_name
from syn.mcp.wire import stdio
from syn.report.escape import json_text, printable
from syn.services.doors.operation import Operation
from syn.services.doors.operations import operation, operations
from syn.services.doors.session import Session
from syn.services.doors.teaching import RULE
from syn.services.recall.answers import Answer
from syn.services.sessions.recording import Recording

CAPABILITIES = "synapse://capabilities"
FACT = "synapse://fact/"
_JSON = "application/json"


def note(text: str) -> None:
    """Talk goes to stderr: stdout is the protocol's."""
    sys.stderr.write(f"syn mcp: {printable(text)}\n")


class Door:
    """The tools, resources and prompts over one session."""

    def __init__(self, session: Session, recording: Recording | None = None) -> None:
        self._session = session
        self._recording = recording
        self._turns = anyio.CapacityLimiter(1)
        """One question at a time; a call that is cancelled while it waits is not begun."""
        self._long = anyio.CapacityLimiter(1)
        """The same for what takes long and needs no index: verify, reindex."""
        self._recorded = threading.Lock()

    def server(self) -> Server[Any]:
        """The server, ready to run over a pair of streams."""
        return Server(
            "synapse",
            version=__version__,
            title="Synapse memory",
            instructions=RULE,
            on_list_tools=_list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=_list_resources,
            on_list_resource_templates=_list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=_list_prompts,
            on_get_prompt=_get_prompt,
        )

    async def _call_tool(
        self, context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        found = find_operation(params.name)
        if found is None:
            names = ", ".join(tool.name for tool in list_tools())
            return error_result(
                "unknown-tool", f"there is no tool {params.name!r:.60}", f"tools: {names}"
            )
        arguments = dict(params.arguments or {})
        if found.kind == "propose":
            arguments["agent"] = _proposer(arguments.get("agent"), context)
        return await self._answer(found, arguments)

    async def _answer(self, found: Operation, arguments: dict[str, Any]) -> types.CallToolResult:
        limiter = self._long if found.needs == "workspace" else self._turns
        work = partial(self._guarded, found, arguments)
        return await anyio.to_thread.run_sync(work, limiter=limiter)

    def _guarded(self, found: Operation, arguments: dict[str, Any]) -> types.CallToolResult:
        """One call in a worker thread; whatever fails becomes an error result, and is logged."""
        try:
            result = call_tool(self._session.run, found, arguments)
            answer = result.structured_content
            if self._recording is not None and found.kind == "read" and not result.is_error:
                with self._recorded:
                    self._recording.keep(tool_name(found), answer or {}, self._session.payload_at)
        except Exception as error:  # noqa: BLE001 - a server answers every call and lives on
            note(traceback.format_exc())
            return error_result(
                "internal", f"internal error: {type(error).__name__}", "see the server's log"
            )
        return result

    async def _read_resource(
        self, _context: object, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri == CAPABILITIES:
            text = json_text(capabilities())
        elif uri.startswith(FACT):
            arguments = {"id": unquote(uri.removeprefix(FACT))}
            result = await self._answer(operation("show"), arguments)
            text = _text(result)
            if result.is_error:
                raise MCPError(types.INVALID_PARAMS, text)
        else:
            known = f"{CAPABILITIES} and {FACT}{{id}}"
            raise MCPError(types.INVALID_PARAMS, f"no resource {uri!r:.80}; there are {known}")
        contents = types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)
        return types.ReadResourceResult(contents=[contents])


def _text(result: types.CallToolResult) -> str:
    content = result.content[0]
    return content.text if isinstance(content, types.TextContent) else ""


def _proposer(given: object, context: Any) -> str:
    """Who proposes: the name that the call gives, always with the client's name for itself."""
    params = context.session.client_params
    info = params.client_info if params is not None else None
    client = f"{info.name} {info.version}".strip()[:200] if info is not None else "agent"
    return f"{given} ({client})" if isinstance(given, str) and given else client


async def _list_tools(_context: object, _params: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=list(list_tools()))


async def _list_resources(_context: object, _params: object) -> types.ListResourcesResult:
    resource = types.Resource(uri=CAPABILITIES, name="capabilities", mime_type=_JSON)
    return types.ListResourcesResult(resources=[resource])


async def _list_templates(_context: object, _params: object) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template=f"{FACT}{{id}}", name="fact", mime_type=_JSON)
    return types.ListResourceTemplatesResult(resource_templates=[template])


def capabilities() -> Answer:
    """What this server can do, and what it never does."""
    return {
        "version": __version__,
        "reads": [tool_name(found) for found in operations() if found.kind == "read"],
        "proposals": [tool_name(found) for found in operations() if found.kind == "propose"],
        "maintenance": [tool_name(found) for found in operations() if found.kind == "maintain"],
        "never": ["accept", "delete", "change the policy", "read outside the workspace"],
    }


async def _list_prompts(_context: object, _params: object) -> types.ListPromptsResult:
    found = [types.Prompt(name=name, description=about) for name, (about, _) in PROMPTS.items()]
    return types.ListPromptsResult(prompts=found)


async def _get_prompt(
    _context: object, params: types.GetPromptRequestParams
) -> types.GetPromptResult:
    if params.name not in PROMPTS:
        known = ", ".join(PROMPTS)
        raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name!r:.60}; there is: {known}")
    about, text = PROMPTS[params.name]
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=about, messages=[message])


def serve(pipes: Pipes, session: Session, recording: Recording | None) -> None:
    """Serve the client until it leaves; then finish the recording."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    try:
        asyncio.run(_serve(pipes, Door(session, recording)))
    finally:
        session.close()
        if recording is not None:
            _finish(recording)


def _finish(recording: Recording) -> None:
    try:
        image = recording.finish()
    except SynError as error:
        note(f"{error.message}\n{error.remedy}")
    else:
        note(f"the session's image is {image}" if image else "nothing was handed out")


async def _serve(pipes: Pipes, door: Door) -> None:
    server = door.server()
    async with stdio(pipes) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
