"""Git objects as values: bytes in, values out, nothing read from anywhere.

Shapes follow git's own documentation (gitformat-*, `git help hash-object`) and what `git fsck`
accepts; the checks here are of structure. What a well-formed tree says about its paths (twins,
`..`, reserved names) is for `tree_faults` and for the readers above.
"""

import hashlib
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from syn.errors import CannotError

ObjectType: TypeAlias = Literal["commit", "tree", "blob", "tag"]

TREE_MODE = 0o040000
FILE_MODE = 0o100644
EXECUTABLE_MODE = 0o100755
SYMLINK_MODE = 0o120000
GITLINK_MODE = 0o160000
FOLDER_MODES = frozenset({b"40000", b"040000", b"0040000"})
"""A folder's mode as digits; only the first spelling is sound."""
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

_HEX = re.compile(r"[0-9a-f]{40}\Z")
_TREE_ENTRY = re.compile(rb"[0-7]{1,7} [^\0]+\0.{20}", re.DOTALL)
_ZONE = re.compile(r"[+-]\d{4}\Z")
_IDENT = re.compile(
    rb"(?:(?P<name>[^<>\n]*) )?<(?P<email>[^<>\n]*)> (?P<time>-?\d+) (?P<zone>[+-]\d{4})\Z"
)


class MalformedObjectError(CannotError):
    """An object whose bytes hash to its id and are no object of its type."""

    def __init__(self, kind: str, oid: str, reason: str) -> None:
        super().__init__(
            "malformed-object",
            f"{kind} {oid or '(new)'} is malformed: {reason}",
            "run git fsck; the object was written by a faulty or hostile program",
        )


class RawItem(NamedTuple):
    """One entry of a tree, as its bytes stand there (a tuple: there are millions of them)."""

    mode: bytes
    """Octal digits, as written: `100644`, `40000`."""
    name: bytes
    oid: bytes
    """20 bytes."""


@dataclass(frozen=True, slots=True)
class TreeItem:
    """One entry of a tree."""

    mode: int
    """`0o100644`, `0o100755`, `0o120000`, `0o160000`, `0o40000`; other values as written."""
    name: bytes
    oid: str
    """40 hexadecimal digits."""

    @property
    def kind(self) -> Literal["tree", "file", "symlink", "gitlink"]:
        """What the entry is, by its mode's type bits."""
        match self.mode & 0o170000:
            case 0o040000:
                return "tree"
            case 0o120000:
                return "symlink"
            case 0o160000:
                return "gitlink"
            case _:
                return "file"


@dataclass(frozen=True, slots=True)
class Ident:
    """Who, and when by their own clock (which orders nothing)."""

    name: str
    email: str
    seconds: int
    """Since 1970, UTC."""
    offset: str = "+0000"
    """The time zone as written: `+0200`."""

    @property
    def text(self) -> str:
        """`name <email>`."""
        return f"{self.name} <{self.email}>"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, from its raw bytes; only what the walk needs is parsed ahead."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    raw: bytes
    """The object's exact bytes, without git's `commit <size>` header."""

    @property
    def author(self) -> Ident:
        """The author line; raises `MalformedObjectError` when it cannot be read."""
        return _ident(self, b"author")

    @property
    def committer(self) -> Ident:
        """The committer line; raises `MalformedObjectError` when it cannot be read."""
        return _ident(self, b"committer")

    @property
    def message(self) -> str:
        """The text after the first empty line; bytes that are no UTF-8 are escaped."""
        return self.raw.partition(b"\n\n")[2].decode("utf-8", "backslashreplace")

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Every header in order, continuation lines joined by LF without their space."""
        return _headers(self.raw)

    @property
    def signatures(self) -> tuple[tuple[str, bytes], ...]:
        """Every `gpgsig…` header, name and value, in order; a sound commit has none or one."""
        return tuple(
            (name.decode("ascii", "backslashreplace"), value)
            for name, value in self.headers
            if name.startswith(b"gpgsig")
        )

    @property
    def payload_without_sig(self) -> bytes:
        """What a signature covers: the commit without any header that starts with `gpgsig`."""
        head, blank, message = self.raw.partition(b"\n\n")
        kept: list[bytes] = []
        skipping = False
        for line in head.split(b"\n"):
            skipping = line.startswith(b"gpgsig") or (skipping and line.startswith(b" "))
            if not skipping:
                kept.append(line)
        return b"\n".join(kept) + blank + message


def is_oid(text: str) -> bool:
    """Whether the text is a full object id: 40 lower-case hexadecimal digits."""
    return _HEX.match(text) is not None


def object_id(kind: ObjectType, data: bytes) -> str:
    """The id git gives to an object: SHA-1 over `<type> <size>`, NUL, and the bytes."""
    return object_hash(kind, data).hex()


def object_hash(kind: ObjectType, data: bytes) -> bytes:
    """The 20 bytes behind `object_id`."""
    digest = hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)), usedforsecurity=False)
    digest.update(data)
    return digest.digest()


def blob_id(data: bytes) -> str:
    """The id of a blob with these bytes."""
    return object_hash("blob", data).hex()


def parse_commit(oid: str, raw: bytes) -> Commit:
    """A commit from its bytes: `tree`, then every `parent`, then `author` and `committer`.

    Raises:
        MalformedObjectError: one of these is missing, out of order or misspelt.
    """
    position = 46
    if raw[:5] != b"tree " or raw[45:46] != b"\n":
        raise MalformedObjectError("commit", oid, "expected a tree line first")
    tree = _hex_id(oid, raw[5:45])
    parents: list[str] = []
    while raw.startswith(b"parent ", position):
        if raw[position + 47 : position + 48] != b"\n":
            raise MalformedObjectError("commit", oid, "a parent line is misspelt")
        parents.append(_hex_id(oid, raw[position + 7 : position + 47]))
        position += 48
    if not raw.startswith(b"author ", position):
        raise MalformedObjectError("commit", oid, "expected an author line after the parents")
    committer = raw.find(b"\n", position) + 1
    if not committer or not raw.startswith(b"committer ", committer):
        raise MalformedObjectError("commit", oid, "expected a committer line after the author")
    return Commit(oid, tree, tuple(parents), raw)


def split_tree(oid: str, data: bytes) -> list[bytes]:
    """The entries of a tree as undivided bytes, `<mode> <name>` NUL `<20 bytes>`, in order.

    Raises:
        MalformedObjectError: the bytes are not a sequence of such entries.
    """
    found: list[bytes] = _TREE_ENTRY.findall(data)
    # Matches that skipped bytes, or stopped early, do not add up to the whole.
    if sum(map(len, found)) != len(data):
        raise MalformedObjectError("tree", oid, "expected whole entries up to its end")
    return found


def raw_item(entry: bytes) -> RawItem:
    """One entry of `split_tree`, divided."""
    mode, _, name = entry[:-21].partition(b" ")
    return RawItem(mode, name, entry[-20:])


def parse_raw_tree(oid: str, data: bytes) -> tuple[RawItem, ...]:
    """The entries of a tree in the order in which they stand there; raises as `split_tree`."""
    return tuple(map(raw_item, split_tree(oid, data)))


def parse_tree(oid: str, data: bytes) -> tuple[TreeItem, ...]:
    """`parse_raw_tree` as values."""
    return tuple(tree_item(item) for item in parse_raw_tree(oid, data))


def tree_item(item: RawItem) -> TreeItem:
    """A raw entry as a value."""
    return TreeItem(int(item.mode, 8), item.name, item.oid.hex())


def tree_order(item: TreeItem) -> bytes:
    """Git's order of entries: by name, a folder's name ending in `/`; so full paths sort too."""
    return item.name + b"/" if item.kind == "tree" else item.name


def render_tree(items: list[TreeItem]) -> bytes:
    """The bytes of a tree with these entries, in git's order."""
    return b"".join(
        b"%o %s\0%s" % (item.mode, item.name, bytes.fromhex(item.oid))
        for item in sorted(items, key=tree_order)
    )


def tree_faults(items: tuple[TreeItem, ...], raw: tuple[RawItem, ...]) -> tuple[str, ...]:
    """What `git fsck --strict` would say of a tree's own form, in words; empty for a sound one."""
    faults: list[str] = []
    order = [tree_order(item) for item in items]
    if any(before > after for before, after in pairwise(order)):
        faults.append("entries out of order")
    names = [item.name for item in items]
    if len(set(names)) != len(names):
        faults.append("one name twice")
    if any(item.mode.startswith(b"0") for item in raw):
        faults.append("zero-padded mode")
    if any(item.mode not in _MODES for item in items):
        faults.append("unknown mode")
    if any(b"/" in name for name in names):
        faults.append("a name that holds a slash")
    if any(name in {b".", b".."} or name.lower() == b".git" for name in names):
        faults.append("a reserved name: ., .. or .git")
    if any(not item.oid.strip("0") for item in items):
        faults.append("a null object id")
    return tuple(faults)


def render_commit(
    tree: str,
    parents: tuple[str, ...],
    author: Ident,
    committer: Ident,
    message: str,
) -> bytes:
    """The bytes of an unsigned commit; the message ends in a newline.

    Raises:
        MalformedObjectError: a name or address holds `<`, `>`, a newline or NUL, or the message
            holds NUL.
    """
    if "\0" in message:
        raise MalformedObjectError("commit", "", "the message holds NUL")
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {_render_ident(author)}", f"committer {_render_ident(committer)}"]
    return ("\n".join(lines) + "\n\n" + message.rstrip("\n") + "\n").encode()


def add_signature(raw: bytes, signature: str) -> bytes:
    """A commit with `gpgsig` after its headers, the armour's further lines indented by a space."""
    head, blank, message = raw.partition(b"\n\n")
    armour = signature.rstrip("\n").replace("\n", "\n ").encode()
    return head + b"\ngpgsig " + armour + blank + message


_MODES = frozenset({TREE_MODE, FILE_MODE, EXECUTABLE_MODE, SYMLINK_MODE, GITLINK_MODE})


def _hex_id(oid: str, text: bytes) -> str:
    value = text.decode("ascii", "replace")
    if not is_oid(value):
        raise MalformedObjectError("commit", oid, "expected 40 hexadecimal digits as an id")
    return value


def _headers(raw: bytes) -> tuple[tuple[bytes, bytes], ...]:
    found: list[tuple[bytes, bytes]] = []
    for line in raw.partition(b"\n\n")[0].split(b"\n"):
        if line.startswith(b" ") and found:
            name, value = found[-1]
            found[-1] = (name, value + b"\n" + line[1:])
        else:
            name, _, value = line.partition(b" ")
            found.append((name, value))
    return tuple(found)


def _ident(commit: Commit, header: bytes) -> Ident:
    value = next((value for name, value in commit.headers if name == header), b"")
    match = _IDENT.match(value)
    if match is None:
        raise MalformedObjectError("commit", commit.oid, f"unreadable {header.decode()} line")
    return Ident(
        (match["name"] or b"").decode("utf-8", "backslashreplace"),
        match["email"].decode("utf-8", "backslashreplace"),
        int(match["time"]),
        match["zone"].decode("ascii"),
    )


def _render_ident(ident: Ident) -> str:
    if any(char in ident.name + ident.email for char in "<>\n\0") or not _ZONE.match(ident.offset):
        raise MalformedObjectError("commit", "", f"no name, address and zone: {ident.text!r}")
    return f"{ident.text} {ident.seconds} {ident.offset}"
