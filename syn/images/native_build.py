"""Building a `synapse.image/1`: rows with their words and places, then the head. Pure.

Bodies stand in the store in the order in which the table first names them, each once, without
anything between them.
"""

from dataclasses import dataclass, field

from syn.canon.digest import raw
from syn.canon.merkle import Frontier, leaf_hash
from syn.errors import CannotError, RefusedError
from syn.images.native import Clearance, NativeHead
from syn.images.native_row import encode_page
from syn.images.table import Change, Page
from syn.images.word import native_prefix

MAX_NUMBER = 2**53 - 1


class NotRepresentableError(CannotError):
    """A value of another format that canonical JSON has no form for (`not-representable`)."""


class RowChangedError(RefusedError):
    """A row that changed while an image was rewritten (`row-changed`)."""


@dataclass(slots=True)
class TableBuilder:
    """Takes pages in order and gives their lines; knows the root and the size at the end."""

    session: str
    count: int = 0
    end: int = 0
    """Bytes of the store so far."""
    _prefix: bytes = b""
    _tree: Frontier = field(default_factory=Frontier)
    _places: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._prefix = native_prefix(self.session)

    def knows(self, digest: str) -> bool:
        """Whether the store holds a body already."""
        return digest in self._places

    def take(self, page: Page, size: int | None) -> bytes:
        """The line of the next page, with its LF.

        Args:
            page: the row; word and place are set here.
            size: bytes of its body, or None when the body is not held.

        Raises:
            NotRepresentableError: a number of the page is over 2^53-1.
        """
        if max(page.valid_to, page.trust_epoch) > MAX_NUMBER:
            message = f"page {self.count}: a number over 2^53-1 has no canonical form"
            raise NotRepresentableError("not-representable", message, "export keeps recall.v1")
        line, word = encode_page(page._replace(offset=self._place(page, size)), self._prefix)
        self._tree.append(leaf_hash(raw(word)))
        self.count += 1
        return line + b"\n"

    def _place(self, page: Page, size: int | None) -> int:
        if size is None:
            return -1
        if page.digest not in self._places:
            self._places[page.digest] = self.end
            self.end += size
        return self._places[page.digest]

    def keep(self, page: Page) -> bytes:
        """The line of the next page of an image whose store stays as it is.

        Raises:
            RowChangedError: the row has a word and it is not the row's: nothing stamps it anew.
        """
        line, word = encode_page(page, self._prefix)
        if page.word not in {"", word}:
            message = f"row {self.count} is not the one that its word was made over"
            raise RowChangedError("row-changed", message, "syn image verify says more")
        self._tree.append(leaf_hash(raw(word)))
        self.count += 1
        return line + b"\n"

    def head(self, store: str, size: int, decisions: "Decisions") -> NativeHead:
        """The head over everything taken, unsigned."""
        return NativeHead(
            self.session,
            self.count,
            "sha256:" + self._tree.root().hex(),
            store,
            size,
            decisions.cleared,
            decisions.changes,
            decisions.previous,
            decisions.origin,
        )


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a head carries beside its pages."""

    cleared: tuple[Clearance, ...] = ()
    changes: tuple[Change, ...] = ()
    previous: str = ""
    origin: str = ""
