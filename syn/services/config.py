"""`synapse.toml`: read strictly, written with comments kept (docs/formats/config.md)."""

import tomllib
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from syn.errors import CannotError
from syn.model.config import DEFAULT_INCLUDE, Config, FactKeys

FILE_NAME = "synapse.toml"

RESERVED_KEYS = frozenset(
    {
        "id", "type", "title", "tags", "status", "subject", "field", "value",
        "valid_from", "valid_to", "supersedes", "superseded_by", "source", "aliases",
    }
)  # fmt: skip


class ConfigError(CannotError):
    """`synapse.toml` cannot be read; the message names the key or the line."""

    def __init__(self, message: str, remedy: str = "correct synapse.toml") -> None:
        super().__init__("config", f"{FILE_NAME}: {message}", remedy)


def parse_config(data: bytes) -> Config:
    """Read `synapse.toml`; every key that is not known is an error that names it.

    Raises:
        ConfigError: not UTF-8, not TOML, an unknown key, a value of another type, another format.
    """
    try:
        document = tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8 at byte {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"not TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError("nested too deeply") from error
    table = _Table(document, "")
    config = Config(
        format=table.integer("format", 1),
        id=table.text("id", ""),
        name=table.text("name", ""),
        profile="standard",
    )
    _check_head(config)
    config = _facts(config, table.table("facts"))
    links = table.table("links")
    order = links.choice("order", ("target|text", "text|target"))
    links.finish()
    git = table.table("git")
    config = replace(
        config,
        link_order="text|target" if order == "text|target" else "target|text",
        branch=git.text("branch", "main"),
        commit=git.flag("commit", default=True),
    )
    git.finish()
    verify = table.table("verify")
    profile = verify.choice("profile", ("standard", "strict"))
    verify.finish()
    table.finish()
    return replace(config, profile="strict" if profile == "strict" else "standard")


def _facts(config: Config, facts: "_Table") -> Config:
    names = facts.table("keys")
    relations = facts.table("relations")
    keys = tuple(sorted((key, names.text(key, "")) for key in list(names.values)))
    for reserved, _ in keys:
        if reserved not in RESERVED_KEYS:
            raise ConfigError(f"unknown key facts.keys.{reserved}: not a reserved key of facts")
    parsed = replace(
        config,
        include=facts.texts("include", DEFAULT_INCLUDE),
        exclude=facts.texts("exclude", ()),
        multi=facts.texts("multi", ()),
        keys=FactKeys(keys),
        relations=relations.texts("fields", ()),
    )
    names.finish()
    relations.finish()
    facts.finish()
    if not parsed.include:
        raise ConfigError("facts.include is empty: no file could be a fact")
    return parsed


def _check_head(config: Config) -> None:
    if config.format != 1:
        raise ConfigError(
            f"format {config.format}: this program reads format 1",
            "use a newer syn, or correct `format`",
        )
    try:
        canonical = str(uuid.UUID(config.id))
    except ValueError as error:
        raise ConfigError(f"id: expected a UUID, got {config.id!r:.60}") from error
    if canonical != config.id:
        raise ConfigError(f"id: expected {canonical}, got {config.id!r:.60}")


class _Table:
    """One TOML table being read: every key is taken once, and what is left over is an error."""

    def __init__(self, values: Mapping[str, Any], prefix: str) -> None:
        self.values = dict(values)
        self.prefix = prefix

    def _take(self, key: str, kind: type, default: Any, shape: str) -> Any:
        value = self.values.pop(key, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ConfigError(f"{self.prefix}{key}: expected {shape}, got {value!r:.60}")
        return value

    def text(self, key: str, default: str) -> str:
        return str(self._take(key, str, default, "text"))

    def integer(self, key: str, default: int) -> int:
        return int(self._take(key, int, default, "a whole number"))

    def flag(self, key: str, *, default: bool) -> bool:
        return bool(self._take(key, bool, default, "true or false"))

    def texts(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        values = self._take(key, list, list(default), "a list of texts")
        if not all(isinstance(value, str) for value in values):
            raise ConfigError(f"{self.prefix}{key}: expected a list of texts, got {values!r:.60}")
        return tuple(values)

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.text(key, allowed[0])
        if value not in allowed:
            raise ConfigError(f"{self.prefix}{key}: expected one of {allowed}, got {value!r:.60}")
        return value

    def table(self, key: str) -> "_Table":
        return _Table(self._take(key, dict, {}, "a table"), f"{self.prefix}{key}.")

    def finish(self) -> None:
        if self.values:
            raise ConfigError(f"unknown key {self.prefix}{next(iter(self.values))}")


def render_config(config: Config) -> bytes:
    """The `synapse.toml` that `syn init` writes: complete, with a comment at each choice."""
    import tomlkit
    from tomlkit import comment, document, nl, table

    root = document()
    root.add(comment("this folder is a Synapse workspace; `syn verify` proves it"))
    root["format"] = config.format
    root["id"] = config.id
    root["name"] = config.name
    root.add(nl())
    facts = table()
    facts.add(comment("which Markdown files are facts"))
    facts["include"] = list(config.include)
    facts["exclude"] = list(config.exclude)
    if config.multi:
        facts["multi"] = list(config.multi)
    if config.keys.names:
        facts["keys"] = dict(config.keys.names)
    if config.relations:
        facts["relations"] = {"fields": list(config.relations)}
    root["facts"] = facts
    if config.link_order != "target|text":
        root["links"] = {"order": config.link_order}
    git = table()
    git.add(comment("the branch that publishes, and whether accepted writes are committed"))
    git["branch"] = config.branch
    git["commit"] = config.commit
    root["git"] = git
    if config.profile != "standard":
        root["verify"] = {"profile": config.profile}
    return tomlkit.dumps(root).encode()


def add_excludes(data: bytes, patterns: list[str]) -> bytes:
    """`synapse.toml` with more patterns in `facts.exclude`; every other byte stays."""
    import tomlkit

    root = tomlkit.parse(data.decode())
    facts = root.setdefault("facts", tomlkit.table())
    exclude = facts.setdefault("exclude", tomlkit.array())
    for pattern in patterns:
        if pattern not in exclude:
            exclude.append(pattern)
    return tomlkit.dumps(root).encode()
