"""Tools, made from the operations both doors share: one call in, one bounded answer out."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from syn.errors import SynError
from syn.mcp.arguments import input_schema, read_arguments
from syn.report.escape import json_text
from syn.services.doors.operation import Member, Operation
from syn.services.doors.operations import operations
from syn.services.recall.answers import Answer

_MEMBERS: dict[Member, dict[str, Any]] = {
    "text": {"type": "string"},
    "text?": {"type": ["string", "null"]},
    "number": {"type": "integer"},
    "flag": {"type": "boolean"},
    "list": {"type": "array"},
    "object": {"type": "object"},
}

_HINTS = {
    "read": ToolAnnotations(read_only_hint=True, open_world_hint=False),
    "propose": ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
    ),
    "maintain": ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
}
"""What only reads destroys nothing, so nothing more is said of it."""

Run = Callable[[Operation, dict[str, Any]], Answer]


def tool_name(operation: Operation) -> str:
    """The operation's name as a tool name."""
    return operation.name.replace("-", "_")


@cache
def list_tools() -> tuple[Tool, ...]:
    """Every tool; the list is small, since an agent reads it before every session."""
    return tuple(_tool(operation) for operation in operations())


def _tool(operation: Operation) -> Tool:
    return Tool(
        name=tool_name(operation),
        description=operation.summary,
        input_schema=input_schema(operation.parameters()),
        output_schema=output_schema(operation.shape),
        annotations=_HINTS[operation.kind],
    )


def output_schema(shape: Mapping[str, Member]) -> dict[str, Any]:
    """The JSON Schema of an answer: what it always has; more may stand in it."""
    return {
        "type": "object",
        "properties": {name: _MEMBERS[kind] for name, kind in shape.items()},
        "required": list(shape),
    }


@cache
def find_operation(name: str) -> Operation | None:
    """The operation behind a tool."""
    return next((found for found in operations() if tool_name(found) == name), None)


def call_tool(run: Run, operation: Operation, given: Mapping[str, Any] | None) -> CallToolResult:
    """Answer one call. What the caller can mend is an error result that says how, never success."""
    try:
        answer = run(operation, read_arguments(operation.parameters(), given))
    except SynError as error:
        return error_result(error.code, error.message, error.remedy)
    return CallToolResult(
        content=[TextContent(type="text", text=json_text(answer))], structured_content=answer
    )


def error_result(code: str, message: str, remedy: str) -> CallToolResult:
    """An error the agent can read and act on."""
    from syn.report.escape import block, clip

    message, remedy = (clip(block(text, data=False), 1000) for text in (message, remedy))
    error = {"code": code, "message": message, "remedy": remedy}
    text = f"{message}\n{remedy}" if remedy else message
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"error": error},
        is_error=True,
    )
