"""An incremental run finds what a full one finds, whatever happened since its baseline."""

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syn.model.config import Config
from syn.model.finding import Json
from syn.report.document import comparable, to_json
from syn.services.proving import memo
from syn.services.proving.verifying import Request, verify
from syn.services.recall.projecting import project_bytes
from syn.services.trust.keyring import make_key
from tests.support.edits import DAMAGE, EDITS, copy
from tests.support.workspaces import Place, make_workspace

STEP = st.tuples(st.integers(0, len(EDITS) + len(DAMAGE) - 1), st.integers(0, 40))
_MADE: list[Place] = []


def _workspace() -> Place:
    """One workspace with a key and a kept baseline, made once; the runs work on copies of it."""
    if not _MADE:
        place = make_workspace(Path(tempfile.mkdtemp(prefix="synapse-incremental-")))
        make_key(place.open().around, "identity", "ada")
        told = verify(place.open(), Request(incremental=True)).local["baseline"]
        assert isinstance(told, dict)
        assert told["facts"]
        _MADE.append(place)
    return _MADE[0]


@given(st.lists(STEP, max_size=5), st.booleans(), st.booleans())
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_full_and_incremental_agree(
    steps: list[tuple[int, int]], deep: bool, between: bool
) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = copy(_workspace(), Path(name))
        for which, number in steps:
            (*EDITS, *DAMAGE)[which](place, number)
            if between:
                verify(place.open(), Request(incremental=True))
        full = verify(place.open(), Request(deep=deep))
        found = verify(place.open(), Request(deep=deep, incremental=True))
        told = found.local["baseline"]
        assert isinstance(told, dict)
        assert (found.baseline != "") == (told["reason"] == "")
        assert comparable(to_json(replace(found, baseline=""))) == comparable(to_json(full))
        assert _local(found.local) == _local(full.local)
        for one, other in zip(found.invariants, full.invariants, strict=True):
            assert one == other


def _local(local: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in local.items() if key != "baseline"}


CONFIG = Config(id="", name="")
TEXT = st.text(
    st.characters(codec="utf-8") | st.sampled_from("[](){}|#-: \n\t'\"\\"),
    max_size=120,
)


@given(TEXT, TEXT, st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_kept_projection_is_the_projection(head: str, body: str, moved: bool) -> None:
    data = f"---\nid: x\nvalid_from: 2026-01-01\nsupersedes: [a, b]\nnote: {head}\n---\n{body}"
    own = {"facts/x.md": "facts/old"} if moved else {}
    for text in (data, body):
        item = project_bytes(CONFIG, ("facts/x.md", text.encode(), own))
        own_id = own.get("facts/x.md", "")
        line = memo.render(item, own_id)
        values = memo.values_of(line)
        assert line.count(b"\n") == 1
        assert memo.parse(values) == item
        assert memo.is_of(values, item.rows.source_digest, own_id)
        assert memo.path_of(values) == "facts/x.md"
        assert not memo.is_of(values, item.rows.source_digest, "another")
