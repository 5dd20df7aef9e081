"""The SDK's own client, in a process apart from the server, drives every tool (design 14)."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ReadResourceResult, TextContent, TextResourceContents

from syn.services.doors.operations import operations
from tests.support.cli import syn
from tests.support.workspaces import Place, make_workspace

CALLS: dict[str, dict[str, Any]] = {
    "blame": {"id": "limit"},
    "get": {"ids": ["limit", "owner-2", "nowhere"], "fields": ["title"]},
    "graph": {"id": "owner-2"},
    "search": {"words": "payments"},
    "show": {"id": "owner-2"},
    "propose": {"title": "Region", "subject": "ledger", "field": "region", "value": "eu-2"},
    "propose_batch": {"changes": '[{"op": "close", "id": "limit"}]'},
    "propose_close": {"id": "owner-2", "at": "2027-01-01"},
    "propose_edit": {"id": "limit", "add_tags": ["refunds"]},
    "propose_link": {"id": "limit", "to": "owner-2"},
    "propose_rm": {"id": "limit", "reason": "twice"},
    "propose_supersede": {"id": "owner-2", "value": "ledger", "valid_from": "2026-12-01"},
}
"""Arguments for the tools that need some."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return make_workspace(tmp_path_factory.mktemp("client"))


def _with_client(place: Place, use: Callable[[ClientSession], Coroutine[Any, Any, None]]) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "syn.mcp", str(place.root)], env=place.env
    )

    async def run() -> None:
        with (place.root.parent / "client.log").open("a") as log:
            async with (
                stdio_client(server, errlog=log) as (incoming, outgoing),
                ClientSession(incoming, outgoing) as session,
            ):
                await session.initialize()
                await use(session)

    asyncio.run(run())


def _structured(result: CallToolResult) -> dict[str, Any]:
    content = result.structured_content
    assert isinstance(content, dict)
    return content


def test_every_tool(place: Place) -> None:
    async def use(session: ClientSession) -> None:
        tools = (await session.list_tools()).tools
        assert [t.name for t in tools] == [found.name.replace("-", "_") for found in operations()]
        proposed = _structured(await session.call_tool("propose", CALLS["propose"]))
        calls = {**CALLS, "pending_show": {"id": proposed["id"]}}
        for tool in tools:
            if tool.name == "propose":
                continue
            # The client holds each answer against the tool's output schema.
            result = await session.call_tool(tool.name, calls.get(tool.name, {}))
            assert not result.is_error, (tool.name, result)
            content = result.content[0]
            assert isinstance(content, TextContent)
            assert json.loads(content.text) == result.structured_content

    before = syn(place, "log", "--json").json["total"]
    _with_client(place, use)
    assert syn(place, "log", "--json").json["total"] == before
    assert not syn(place, "status", "--json").json["edits"]


def test_what_the_tools_say_of_themselves(place: Place) -> None:
    async def use(session: ClientSession) -> None:
        listed = await session.list_tools()
        size = len(listed.model_dump_json(by_alias=True, exclude_none=True))
        assert size < 20_000, size
        for tool in listed.tools:
            hints = tool.annotations
            assert hints is not None
            writes = tool.name.startswith(("propose", "reindex"))
            assert hints.read_only_hint is not writes
            assert hints.destructive_hint is (False if writes else None)
            assert hints.open_world_hint is False
            assert tool.description
            assert tool.output_schema is not None
            assert tool.output_schema["required"], tool.name

    _with_client(place, use)


def test_resources_and_the_prompt(place: Place) -> None:
    async def use(session: ClientSession) -> None:
        listed = await session.list_resources()
        assert [str(item.uri) for item in listed.resources] == ["synapse://capabilities"]
        templates = (await session.list_resource_templates()).resource_templates
        assert [item.uri_template for item in templates] == ["synapse://fact/{id}"]
        able = _json(await session.read_resource("synapse://capabilities"))
        assert "accept" in able["never"]
        assert "search" in able["reads"]
        fact = _json(await session.read_resource("synapse://fact/owner-2"))
        assert fact == _structured(await session.call_tool("show", {"id": "owner-2"}))
        by_path = _json(await session.read_resource("synapse://fact/facts%2Fplain"))
        assert by_path["id"] == "facts/plain"
        with pytest.raises(MCPError, match="no fact has the id nowhere"):
            await session.read_resource("synapse://fact/nowhere")
        with pytest.raises(MCPError, match="no resource"):
            await session.read_resource("file:///etc/passwd")
        assert [item.name for item in (await session.list_prompts()).prompts] == ["memory"]
        told = (await session.get_prompt("memory")).messages[0].content
        assert isinstance(told, TextContent)
        assert "propose" in told.text
        with pytest.raises(MCPError, match="no prompt"):
            await session.get_prompt("other")

    _with_client(place, use)


def test_errors_are_errors_and_carry_the_remedy(place: Place) -> None:
    async def use(session: ClientSession) -> None:
        for tool, arguments, code, remedy in (
            ("show", {"id": "owner-3"}, "unknown-fact", "did you mean"),
            ("search", {}, "argument", "words"),
            ("list", {"as_of": "yesterday"}, "invalid-date", "YYYY-MM-DD"),
            ("nowhere", {}, "unknown-tool", "tools: "),
        ):
            result = await session.call_tool(tool, arguments)
            assert result.is_error, tool
            error = _structured(result)["error"]
            assert error["code"] == code, error
            assert remedy in error["remedy"]
            content = result.content[0]
            assert isinstance(content, TextContent)
            assert error["message"] in content.text
            assert error["remedy"] in content.text

    _with_client(place, use)


def _json(result: ReadResourceResult) -> dict[str, Any]:
    content = result.contents[0]
    assert isinstance(content, TextResourceContents)
    found = json.loads(content.text)
    assert isinstance(found, dict)
    return found
