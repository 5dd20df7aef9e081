"""Options that need no coercion do not pay for it.

Typer coerces every value through pydantic, whose import costs more processor time than a whole
`syn show`. A text that was asked for as text is right already, and one that was asked for as a path
is one step from it. Whatever else an option wants (a number that was typed, a choice, a path that
Typer is to look at) is left to Typer, and so is everything should a later Typer not ask a parameter
for its coercion.
"""

from pathlib import Path
from typing import Any

_ASKED_OF_PATHS = ("exists", "writable", "resolve_path", "allow_dash")


def spare(command: Any) -> Any:
    """The same command, of which no parameter coerces a value that is right already."""
    listed = command.get_params

    def get_params(context: Any) -> list[Any]:
        return [_spare_parameter(parameter) for parameter in listed(context)]

    command.get_params = get_params
    return command


def spare_group(group: Any) -> Any:
    """`spare` for a group and everything in it."""
    for inner in getattr(group, "commands", {}).values():
        spare_group(inner)
    return spare(group)


def _spare_parameter(parameter: Any) -> Any:
    if "get_runtime_param" not in vars(parameter):
        parameter.get_runtime_param = _Sparing(parameter).itself
    return parameter


class _Sparing:
    """The coercion of one parameter, with Typer's own behind it."""

    def __init__(self, parameter: Any) -> None:
        self._typed = parameter.get_runtime_param
        described = parameter.type_descriptor
        info = described.parameter_info
        bare = (info.parser, info.min, info.max) == (None, None, None)
        bare = bare and not any(getattr(info, name, False) for name in _ASKED_OF_PATHS)
        self._wanted: Any = described.annotation if bare else None

    def itself(self) -> "_Sparing":
        """What Typer asks a parameter for."""
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """A value for the command's function, as Typer's own coercion gives it."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if several and self._wanted == list[str]:
            return list(value)
        if self._wanted in (str, int) and type(value) is self._wanted:
            return value
        if self._wanted is Path and type(value) is str:
            return Path(value)
        if several and self._wanted == list[Path] and all(type(item) is str for item in value):
            return [Path(item) for item in value]
        return self._typed().coerce(value, param=param, ctx=ctx)
