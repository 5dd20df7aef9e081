"""The pages of `syn serve`, from the answers of operations: no scripts, no links out (ADR 0027).

Everything from a fact is escaped twice over, as in the HTML report: invisible characters are made
visible, then the template escapes markup. Bodies are shown as text, so nothing in them is a link.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias
from urllib.parse import quote

import jinja2

from syn.model.finding import Json
from syn.report.escape import block, clip, printable
from syn.report.verdict import MAX_TEXT

PageName: TypeAlias = Literal["home", "list", "fact", "timeline", "log", "report", "error"]


def render_page(name: PageName, workspace: str, values: Mapping[str, Json]) -> str:
    """One page.

    Args:
        name: which one.
        workspace: the name of the workspace, for the heading.
        values: what its template shows: mostly an answer under its own name.
    """
    return (
        _environment()
        .get_template(f"page_{name}.html")
        .render(workspace=workspace, page=name, style=_style(), **values)
    )


@cache
def policy() -> str:
    """The Content-Security-Policy of every page: one style sheet, inside, by its hash."""
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = _shown
    environment.filters["read"] = _read_text
    environment.filters["text"] = _block
    environment.filters["part"] = _part
    environment.filters["short"] = _short
    return environment


def _shown(value: object) -> str:
    """Text that identifies something: every invisible character visible."""
    return printable(clip(_plain(value), MAX_TEXT))


def _read_text(value: object) -> str:
    """Text that is only read: what ordinary writing needs is kept."""
    return printable(clip(_plain(value), MAX_TEXT), data=True)


def _block(value: object) -> str:
    """A body: several lines."""
    return block(_plain(value))


def _part(value: object) -> str:
    """A text as one part of a query: only unreserved characters stay."""
    return quote(_plain(value), safe="")


def _short(value: object) -> str:
    """The first digits of a digest."""
    return _shown(_plain(value).removeprefix("sha256:")[:12])


def _plain(value: object) -> str:
    return "" if value is None else str(value)


@cache
def _style() -> str:
    return _read("page.css")


def _read(name: str) -> str:
    return resources.files("syn.report").joinpath("templates", name).read_text("utf-8")
