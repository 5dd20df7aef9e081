"""Changes of facts by field, on a terminal."""

import os
import sys
from typing import TYPE_CHECKING

from syn.cli.output import out
from syn.report.escape import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from syn.model.finding import Json
    from syn.services.recall.fielddiff import FieldChange


def render_fields(changes: "Iterable[FieldChange]") -> None:
    """One field per line; of a body the lines that differ."""
    from syn.services.recall.fielddiff import BODY, body_diff

    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")  # noqa: TID251 - a port
    for change in changes:
        if change.field == BODY:
            out("  body:")
            for line in body_diff(change, color=color).splitlines():
                sys.stdout.write(f"    {line}\n")
        else:
            out(f"  {change.field}: {shown(change.before)} -> {shown(change.after)}")


def shown(value: "Json") -> str:
    """A field's value, hidden characters made visible; `(none)` where it is not there."""
    if value is None:
        return "(none)"
    if isinstance(value, list):
        return "[" + ", ".join(shown(item) for item in value) + "]"
    return printable(str(value))
