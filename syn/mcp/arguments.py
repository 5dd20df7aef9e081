"""From an operation's parameters to a tool's schema, and from a call's arguments to values.

Clients often send numbers, flags and lists as text. What can be meant in one way only is taken;
everything else is refused with the form that is expected, never guessed.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from syn.errors import UsageError
from syn.services.doors.operations import Parameter

MAX_TEXT = 256 * 1024
"""Characters of one text argument."""
MAX_ITEMS = 1000
"""Items of one list argument."""


class ArgumentError(UsageError):
    """An argument that is not of its parameter's form."""

    def __init__(self, name: str, expected: str, got: object) -> None:
        super().__init__(
            "argument",
            f"argument {name}: expected {expected}, got {got!r:.60}",
            f"send {name} as {expected}",
        )


def input_schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {p.name: _schema(p) for p in parameters},
        "required": [p.name for p in parameters if p.required],
        "additionalProperties": False,
    }


def _schema(parameter: Parameter) -> dict[str, Any]:
    match parameter.type:
        case kind if kind is int:
            schema: dict[str, Any] = {"type": "integer"}
            if parameter.least is not None:
                # No maximum: a greater number is answered as far as one answer goes.
                schema["minimum"] = parameter.least
        case kind if kind is bool:
            schema = {"type": "boolean"}
        case kind if kind is str:
            schema = {"type": "string"}
        case _ if parameter.joined:
            schema = {"type": "string"}
        case _:
            schema = {"type": "array", "items": {"type": "string"}}
    return {**schema, "description": parameter.help}


def read_arguments(
    parameters: Sequence[Parameter], given: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The values of a call; absent ones take the agent's default.

    Raises:
        ArgumentError: an unknown name, a missing one, or a value of another form.
    """
    given = dict(given or {})
    values: dict[str, Any] = {}
    for parameter in parameters:
        value = given.pop(parameter.name, None)
        if value is not None:
            values[parameter.name] = _value(parameter, value)
        elif parameter.required:
            raise ArgumentError(parameter.name, _form(parameter), None)
        else:
            values[parameter.name] = parameter.default
    if given:
        known = ", ".join(p.name for p in parameters) or "no arguments"
        raise ArgumentError(str(next(iter(given)))[:40], f"one of: {known}", "an unknown name")
    return values


def _value(parameter: Parameter, value: Any) -> Any:
    match parameter.type:
        case kind if kind is int:
            return _integer(parameter, value)
        case kind if kind is bool:
            return _flag(parameter, value)
        case kind if kind is str:
            return _text(parameter, value)
        case _:
            return _texts(parameter, value)


def _integer(parameter: Parameter, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().lstrip("-").isascii():
        text = value.strip()
        if text.lstrip("-").isdigit() and len(text) < 12:  # noqa: PLR2004 - no sane count is longer
            return int(text)
    raise ArgumentError(parameter.name, _form(parameter), value)


_FLAGS = {"true": True, "false": False}


def _flag(parameter: Parameter, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in _FLAGS:
        return _FLAGS[value.strip().lower()]
    raise ArgumentError(parameter.name, _form(parameter), value)


def _text(parameter: Parameter, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return _checked(parameter, value)
    raise ArgumentError(parameter.name, _form(parameter), value)


def _texts(parameter: Parameter, value: Any) -> list[str]:
    if isinstance(value, str):
        value = _list_in_text(parameter, value)
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        raise ArgumentError(parameter.name, _form(parameter), value)
    return [_text(parameter, item) for item in value]


def _list_in_text(parameter: Parameter, text: str) -> list[Any]:
    """A list that came as text: JSON, or a single word; a text with commas may mean two things."""
    if parameter.joined:
        return [text]
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except ValueError as error:
            raise ArgumentError(parameter.name, _form(parameter), text) from error
        if isinstance(found, list):
            return found
    if not text.strip() or any(c in text for c in ",;[]{}\"'") or len(text.split()) > 1:
        raise ArgumentError(parameter.name, _form(parameter), text)
    return [text.strip()]


def _checked(parameter: Parameter, text: str) -> str:
    if len(text) > MAX_TEXT:
        raise ArgumentError(
            parameter.name, f"at most {MAX_TEXT} characters", f"{len(text)} characters"
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(parameter.name, "text without lone surrogates", ascii(text)) from error
    return text


_FORMS: dict[type, str] = {int: "a whole number", bool: "true or false", str: "text"}


def _form(parameter: Parameter) -> str:
    if parameter.joined:
        return "text"
    return _FORMS.get(parameter.type, 'a list of texts such as ["a", "b"]')
