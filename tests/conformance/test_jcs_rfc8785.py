"""Canonical JSON against `rfc8785`, the reference implementation of JCS in Python."""

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from syn.canon import json
from syn.model.finding import Json

KEYS = st.text(st.characters(max_codepoint=127))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-json.MAX_INTEGER, json.MAX_INTEGER)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_the_encoder_is_jcs_on_our_subset(value: Json) -> None:
    data = json.encode(value)
    assert data == rfc8785.dumps(value)
    assert json.decode(data) == value


def test_every_character_is_written_as_jcs_does() -> None:
    for start in range(0, 0x3000, 64):
        text = "".join(map(chr, range(start, start + 64)))
        assert json.encode(text) == rfc8785.dumps(text)
    for text in ("\ue000", "\uffff", "\U0001f600", "\U0010ffff"):
        assert json.encode({"k": text}) == rfc8785.dumps({"k": text})
