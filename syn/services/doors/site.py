"""The local page: from a path and a query to a page, through the operations of both doors.

Nothing here knows HTTP beyond a status: `localserver` serves it (ADR 0027).
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from syn.errors import Cause, SynError, UsageError
from syn.model.finding import Json
from syn.report.pages import PageName, render_page
from syn.services.doors.operation import Arg, Operation
from syn.services.doors.operations import operation
from syn.services.doors.session import Session
from syn.services.recall import successions
from syn.services.recall.answers import Answer, page_json
from syn.services.recall.reads import Reader, UnknownFactError
from syn.services.workspace import Workspace

Query = Mapping[str, str]
FILTERS = ("type", "status", "tag", "subject", "field", "under", "as_of", "known_at")
_PER_PAGE = 50


def _timeline(
    reader: Reader, cursor: Annotated[str, Arg("Where the page before ended.")] = ""
) -> Answer:
    """Show what took whose place, newest first."""
    return successions.successions(reader, _PER_PAGE, cursor)


def _inputs(reader: Reader) -> Answer:
    """Show the digest of what the index was built from."""
    return {"inputs_hash": reader.index.meta().get("inputs_hash", "")}


def _kept(workspace: Workspace) -> Answer:
    """Show the report that an incremental run kept here, when a key of this person signed it."""
    from syn.report.document import to_json
    from syn.services.proving.kept_report import open_baseline
    from syn.services.proving.keptfacts import BaselineError
    from syn.services.proving.proofs import Outside

    try:
        return to_json(open_baseline(workspace, Outside()).report)
    except BaselineError:
        return {}


KEPT = Operation("kept-report", "read", _kept, "syn serve", needs="workspace")
TIMELINE = Operation("timeline", "read", _timeline, "syn serve", True)
INPUTS = Operation("inputs", "read", _inputs, "syn serve", members={"inputs_hash": "text"})


@dataclass(frozen=True, slots=True)
class Page:
    """What is sent."""

    status: HTTPStatus
    html: str


class Site:
    """The pages over one open workspace; may be asked from several threads."""

    def __init__(self, session: Session, name: str) -> None:
        """`name` is the workspace's, for the heading."""
        self._session = session
        self._name = name
        self._proving = threading.Lock()
        self._report: Answer | None = None
        self._pages: dict[str, Callable[[Query], Page]] = {
            "": self._home,
            "list": self._list,
            "search": self._search,
            "fact": self._fact,
            "timeline": self._timeline,
            "log": self._log,
            "report": self._report_page,
        }

    def get(self, path: str, query: Query) -> Page:
        """The page at a path below the token; what fails is a page, too."""
        page = self._pages.get(path)
        if page is None:
            return self._error(HTTPStatus.NOT_FOUND, "not-found", "There is no such page.", "")
        try:
            return page(query)
        except SynError as error:
            return self._error(_status(error), error.code, error.message, error.remedy)
        except OSError as error:
            message = (error.strerror or "it cannot be read").lower()
            return self._error(HTTPStatus.SERVICE_UNAVAILABLE, "io", message, "")

    def _error(self, status: HTTPStatus, code: str, message: str, remedy: str) -> Page:
        values: dict[str, Json] = {"heading": status.phrase, "code": code}
        return self._page("error", {**values, "message": message, "remedy": remedy}, status)

    def _page(
        self, name: PageName, values: Mapping[str, Json], status: HTTPStatus = HTTPStatus.OK
    ) -> Page:
        return Page(status, render_page(name, self._name, values))

    def _ask(self, name: str, **arguments: Any) -> Answer:
        return self._session.run(operation(name), arguments)

    def _home(self, _: Query) -> Page:
        return self._page(
            "home",
            {
                "overview": self._ask("overview"),
                "health": self._ask("health"),
                "log": self._ask("log", limit=5),
            },
        )

    def _list(self, query: Query) -> Page:
        chosen = {key: query[key] for key in FILTERS if query.get(key)}
        found = self._ask("list", limit=_PER_PAGE, cursor=query.get("cursor", ""), **chosen)
        heading = "Facts" + "".join(f", {key} {value}" for key, value in chosen.items())
        values: dict[str, Json] = {"found": found, "heading": heading, "url": _url("list", chosen)}
        return self._page("list", values)

    def _search(self, query: Query) -> Page:
        words = query.get("q", "").strip()
        if not words:
            return self._list(query)
        found = self._ask("search", words=[words], limit=_PER_PAGE, cursor=query.get("cursor", ""))
        values: dict[str, Json] = {"found": found, "heading": f"Search: {words}", "query": words}
        return self._page("list", {**values, "url": _url("search", {"q": words})})

    def _fact(self, query: Query) -> Page:
        name = query.get("id", "")
        start = query.get("start", "0")
        if not start.isdecimal() or len(start) > 9:  # noqa: PLR2004 - longer than any body
            raise UsageError("bad-start", f"start: expected a number, got {start!r:.20}")
        fact = self._ask("show", id=name, start=int(start))
        withheld = "withheld" in fact
        ties = page_json([], 0, None) | {"edges": []}
        if not withheld:
            ties = self._ask("graph", id=fact["path"], depth=1, limit=_PER_PAGE)
        values: dict[str, Json] = {"fact": fact, "ties": ties, "history": self._history(fact)}
        return self._page("fact", values, HTTPStatus.CONFLICT if withheld else HTTPStatus.OK)

    def _history(self, fact: Answer) -> Answer:
        try:
            return self._ask("blame", id=fact["id"])
        except UnknownFactError:
            return page_json([], 0, None)

    def _timeline(self, query: Query) -> Page:
        found = self._session.run(TIMELINE, {"cursor": query.get("cursor", "")})
        return self._page("timeline", {"found": found})

    def _log(self, query: Query) -> Page:
        found = self._ask("log", limit=_PER_PAGE, cursor=query.get("cursor", ""))
        return self._page("log", {"found": found})

    def _report_page(self, query: Query) -> Page:
        """The last report, or the one kept here; verified when there is none or that is asked."""
        with self._proving:
            report = self._report or self._session.run(KEPT, {})
            if not report or "again" in query:
                report = self._ask("verify")
            self._report = report
        inputs = self._session.run(INPUTS, {})["inputs_hash"]
        subject = report["subject"]
        current = isinstance(subject, dict) and subject["inputs_hash"] == inputs
        return self._page("report", {"report": report, "current": current})


def _url(page: str, chosen: Mapping[str, str]) -> str:
    from urllib.parse import quote

    pairs = (f"{key}={quote(value, safe='')}&" for key, value in chosen.items())
    return f"{page}?{''.join(pairs)}"


def _status(error: SynError) -> HTTPStatus:
    if error.code == "unknown-fact":
        return HTTPStatus.NOT_FOUND
    match error.cause:
        case Cause.USAGE:
            return HTTPStatus.BAD_REQUEST
        case Cause.REFUSED:
            return HTTPStatus.CONFLICT
        case Cause.CANNOT:
            return HTTPStatus.SERVICE_UNAVAILABLE
