"""Tools, made from the operations both doors share: one call in, one bounded answer out.

Nothing here knows the SDK: this is the side of the worker (ADR 0037).
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from syn.errors import SynError
from syn.mcp.arguments import input_schema, read_arguments
from syn.model.finding import Json
from syn.report.escape import block, clip, json_text
from syn.services.doors.operation import Member, Operation
from syn.services.doors.operations import READS, operations
from syn.services.recall.answers import Answer

_MEMBERS: dict[Member, dict[str, Any]] = {
    "text": {"type": "string"},
    "text?": {"type": ["string", "null"]},
    "number": {"type": "integer"},
    "flag": {"type": "boolean"},
    "list": {"type": "array"},
    "object": {"type": "object"},
}

_HINTS: dict[str, dict[str, bool]] = {
    "read": {"readOnlyHint": True, "openWorldHint": False},
    "propose": {
        "readOnlyHint": False,
        "destructiveHint": False,
        "idempotentHint": False,
        "openWorldHint": False,
    },
    "maintain": {
        "readOnlyHint": False,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    },
}
"""What only reads destroys nothing, so nothing more is said of it."""

Run = Callable[[Operation, dict[str, Any]], Answer]


def tool_name(operation: Operation) -> str:
    """The operation's name as a tool name."""
    return operation.name.replace("-", "_")


@cache
def list_tools() -> tuple[dict[str, Any], ...]:
    """Every tool as the protocol writes it; few words, since an agent reads them all each time."""
    return tuple(_tool(operation) for operation in operations())


def _tool(operation: Operation) -> dict[str, Any]:
    return {
        "name": tool_name(operation),
        "description": operation.summary,
        "inputSchema": input_schema(operation.parameters()),
        "outputSchema": output_schema(operation.shape),
        "annotations": _HINTS[operation.kind],
    }


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
    known = next((found for found in READS if tool_name(found) == name), None)
    return known or next((found for found in operations() if tool_name(found) == name), None)


def call_tool(run: Run, operation: Operation, given: Mapping[str, Any] | None) -> "Reply":
    """Answer one call. What the caller can mend is an error that says how, never success."""
    try:
        answer = run(operation, read_arguments(operation.parameters(), given))
    except SynError as error:
        return failed(error.code, error.message, error.remedy)
    return {"text": json_text(answer)}


Reply = dict[str, Json]
"""`text`, the answer's JSON; or `error` with its code, message and remedy, and `text` for eyes."""


def failed(code: str, message: str, remedy: str) -> Reply:
    """An error the agent can read and act on."""
    message, remedy = (clip(block(text, data=False), 1000) for text in (message, remedy))
    text = f"{message}\n{remedy}" if remedy else message
    return {"text": text, "error": {"code": code, "message": message, "remedy": remedy}}
