"""Where a collection was taken from last, on this machine: two of one name are not one (ADR 0026).

Facts name their collection by a word that travels with them; a path of somebody's disk does not. So
the path is kept in the user's own cache, and only warns: without it, names alone count.
"""

from pathlib import Path

from syn.model.finding import Json
from syn.services.recall.notes import note_file, read_note, write_note
from syn.services.workspace import Workspace


def taken_elsewhere(workspace: Workspace, form: str, origin: str, place: Path) -> str:
    """The other place that this collection was taken from last; "" when it is this one."""
    before = _places(workspace).get(_name(form, origin))
    return before if isinstance(before, str) and before != _text(place) else ""


def remember_place(workspace: Workspace, form: str, origin: str, place: Path) -> None:
    """Keep the place for the next import."""
    places = {**_places(workspace), _name(form, origin): _text(place)}
    write_note(
        note_file(workspace, "imports"),
        {"places": [[name, where] for name, where in sorted(places.items())]},
    )


def _places(workspace: Workspace) -> dict[str, Json]:
    note = read_note(note_file(workspace, "imports")) or {}
    pairs = note.get("places")
    found = pairs if isinstance(pairs, list) else []
    return {str(pair[0]): pair[1] for pair in found if isinstance(pair, list) and len(pair) > 1}


def _name(form: str, origin: str) -> str:
    return f"{form} {origin}"


def _text(place: Path) -> str:
    return str(place).encode("utf-8", "backslashreplace").decode()
