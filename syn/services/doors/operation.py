"""What an operation is: one function whose parameters and answer both doors are made from."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from syn.errors import UsageError
from syn.services.recall.answers import Answer
from syn.services.recall.bounds import bounded
from syn.services.recall.reads import Reader
from syn.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Arg:
    """What a door says of one parameter."""

    help: str
    positional: bool = False
    joined: bool = False
    """A list of words that together are one text: a tool takes it as text."""
    least: int | None = None
    """The least whole number that makes sense: less is refused."""
    most: int | None = None
    """The most that one answer gives: more is answered as this, and the answer says so."""


class BoundError(UsageError):
    """A number that is less than its parameter can be."""

    def __init__(self, parameter: "Parameter", got: int) -> None:
        most = f" to {parameter.most}" if parameter.most is not None else " or more"
        message = f"{parameter.name}: expected {parameter.least}{most}, got {got}"
        super().__init__(f"bad-{parameter.name}", message)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation."""

    name: str
    type: type
    """`str`, `int`, `bool` or `list[str]`."""
    help: str
    positional: bool
    joined: bool
    required: bool
    default: Any
    least: int | None = None
    most: int | None = None

    def within(self, value: Any) -> Any:
        """A value within the bounds, where there are any.

        Raises:
            BoundError: it is too small.
        """
        if not isinstance(value, int) or isinstance(value, bool):
            return value
        if self.least is not None and value < self.least:
            raise BoundError(self, value)
        return value if self.most is None else min(value, self.most)


Member: TypeAlias = Literal["text", "text?", "number", "flag", "list", "object"]
"""The type of an answer's member; `text?` may be null."""
PAGE: dict[str, Member] = {"items": "list", "total": "number", "next": "text?"}
PROPOSAL: dict[str, Member] = {"id": "text", "class": "text", "reasons": "list"}


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing both doors can do."""

    name: str
    kind: Literal["read", "propose", "maintain"]
    run: Callable[..., Answer]
    """Takes a `Reader` (or what `needs` says) and the parameters by name."""
    example: str
    """A command line, shown by `--help`."""
    listing: bool = False
    """The answer is a list: `items`, `total`, `next`."""
    members: Mapping[str, Member] = field(default_factory=dict)
    """What every answer has, beside the members of a list."""
    needs: Literal["index", "workspace"] = "index"
    """`workspace`: `run` takes a `Workspace` in place of a `Reader`, and no index is opened."""

    named: bool = False
    """Every item of the answer is one that the caller named."""
    files: bool = False
    """The answer is about the files as they stand, decided on or not."""

    def answer(self, source: Reader | Workspace, **values: Any) -> Answer:
        """What both doors give: the answer, bounded.

        A number that is greater than one answer allows is taken as the greatest, and `capped` says
        which.

        Raises:
            BoundError: a number is too small; else as `run`.
        """
        limits = {p.name: p.within(values[p.name]) for p in self.parameters() if p.name in values}
        answer = bounded(self.run(source, **{**values, **limits}))
        capped = {name: most for name, most in limits.items() if most != values[name]}
        return {**answer, "capped": capped} if capped else answer

    @property
    def shape(self) -> dict[str, Member]:
        """The members that every answer has, with their types."""
        usual = PAGE if self.listing else PROPOSAL if self.kind == "propose" else {}
        return {**usual, **self.members}

    @property
    def summary(self) -> str:
        """One sentence."""
        return (inspect.getdoc(self.run) or "").split("\n", 1)[0]

    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in order, without the reader."""
        return _parameters(self.run)


@cache
def _parameters(run: Callable[..., Answer]) -> tuple[Parameter, ...]:
    named = list(inspect.signature(run).parameters.values())[1:]
    return tuple(_parameter(item) for item in named)


def _parameter(item: inspect.Parameter) -> Parameter:
    hint: Any = item.annotation
    if get_origin(hint) is not Annotated:
        raise TypeError(f"parameter {item.name} has no Arg")
    kind, arg = get_args(hint)
    if get_origin(kind) in (Union, UnionType):
        kind = get_args(kind)[0]
    required = item.default is inspect.Parameter.empty
    default = None if required else item.default
    return Parameter(
        name=item.name,
        type=kind,
        help=arg.help,
        positional=arg.positional,
        joined=arg.joined,
        required=required,
        default=default,
        least=arg.least,
        most=arg.most,
    )
