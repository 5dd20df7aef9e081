"""Session images: the use cases behind `syn image`, as functions that return values."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from syn.canon.digest import is_digest
from syn.errors import CannotError, UsageError
from syn.images.convert import Conversion, export, upgrade
from syn.images.descriptor import is_seal_id
from syn.images.edit import hidden_steps
from syn.images.files import open_file
from syn.images.native import image_digest
from syn.images.native_build import Decisions
from syn.images.outside import Outside, Signer, StaleCheck, Staleness
from syn.images.pagein import Conditions, Served
from syn.images.parity import Parity, Replica, parity, replicas
from syn.images.record import Item, Recorder, Screen, parse_transcript
from syn.images.repair import Plan, RepairResult, apply_repair, plan_repair
from syn.images.report import ImageReport
from syn.images.scrub import ScrubResult, scrub
from syn.images.store import Image, check_image, open_image, page_in
from syn.images.table import FactRef, Page
from syn.images.write import Decision, Incoming, clear, hide, quarantine, write_native
from syn.model.finding import Verdict

if TYPE_CHECKING:
    from syn.keys.trust import TrustedKey
    from syn.model.recorded import Recorded
    from syn.services.workspace import Workspace

MAX_TRUST_FILE = 1 << 20


@dataclass(frozen=True, slots=True)
class Trust:
    """What a caller says it trusts, as it stands on a command line."""

    keys: tuple[Path, ...] = ()
    """Trust files: OpenSSH public keys, allowed signers, C2SP verifier keys."""
    anchor: str = ""
    signed: bool = False


def outside_of(trust: Trust, staleness: StaleCheck | None = None) -> Outside:
    """The trust of a caller, with its key files read.

    Raises:
        CannotError: a file cannot be read, or cannot be honoured.
        UsageError: the anchor is no digest.
    """
    if trust.anchor and not is_digest(trust.anchor):
        message = f"expected an anchor `sha256:<hex>`, got {trust.anchor!r:.40}"
        raise UsageError("bad-anchor", message, "syn image verify prints the digest to keep")
    if not trust.keys:
        return Outside(None, trust.anchor, trust.signed, staleness)
    found = [item.key for path in trust.keys for item in _trusted_keys(path)]
    known = {key.fingerprint: key for key in found}

    def check(key: str, message: bytes, signature: bytes) -> bool | None:
        return known[key].verify(message, signature) if key in known else None

    return Outside(check, trust.anchor, trust.signed, staleness)


def _trusted_keys(path: Path) -> "tuple[TrustedKey, ...]":
    from syn.keys.trust import TrustError, parse

    try:
        return parse(_small_file(path)).keys
    except TrustError as error:
        raise TrustError(error.code, f"{path}: {error.message}", error.remedy) from error


def _small_file(path: Path) -> bytes:
    file = open_file(path)
    if file is None:
        raise CannotError("key-missing", f"cannot read {path}: no such file", "check the name")
    with file:
        return file.read(MAX_TRUST_FILE + 1)


def signer_of(path: Path | None) -> Signer | None:
    """The signer of an OpenSSH private key file; None without one.

    Raises:
        CannotError: it cannot be read, or is no key that can sign.
    """
    if path is None:
        return None
    from syn.keys.openssh import load

    key = load(path)
    return Signer(key.public.fingerprint, key.sign)


def recorded_staleness(workspace: "Workspace") -> StaleCheck:
    """The state of facts as the workspace's ledger records it today.

    Raises:
        CannotError: the workspace cannot be read.
    """
    from syn.services.recall.indexing import read_workspace

    return staleness_in(read_workspace(workspace).ledger.recorded)


def staleness_in(recorded: "Mapping[str, Recorded]") -> StaleCheck:
    """The state of facts in a ledger that was read."""

    def check(fact: FactRef) -> Staleness:
        found = recorded.get(fact.id)
        if found is None or found.deleted:
            return "missing"
        if found.quarantine:
            return "quarantined"
        if found.closed:
            return "superseded"
        return "fresh" if found.payload == fact.payload and not found.forked else "changed"

    return check


Progress = Callable[[int, int], None]
"""Called with (MiB read, MiB in all)."""


def verify_images(
    paths: Sequence[Path], outside: Outside | None = None, progress: Progress | None = None
) -> list[ImageReport]:
    """The report on each image; a refusal is a report too.

    Raises:
        UnknownImageError: nothing is at a path.
        ImageFileError: something is there that cannot be read, or is no image.
    """
    if not paths:
        raise UsageError("no-image", "expected at least one image")
    watch = _watching(paths, progress) if progress is not None else None
    return [check_image(path, outside, watch) for path in paths]


def _watching(paths: Sequence[Path], progress: Progress) -> Callable[[int], None]:
    files = [f for path in paths for f in (path.iterdir() if path.is_dir() else [path])]
    total = sum(file.stat().st_size for file in files if file.is_file())
    done = 0

    def watch(size: int) -> None:
        nonlocal done
        done += size
        progress(min(done, total) >> 20, total >> 20)

    return watch


VERDICTS: dict[str, Verdict] = {
    "clean": "pass",
    "unchecked": "incomplete",
    "sealed-without-word": "fail",
    "fault": "fail",
    "refused": "fail",
}
"""What an image's verdict is worth: only clean passes, and no word is no proof."""


def verdict_of(reports: Iterable[ImageReport]) -> Verdict:
    """The verdict that several images add up to."""
    verdicts = {VERDICTS[report.verdict] for report in reports}
    if "fail" in verdicts:
        return "fail"
    return "incomplete" if "incomplete" in verdicts else "pass"


def seal_reason(body: bytes) -> str:
    """Why a result is sealed when it is recorded: the screen's secrets and hidden characters.

    Control characters alone are no reason: tools colour their output. What is no text is not read.
    """
    from syn.services.writing.screen import screen

    try:
        body.decode()
    except UnicodeDecodeError:
        return ""
    kinds = {hit.kind for hit in screen("", body, None)} if b"\0" not in body else set()
    if "secret" in kinds:
        return "SECRET_EXFIL"
    return "TRUST_VIOLATION" if "hidden-character" in kinds else ""


def record_transcript(
    out: Path,
    session: str,
    lines: Iterable[bytes],
    signer: Signer | None = None,
    *,
    previous: str = "",
    screen: Screen | None = None,
) -> Conversion:
    """Record a session from a transcript into a new `synapse.image/1`.

    Raises:
        TranscriptError: a line is no result; nothing is written.
        ExistsError: something stands at `out`.
    """
    return record_items(
        out, session, parse_transcript(lines), signer, previous=previous, screen=screen
    )


def record_items(
    out: Path,
    session: str,
    items: Iterable[Item],
    signer: Signer | None = None,
    *,
    previous: str = "",
    screen: Screen | None = None,
) -> Conversion:
    """Record results, or facts that were handed out (`Item.fact`), into a new image."""
    recorder = Recorder(screen)
    incoming = (Incoming(recorder.page(item), item.body) for item in items)
    head = write_native(out, session, incoming, lambda: Decisions(previous=previous), signer)
    return Conversion(image_digest(head), head.pages, ())


def scrub_image(
    path: Path, out: Path | None, signer: Signer | None, outside: Outside | None = None
) -> ScrubResult:
    """Scrub one image, and write its stricter copy when asked to."""
    return scrub(path, out, signer, outside)


def plan_image(path: Path, copies: Sequence[Path], *, offers: bool) -> tuple[Image, Plan]:
    """Plan the repair of one image; writes nothing."""
    image = open_image(path)
    return image, plan_repair(image, [open_image(copy) for copy in copies], offers=offers)


def repair_image(image: Image, plan: Plan) -> RepairResult:
    """Apply a plan, with a backup, and check again."""
    return apply_repair(image, plan)


def serve_page(path: Path, position: int, given: Conditions, outside: Outside) -> Served:
    """Hand out exactly the bytes of one page, or refuse."""
    return page_in(open_image(path), position, given, outside)


def decide(
    action: Literal["quarantine", "clear", "tombstone"],
    path: Path,
    decision: Decision,
    signer: Signer | None,
) -> str:
    """Take one decision on one page; gives the seal id, or "" for a tombstone."""
    image = open_image(path)
    match action:
        case "quarantine":
            return quarantine(image, decision, signer)
        case "clear":
            return clear(image, decision, signer)
        case "tombstone":
            hide(image, decision, signer)
            return ""


def convert(
    action: Literal["upgrade", "export"],
    path: Path,
    out: Path,
    signer: Signer | None,
    outside: Outside | None = None,
) -> Conversion:
    """Write an image in the other format."""
    image = open_image(path)
    return upgrade(image, out, signer, outside) if action == "upgrade" else export(image, out)


def compare(
    paths: Sequence[Path],
    by: Literal["step", "role"],
    revoked: Collection[str] = (),
    outside: Outside | None = None,
) -> list[Parity]:
    """Parity over the rows of one or several images, grouped by step or by role.

    Raises:
        MalformedError: an image is refused as a whole.
    """
    groups: dict[str, list[Replica]] = {}
    for path in paths:
        image = open_image(path)
        checked = image.check(outside)
        for page, row in replicas(str(path), checked.report, checked.head, image.pages()):
            key = page.role if by == "role" else f"step {row.position}"
            groups.setdefault(key, []).append(row)
    if by == "step":
        _absent_rows(groups, [str(path) for path in paths])
    return parity(groups, revoked)


def _absent_rows(groups: Mapping[str, list[Replica]], copies: Sequence[str]) -> None:
    """A copy without a row is a row that does not check, not a row that agrees."""
    for rows in groups.values():
        there = {row.copy for row in rows}
        position = rows[0].position
        rows.extend(
            Replica(copy, position, "", "", served=False, sound=False, native=rows[0].native)
            for copy in copies
            if copy not in there
        )


@dataclass(frozen=True, slots=True)
class Shown:
    """One row for a person: what may be shown of it."""

    position: int
    cls: str
    role: str
    """"" unless the page is clean; so is the descriptor."""
    descriptor: str
    length: int
    qid: str
    hidden: bool
    digest: str


def show_image(path: Path, outside: Outside | None = None) -> tuple[ImageReport, list[Shown]]:
    """The report and the rows; texts of a row that does not check, or is blocked, are withheld.

    Raises:
        MalformedError: the image is refused as a whole.
    """
    image = open_image(path)
    checked = image.check(outside)
    report = checked.report
    # Of a table that does not check as a whole no row can be told from a forged one.
    classes: dict[int, str] = dict.fromkeys(report.blocked or (), "blocked")
    classes |= {page.position: page.cls for page in report.pages}
    rest = "blocked" if report.untrusted else "clean"
    hidden = hidden_steps(checked.head.changes)
    rows = [
        _shown(page, position, classes.get(position, rest), hidden=position in hidden)
        for position, page in enumerate(image.pages())
    ]
    return report, rows


def _shown(page: Page, position: int, cls: str, *, hidden: bool) -> Shown:
    clean = cls == "clean"
    return Shown(
        position,
        cls,
        page.role if clean else "",
        page.descriptor if clean else "",
        page.length,
        page.qid if is_seal_id(page.qid) else "",
        hidden,
        page.digest[:12] if clean else "",
    )


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a transcript file.

    Raises:
        CannotError: it cannot be read.
    """
    with ExitStack() as stack:
        file = open_file(path)
        if file is None:
            raise UsageError("unknown-transcript", f"expected a transcript, got nothing at {path}")
        yield from stack.enter_context(file)


def outcome_of(rows: Iterable[Parity]) -> Verdict:
    """What a parity audit is worth: a conflict fails."""
    return "fail" if any(row.outcome == "conflict" for row in rows) else "pass"
