"""Tools, made from the operations both doors share: one call in, one bounded answer out."""

from collections.abc import Callable
from typing import Any

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from syn.errors import SynError
from syn.mcp.arguments import input_schema, read_arguments
from syn.report.escape import json_text
from syn.services.answers import Answer
from syn.services.operations import OPERATIONS, Operation

LIST_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"type": "object"}},
        "total": {"type": "integer"},
        "next": {"type": ["string", "null"]},
    },
}
OBJECT_SCHEMA: dict[str, Any] = {"type": "object"}

Run = Callable[[Operation, dict[str, Any]], Answer]


def tool_name(operation: Operation) -> str:
    """The operation's name as a tool name."""
    return operation.name.replace("-", "_").replace(" ", "_")


def list_tools() -> list[Tool]:
    """Every tool; the list is small, since an agent reads it before every session."""
    return [_tool(operation) for operation in OPERATIONS]


def _tool(operation: Operation) -> Tool:
    reads = operation.kind == "read"
    return Tool(
        name=tool_name(operation),
        description=operation.summary,
        input_schema=input_schema(operation.parameters()),
        output_schema=LIST_SCHEMA if operation.listing else OBJECT_SCHEMA,
        annotations=ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=False,
            idempotent_hint=operation.kind != "propose",
            open_world_hint=False,
        ),
    )


def find_operation(name: str) -> Operation | None:
    """The operation behind a tool."""
    return next((found for found in OPERATIONS if tool_name(found) == name), None)


def call_tool(run: Run, operation: Operation, given: dict[str, Any] | None) -> CallToolResult:
    """Answer one call. What the caller can mend is an error result that says how, never success."""
    try:
        answer = run(operation, read_arguments(operation.parameters(), given))
    except SynError as error:
        return error_result(error.code, error.message, error.remedy)
    except RecursionError:
        return error_result("limits", "the arguments nest too deeply", "send flat arguments")
    return CallToolResult(
        content=[TextContent(type="text", text=json_text(answer))], structured_content=answer
    )


def error_result(code: str, message: str, remedy: str) -> CallToolResult:
    """An error the agent can read and act on."""
    error = {"code": code, "message": message, "remedy": remedy}
    text = f"{message}\n{remedy}" if remedy else message
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"error": error},
        is_error=True,
    )
