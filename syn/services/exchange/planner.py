"""From notes to the facts that they would be: new, changed or here already, judged by the gate."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from syn.errors import RefusedError, SynError, UsageError
from syn.exchange.formats import Format
from syn.exchange.markdown import Opened, kept_provenance, open_markdown
from syn.exchange.note import PROVENANCE, Note, SourceFile, note_bytes, provenance
from syn.exchange.placing import placed, tagged
from syn.facts.edit import EditError
from syn.index.lines import read_list
from syn.index.store import Index
from syn.model.fact import Fact, Unreadable
from syn.model.payload import Value
from syn.model.problem import Problem
from syn.services.exchange.earlier import Earlier, Key, earlier_imports, edited_since, undone
from syn.services.exchange.sources import read_source
from syn.services.recall.indexing import Progress, Reading
from syn.services.workspace import Workspace
from syn.services.writing.desk import Desk
from syn.services.writing.gate import Override, Reason, Verdict, judge, verdict_of
from syn.services.writing.naming import check_path, path_for
from syn.services.writing.planning import Item, Plan
from syn.services.writing.writes import NOTHING_TAKEN_ON

MAX_PATH = 1024
"""UTF-8 bytes of a fact's path; systems take 4,096 with the folders above."""
_SCREENED = frozenset(("screened",))
_DECIDED = frozenset(("conflict", "duplicate"))


@dataclass(frozen=True, slots=True)
class Wishes:
    """What to import, and how far the caller goes."""

    form: Format
    place: Path
    into: str = ""
    """Folder of facts; "" makes one from the origin."""
    origin: str = ""
    """What the person calls the collection; "" is the name of its folder or file."""
    update: bool = False
    """Take changed notes again where nobody edited their facts here."""
    external: bool = False
    """The notes are somebody else's: tainted."""
    override: Override = NOTHING_TAKEN_ON
    reason: str = ""


@dataclass(slots=True)
class _Draft:
    """A note on its way to be an item."""

    note: Note
    fact: Fact
    data: bytes
    item: Item | None = None


def settled(workspace: Workspace, reading: Reading, wishes: Wishes) -> Wishes:
    """The wishes with their defaults; refuses what can never work."""
    place = wishes.place.resolve()
    name = wishes.origin or (place.name if place.is_dir() else place.stem) or "import"
    into = wishes.into.removeprefix("./").strip("/") or _folder_of(
        path_for(f"{name}/note", reading.config, _free)
    )
    check_path(f"{into}/note.md", reading.config)
    target = workspace.root.resolve() / into
    if place == target or place in target.parents or target in place.parents:
        raise UsageError(
            "imports-itself",
            f"{wishes.place}: the facts would go to {into}, which is in it or holds it",
            "give another --into; Markdown that lies in the workspace is taken by syn adopt",
        )
    return replace(wishes, place=place, into=into, origin=name)


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _free(_: str) -> bool:
    return False


@dataclass(slots=True)
class Planner:
    """Takes notes one after the other; later ones see the names that earlier ones took."""

    reading: Reading
    index: Index
    wishes: Wishes
    elsewhere: str = ""
    """Where a collection of this name was taken from before, when the name was not given."""
    problems: list[Problem] = field(default_factory=list)
    drafts: list[_Draft] = field(default_factory=list)
    unchanged: int = 0
    ids: dict[str, str] = field(default_factory=dict)
    """Place of a note to the id of its fact, for those that are here or come."""

    def read(self, progress: Progress | None = None) -> None:
        """Every note as a fact: new, changed, or here already.

        Raises:
            RefusedError: facts would be updated from another collection (`origin-elsewhere`).
        """
        form = self.wishes.form
        source = read_source(self.wishes.place, form)
        self.problems += source.problems
        earlier = earlier_imports(self.index, form.name, self.wishes.origin)
        if earlier and self.elsewhere:
            self._tell_elsewhere()
        desk = Desk(self.reading, self.index, many=True)
        notes: list[Note] = []
        for found in form.read(source.files):
            if isinstance(found, Note):
                notes.append(found)
            else:
                self.problems.append(found)
        for done, note in enumerate(placed(notes), 1):
            key = Key(form.name, self.wishes.origin, note.path, note.record)
            try:
                self._take(desk, note, earlier.pop(key, None))
            except EditError as error:
                _, line, message = error.message.removeprefix(note.path).split(":", 2)
                self.problems.append(
                    Problem(note.path, int(line), error.code, message.strip(), error.remedy)
                )
            except SynError as error:
                self._problem(note, error.code, error.message, error.remedy)
            if progress is not None:
                progress(done, len(notes))
        self.problems += self._gone(earlier)

    def _tell_elsewhere(self) -> None:
        """Two collections of one name would take each other's facts for their own."""
        place, origin = self.wishes.place, self.wishes.origin
        message = f"{origin} was taken from {self.elsewhere} before, and this is {place}"
        remedy = f"--origin {origin} says that it moved; another --origin, that it is another one"
        if self.wishes.update:
            raise RefusedError("origin-elsewhere", message, remedy)
        self.problems.append(Problem(place.name, 0, "origin-elsewhere", message, remedy))

    def _gone(self, earlier: dict[Key, Earlier]) -> Iterator[Problem]:
        broken = {problem.path for problem in self.problems}
        for key, found in sorted(earlier.items()):
            if key.path not in broken:
                message = f"{found.path} was taken from it, and it is not there any more"
                remedy = "the fact stays; syn close or syn rm decides on it"
                yield Problem(key.path, 0, "gone-at-source", message, remedy)

    def _take(self, desk: Desk, note: Note, earlier: Earlier | None) -> None:
        if earlier is None:
            self._take_new(desk, note)
            return
        row = self.index.cell(earlier.path)
        if row is not None:
            self.ids[note.place] = row[0].id
        if earlier.digest == note.digest:
            self.unchanged += 1
        else:
            self._take_changed(desk, note, earlier)

    def _take_new(self, desk: Desk, note: Note) -> None:
        path = f"{self.wishes.into}/{note.place}.md"
        if desk.path_taken(path):
            path = f"{self.wishes.into}/{tagged(note.place, note.path + note.record)}.md"
        if len(path.encode()) > MAX_PATH:
            message = f"its path would have more than {MAX_PATH} bytes"
            self._problem(note, "path-too-long", message, "shorten the names of its folders")
            return
        check_path(path, self.reading.config)
        draft = self._read(desk, note, path)
        if draft is None or self._removed(note, draft.fact.id):
            return
        desk.take_id(draft.fact.id)
        desk.take_path(path)
        self.ids[note.place] = draft.fact.id
        self.drafts.append(draft)

    def _removed(self, note: Note, fact: str) -> bool:
        known = self.reading.ledger.recorded.get(fact)
        if known is None or not known.deleted or undone(self.reading, known):
            return False
        message = f"the fact {fact} was here and a decision removed it"
        self._problem(note, "removed-here", message, "syn undo takes that decision back")
        return True

    def _take_changed(self, desk: Desk, note: Note, earlier: Earlier) -> None:
        found = desk.take(earlier.path)
        if edited_since(self.reading, found.id):
            message = f"it changed, and so did its fact {found.path} here: that one stays"
            remedy = "compare the two; syn edit decides"
            self._problem(note, "edited-here", message, remedy)
            return
        if not self.wishes.update:
            message = f"it changed since {found.path} was taken from it"
            self._problem(note, "changed-at-source", message, "--update takes it again")
            return
        draft = self._read(desk, note, found.path)
        if draft is None:
            return
        if draft.fact.id != found.id:
            if draft.fact.explicit_id or found.fact.explicit_id:
                message = f"its id is {draft.fact.id} now, and was {found.id}"
                self._problem(note, "id-changes", message, "an id never changes: give it back")
                return
            draft.fact = replace(draft.fact, id=found.id)
        draft.item = self._item(draft, found.data, found.fact)
        self.drafts.append(draft)

    def _read(self, desk: Desk, note: Note, path: str) -> _Draft | None:
        """The fact that a note would be at a path; what is wrong with it is told."""
        more = self._more(note)
        data = note_bytes(self._renamed(note), more)
        parsed = desk.parse(path, data)
        if isinstance(parsed, Unreadable):
            for found in parsed.problems:
                line = found.line if note.base is not None else note.line
                self.problems.append(
                    Problem(note.path, line, found.code, found.message, found.remedy)
                )
            return None
        draft = _Draft(note, parsed, data)
        draft.item = self._item(draft, None, None)
        return draft

    def _item(self, draft: _Draft, before: bytes | None, old: Fact | None) -> Item:
        fact = draft.fact
        outside = self.wishes.external or self.wishes.form.agent or fact.source.external
        return Item(
            action="create" if before is None else "update",
            id=fact.id,
            path=fact.path,
            before=before,
            after=draft.data,
            old=old,
            new=fact,
            taint="external" if outside else "",
        )

    def _renamed(self, note: Note) -> Note:
        """The note with its fields under the names that they have in this workspace."""
        name = self.reading.config.keys.of
        return replace(note, fields=tuple((name(key), value) for key, value in note.fields))

    def _more(self, note: Note) -> tuple[tuple[str, Value], ...]:
        before = None
        if note.base is not None and PROVENANCE.encode() in note.base:
            opened = open_markdown(SourceFile(note.path, note.base))
            before = kept_provenance(opened.fields) if isinstance(opened, Opened) else None
        said = provenance(note, self.wishes.form.name, self.wishes.origin, before)
        return ((PROVENANCE, said),)

    def tie(self) -> None:
        """Name the facts that supersede each other; both sides say it, or none."""
        desk = Desk(self.reading, self.index)
        coming = {draft.note.place for draft in self.drafts}
        for draft in self.drafts:
            note = draft.note
            ties = [
                *self._tied(draft, "supersedes", note.supersedes, coming),
                *self._tied(draft, "superseded_by", note.superseded_by, coming),
            ]
            if not ties or draft.item is None:
                continue
            wanted = replace(note, fields=(*note.fields, *ties))
            tied = self._read(desk, wanted, draft.fact.path)
            if tied is not None:
                draft.data, draft.fact = tied.data, replace(tied.fact, id=draft.fact.id)
                draft.item = self._item(draft, draft.item.before, draft.item.old)

    def _tied(
        self, draft: _Draft, key: str, places: Iterable[str], coming: set[str]
    ) -> Iterator[tuple[str, Value]]:
        ids: list[str] = []
        for place in places:
            if place in coming or self._answers(key, self.ids.get(place, ""), draft.fact.id):
                ids.append(self.ids[place])
            else:
                message = f"it is tied to {place}, which does not say so here"
                remedy = "--update takes both again, where the other changed too"
                self._problem(draft.note, "tie-left-out", message, remedy)
        if ids:
            yield key, tuple(ids)

    def _answers(self, key: str, other: str, own: str) -> bool:
        """Whether a fact that is here names this one from its side."""
        cells = self.index.cells_of_id(other) if other else []
        if not cells:
            return False
        fact = cells[0][0]
        return own in read_list(fact.superseded_by if key == "supersedes" else fact.supersedes)

    def judge(self) -> Verdict:
        """What the gate says of those that are taken; those it holds are not, and told."""
        verdict = self._judged()
        override = self.wishes.override
        if not override.screened and self._hold(verdict, _SCREENED):
            verdict = self._judged()
        if not override.anyway:
            self._hold(verdict, _DECIDED)
        left = {draft.item.id for draft in self.drafts if draft.item is not None}
        return verdict_of(reason for reason in verdict.reasons if reason.fact in left)

    def _judged(self) -> Verdict:
        items = tuple(draft.item for draft in self.drafts if draft.item is not None)
        return judge(Plan(items), self.reading, self.index)

    def _hold(self, verdict: Verdict, kinds: frozenset[str]) -> bool:
        held: dict[str, list[Reason]] = {}
        for reason in verdict.reasons:
            if reason.kind in kinds:
                held.setdefault(reason.fact, []).append(reason)
        kept: list[_Draft] = []
        lost: set[str] = set()
        for draft in self.drafts:
            if reasons := held.get(draft.fact.id):
                self.problems += [_held(draft, reason) for reason in reasons]
                lost.add(draft.note.place)
            else:
                kept.append(draft)
        self.drafts = self._without(kept, lost)
        return bool(lost)

    def _without(self, drafts: list[_Draft], lost: set[str]) -> list[_Draft]:
        """Those that do not supersede, directly or by others, one that is not taken."""
        while lost:
            kept: list[_Draft] = []
            gone: set[str] = set()
            for draft in drafts:
                note = draft.note
                if lost.isdisjoint((*note.supersedes, *note.superseded_by)):
                    kept.append(draft)
                    continue
                message = "it and a note that is not taken supersede each other"
                self._problem(note, "tied-to-held", message, "decide on the other note first")
                gone.add(note.place)
            drafts, lost = kept, gone
        return drafts

    def _problem(self, note: Note, code: str, message: str, remedy: str) -> None:
        self.problems.append(Problem(note.path, note.line, code, message, remedy))


def _held(draft: _Draft, reason: Reason) -> Problem:
    """Why the gate holds a note, by its line in the source."""
    note, line = draft.note, draft.note.line
    if note.base is not None and reason.line:
        shift = draft.fact.body_line - note.body_line
        line = reason.line - shift if reason.line >= draft.fact.body_line else reason.line
    message = reason.message.removeprefix(f"{reason.path}:{reason.line} ")
    remedy = "--anyway takes it beside the other, by name"
    if reason.kind == "screened":
        remedy = "take it out of the note; --screened takes it in as it is, by name"
    return Problem(note.path, line, reason.code, message, remedy)
