"""Instants: RFC 3339 with an offset, or a date, read by total rules (docs/formats/fact.md).

A date means its midnight in UTC. Years run from 0001 to 9999, before and after the shift to UTC;
seconds from 00 to 59 (no leap second); a fraction has one to nine digits. `T`, `t` or one blank
stands between date and time.
"""

import re
from datetime import UTC, datetime, timedelta, timezone

from syn.errors import UsageError
from syn.model.fact import Instant

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:\.([0-9]{1,9}))?(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))"
)
_NAIVE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?")
_MINUTES = 60


class InstantError(UsageError):
    """A text that names no instant."""

    def __init__(self, message: str) -> None:
        super().__init__(
            "invalid-date", message, "write YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with Z or an offset"
        )


def parse_instant(text: str) -> Instant:
    """Read a date or an RFC 3339 date-time with an offset.

    Raises:
        InstantError: another shape, a day or time that does not exist, or no offset.
    """
    if (found := _DATE.fullmatch(text)) is not None:
        year, month, day = (int(part) for part in found.groups())
        return Instant(text, _key(_moment(text, (year, month, day, 0, 0, 0)), ""))
    if (found := _DATE_TIME.fullmatch(text)) is None:
        raise InstantError(_why(text))
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    moment = _moment(text, (year, month, day, hour, minute, second), _offset(text, found))
    return Instant(text, _key(moment, found[7] or ""))


def _moment(
    text: str, parts: tuple[int, int, int, int, int, int], offset: timedelta = timedelta()
) -> datetime:
    try:
        return datetime(*parts, tzinfo=timezone(offset)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InstantError(f"expected a day and time that exist, got {text[:40]!r}") from error


def _offset(text: str, found: re.Match[str]) -> timedelta:
    if found[8]:
        return timedelta()
    hours, minutes = int(found[10]), int(found[11])
    if hours > 23 or minutes >= _MINUTES:  # noqa: PLR2004 - hours of a day
        raise InstantError(f"expected an offset under 24 hours, got {text[:40]!r}")
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if found[9] == "-" else offset


def _key(moment: datetime, fraction: str) -> str:
    # strftime does not pad years below 1000 on every platform
    return (
        f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}T{moment.hour:02d}:"
        f"{moment.minute:02d}:{moment.second:02d}.{fraction:0<9}Z"
    )


def _why(text: str) -> str:
    if _NAIVE.fullmatch(text):
        return f"expected an offset after the time, got {text[:40]!r}"
    return f"expected a date or an RFC 3339 date-time, got {text[:40]!r}"
