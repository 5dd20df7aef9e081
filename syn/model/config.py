"""The configuration of a workspace: the content of `synapse.toml` (docs/formats/config.md)."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Profile: TypeAlias = Literal["standard", "strict"]


DEFAULT_INCLUDE = ("facts/**/*.md",)


@dataclass(frozen=True, slots=True)
class FactKeys:
    """Front-matter key names a vault uses instead of the reserved ones (`[facts.keys]`)."""

    names: tuple[tuple[str, str], ...] = ()
    """Pairs (reserved name, name used in this vault), sorted."""

    def of(self, reserved: str) -> str:
        """The key that holds the reserved meaning in this vault."""
        return next((used for name, used in self.names if name == reserved), reserved)


@dataclass(frozen=True, slots=True)
class Config:
    """One workspace's configuration; every field has the default that `syn init` writes."""

    id: str
    """UUID of the workspace."""
    name: str
    format: int = 1
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = ()
    keys: FactKeys = field(default_factory=FactKeys)
    relations: tuple[str, ...] = ()
    """Front-matter fields whose values are links (`[facts.relations] fields`)."""
    multi: tuple[str, ...] = ()
    """Statement fields (or `subject/field`) that may hold several values at once."""
    link_order: Literal["target|text", "text|target"] = "target|text"
    branch: str = "main"
    """The branch that publishes (`[git] branch`)."""
    commit: bool = True
    """Whether accepted writes are committed (`[git] commit`)."""
    profile: Profile = "standard"
    """The verify profile (`[verify] profile`); a caller may raise it, never lower it."""
