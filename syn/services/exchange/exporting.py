"""`syn export`: facts that were decided on and check, in a form that others read (ADR 0026)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError, UsageError
from syn.exchange import mcp_memory
from syn.git import durable
from syn.model.fact import Fact
from syn.report import escape
from syn.services.files import write_file
from syn.services.recall.answers import Answer, served_json, withheld_json
from syn.services.recall.pagein import Served, Withheld, entry_of, page_in_path
from syn.services.recall.reads import Reader, Selection

ExportForm: TypeAlias = Literal["json", "ndjson", "markdown", "mcp-memory"]
SCHEMA = "synapse.export/1"
_DECIDED = ("recorded", "reformatted")
_PAGE = 500
"""Rows of the index that are asked for at once."""


class WouldOverwriteError(RefusedError):
    """A file that is there and says something else."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            "would-overwrite",
            f"{path} is there already and is not this export",
            "--force replaces it, or name another one",
        )


@dataclass(slots=True)
class Export:
    """The facts that are handed out, and those that are not."""

    served: list[Served] = field(default_factory=list)
    """In the order of their paths."""
    withheld: list[Withheld] = field(default_factory=list)
    """What does not check, or nobody decided on."""
    quarantined: int = 0
    """Facts that are left out since they are quarantined."""


def collect(reader: Reader, selection: Selection, *, quarantined: bool) -> Export:
    """Every fact of a selection, each checked.

    What nobody decided on is not handed out, whoever asks: what leaves the workspace carries no
    mark. Quarantined facts only come when that is asked.
    """
    found = Export()
    cursor: str | None = None
    while True:
        page = reader.index.list(selection.filters(), _PAGE, cursor)
        for item in page.items:
            _sort(reader, item.path, found, quarantined=quarantined)
        if page.next is None:
            return found
        cursor = page.next


def _sort(reader: Reader, path: str, found: Export, *, quarantined: bool) -> None:
    checked = page_in_path(reader.reading, reader.index, path, "person")
    if isinstance(checked, Served):
        if checked.quarantine:
            if quarantined and reader.audience == "person":
                found.served.append(checked)
            else:
                found.quarantined += 1
            return
        if checked.record not in _DECIDED:
            # The same fact as an agent is given it: withheld, and why.
            checked = page_in_path(reader.reading, reader.index, path, "agent")
    if isinstance(checked, Served):
        found.served.append(checked)
    elif checked is not None:
        found.withheld.append(checked)


def render(reader: Reader, found: Export, form: ExportForm) -> bytes:
    """The export as one file; the same facts give the same bytes."""
    match form:
        case "json":
            return f"{escape.json_text(_document(reader, found))}\n".encode()
        case "ndjson":
            lines = (escape.json_text(served_json(served)) for served in found.served)
            return "".join(f"{line}\n" for line in lines).encode()
        case "mcp-memory":
            facts = (served.fact for served in found.served)
            return mcp_memory.render(facts, escape.json_text)
        case "markdown":
            name = reader.reading.config.name
            return "\n".join(_pages(name, found.served)).encode()


def _document(reader: Reader, found: Export) -> Answer:
    return {
        "schema": SCHEMA,
        "workspace": reader.reading.config.id,
        "name": reader.reading.config.name,
        "inputs_hash": reader.index.meta().get("inputs_hash", ""),
        "facts": [dict(served_json(served)) for served in found.served],
        "total": len(found.served),
        "withheld": [dict(withheld_json(item)) for item in found.withheld],
        "quarantined": found.quarantined,
    }


_ROWS = ("type", "status", "subject", "field", "value")


def _pages(name: str, facts: Iterable[Served]) -> Iterator[str]:
    """One document: a heading, what is said in a table, the body, fact by fact."""
    yield f"# {_cell(name)}"
    for served in facts:
        fact = served.fact
        rows = [("id", fact.id), ("path", fact.path)]
        rows += [(key, getattr(fact, key)) for key in _ROWS if getattr(fact, key)]
        if fact.valid_from:
            rows.append(("from", fact.valid_from.text))
        if fact.valid_to:
            rows.append(("until", fact.valid_to.text))
        rows += [("tags", ", ".join(fact.tags))] if fact.tags else []
        rows += [("supersedes", ", ".join(fact.supersedes))] if fact.supersedes else []
        rows += [("superseded by", ", ".join(fact.superseded_by))] if fact.superseded_by else []
        rows += [("taint", served.taint)] if served.taint else []
        yield f"\n---\n\n## {_cell(fact.title)}\n"
        yield "| | |\n| --- | --- |"
        yield from (f"| {key} | {_cell(value)} |" for key, value in rows)
        yield f"\n{fact.body.replace(chr(13) + chr(10), chr(10)).strip(chr(10))}"
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def write_export(path: Path, data: bytes, *, force: bool) -> None:
    """Write an export whole or not at all; the same bytes again are no change.

    Raises:
        WouldOverwriteError: another file is there.
        CannotError: it cannot be written.
    """
    if path.is_dir():
        raise UsageError("is-a-folder", f"{path} is a folder: expected a file", "name a file in it")
    if path.is_file():
        if sha256(path.read_bytes()) == sha256(data):
            return
        if not force:
            raise WouldOverwriteError(path)
    write_file(path, data)


def write_folder(reader: Reader, found: Export, folder: Path, *, force: bool) -> int:
    """Write every fact's own Markdown, byte for byte, under its path below a folder.

    Nothing is written when one of the files is there and says something else.

    Returns:
        how many files were written.

    Raises:
        WouldOverwriteError: another file is there.
        CannotError, RefusedError: a file cannot be written, or a path leads through a link.
    """
    files = [(served.fact.path, _exact(reader, served.fact)) for served in found.served]
    different = []
    for path, data in files:
        try:
            if durable.read(folder, path.encode()) == data:
                continue
            if not force:
                raise WouldOverwriteError(folder / path)
        except CannotError as error:
            if error.code != "missing-file":
                raise
        except FileNotFoundError:
            pass
        different.append((path, data))
    durable.make_folders(folder)
    for path, data in different:
        durable.replace(folder, path.encode(), data)
    return len(different)


def _exact(reader: Reader, fact: Fact) -> bytes:
    entry = entry_of(reader.reading, fact.path)
    data = b"" if entry is None else reader.reading.snapshot.read(entry)
    if sha256(data) != fact.source_digest:
        raise CannotError(
            "moved-on", f"{fact.path} changed while it was read", "repeat the command"
        )
    return data
