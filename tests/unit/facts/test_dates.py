import pytest

from syn.facts.dates import InstantError, parse_instant


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("2026-04-15", "2026-04-15T00:00:00.000000000Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000000000Z"),
        ("0044-03-15", "0044-03-15T00:00:00.000000000Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000000000Z"),
        ("9999-12-31", "9999-12-31T00:00:00.000000000Z"),
        ("2026-04-15T12:00:00+02:00", "2026-04-15T10:00:00.000000000Z"),
        ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000000000Z"),
        ("2026-04-15T12:00:00Z", "2026-04-15T12:00:00.000000000Z"),
        ("2026-04-15t12:00:00z", "2026-04-15T12:00:00.000000000Z"),
        ("2026-04-15 12:00:00-00:00", "2026-04-15T12:00:00.000000000Z"),
        ("2026-04-15T12:00:00.5Z", "2026-04-15T12:00:00.500000000Z"),
        ("2026-04-15T12:00:00.000000001Z", "2026-04-15T12:00:00.000000001Z"),
    ],
)
def test_an_instant_has_one_key(text: str, key: str) -> None:
    instant = parse_instant(text)
    assert (instant.text, instant.key) == (text, key)


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "2026", "2026-04", "20260415", "2026-4-5", "44-3-15", "2026-04-15 "),
        *("0000-00-00", "0000-01-01", "2023-02-29", "2021-21-02", "2026-04-31", "10000-01-01"),
        *("-2026-01-01", "2026-04-15T12:00:00", "2026-04-15 12:00", "2026-04-15T12:00Z"),
        *("2026-04-15T24:00:00Z", "2026-04-15T23:59:60Z", "2026-04-15T12:60:00Z"),
        *("2026-04-15T12:00:00+24:00", "2026-04-15T12:00:00+02:60", "2026-04-15T12:00:00+0200"),
        *("2026-04-15T12:00:00,5Z", "2026-04-15T12:00:00.0000000001Z", "2026-04-15T12:00:00 Z"),
        *("0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"),
        *("\uff12\uff10\uff12\uff16-04-15", "2026-04-15\n", "2026-04-15T12:00:00.Z"),
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(InstantError) as caught:
        parse_instant(text)
    assert caught.value.code == "invalid-date"
    assert caught.value.remedy


def test_a_time_without_offset_says_so() -> None:
    with pytest.raises(InstantError, match="expected an offset"):
        parse_instant("2026-04-15T12:00:00")


def test_keys_order_as_instants_where_texts_do_not() -> None:
    late, early = "2026-01-31T01:00:00+02:00", "2026-01-30T23:30:00Z"
    assert late > early
    assert parse_instant(late).key < parse_instant(early).key
