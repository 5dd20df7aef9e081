"""The server: the official SDK over our stdio; what it is asked, it asks its worker (design 14)."""

import asyncio
import json
import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
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
from syn.mcp.link import Link
from syn.mcp.pipes import Pipes
from syn.mcp.texts import PROMPTS
from syn.mcp.wire import stdio
from syn.services.doors.teaching import RULE

CAPABILITIES = "synapse://capabilities"
FACT = "synapse://fact/"
_JSON = "application/json"


class Door:
    """The tools, resources and prompts over one line to a worker."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._turns = anyio.CapacityLimiter(1)
        """One question at a time; a call that is cancelled while it waits is not begun."""
        self._long = anyio.CapacityLimiter(1)
        """The same for what takes long and needs no index: verify, reindex."""
        self._asking = anyio.Lock()
        self._tools: dict[str, Any] = {}

    def server(self) -> Server[Any]:
        """The server, ready to run over a pair of streams."""
        return Server(
            "synapse",
            version=__version__,
            title="Synapse memory",
            instructions=RULE,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=_list_resources,
            on_list_resource_templates=_list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=_list_prompts,
            on_get_prompt=_get_prompt,
        )

    async def _known(self) -> dict[str, Any]:
        """What the worker says of the tools, once."""
        async with self._asking:
            if not self._tools:
                self._tools = await anyio.to_thread.run_sync(self._link.ask, "tools")
            return self._tools

    async def _list_tools(self, _context: object, _params: object) -> types.ListToolsResult:
        with _told():
            known = await self._known()
        return types.ListToolsResult.model_validate({"tools": known["tools"]})

    async def _call_tool(
        self, context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            known = await self._known()
        except SynError as error:
            return _result(_error(error.code, error.message, error.remedy))
        kind = known["kinds"].get(params.name)
        if kind is None:
            names = ", ".join(known["kinds"])
            said = f"there is no tool {params.name!a:.60}"
            return _result(_error("unknown-tool", said, f"tools: {names}"))
        arguments = dict(params.arguments or {})
        if kind == "propose":
            arguments["agent"] = _proposer(arguments.get("agent"), context)
        return await self._answer(params.name, arguments, long=params.name in known["long"])

    async def _answer(
        self, tool: str, arguments: dict[str, Any], *, long: bool
    ) -> types.CallToolResult:
        limiter = self._long if long else self._turns
        work = partial(self._guarded, tool, arguments)
        return await anyio.to_thread.run_sync(work, limiter=limiter)

    def _guarded(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """One call in a thread of its own; whatever fails becomes an error result."""
        try:
            return _result(self._link.ask("call", tool=tool, arguments=arguments))
        except SynError as error:
            return _result(_error(error.code, error.message, error.remedy))
        except Exception as error:  # noqa: BLE001 - a server answers every call and lives on
            sys.stderr.write(f"syn mcp: {traceback.format_exc()!a}\n")
            said = f"internal error: {type(error).__name__}"
            return _result(_error("internal", said, "see the server's log"))

    async def _read_resource(
        self, _context: object, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri == CAPABILITIES:
            with _told():
                text = await anyio.to_thread.run_sync(self._link.ask, "capabilities")
        elif uri.startswith(FACT):
            arguments = {"id": unquote(uri.removeprefix(FACT))}
            result = await self._answer("show", arguments, long=False)
            text = _text(result)
            if result.is_error:
                raise MCPError(types.INVALID_PARAMS, text)
        else:
            known = f"{CAPABILITIES} and {FACT}{{id}}"
            raise MCPError(types.INVALID_PARAMS, f"no resource {uri!r:.80}; there are {known}")
        contents = types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)
        return types.ReadResourceResult(contents=[contents])


@contextmanager
def _told() -> Iterator[None]:
    """Where an answer has no place for an error of ours, one of the protocol says it."""
    try:
        yield
    except SynError as error:
        raise MCPError(types.INTERNAL_ERROR, f"{error.message}\n{error.remedy}") from error


def _error(code: str, message: str, remedy: str) -> dict[str, Any]:
    """A reply that is an error of ours, as the worker gives them."""
    error = {"code": code, "message": message, "remedy": remedy}
    return {"text": f"{message}\n{remedy}", "error": error}


def _result(reply: dict[str, Any]) -> types.CallToolResult:
    """A worker's reply as the protocol says it; an error is an error, never success."""
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=reply["text"])]
    if "error" in reply:
        failed = {"error": reply["error"]}
        return types.CallToolResult(content=content, structured_content=failed, is_error=True)
    return types.CallToolResult(content=content, structured_content=json.loads(reply["text"]))


def _text(result: types.CallToolResult) -> str:
    content = result.content[0]
    return content.text if isinstance(content, types.TextContent) else ""


def _proposer(given: object, context: Any) -> str:
    """Who proposes: the name that the call gives, always with the client's name for itself."""
    params = context.session.client_params
    info = params.client_info if params is not None else None
    client = f"{info.name} {info.version}".strip()[:200] if info is not None else "agent"
    return f"{given} ({client})" if isinstance(given, str) and given else client


async def _list_resources(_context: object, _params: object) -> types.ListResourcesResult:
    resource = types.Resource(uri=CAPABILITIES, name="capabilities", mime_type=_JSON)
    return types.ListResourcesResult(resources=[resource])


async def _list_templates(_context: object, _params: object) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template=f"{FACT}{{id}}", name="fact", mime_type=_JSON)
    return types.ListResourceTemplatesResult(resource_templates=[template])


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


def serve(pipes: Pipes, link: Link) -> None:
    """Serve the client until it leaves; then let the worker finish."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    try:
        asyncio.run(_serve(pipes, Door(link)))
    finally:
        link.close()


async def _serve(pipes: Pipes, door: Door) -> None:
    server = door.server()
    async with stdio(pipes) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
