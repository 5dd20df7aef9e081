"""Append-only files: whether one state of a file extends an earlier one (INV-3, design 8)."""

from dataclasses import replace

from syn.ledger.faults import RESTORE, Fault

_LF = b"\n"


def growth_faults(
    path: str, subject: str, before: bytes | None, after: bytes | None
) -> tuple[Fault, ...]:
    """What contradicts that `after` is `before` with whole lines appended.

    For segments and for the logs of head records, along one edge of history: from a parent to its
    child, or from HEAD to the work tree. A last line without LF in `before` is no line yet: that it
    was completed is growth, that it was dropped (a repair) is a warning.

    Args:
        path: the file, from the root.
        subject: the writer or publisher it belongs to.
        before: content in the older state; None when the file was not there.
        after: content in the newer state; None when the file is not there.
    """
    if not before:
        return ()
    if after is None:
        removed = f"{before.count(_LF)} lines", "no file"
        return (_fault("evidence-removed", path, subject, b"", 0, removed),)
    if after.startswith(before):
        return ()
    whole = before[: before.rfind(_LF) + 1]
    if after.startswith(whole):
        dropped = f"{len(before) - len(whole)} bytes without LF", "another line, or none"
        fault = _fault("torn-tail-dropped", path, subject, whole, len(whole), dropped)
        return (replace(fault, severity="warning"),)
    at = _first_difference(whole, after)
    if whole.startswith(after):
        shrank = f"at least {whole.count(_LF)} lines", str(after.count(_LF))
        return (_fault("evidence-shrank", path, subject, whole, at, shrank),)
    rewritten = _line_at(whole, at), _line_at(after, at)
    return (_fault("evidence-rewritten", path, subject, whole, at, rewritten),)


def _first_difference(a: bytes, b: bytes) -> int:
    """Offset of the first byte that differs; halving, since comparing slices is fast."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _line_at(data: bytes, at: int) -> str:
    start = data.rfind(_LF, 0, at) + 1
    end = data.find(_LF, start)
    line = data[start : len(data) if end < 0 else end]
    return line[:120].decode("utf-8", "backslashreplace") or "nothing"


def _fault(
    code: str, path: str, subject: str, data: bytes, at: int, differs: tuple[str, str]
) -> Fault:
    return Fault(
        code=code,
        subject=subject,
        path=path,
        line=data.count(_LF, 0, at) + 1 if data else 0,
        byte=at,
        expected=differs[0],
        actual=differs[1],
        remedy=RESTORE.format(path=path),
    )
