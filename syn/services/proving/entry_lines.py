"""The ledger lines that a commit holds and none of its parents: where an entry stands."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence

from syn.git.history import changed_paths
from syn.git.objects import ObjectStore

_BUDGET = 16 << 20
"""Bytes of recently read segments that are kept: a child's is mostly its parent's, grown."""


class LineReader:
    """Reads what segments gained, each version of a file about once."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._used = 0

    def added(self, ledger: str, parents: Sequence[str]) -> tuple[bytes, ...]:
        """The lines of a ledger's tree that no parent's tree holds, in order.

        Args:
            ledger: tree id of `.synapse/ledger`, or "".
            parents: the same of every parent; without any, every line is new.
        """
        if not ledger or ledger in parents:
            return ()
        first, *others = parents or [""]
        lines = tuple(self._gained(first, ledger))
        for other in others:
            if lines:
                here = set(self._gained(other, ledger))
                lines = tuple(line for line in lines if line in here)
        return lines

    def _gained(self, old: str, new: str) -> Iterator[bytes]:
        for change in changed_paths(self._store, old or None, new):
            if not change.new_oid or change.new_oid == change.old_oid:
                continue
            before = self._blob(change.old_oid) if change.old_oid else b""
            after = self._blob(change.new_oid)
            yield from gained(before, after)

    def _blob(self, oid: str) -> bytes:
        data = self._kept.get(oid)
        if data is not None:
            self._kept.move_to_end(oid)
            return data
        data = self._store.blob(oid)
        self._kept[oid] = data
        self._used += len(data)
        while self._used > _BUDGET and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._used -= len(dropped)
        return data


def gained(before: bytes, after: bytes) -> Iterator[bytes]:
    """The whole lines of `after` that `before` does not hold, without LF."""
    if after.startswith(before):
        known: frozenset[bytes] = frozenset()
        rest = after[len(before) :] if before.endswith(b"\n") or not before else after
        if rest is after and before:
            known = frozenset(before.split(b"\n"))
    else:
        known, rest = frozenset(before.split(b"\n")), after
    for line in rest.split(b"\n")[:-1]:
        if line and line not in known:
            yield line
