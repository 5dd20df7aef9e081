"""Reading the memory: status, doctor, list, show, search, log. Every answer is a JSON value."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from syn import __version__
from syn.errors import UsageError
from syn.facts.dates import parse_instant
from syn.facts.twins import fold
from syn.index.derive import DOUBLED
from syn.index.query import Filters, decode_cursor, encode_cursor
from syn.index.rows import FACT, PROBLEM, STATE, TARGET
from syn.index.store import Index
from syn.index.store.answers import Item
from syn.model.finding import Json
from syn.model.ledger import Entry
from syn.model.problem import Problem, display_path
from syn.services.recall.answers import (
    Answer,
    item_json,
    page_json,
    problem_json,
    served_json,
    withheld_json,
)
from syn.services.recall.bounds import ROOM, cut_body, size_of
from syn.services.recall.edits import Edit, find_edits
from syn.services.recall.holding import quarantined
from syn.services.recall.indexing import Progress, Reading
from syn.services.recall.notes import note_file, read_note, write_note
from syn.services.recall.opening import open_current
from syn.services.recall.pagein import Audience, Served, Withheld, page_in_id, page_in_path
from syn.services.workspace import Workspace

BODY_LENGTH = 20_000
"""Characters of a body that one answer holds, unless more are asked for."""
MAX_ITEMS = 200
"""Items of one answer; a greater limit is taken as this one."""


class UnknownFactError(UsageError):
    """No fact has this id; near ones are suggested."""

    def __init__(self, name: str, near: list[str]) -> None:
        remedy = did_you_mean(near) or "syn list shows every id"
        super().__init__("unknown-fact", f"no fact has the id {name}", remedy)


@dataclass(frozen=True, slots=True)
class Reader:
    """An up-to-date index and the snapshot it was built from, for one audience."""

    workspace: Workspace
    index: Index
    reading: Reading
    audience: Audience = "person"


def open_reader(
    workspace: Workspace,
    note: Callable[[str], None],
    audience: Audience = "person",
    progress: Progress | None = None,
) -> Reader:
    """Bring the index up to date and open it; the caller closes `index`."""
    index, reading = open_current(workspace, note, progress, only_reads=True)
    return Reader(workspace, index, reading, audience)


def status(reader: Reader) -> Answer:
    """What differs from the record, and the sum of all files that match."""
    head = reader.workspace.repository.head()
    seen = reader.reading.seen
    path = note_file(reader.workspace, "status")
    note = read_note(path) if seen else None
    answer = note.get("answer") if note and note.get("seen") == [__version__, seen] else None
    if not isinstance(answer, dict):
        answer = _differences(reader)
        if seen:
            write_note(path, {"seen": [__version__, seen], "answer": answer})
    return {**answer, "branch": head.branch, "commit": head.commit}


def _differences(reader: Reader) -> Answer:
    """What of `status` follows from the work tree, HEAD's tree and the index alone."""
    found = find_edits(reader.reading, reader.index)
    counts = reader.index.counts()
    unreadable = {problem.path for problem in found.unreadable}
    files = reader.reading.files
    new = [path for path in files.new if path not in unreadable]
    facts = counts["fact"] - _doubled(reader)
    total = len(files.known) + len(files.refused) + len(files.new) + files.excluded
    return {
        "workspace": reader.reading.config.name,
        "branch": None,
        "commit": None,
        "files": total,
        "facts": facts,
        "new": len(new),
        "unreadable": len(unreadable),
        "excluded": files.excluded,
        "decisions": counts["decision"],
        "edits": [edit_json(edit) for edit in found.edits],
        "problems": [problem_json(problem, "problem") for problem in found.unreadable],
    }


def _doubled(reader: Reader) -> int:
    return reader.index.tally(STATE, "state").get(DOUBLED, 0)


def edit_json(edit: Edit) -> Answer:
    """One hand edit."""
    answer: Answer = {"kind": edit.kind, "id": edit.id, "path": edit.path}
    if edit.was:
        answer["was"] = edit.was
    return answer


def doctor(reader: Reader) -> Answer:
    """Every problem and warning with file, line and remedy; counts of links that lead nowhere."""
    at = [PROBLEM.columns.index(n) for n in ("path", "line", "code", "message", "remedy")]
    severity = PROBLEM.columns.index("severity")
    items: list[Json] = []
    for row in reader.index.rows(PROBLEM):
        path, line, code, message, remedy = (row[n] for n in at)
        items.append(
            {
                "path": path,
                "line": line,
                "severity": row[severity],
                "code": code,
                "message": message,
                "remedy": remedy,
            }
        )
    for problem in find_edits(reader.reading, reader.index).unreadable:
        found: Json = dict(problem_json(problem, "problem"))
        if found not in items:
            items.append(found)
    items += [dict(problem_json(found, "warning")) for found in reader.reading.snapshot.warnings]
    items += [_nested(path) for path in reader.reading.inventory.nested]
    items += [_linked(path) for path in reader.reading.inventory.links]
    items += _quarantined(reader)
    return {**page_json(items, len(items), None), "links": dict(_link_outcomes(reader))}


def _quarantined(reader: Reader) -> Iterator[Json]:
    """The facts that are kept from agents: not wrong, and not to be forgotten either."""
    for known, holds in quarantined(reader.reading):
        reasons = "; ".join(f"{held.reason} ({held.actor}, {held.ts[:10]})" for held in holds)
        remedy = f"syn clear {known.fact} lifts it; syn supersede or syn rm decides on the fact"
        problem = Problem(known.path, 0, "quarantined", f"kept from agents: {reasons}", remedy)
        yield dict(problem_json(problem, "warning"))


def _nested(path: bytes) -> Json:
    message = "a repository of its own: its files are not read as facts of this workspace"
    remedy = "make it a workspace of its own with syn init, or move its facts here"
    problem = Problem(display_path(path), 0, "nested-repository", message, remedy)
    return dict(problem_json(problem, "warning"))


def _linked(path: bytes) -> Json:
    message = "a symbolic link: nothing behind it is read as a fact"
    remedy = "put the folder itself there, or add the path to facts.exclude in synapse.toml"
    problem = Problem(display_path(path), 0, "symlink", message, remedy)
    return dict(problem_json(problem, "warning"))


def _link_outcomes(reader: Reader) -> dict[str, int]:
    return reader.index.tally(TARGET, "outcome")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which facts a list or a search is about."""

    type: str = ""
    status: str = ""
    tag: str = ""
    subject: str = ""
    field: str = ""
    under: str = ""
    as_of: str = ""
    limit: int = 20
    cursor: str = ""

    @property
    def capped(self) -> int:
        """The limit, within what one answer may hold."""
        return max(1, min(self.limit, MAX_ITEMS))

    def filters(self) -> Filters:
        """The same as the index asks it."""
        return Filters(
            type=self.type or None,
            status=self.status or None,
            tag=self.tag or None,
            subject=self.subject or None,
            field=self.field or None,
            under=self.under or None,
            as_of=parse_instant(self.as_of).key if self.as_of else None,
        )


def list_facts(reader: Reader, selection: Selection, *, full: bool = False) -> Answer:
    """Facts in path order, each checked; `full` hands out each one whole."""
    page = reader.index.list(selection.filters(), selection.capped, selection.cursor or None)
    if not full:
        return page_json(_checked_items(reader, page.items), page.total, page.next)
    items: list[Json] = []
    room = ROOM
    for item in page.items:
        found = _hand_out(reader, item.path)
        items.append(found)
        room -= size_of(found)
        if room <= 0 and item is not page.items[-1]:
            following = encode_cursor("list", item.path)
            return {**page_json(items, page.total, following), "truncated": True}
    return page_json(items, page.total, page.next)


def search(reader: Reader, words: str, selection: Selection) -> Answer:
    """Facts that hold every word, best first; each is checked before it is shown."""
    page = reader.index.search(
        words, selection.filters(), selection.capped, selection.cursor or None
    )
    return page_json(_checked_items(reader, page.items), page.total, page.next)


def _checked_items(reader: Reader, items: Iterable[Item]) -> Iterator[Json]:
    """Rows of a list; one that does not check is not shown, and the answer says so."""
    for item in items:
        checked = _page_in(reader, item.path)
        if isinstance(checked, Served):
            yield dict(item_json(item, checked))
        elif checked is not None:
            yield dict(withheld_json(checked))


def _page_in(reader: Reader, path: str) -> Served | Withheld | None:
    return page_in_path(reader.reading, reader.index, path, reader.audience)


def _hand_out(reader: Reader, path: str) -> Answer:
    checked = _page_in(reader, path)
    if checked is None:
        return {}
    return cut_body(_checked_json(checked), 0, BODY_LENGTH)


def _checked_json(checked: Served | Withheld) -> Answer:
    return served_json(checked) if isinstance(checked, Served) else withheld_json(checked)


def get(reader: Reader, names: list[str], fields: tuple[str, ...], cursor: str = "") -> Answer:
    """Several facts, each in its place: checked, withheld, or an error of its own.

    Raises:
        UsageError: `bad-cursor`.
    """
    position = decode_cursor("get", cursor) if cursor else 0
    start = position if isinstance(position, int) and position > 0 else 0
    items: list[Json] = []
    room = ROOM
    for name in names[start : start + MAX_ITEMS]:
        items.append(_get_one(reader, name, fields))
        room -= size_of(items[-1])
        if room <= 0:
            break
    end = start + len(items)
    if end >= len(names):
        return page_json(items, len(names), None)
    return {**page_json(items, len(names), encode_cursor("get", end)), "truncated": True}


def _get_one(reader: Reader, name: str, fields: tuple[str, ...]) -> Answer:
    try:
        found = show(reader, name, 0, BODY_LENGTH)
    except UsageError as error:
        failed: Answer = {"id": name, "error": error.code, "message": error.message}
        return {**failed, "remedy": error.remedy}
    if fields and "withheld" not in found:
        return {key: found.get(key) for key in ("id", *fields)}
    return found


def counts(reader: Reader) -> Answer:
    """How many there are of everything."""
    rows = reader.index.counts()
    return {
        "facts": rows["fact"],
        "decisions": rows["decision"],
        "links": dict(_link_outcomes(reader)),
        "problems": dict(reader.index.tally(PROBLEM, "severity")),
        "types": dict(reader.index.tally(FACT, "type")),
        "status": dict(reader.index.tally(FACT, "status")),
        "states": dict(reader.index.tally(STATE, "state")),
    }


def show(reader: Reader, name: str, start: int = 0, length: int = BODY_LENGTH) -> Answer:
    """One fact by id or path, checked; a long body is cut and says so.

    Raises:
        UnknownFactError: there is no such fact; near ids are suggested.
        DuplicateIdError: several files have this id, so none of them is the fact.
    """
    return cut_body(_checked_json(find_fact(reader, name)), start, length)


def did_you_mean(near: Sequence[str]) -> str:
    """The question that suggests these names; "" for none."""
    return f"did you mean {', '.join(near)}?" if near else ""


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """The names nearest to one that is unknown, at most three; case does not count."""
    folded: dict[str, list[str]] = {}
    for other in sorted(known):
        folded.setdefault(fold(other), []).append(other)
    found = get_close_matches(fold(name), list(folded), 3)
    return [other for near in found for other in folded[near]][:3]


def find_fact(reader: Reader, name: str) -> Served | Withheld:
    """One fact by id or path, checked; raises as `show`."""
    checked = page_in_id(reader.reading, reader.index, name, reader.audience)
    if checked is None:
        raise UnknownFactError(name, near_names(name, reader.index.ids()))
    return checked


def log(reader: Reader, fact: str = "", limit: int = 50, cursor: str = "") -> Answer:
    """Decisions, newest first by their place in each writer's chain and their own time stamps.

    Raises:
        UnknownFactError: there is no decision on this fact.
        UsageError: `bad-cursor`.
    """
    ledger = reader.reading.ledger.ledger
    entries = [
        (digest, entry) for digest, entry in ledger.entries() if not fact or entry.fact == fact
    ]
    if fact and not entries:
        raise UnknownFactError(fact, near_names(fact, reader.reading.ledger.recorded))
    entries.sort(key=lambda pair: (pair[1].ts, pair[1].writer, pair[1].seq), reverse=True)
    start = 0
    if cursor:
        last = decode_cursor("log", cursor)
        start = next((n for n, (digest, _) in enumerate(entries, 1) if digest == last), 0)
    limit = max(1, min(limit, MAX_ITEMS))
    page = entries[start : start + limit]
    items: list[Json] = [entry_json(digest, entry) for digest, entry in page]
    more = start + limit < len(entries)
    return page_json(items, len(entries), encode_cursor("log", page[-1][0]) if more else None)


def entry_json(digest: str, entry: Entry) -> Answer:
    """One decision; absent members are left out."""
    answer: Answer = {
        "id": digest,
        "type": entry.action,
        "title": f"{entry.action} {entry.fact or entry.path}",
        "path": entry.path,
        "writer": entry.writer,
        "seq": entry.seq,
        "ts": entry.ts,
        "actor": entry.actor,
        "via": entry.via,
        "review": entry.review,
        "fact": entry.fact,
        "payload": entry.payload,
        "source": entry.source,
        "taint": entry.taint,
        "batch": entry.batch,
        "after": list(entry.after),
        "names": list(entry.names),
        "proposal": entry.proposal,
        "reason": entry.reason,
        "commit": entry.commit,
        "key": entry.key,
    }
    always = ("id", "type", "title", "path")
    return {key: value for key, value in answer.items() if value or key in always}
